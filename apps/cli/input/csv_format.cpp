// CSV, of which one column holds the keys.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "bloomery/core/error.hpp"
#include "cli/input/csv_fields.hpp"
#include "cli/input/records.hpp"

namespace bloomery::cli {

namespace {

class csv_format final : public record_format {
 public:
  explicit csv_format(const record_options& o)
      : fields_(o.delimiter), header_(o.header), keep_empty_(o.keep_empty), wanted_(o.wanted()) {
    name_ = o.column;
    if (o.column_by_name) return;
    if (name_.size() > 2 && name_.front() == '"' && name_.back() == '"') {
      name_ = name_.substr(1, name_.size() - 2);
      return;
    }
    const char* const last = o.column.data() + o.column.size();
    const auto [end, failure] = std::from_chars(o.column.data(), last, number_);
    if (failure == std::errc() && end == last) {
      if (number_ == 0) throw error(errc::bad_argument, "--column counts from 1");
    } else {
      number_ = 0;
    }
  }

  // The end of a record is a line end outside quotes. Counting quotes would not find it, because
  // within an unquoted field a quote is an ordinary character; so this goes over the fields.
  [[nodiscard]] std::size_t whole(std::string_view text, std::size_t) const override {
    std::size_t end = 0;
    for (std::size_t at = 0; at < text.size();) {
      const csv_field f = fields_.field_at(text, at);
      if (!f.closed) break;
      at = f.next;
      if (f.last && f.stop < text.size()) end = at;
    }
    return end;
  }

  void begin(chunk& c, bool first_of_file) override {
    number_lines(c, first_of_file);
    if (first_of_file) column_ = number_ == 0 ? 0 : number_ - 1;
    c.header.clear();
    if (first_of_file && (header_ || number_ == 0)) read_header(c);
    c.column = column_;
  }

  void split(chunk& c) const override {
    c.key_list.clear();
    c.record_list.clear();
    char* next = c.make_room(c.text.size());
    for (std::size_t at = 0; at < c.text.size();) {
      const std::size_t start = at;
      std::size_t columns = 0;
      bool tail = false;
      csv_field key;
      csv_field f;
      do {
        f = fields_.field_at(c.text, at);
        if (!f.closed) break;
        if (columns++ == c.column) key = f;
        tail = tail || csv_fields::has_tail(c.text, f);
        at = f.next;
      } while (!f.last);
      if (!f.closed) {  // only the line is left out, and not all that follows
        take_bad(c, c.text.data() + start, "a quote that is never closed");
        at = std::min(c.text.find('\n', start), c.text.size() - 1) + 1;
        continue;
      }
      const std::string_view record = c.text.substr(start, f.stop - start);
      if (record.empty() || record == "\r") continue;  // an empty line is no row
      if (columns <= c.column) {
        take_row(c, record,
                 fmt::format("the row has {} column{}, not {}", columns, columns == 1 ? "" : "s",
                             c.column + 1));
        continue;
      }
      if (tail) {  // what was meant, and where the columns are, is anybody's guess
        take_row(c, record, csv_fields::tail_mistake);
        continue;
      }
      const std::string_view text = csv_fields::unquoted(c.text, key, next);
      if (text.empty() && !keep_empty_) {
        take_keyless(c, c.key_list.size(), record, fmt::format("no {}", wanted_));
        continue;
      }
      c.key_list.push_back(text);
      c.record_list.push_back(record);
    }
    c.keys = c.key_list;
    c.records = c.record_list;
    c.number = c.keys.size();
  }

 private:
  // A bad row may have line ends in quotes: its last line is told too, so that none of them
  // vanishes.
  void take_row(chunk& c, std::string_view row, std::string_view what) const {
    const auto more = static_cast<std::uint64_t>(std::ranges::count(row, '\n'));
    if (more == 0) return take_bad(c, row.data(), what);
    const std::uint64_t line = line_of(c, row.data());
    take_bad(c, row.data(),
             fmt::format("{}, in the row of lines {} to {}", what, line, line + more));
  }

  void read_header(chunk& c) {  // the first record of a file names the columns
    std::size_t found = 0;
    std::size_t at = 0;
    csv_field f;
    std::string names;
    for (std::size_t i = 0; !f.last; ++i) {
      f = fields_.field_at(c.text, at);
      if (!f.closed) throw_bad_record(c, 1, "a quote that is never closed");
      if (csv_fields::has_tail(c.text, f)) throw_bad_record(c, 1, csv_fields::tail_mistake);
      char* room = c.make_room(c.text.size());
      const std::string_view name = csv_fields::unquoted(c.text, f, room);
      if (number_ == 0 && name == name_) {
        column_ = i;
        ++found;
      }
      names += (names.empty() ? "" : ", ") + std::string(name.substr(0, 40));
      at = f.next;
    }
    if (found > 1) throw_bad_record(c, 1, fmt::format("two columns are called '{}'", name_));
    if (number_ == 0 && found == 0) {
      throw_bad_record(c, 1, fmt::format("there is no column '{}' among {}", name_, names));
    }
    c.header = c.text.substr(0, at);
    c.first_line += count_records(c.text.substr(0, at), '\n').all;
    c.text.remove_prefix(at);
  }

  csv_fields fields_;
  bool header_;
  bool keep_empty_;
  std::string wanted_;
  std::size_t number_ = 0;  // counted from 1; 0: by name
  std::string name_;
  std::size_t column_ = 0;
};

}  // namespace

std::unique_ptr<record_format> make_csv_format(const record_options& o) {
  return std::make_unique<csv_format>(o);
}

}  // namespace bloomery::cli
