// The row of column names of CSV, for verbs that print rows: once, before the rows of all files.
#pragma once

#include <string>

#include "cli/input/records.hpp"
#include "cli/output/progress.hpp"

namespace bloomery::cli {

class header_row {
 public:
  header_row(bool wanted, progress& meter) : wanted_(wanted), meter_(&meter) {}

  // What to print before the rows of this chunk, with its line end; mostly nothing. Chunks come in
  // order. Warns once of a file whose columns are others than those that were printed.
  std::string before(const chunk& c);

 private:
  bool wanted_;
  progress* meter_;
  bool printed_ = false;
  bool warned_ = false;
  std::string names_;  // the row without its line end
  std::string file_;
};

}  // namespace bloomery::cli
