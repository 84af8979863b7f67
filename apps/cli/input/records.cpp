#include "cli/input/records.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <utility>

#include "bloomery/core/error.hpp"
#include "cli/input/line_format.hpp"

namespace bloomery::cli {

char* chunk::make_room(std::size_t size) {
  if (made_capacity < size) {
    made = std::make_unique_for_overwrite<char[]>(size);
    made_capacity = size;
  }
  return made.get();
}

void throw_bad_record(const chunk& c, std::uint64_t line, std::string_view what) {
  throw error(errc::corrupt, fmt::format("{}:{}: {}", c.file, line, what));
}

std::uint64_t line_of(const chunk& c, const char* at) {
  const auto before = static_cast<std::size_t>(at - c.text.data());
  return c.first_line + count_records(c.text.substr(0, before), '\n').all;
}

void record_format::begin(chunk&, bool) {}

void record_format::take_bad(chunk& c, const char* record, std::string_view what) const {
  const std::uint64_t line = line_of(c, record);
  if (policy_ != bad_records::skip) throw_bad_record(c, line, what);
  c.bad.push_back({line, std::string(what)});
}

void record_format::take_keyless(chunk& c, std::size_t before, std::string_view record,
                                 std::string_view what) const {
  if (policy_ == bad_records::strict) throw_bad_record(c, line_of(c, record.data()), what);
  c.keyless.push_back({before, record});
}

void record_format::number_lines(chunk& c, bool first_of_file) {
  const std::uint64_t before = first_of_file ? 0 : lines_before_.value_or(0);
  c.first_line = before + 1;
  lines_before_ = before + count_records(c.text, '\n').all;
}

void record_format::split_to_count(chunk& c) const {
  split(c);
  c.keys = {};
  c.records = {};
}

namespace {

class fixed_format final : public record_format {
 public:
  explicit fixed_format(std::uint64_t size) : size_(static_cast<std::size_t>(size)) {}

  [[nodiscard]] std::string_view terminator() const override { return {}; }
  [[nodiscard]] std::size_t whole(std::string_view text, std::size_t) const override {
    return text.size() / size_ * size_;
  }
  void split(chunk& c) const override {
    if (c.text.size() % size_ != 0) {
      throw error(errc::corrupt,
                  fmt::format("{}: ends in the middle of a record of {} bytes", c.file, size_));
    }
    c.record_list.clear();
    for (std::size_t at = 0; at < c.text.size(); at += size_) {
      c.record_list.push_back(c.text.substr(at, size_));
    }
    c.records = c.record_list;
    c.keys = c.records;
    c.number = c.keys.size();
  }

 private:
  std::size_t size_;
};

// Throws errc::bad_argument when two of the options are given.
void at_most_one(std::initializer_list<std::pair<bool, const char*>> options) {
  const char* first = nullptr;
  for (const auto& [given, option] : options) {
    if (!given) continue;
    if (first != nullptr) {
      throw error(errc::bad_argument,
                  fmt::format("{} and {} are two forms of input; choose one", first, option));
    }
    first = option;
  }
}

void check_forms(const record_options& o) {
  at_most_one({{!o.column.empty(), "--column"},
               {!o.json_key.empty(), "--json-key"},
               {o.null, "--null"},
               {o.record_bytes != 0, "--record-bytes"},
               {o.kmer != 0, "--kmer"}});
  // A column or JSON field is not in this list: it may spell the key in hexadecimal or decimal.
  at_most_one({{o.null, "--null"},
               {o.record_bytes != 0, "--record-bytes"},
               {o.kmer != 0, "--kmer"},
               {o.hex, "--hex"},
               {o.integers, "--integers"}});
  if (o.column.empty() && (!o.delimiter.empty() || o.header)) {
    throw error(errc::bad_argument, "--delimiter and --header are for --column");
  }
}

// The format of records without the spelling of keys.
std::unique_ptr<record_format> make_form(const record_options& o) {
  if (!o.column.empty()) return make_csv_format(o);
  if (!o.json_key.empty()) return make_json_format(o);
  if (o.record_bytes != 0) return std::make_unique<fixed_format>(o.record_bytes);
  if (o.kmer != 0) return make_kmer_format(o.kmer);
  return std::make_unique<line_format>(o.null ? '\0' : '\n', o.keep_empty, o.crlf);
}

}  // namespace

std::unique_ptr<record_format> make_format(const record_options& o) {
  check_forms(o);
  std::unique_ptr<record_format> form = make_form(o);
  form->set_policy(o.on_bad());
  if (o.hex || o.integers || o.numbers) {
    form = make_spelled_format(o, std::move(form));
    form->set_policy(o.on_bad());
  }
  return form;
}

std::string record_options::wanted() const {
  if (!column.empty()) return fmt::format("key in column '{}'", column);
  return json_key.empty() ? "key" : fmt::format("field '{}'", json_key);
}

}  // namespace bloomery::cli
