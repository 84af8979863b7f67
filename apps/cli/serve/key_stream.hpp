// Keys from the body of a request, in pieces of any size: lines, or a JSON array. Keys are read as
// the filter's header says: text as it stands, integers in decimal, bytes in hexadecimal, k-mers as
// pieces of DNA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/input/records.hpp"

namespace bloomery::cli {

inline constexpr std::size_t longest_http_key = std::size_t{1} << 20U;

// The options that read keys of this form.
[[nodiscard]] record_options options_of_form(const key_form& form);

// What one key was, and how the client wrote it. There are as many of both.
struct key_batch {
  std::span<const std::string_view> keys;
  std::span<const std::string_view> records;
};

class key_stream {
 public:
  using sink = std::function<void(const key_batch&)>;

  key_stream() = default;
  key_stream(const key_stream&) = delete;
  key_stream& operator=(const key_stream&) = delete;
  virtual ~key_stream() = default;

  // Both throw http_error: 400 for what is no key, 413 for one that is too long.
  virtual void feed(std::string_view piece, const sink& take) = 0;
  virtual void finish(const sink& take) = 0;
};

[[nodiscard]] std::unique_ptr<key_stream> make_line_stream(const key_form& form);
[[nodiscard]] std::unique_ptr<key_stream> make_json_stream(const key_form& form);

}  // namespace bloomery::cli
