// Finds the fields of CSV in turn, quoted as in RFC 4180: they may contain delimiters, line ends
// and doubled quotes. csv_format.cpp reads a column with it and refuses what is
// no CSV, csv_table.cpp splits the rows that it found.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "bloomery/core/error.hpp"

namespace bloomery::cli {

struct csv_field {
  std::size_t begin = 0;  // where its text begins, after the quote if it has one
  std::size_t end = 0;
  std::size_t stop = 0;  // where it ends: at the delimiter, the line end or the end of the text
  std::size_t next = 0;  // the beginning of the next field or record
  bool quoted = false;
  bool doubled = false;  // whether it has doubled quotes
  bool last = false;     // whether it is the last one of its record
  bool closed = true;    // false if the text ends inside the quotes
};

class csv_fields {
 public:
  static constexpr char quote = '"';

  // Takes the delimiter of the command line, empty for a comma. Throws errc::bad_argument.
  explicit csv_fields(const std::string& delimiter) : delimiter_(parse_delimiter(delimiter)) {}

  [[nodiscard]] char delimiter() const noexcept { return delimiter_; }

  // The field that begins at `at`. Within an unquoted field a quote is an ordinary character.
  [[nodiscard]] csv_field field_at(std::string_view text, std::size_t at) const {
    csv_field f{.begin = at};
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
    // Goes to the delimiter or the line end. Text after a closing quote is a mistake: has_tail().
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

  // A field's text. One with doubled quotes is written to `next`, which has room and is advanced.
  [[nodiscard]] static std::string_view unquoted(std::string_view text, const csv_field& f,
                                                 char*& next) {
    const std::string_view raw = text.substr(f.begin, f.end - f.begin);
    if (!f.doubled) return raw;
    char* const start = next;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      *next++ = raw[i];
      if (raw[i] == quote) ++i;
    }
    return {start, static_cast<std::size_t>(next - start)};
  }

  // Whether there is text between the closing quote and the end of the field. What such a field
  // means is not known: programs cut the text, keep the quotes, or read on to the next quote.
  static constexpr const char* tail_mistake = "text behind a closing quote";
  [[nodiscard]] static bool has_tail(std::string_view text, const csv_field& f) {
    if (!f.quoted) return false;
    const std::string_view tail = text.substr(f.end + 1, f.stop - f.end - 1);
    return !tail.empty() && !(f.last && tail == "\r");
  }

  void append(std::string& to, std::string_view text) const {  // in quotes if it needs them
    if (std::none_of(text.begin(), text.end(), [this](char c) {
          return c == delimiter_ || c == quote || c == '\n' || c == '\r';
        })) {
      to += text;
      return;
    }
    to += quote;
    for (const char c : text) {
      if (c == quote) to += quote;
      to += c;
    }
    to += quote;
  }

 private:
  static char parse_delimiter(const std::string& text) {
    if (text.empty()) return ',';
    if (text == "\\t" || text == "tab") return '\t';
    if (text.size() != 1 || text[0] == quote || text[0] == '\n' || text[0] == '\r') {
      throw error(errc::bad_argument,
                  fmt::format("--delimiter is '{}', but must be one character, or \\t", text));
    }
    return text[0];
  }

  char delimiter_;
};

}  // namespace bloomery::cli
