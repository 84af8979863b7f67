#include "cli/input/csv_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bloomery/core/error.hpp"

namespace bloomery::cli {

namespace {

record_options rows_of(const std::string& key, const std::string& delimiter) {
  record_options o;
  o.column = key;
  o.column_by_name = true;
  o.delimiter = delimiter;
  o.keep_empty = true;
  return o;
}

}  // namespace

csv_table::csv_table(const std::string& path, const std::string& key, const std::string& delimiter,
                     progress& meter)
    : syntax_(delimiter), source_({path}, rows_of(key, delimiter), meter) {
  chunk c;
  if (!source_.next(c)) {
    throw error(errc::corrupt,
                fmt::format("{}: is empty; its first line must name the columns", path));
  }
  read_header(c, key);
  if (source_.rereadable()) return;
  std::uint64_t number = 1;
  do {
    for (const std::string_view record : c.records) {
      split(c, record, ++number);
      records_.emplace_back(record);
    }
  } while (source_.next(c));
  kept_ = true;
}

void csv_table::read_header(const chunk& c, const std::string& key) {
  std::string room(c.header.size(), '\0');
  char* next = room.data();
  csv_field f;
  do {
    f = syntax_.field_at(c.header, f.next);
    columns_.emplace_back(csv_fields::unquoted(c.header, f, next));
  } while (!f.last);
  const auto found = std::find(columns_.begin(), columns_.end(), key);
  key_column_ = static_cast<std::size_t>(found - columns_.begin());
}

void csv_table::split(const chunk& c, std::string_view record, std::uint64_t number) {
  const auto complain = [&](std::string_view what) {
    throw_bad_record(c, line_of(c, record.data()), fmt::format("record {} has {}", number, what));
  };
  fields_.clear();
  unquoted_.resize(std::max(unquoted_.size(), record.size()));
  char* next = unquoted_.data();
  csv_field f;
  do {
    f = syntax_.field_at(record, f.next);
    fields_.push_back(csv_fields::unquoted(record, f, next));
  } while (!f.last);
  if (fields_.size() != columns_.size()) {
    complain(fmt::format("{} fields, not {} as the first", fields_.size(), columns_.size()));
  }
}

void csv_table::scan(const visit& each) {
  if (kept_) {
    const chunk nowhere;
    for (const std::string& record : records_) {
      split(nowhere, record, 0);
      each(fields_);
    }
    return;
  }
  source_.rewind();
  chunk c;
  for (std::uint64_t number = 1; source_.next(c);) {
    for (const std::string_view record : c.records) {
      split(c, record, ++number);
      each(fields_);
    }
  }
}

}  // namespace bloomery::cli
