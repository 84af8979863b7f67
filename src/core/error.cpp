#include "bloomery/core/error.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace bloomery {

namespace {

[[maybe_unused]] error_handler handler_in_use = nullptr;

}  // namespace

void use_error_handler(error_handler handler) noexcept { handler_in_use = handler; }

namespace detail {

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

void fail(errc code, const std::string& what) {
#if defined(__cpp_exceptions)
  throw error(code, what);
#else
  if (handler_in_use != nullptr) handler_in_use(error(code, what));
  std::terminate();
#endif
}

#if defined(__wasm__)
// The same by trying: the tables of to_chars for doubles are 110 kB, an eighth of a module.
std::string to_text(double value) {
  std::array<char, 32> text{};
  int length = 0;
  for (int digits = 15; digits <= 17; ++digits) {
    length = std::snprintf(text.data(), text.size(), "%.*g", digits, value);
    if (std::strtod(text.data(), nullptr) == value) break;
  }
  return {text.data(), static_cast<std::size_t>(length)};
}
#else
std::string to_text(double value) { return shortest(value); }
#endif
std::string to_text(std::uint64_t value) { return shortest(value); }

void throw_bad_argument(std::string_view name, double value, std::string_view limit) {
  fail(errc::bad_argument, sentence(name, to_text(value), limit));
}

void throw_bad_argument(std::string_view name, std::uint64_t value, std::string_view limit) {
  fail(errc::bad_argument, sentence(name, to_text(value), limit));
}

}  // namespace detail
}  // namespace bloomery
