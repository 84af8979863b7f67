// A column of a table: fields with a delimiter between them, quoted as RFC 4180 has it, so that a field may hold
// delimiters, line ends and doubled quotes.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "bloomery/core/error.hpp"
#include "cli/records.hpp"

namespace bloomery::cli {

namespace {

constexpr char quote = '"';

class csv_format final : public record_format {
 public:
  explicit csv_format(const record_options& o)
      : delimiter_(parse_delimiter(o.delimiter)), header_(o.header), keep_empty_(o.keep_empty) {
    const char* const last = o.column.data() + o.column.size();
    const auto [end, failure] = std::from_chars(o.column.data(), last, number_);
    if (failure == std::errc() && end == last) {
      if (number_ == 0) throw error(errc::bad_argument, "--column counts from 1");
    } else {
      number_ = 0;
      name_ = o.column;
    }
  }

  // Records begin outside of quotes, so a quote that is not part of a field's text changes sides. Within an
  // unquoted field a quote is just a character, hence the walk over fields.
  [[nodiscard]] std::size_t whole(std::string_view text, std::size_t) const override {
    std::size_t end = 0;
    for (std::size_t at = 0; at < text.size();) {
      const field f = field_at(text, at);
      if (!f.closed) break;
      at = f.next;
      if (f.last && f.stop < text.size()) end = at;
    }
    return end;
  }

  void begin(chunk& c, bool first_of_file) override {
    number_lines(c, first_of_file);
    if (first_of_file) column_ = number_ == 0 ? 0 : number_ - 1;
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
      field key;
      field f;
      do {
        f = field_at(c.text, at);
        if (!f.closed)
          throw_bad_record(c, line_of(c, c.text.data() + start), "a quote that is never closed");
        if (columns++ == c.column) key = f;
        at = f.next;
      } while (!f.last);
      const std::string_view record = c.text.substr(start, f.stop - start);
      if (record.empty() || record == "\r") continue;  // an empty line is no row
      if (columns <= c.column) {
        throw_bad_record(c, line_of(c, c.text.data() + start),
                         fmt::format("the row has {} columns, not {}", columns, c.column + 1));
      }
      const std::string_view text = unquoted(c.text, key, next);
      if (text.empty() && !keep_empty_) continue;
      c.key_list.push_back(text);
      c.record_list.push_back(record);
    }
    c.keys = c.key_list;
    c.records = c.record_list;
    c.number = c.keys.size();
  }

 private:
  struct field {
    std::size_t begin = 0;  // of its text, without the quotes
    std::size_t end = 0;
    std::size_t stop = 0;  // the delimiter, the line end or the end of the text,
    std::size_t next = 0;  // and what is behind it
    bool quoted = false;
    bool doubled = false;  // has doubled quotes
    bool last = false;     // of its record
    bool closed = true;    // false: the text ends inside
  };

  static char parse_delimiter(const std::string& text) {
    if (text.empty()) return ',';
    if (text == "\\t" || text == "tab") return '\t';
    if (text.size() != 1 || text[0] == quote || text[0] == '\n' || text[0] == '\r') {
      throw error(errc::bad_argument,
                  fmt::format("--delimiter is '{}', but must be one character, or \\t", text));
    }
    return text[0];
  }

  [[nodiscard]] field field_at(std::string_view text, std::size_t at) const {
    field f{.begin = at};
    if (at < text.size() && text[at] == quote) {
      f.quoted = true;
      f.begin = at + 1;
      for (std::size_t from = f.begin;;) {
        const std::size_t found = text.find(quote, from);
        if (found == std::string_view::npos) {
          f.closed = false;
          return f;
        }
        f.end = found;
        at = found + 1;
        if (at >= text.size() || text[at] != quote) break;
        f.doubled = true;
        from = at + 1;
      }
    }
    // Up to the delimiter or the line end; text behind a closing quote belongs to nobody and is passed over.
    while (at < text.size() && text[at] != delimiter_ && text[at] != '\n') ++at;
    f.last = at >= text.size() || text[at] == '\n';
    if (!f.quoted) {
      f.end = at;
      if (f.last && f.end > f.begin && text[f.end - 1] == '\r') --f.end;
    }
    f.stop = at;
    f.next = std::min(at + 1, text.size());
    return f;
  }

  static std::string_view unquoted(std::string_view text, const field& f, char*& next) {
    const std::string_view raw = text.substr(f.begin, f.end - f.begin);
    if (!f.doubled) return raw;
    char* const start = next;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      *next++ = raw[i];
      if (raw[i] == quote) ++i;
    }
    return {start, static_cast<std::size_t>(next - start)};
  }

  // The first record of a file names the columns.
  void read_header(chunk& c) {
    bool found = number_ != 0;
    std::size_t at = 0;
    field f;
    std::string names;
    for (std::size_t i = 0; !f.last; ++i) {
      f = field_at(c.text, at);
      if (!f.closed) throw_bad_record(c, 1, "a quote that is never closed");
      char* room = c.make_room(c.text.size());
      const std::string_view name = unquoted(c.text, f, room);
      if (!found && name == name_) {
        column_ = i;
        found = true;
      }
      names += (names.empty() ? "" : ", ") + std::string(name.substr(0, 40));
      at = f.next;
    }
    if (!found) {
      throw_bad_record(c, 1, fmt::format("there is no column '{}' among {}", name_, names));
    }
    c.first_line += count_records(c.text.substr(0, at), '\n').all;
    c.text.remove_prefix(at);
  }

  char delimiter_;
  bool header_;
  bool keep_empty_;
  std::size_t number_ = 0;  // counted from 1; 0: by name
  std::string name_;
  std::size_t column_ = 0;
};

}  // namespace

std::unique_ptr<record_format> make_csv_format(const record_options& o) {
  return std::make_unique<csv_format>(o);
}

}  // namespace bloomery::cli
