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

void throw_no_pair(const chunk& c, std::uint64_t first_line, std::string_view line) {
  constexpr std::size_t shown = 60;
  const auto before = static_cast<std::size_t>(line.data() - c.text.data());
  throw_bad_record(c, first_line + count_records(c.text.substr(0, before), '\n').all,
                   fmt::format("'{}{}' is no key, tab and value", line.substr(0, shown),
                               line.size() > shown ? "..." : ""));
}

}  // namespace bloomery::cli
