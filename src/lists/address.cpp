#include "bloomery/lists/address.hpp"

#include <algorithm>
#include <charconv>
#include <span>

namespace bloomery {

namespace {

constexpr std::size_t mapped_zeros = 10;  // two bytes of ones follow
constexpr unsigned mapped_bits = 96;

std::optional<unsigned> parse_number(std::string_view text, unsigned most) noexcept {
  const bool leading_zero = text.size() > 1 && text.front() == '0';
  if (text.empty() || text.size() > 3 || leading_zero) return std::nullopt;
  unsigned value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || value > most) {
    return std::nullopt;
  }
  return value;
}

bool parse_v4(std::string_view text, std::uint8_t* out) noexcept {
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t end = i < 3 ? text.find('.') : text.size();
    if (end == std::string_view::npos) return false;
    const auto value = parse_number(text.substr(0, end), 255);
    if (!value) return false;
    out[i] = static_cast<std::uint8_t>(*value);
    text.remove_prefix(i < 3 ? end + 1 : end);
  }
  return true;
}

// The groups of an IPv6 address while it is parsed, and the position of "::" among them.
struct groups {
  std::array<std::uint8_t, 16> bytes{};
  std::size_t used = 0;
  std::size_t gap = 17;  // more than any position: there is no gap

  [[nodiscard]] bool has_gap() const noexcept { return gap <= 16; }

  // Takes a group of hexadecimal digits, or an IPv4 address at the end.
  bool take(std::string_view text, bool last) noexcept {
    if (text.find('.') != std::string_view::npos) {
      if (!last || used > 12 || !parse_v4(text, bytes.data() + used)) return false;
      used += 4;
      return true;
    }
    if (text.empty() || text.size() > 4 || used > 14) return false;
    unsigned value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (failure != std::errc{} || end != text.data() + text.size()) return false;
    bytes[used++] = static_cast<std::uint8_t>(value >> 8U);
    bytes[used++] = static_cast<std::uint8_t>(value & 0xffU);
    return true;
  }

  bool open_gap() noexcept {
    if (has_gap()) return false;
    gap = used;
    return true;
  }

  bool close() noexcept {
    if (!has_gap()) return used == 16;
    if (used == 16) return false;
    std::rotate(bytes.begin() + static_cast<std::ptrdiff_t>(gap),
                bytes.begin() + static_cast<std::ptrdiff_t>(used), bytes.end());
    return true;
  }
};

bool parse_v6(std::string_view text, std::array<std::uint8_t, 16>& out) noexcept {
  groups g;
  if (text.starts_with("::")) {
    if (!g.open_gap()) return false;
    text.remove_prefix(2);
  }
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(':'), text.size());
    if (!g.take(text.substr(0, end), end == text.size())) return false;
    text.remove_prefix(end);
    if (text.starts_with("::")) {
      if (!g.open_gap()) return false;
      text.remove_prefix(2);
    } else if (!text.empty()) {
      text.remove_prefix(1);
      if (text.empty()) return false;
    }
  }
  if (!g.close()) return false;
  out = g.bytes;
  return true;
}

void append_v4(std::string& out, const std::uint8_t* bytes) {
  for (std::size_t i = 0; i < 4; ++i) {
    if (i > 0) out.push_back('.');
    out.append(std::to_string(bytes[i]));
  }
}

// The first of the longest runs of two or more zero groups; empty when there is none.
struct zero_run {
  std::size_t begin = 0;
  std::size_t length = 0;
};
zero_run longest_zero_run(std::span<const unsigned> words) {
  zero_run best;
  for (std::size_t i = 0; i < words.size();) {
    std::size_t end = i;
    while (end < words.size() && words[end] == 0) ++end;
    if (end - i >= 2 && end - i > best.length) best = {i, end - i};
    i = std::max(end, i + 1);
  }
  return best;
}

