// Writes one JSON object. Names and strings come from the library itself and need no escapes.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/core/error.hpp"

namespace bloomery::detail {

// A double keeps its point, so that readers which tell integers from others are not misled.
[[nodiscard]] inline std::string json_text(double value) {
  if (!std::isfinite(value)) return "null";
  std::string text = to_text(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}
[[nodiscard]] inline std::string json_text(std::uint64_t value) { return to_text(value); }
[[nodiscard]] inline std::string json_text(std::nullptr_t) { return "null"; }
[[nodiscard]] inline std::string json_text(std::same_as<bool> auto value) {
  return value ? "true" : "false";
}
[[nodiscard]] inline std::string json_text(std::string_view value) {
  return '"' + std::string(value) + '"';
}
[[nodiscard]] inline std::string json_text(const std::vector<std::uint64_t>& values) {
  std::string text;
  for (const std::uint64_t value : values) text += (text.empty() ? "" : ",") + to_text(value);
  return "[" + text + "]";
}

class json_object {
 public:
  template <class Value>
  json_object& add(std::string_view name, const Value& value) {
    return add_text(name, json_text(value));
  }
  // A value that is JSON already.
  json_object& add_text(std::string_view name, std::string_view text) {
    if (!text_.empty()) text_ += ',';
    text_.append(json_text(name)).append(":").append(text);
    return *this;
  }
  [[nodiscard]] std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

}  // namespace bloomery::detail
