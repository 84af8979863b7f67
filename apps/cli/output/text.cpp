#include "cli/output/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/utf8.hpp"
#include "cli/output/streams.hpp"

namespace bloomery::cli {

namespace {

[[noreturn]] void reject(std::string_view text, std::string_view wanted) {
  throw error(errc::bad_argument, fmt::format("'{}' is not {}", text, wanted));
}

struct leading_number {  // at the start of the text, and what follows it
  double value;
  std::string_view rest;
};

leading_number split_number(std::string_view text, std::string_view wanted) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || !std::isfinite(value)) reject(text, wanted);
  return {value, text.substr(static_cast<std::size_t>(end - text.data()))};
}

// Whole numbers are read as integers: a double would round those above 2^53.
std::uint64_t scaled(std::string_view text, double value, double factor, std::string_view wanted) {
  std::uint64_t whole = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (status == std::errc{} && end == text.data() + text.size()) return whole;
  const double product = value * factor;
  if (product >= 0x1p64) {
    throw error(errc::bad_argument, fmt::format("'{}' is too large; 2^64 - 1 is the most", text));
  }
  if (!(product >= 0)) reject(text, wanted);
  return static_cast<std::uint64_t>(std::round(product));
}

// What a unit such as k, Mi or GiB multiplies by; nothing when it is none. The B of bytes may be
// left out. Upper and lower case are the same, since no one means millibytes.
std::optional<double> factor_of(std::string_view unit, bool bytes) {
  constexpr std::string_view letters = "kmgt";
  if (bytes && unit.ends_with('B')) unit.remove_suffix(1);
  if (unit.empty()) return 1;
  const std::size_t power = letters.find(static_cast<char>(unit[0] | 0x20));
  if (power == std::string_view::npos || (unit.size() > 1 && unit.substr(1) != "i")) return {};
  return std::pow(unit.size() > 1 ? 1024 : 1000, static_cast<double>(power + 1));
}

// Without the commas of with_commas. Where they do not part groups of three digits, as in 1,5 for
// one and a half, the text stays as it is and is refused.
std::string without_commas(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789,"), text.size());
  std::size_t first = std::min(text.find(','), end);
  if (first == 0 || first > 3) return std::string(text);
  std::string digits(text.substr(0, first));
  for (; first < end; first += 4) {
    const std::string_view group = text.substr(first, std::min<std::size_t>(4, end - first));
    if (group.size() != 4 || group[0] != ',' || group.find(',', 1) != std::string_view::npos) {
      return std::string(text);
    }
    digits += group.substr(1);
  }
  return digits.append(text.substr(end));
}

std::uint64_t parse_scaled(std::string_view written, bool bytes, std::string_view wanted) {
  const std::string text = without_commas(written);
  if (text.find(',') != std::string::npos) reject(written, wanted);
  const auto [value, rest] = split_number(text, wanted);
  const std::optional<double> factor = factor_of(rest, bytes);
  if (!factor) reject(text, wanted);
  return scaled(text, value, *factor, wanted);
}

}  // namespace

double parse_rate(std::string_view text) {
  constexpr std::string_view wanted = "a rate; write it like 0.01, 1% or 1e-2";
  const auto [value, rest] = split_number(text, wanted);
  if (rest == "%" || rest == " %") return value / 100;  // as reports have it
  if (!rest.empty()) reject(text, wanted);
  return value;
}

std::uint64_t parse_count(std::string_view text) {
  return parse_scaled(text, false, "a count; write it like 1000, 1e9, 64k, 2.5M, 10G or 1Mi");
}

std::uint64_t parse_bytes(std::string_view text) {
  return parse_scaled(text, true,
                      "a number of bytes; write it like 4096, 64k, 10M or 2G, or 2Gi for 2^31");
}

