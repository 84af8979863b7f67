// What check and redis check share: which records the answers select, and what is printed of them.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>

#include "cli/args/options.hpp"
#include "cli/input/records.hpp"

namespace bloomery::cli {

struct selection_options {
  bool invert = false;
  bool count = false;
  bool only_keys = false;
  bool no_header = false;
  bool annotate = false;
  bool json = false;
};
void add_selection_options(command& verb,
                           selection_options& o);  // --invert, --count and --no-header

// Asks about all keys: several threads call ask(chunk, bitmap), and bit i % 64 of bitmap[i / 64] is
// the answer for key i. Output is in input order; JSON has `more`, too. Returns the exit status.
int select_records(const input_options& input, const selection_options& o,
                   const std::function<void(const chunk&, std::span<std::uint64_t> bitmap)>& ask,
                   nlohmann::json more = nlohmann::json::object());

}  // namespace bloomery::cli