void append_v6(std::string& out, const std::array<std::uint8_t, 16>& bytes) {
  std::array<unsigned, 8> words{};
  for (std::size_t i = 0; i < 8; ++i) {
    words[i] = (static_cast<unsigned>(bytes[2 * i]) << 8U) | bytes[2 * i + 1];
  }
  const zero_run gap = longest_zero_run(words);
  std::array<char, 4> digits{};
  for (std::size_t i = 0; i < 8; ++i) {
    if (gap.length > 0 && i == gap.begin) {
      out.append("::");
      i += gap.length - 1;
      continue;
    }
    if (i > 0 && out.back() != ':') out.push_back(':');
    const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), words[i], 16).ptr;
    out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }
}

// Byte i of the mask of a prefix length.
constexpr std::uint8_t mask_byte(unsigned length, std::size_t i) noexcept {
  const auto before = static_cast<unsigned>(8 * i);
  if (length >= before + 8) return 0xff;
  if (length <= before) return 0;
  return static_cast<std::uint8_t>(0xff00U >> (length - before));
}

// The prefix length of the largest range that begins at the address.
unsigned aligned_length(const ip_address& a) noexcept {
  unsigned length = a.bits();
  while (length > 0 && a.first_of(length - 1) == a) --length;
  return length;
}

ip_address next_after(ip_address a) noexcept {
  for (std::size_t i = a.bits() / 8; i-- > 0;) {
    if (++a.bytes[i] != 0) break;
  }
  return a;
}

}  // namespace

std::optional<ip_address> ip_address::parse(std::string_view text) noexcept {
  ip_address a;
  if (text.find(':') == std::string_view::npos) {
    return parse_v4(text, a.bytes.data()) ? std::optional(a) : std::nullopt;
  }
  a.family = ip_family::v6;
  return parse_v6(text, a.bytes) ? std::optional(a) : std::nullopt;
}

std::string ip_address::text() const {
  std::string out;
  if (family == ip_family::v4) {
    append_v4(out, bytes.data());
  } else if (is_mapped()) {
    out = "::ffff:";
    append_v4(out, bytes.data() + 12);
  } else {
    append_v6(out, bytes);
  }
  return out;
}

bool ip_address::is_mapped() const noexcept {
  return family == ip_family::v6 &&
         std::all_of(bytes.begin(), bytes.begin() + mapped_zeros, [](auto b) { return b == 0; }) &&
         bytes[10] == 0xff && bytes[11] == 0xff;
}

ip_address ip_address::unmapped() const noexcept {
  if (!is_mapped()) return *this;
  ip_address a;
  std::copy(bytes.begin() + 12, bytes.end(), a.bytes.begin());
  return a;
}

ip_address ip_address::first_of(unsigned length) const noexcept {
  ip_address a = *this;
  for (std::size_t i = 0; i < bits() / 8; ++i) a.bytes[i] &= mask_byte(length, i);
  return a;
}

ip_address ip_address::last_of(unsigned length) const noexcept {
  ip_address a = *this;
  for (std::size_t i = 0; i < bits() / 8; ++i) {
    a.bytes[i] |= static_cast<std::uint8_t>(~mask_byte(length, i));
  }
  return a;
}

std::optional<ip_range> ip_range::parse(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  const auto address = ip_address::parse(text.substr(0, slash));
  if (!address) return std::nullopt;
  if (slash == std::string_view::npos) return ip_range{*address, address->bits()};
  const auto length = parse_number(text.substr(slash + 1), address->bits());
  if (!length) return std::nullopt;
  return ip_range{address->first_of(*length), *length};
}

std::string ip_range::text() const {
  return length == first.bits() ? first.text() : first.text() + "/" + std::to_string(length);
}

ip_range ip_range::unmapped() const noexcept {
  if (!first.is_mapped() || length < mapped_bits) return *this;
  return {first.unmapped(), length - mapped_bits};
}

bool ip_range::contains(const ip_address& address) const noexcept {
  return address.family == first.family && address.first_of(length) == first;
}

std::vector<ip_range> ranges_between(const ip_address& first, const ip_address& last) {
  std::vector<ip_range> ranges;
  if (first.family != last.family || last < first) return ranges;
  for (ip_address at = first;;) {
    unsigned length = aligned_length(at);
    while (last < at.last_of(length)) ++length;
    ranges.push_back({at, length});
    const ip_address end = at.last_of(length);
    if (end == last) return ranges;  // there may be no next
    at = next_after(end);
  }
}

}  // namespace bloomery