std::uint64_t parse_span(std::string_view text) {
  constexpr std::string_view wanted = "a span of time; write it like 90s, 15m, 1h, 7d or 2w";
  constexpr std::array<std::pair<std::string_view, double>, 6> units = {
      {{"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}, {"w", 604800}}};
  const auto [value, rest] = split_number(text, wanted);
  for (const auto& [name, seconds] : units) {
    if (rest == name) return scaled(text, value, seconds, wanted);
  }
  reject(text, wanted);
}

double parse_universe(std::string_view text) {
  constexpr std::string_view wanted = "a number of possible keys; write it like 2^32, 1e9 or 10G";
  if (text.starts_with("2^")) {
    double power = 0;
    const auto [end, status] = std::from_chars(text.data() + 2, text.data() + text.size(), power);
    const bool whole = status == std::errc{} && end == text.data() + text.size();
    if (!whole || !(power < 1024)) reject(text, wanted);
    return std::exp2(power);
  }
  const auto [value, rest] = split_number(text, wanted);
  if (rest.empty()) return value;
  const std::optional<double> factor = factor_of(rest, false);
  if (!factor) reject(text, wanted);
  return value * *factor;
}

double parse_time(std::string_view text) {
  constexpr std::string_view wanted = "a time; write it like 4ns, 20us, 1ms or 0.5s";
  constexpr std::array<std::pair<std::string_view, double>, 4> units = {
      {{"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1}}};
  const auto [value, rest] = split_number(text, wanted);
  for (const auto& [name, in_a_second] : units) {
    if (rest == name) return value / in_a_second;
  }
  reject(text, wanted);
}

std::string with_commas(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string as_span(std::uint64_t seconds) {  // its two largest units
  const auto part = [](std::uint64_t count, std::string_view unit) {
    return count == 0 ? "" : fmt::format("{} {}", with_commas(count), unit);
  };
  const std::uint64_t days = seconds / 86400;
  const std::uint64_t hours = seconds / 3600 % 24;
  const std::uint64_t minutes = seconds / 60 % 60;
  std::string first = part(days, days == 1 ? "day" : "days");
  std::string second = part(hours, "h");
  if (days == 0) {
    first = hours != 0 ? second : part(minutes, "min");
    second = hours != 0 ? part(minutes, "min") : part(seconds % 60, "s");
  }
  if (first.empty()) return second.empty() ? "0 s" : second;
  return second.empty() ? first : first + " " + second;
}

std::string as_last(std::uint64_t seconds) {
  return seconds == 0 ? "less than a second" : "the last " + as_span(seconds);
}

std::string as_whole(double value) {
  return value >= 0 && value < 0x1p63 ? with_commas(static_cast<std::uint64_t>(std::llround(value)))
                                      : fmt::format("{:.0f}", value);
}

std::string counted(std::uint64_t value, std::string_view what) {
  return fmt::format("{} {}{}", with_commas(value), what, value == 1 ? "" : "s");
}

std::string escaped(std::string_view text, std::string_view kept) {
  constexpr std::string_view special = "\a\b\t\n\v\f\r";  // 7 to 13
  constexpr std::string_view letters = "abtnvfr";
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view point = text.substr(i, detail::code_point_bytes(text, i));
    i += point.size();
    const auto first = static_cast<unsigned char>(point[0]);
    const bool stray = point.size() == 1 && first >= 0x80U;
    const bool c1 = first == 0xc2U && static_cast<unsigned char>(point.back()) < 0xa0U;
    const bool control = first < ' ' || first == 0x7fU || c1;
    const bool keep = kept.find(point[0]) != std::string_view::npos;
    if ((!control && !stray) || keep) {
      out += point;
    } else if (const std::size_t at = special.find(point[0]); at != std::string_view::npos) {
      out += fmt::format("\\{}", letters[at]);
    } else {
      for (const char c : point) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string as_number(double value) {
  if (value < 99.5) return fmt::format("{:.2g}", value);
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return with_commas(static_cast<std::uint64_t>(std::llround(std::round(value / unit) * unit)));
}

std::string as_bytes(double bytes) {
  constexpr std::array<std::string_view, 6> units = {"bytes", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < units.size()) {
    bytes /= 1000;
    ++unit;
  }
  if (unit == 0) return counted(static_cast<std::uint64_t>(std::llround(bytes)), "byte");
  if (bytes >= 9999.5) return fmt::format("{:.0e} {}", bytes, units[unit]);
  return fmt::format("{:.{}f} {}", bytes, bytes < 10 ? 2 : bytes < 100 ? 1 : 0, units[unit]);
}

std::string as_time(double seconds) {
  constexpr std::array<std::pair<std::string_view, double>, 3> units = {
      {{"s", 1}, {"ms", 1e3}, {"us", 1e6}}};
  for (const auto& [name, in_a_second] : units) {
    if (seconds * in_a_second >= 1) return fmt::format("{:.4g} {}", seconds * in_a_second, name);
  }
  return fmt::format("{:.4g} ns", seconds * 1e9);
}

std::string wrapped(std::string_view text, std::size_t at, std::size_t column) {
  constexpr std::size_t columns = 79;
  std::string out;
  if (at != 0 && at + 1 > column) {
    out += '\n';
    at = 0;
  }
  out.append(column - at, ' ');
  at = column;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (at + end > columns && at != column) {
      out += '\n' + std::string(column, ' ');
      at = column;
    }
    out.append(text.substr(0, end));
    at += end;
    text.remove_prefix(std::min(end + 1, text.size()));
    if (text.empty()) continue;
    out += ' ';
    ++at;
  }
  // Removes spaces before line ends.
  for (std::size_t gap = out.find(" \n"); gap != std::string::npos; gap = out.find(" \n")) {
    out.erase(gap, 1);
  }
  return out + '\n';
}

namespace {

void write_error(const std::string& text) noexcept {
  // One call writes the whole text, so that lines of several programs do not mix.
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

std::string shown(std::string_view text) { return escaped(with_names(std::string(text)), "\n\t"); }

}  // namespace

void write_message(std::string_view text) noexcept { write_error(shown(text)); }

void write_over_line(std::string_view text) noexcept { write_error("\r\x1b[K" + shown(text)); }

std::string as_rate(double fpr) {
  if (fpr == 0) return "0 %";
  if (fpr < 1e-5) return fmt::format("{:.2e}", fpr);
  const double percent = fpr * 100;
  return fmt::format("{:.{}f} %", percent, percent >= 10 ? 1 : percent >= 0.1 ? 2 : 4);
}

}  // namespace bloomery::cli
