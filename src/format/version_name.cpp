#include "bloomery/format/version_name.hpp"

#include <charconv>
#include <cstddef>

#include "hexadecimal.hpp"

namespace bloomery {

namespace {

constexpr std::size_t version_digits = 16;

}  // namespace

std::string version_name(std::uint64_t name) { return detail::in_hexadecimal(name); }

std::optional<std::uint64_t> parse_version_name(std::string_view text) noexcept {
  if (text.size() != version_digits ||
      text.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return std::nullopt;
  }
  std::uint64_t name = 0;
  std::from_chars(text.data(), text.data() + text.size(), name, 16);
  return name;
}

}  // namespace bloomery
