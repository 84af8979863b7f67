// What check and redis check share: which records the answers select, and what is printed of them.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/args/options.hpp"
#include "cli/input/records.hpp"

namespace bloomery::cli {

struct selection_options {
  bool invert = false;
  bool count = false;
  bool only_keys = false;
  bool no_header = false;
  bool annotate = false;
  bool number = false;
  bool file_name = false;
  bool line_buffered = false;
  std::optional<std::uint64_t> most;
  bool json = false;

  [[nodiscard]] bool prints() const { return !count && !json; }
};
void add_selection_options(command& verb,
                           selection_options& o);  // those that grep has, too, and --no-header

// Asks filter number `which` about all keys of a chunk: bit i % 64 of bitmap[i / 64] is the answer
// for key i. Several threads call it at once.
using ask_filter =
    std::function<void(const chunk&, std::size_t which, std::span<std::uint64_t> bitmap)>;

// Asks about all records and prints the selected ones, in input order. Of several filters, the
// names of those that have the record stand before it. JSON has `more`, too. With --quiet nothing
// is printed, and the first selected record ends it, as with grep. Returns the exit status.
int select_records(const input_options& input, const selection_options& o,
                   const std::vector<std::string>& filters, const ask_filter& ask,
                   nlohmann::json more = nlohmann::json::object());

}  // namespace bloomery::cli
