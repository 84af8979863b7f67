#include "bloomery/core/error.hpp"

#include <array>
#include <charconv>

namespace bloomery::detail {

namespace {

template <class Number>
std::string shortest(Number value) {
  std::array<char, 32> text{};
  const auto [end, status] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), status == std::errc{} ? end : text.data()};
}

std::string sentence(std::string_view name, const std::string& value, std::string_view limit) {
  return std::string(name) + " is " + value + ", but it must be " + std::string(limit);
}

}  // namespace

std::string to_text(double value) { return shortest(value); }
std::string to_text(std::uint64_t value) { return shortest(value); }

void throw_bad_argument(std::string_view name, double value, std::string_view limit) {
  throw error(errc::bad_argument, sentence(name, to_text(value), limit));
}

void throw_bad_argument(std::string_view name, std::uint64_t value, std::string_view limit) {
  throw error(errc::bad_argument, sentence(name, to_text(value), limit));
}

}  // namespace bloomery::detail
