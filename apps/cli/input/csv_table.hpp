// A table in a CSV file whose first record names the columns. It is read row by row, as often as
// needed.
//
// A file is read again each time, so that a table may be larger than memory. An input that cannot
// be read twice, such as a pipe, is kept in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/input/csv_fields.hpp"
#include "cli/input/source.hpp"
#include "cli/output/progress.hpp"

namespace bloomery::cli {

class csv_table {
 public:
  // Reads the names of the columns. Throws, naming the file, when there are none, or when none is
  // called `key`.
  csv_table(const std::string& path, const std::string& key, const std::string& delimiter,
            progress& meter);

  [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return columns_; }
  // The index of the key among the columns.
  [[nodiscard]] std::size_t key_column() const noexcept { return key_column_; }

  // Gets the fields of a row, without quotes, as many as there are columns. They are valid during
  // the call.
  using visit = std::function<void(std::span<const std::string_view> fields)>;
  // Calls `each` for each row, in order. Throws errc::corrupt, naming file, line and record, for a
  // row with another number of fields, a quote that is not closed, or text after a closing quote.
  void scan(const visit& each);

 private:
  void read_header(const chunk& c, const std::string& key);
  // Writes the fields of a record to fields_.
  void split(const chunk& c, std::string_view record, std::uint64_t number);

  csv_fields syntax_;
  key_source source_;
  std::vector<std::string> columns_;
  std::size_t key_column_ = 0;
  bool kept_ = false;                 // whether the rows are in memory
  std::vector<std::string> records_;  // the rows, if they are
  std::vector<std::string_view> fields_;
  std::string unquoted_;
};

}  // namespace bloomery::cli
