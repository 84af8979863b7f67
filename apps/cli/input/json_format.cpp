// JSON lines: one field of each line's object is the key. A line without it is one without a key.
//
// A number's key is its text as it is written, so that a filter of numbers has the same keys
// whether they came as lines, in a column or in JSON, and numbers of any length stay different.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "cli/input/line_format.hpp"

namespace bloomery::cli {

namespace {

enum class json_part : std::uint8_t { key, nothing, structure };

// Follows the names that lead to the field, and takes what is there. Of names that are repeated in
// an object the last one counts, as with most programs.
class json_field final : public nlohmann::json_sax<nlohmann::json> {
 public:
  json_field(const std::vector<std::string>& names, std::string& key)
      : names_(&names), key_(&key) {}

  [[nodiscard]] json_part found() const { return found_; }
  [[nodiscard]] const char* mistake() const { return mistake_; }

  bool null() override { return pass(); }
  bool boolean(bool value) override { return take(value ? "true" : "false"); }
  bool number_unsigned(number_unsigned_t value) override { return take(fmt::to_string(value)); }
  // Only what begins with a minus comes here, and nothing else that does is 0.
  bool number_integer(number_integer_t value) override {
    return take(value == 0 ? "-0" : fmt::to_string(value));
  }
  // Also integers of more than 64 bits. The text is that of the input.
  bool number_float(number_float_t, const std::string& text) override { return take(text); }
  bool string(std::string& value) override { return take(value); }
  bool binary(binary_t&) override { return pass(); }

  bool start_object(std::size_t) override {
    if (depth_ == 0 || next_ == inner) on_way_ = depth_ + 1;
    return open();
  }
  bool key(std::string& name) override {
    next_ = nowhere;
    if (on_way_ != depth_ || name != (*names_)[depth_ - 1]) return true;
    found_ = json_part::nothing;
    next_ = depth_ == names_->size() ? field : inner;
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    constexpr int overflow = 406;
    mistake_ = e.id == overflow ? "a number that is too large" : "not JSON";
    return false;
  }

 private:
  enum place : std::uint8_t { nowhere, inner, field };  // where the next value is

  bool open() {
    if (next_ == field) found_ = json_part::structure;
    ++depth_;
    return pass();
  }
  bool close() {
    on_way_ = std::min(on_way_, --depth_);
    return true;
  }
  bool take(std::string_view text) {
    if (next_ == field) {
      *key_ = text;
      found_ = json_part::key;
    }
    return pass();
  }
  bool pass() {
    next_ = nowhere;
    return true;
  }

  const std::vector<std::string>* names_;
  std::string* key_;
  std::size_t depth_ = 0;   // objects and arrays that are open
  std::size_t on_way_ = 0;  // how many of them, from the outermost on, the names lead through
  place next_ = nowhere;
  json_part found_ = json_part::nothing;
  const char* mistake_ = "";
};

class json_format final : public line_format {
 public:
  explicit json_format(const record_options& o)
      : line_format('\n', false, false), wanted_(o.wanted()) {
    const std::string_view path =
        o.json_key;  // the names that lead to the field, with dots between
    for (std::size_t from = 0; from <= path.size();) {
      const std::size_t end = std::min(path.find('.', from), path.size());
      if (end == from) {
        throw error(errc::bad_argument,
                    fmt::format("--json-key is '{}', but must be names with dots between", path));
      }
      names_.emplace_back(path.substr(from, end - from));
      from = end + 1;
    }
  }

  void begin(chunk& c, bool first_of_file) override { number_lines(c, first_of_file); }
  void count(chunk& c) const override { split_to_count(c); }

  void split(chunk& c) const override {
    line_format::split(c);
    c.empty = 0;                              // an empty line is no object that could lack a key
    char* next = c.make_room(c.text.size());  // no key is longer than its text
    c.key_list.resize(c.number);
    std::size_t kept = 0;
    std::string key;
    for (const std::string_view record : c.records) {
      json_field here(names_, key);
      if (!nlohmann::json::sax_parse(record, &here)) {
        take_bad(c, record.data(), here.mistake());
      } else if (here.found() == json_part::structure) {
        take_bad(c, record.data(), "the field is an object or an array, not a key");
      } else if (here.found() == json_part::nothing) {
        take_keyless(c, kept, record, fmt::format("no {}", wanted_));
      } else {
        c.record_list[kept] = record;
        c.key_list[kept++] = {next, key.size()};
        next += key.copy(next, key.size());
      }
    }
    c.records = c.records.first(kept);
    c.keys = {c.key_list.data(), kept};
    c.number = kept;
  }

 private:
  std::string wanted_;
  std::vector<std::string> names_;
};

}  // namespace

std::unique_ptr<record_format> make_json_format(const record_options& o) {
  return std::make_unique<json_format>(o);
}

}  // namespace bloomery::cli
