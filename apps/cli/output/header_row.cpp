#include "cli/output/header_row.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace bloomery::cli {

std::string header_row::before(const chunk& c) {
  if (!wanted_ || c.header.empty()) return {};
  std::string_view names = c.header;
  while (names.ends_with('\n') || names.ends_with('\r')) names.remove_suffix(1);
  if (!std::exchange(printed_, true)) {
    names_ = names;
    file_ = c.file;
    return c.header.ends_with('\n') ? c.header : c.header + '\n';
  }
  if (names != names_ && !std::exchange(warned_, true)) {
    meter_->warn(
        fmt::format("warning: {} has other columns than {}, and its rows stand under the "
                    "names of that",
                    c.file, file_));
  }
  return {};
}

}  // namespace bloomery::cli
