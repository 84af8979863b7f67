// A CSV table whose first record names the columns, read row by row. A file is read again each
// time, so it may be larger than memory; a pipe, which cannot be read twice, is kept in memory.
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
  // Reads the columns' names. Throws, naming the file, when there are none or none is called `key`.
  csv_table(const std::string& path, const std::string& key, const std::string& delimiter,
            progress& meter);

  [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return columns_; }
  [[nodiscard]] std::size_t key_column() const noexcept { return key_column_; }

  // Gets a row's fields, without quotes, one for each column. They are valid during the call.
  using visit = std::function<void(std::span<const std::string_view> fields)>;
  // Calls `each` for each row, in order. Throws errc::corrupt, naming file, line and record, for a
  // row with another number of fields, a quote that is not closed, or text after a closing quote.
  void scan(const visit& each);

 private:
  void read_header(const chunk& c, const std::string& key);
  void split(const chunk& c, std::string_view record, std::uint64_t number);  // to fields_

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
