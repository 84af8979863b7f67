// Numbers as people write and read them, and messages to them.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace bloomery::cli {

double parse_rate(std::string_view text);  // 0.01, 1% or 1e-2; throws errc::bad_argument
// k, M, G and T are powers of 1000, Ki, Mi, Gi and Ti of 1024, for keys and bytes alike.
std::uint64_t parse_count(std::string_view text);  // 1000, 1,000, 1e9, 64k, 2.5M, 10G, 1Mi
std::uint64_t parse_bytes(std::string_view text);  // 4096, 64k, 10M, 10MB, 2Gi, 2GiB
std::uint64_t parse_span(std::string_view text);   // 90s, 15m, 1h, 7d, 2w, in seconds

double parse_universe(std::string_view text);  // a count of any size, or 2^32
double parse_time(std::string_view text);      // 4ns, 20us, 1ms or 0.5s, in seconds

std::string with_commas(std::uint64_t value);                     // 1,234,567
std::string counted(std::uint64_t value, std::string_view what);  // 1 key, 1,234 keys
std::string as_span(std::uint64_t seconds);                       // 90 s, 1 h 5 min, 7 days 3 h
std::string as_last(std::uint64_t seconds);  // the last 90 s, or less than a second
std::string as_whole(double value);          // of an estimate that says how sure it is: 5,269
// Control characters as \n, \t, \x1b, but for those in `kept`, and so the bytes that are no UTF-8:
// a terminal that takes bytes for characters would obey some of them.
std::string escaped(std::string_view text, std::string_view kept = {});
std::string as_number(double value);  // of things, when it is estimated: 1.2, 12,300
std::string as_bytes(double bytes);   // 8.70 MB
std::string as_rate(double fpr);      // 1.00 %, or 1.00e-06 where that would be all zeros
std::string as_time(double seconds);  // 25.51 ms

// Wraps the text into lines of at most 79 columns that begin at `column`; the first one continues
// at column `at`.
std::string wrapped(std::string_view text, std::size_t at, std::size_t column);

// Writes to standard error. It never fails: a message that nobody can read is no reason to stop.
// A message may quote names and records of anybody, so it is escaped, but for line ends and tabs.
void write_message(std::string_view text) noexcept;
// The same in place of the line of a terminal that the cursor is in.
void write_over_line(std::string_view text) noexcept;
template <class... Args>
void tell(fmt::format_string<Args...> format, Args&&... args) {
  write_message(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace bloomery::cli
