#include "cli/input/pair_lines.hpp"

#include <fmt/format.h>

#include "cli/input/record_ends.hpp"

namespace bloomery::cli {

std::uint64_t line_counter::first_line(const chunk& c) {
  if (c.file != file_) lines_ = 0;
  file_ = c.file;
  const std::uint64_t first = lines_ + 1;
  lines_ += count_records(c.text, '\n').all;
  return first;
}

std::optional<pair_line> split_pair(std::string_view line) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return std::nullopt;
  return pair_line{line.substr(0, tab), line.substr(tab + 1)};
}

void throw_bad_line(const chunk& c, std::uint64_t first_line, std::string_view line,
                    std::string_view what) {
  const auto before = static_cast<std::size_t>(line.data() - c.text.data());
  throw_bad_record(c, first_line + count_records(c.text.substr(0, before), '\n').all, what);
}

void throw_no_pair(const chunk& c, std::uint64_t first_line, std::string_view line) {
  constexpr std::size_t shown = 60;
  throw_bad_line(c, first_line, line,
                 fmt::format("'{}{}' is no key, tab and value", line.substr(0, shown),
                             line.size() > shown ? "..." : ""));
}

}  // namespace bloomery::cli
