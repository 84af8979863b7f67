#include "cli/records.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>

#include "bloomery/core/arithmetic.hpp"
#include "bloomery/core/error.hpp"
#include "cli/line_format.hpp"

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

class hex_format final : public converting_format {
 public:
  explicit hex_format(bool crlf) : converting_format(crlf) {}

 private:
  static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  }

  [[nodiscard]] std::size_t room_for(const chunk& c) const override { return c.text.size(); }
  std::optional<std::size_t> convert(const chunk& c, std::string_view key, char* to,
                                     line_function line) const override {
    if (key.size() % 2 != 0) throw_bad_record(c, line(), "an odd number of hexadecimal digits");
    for (std::size_t i = 0; i < key.size(); i += 2) {
      const int high = digit(key[i]);
      const int low = digit(key[i + 1]);
      if (high < 0 || low < 0) throw_bad_record(c, line(), "not a hexadecimal number");
      to[i / 2] = static_cast<char>(high * 16 + low);
    }
    return key.size() / 2;
  }
};

// A key is the eight bytes of a number, little-endian; the hash function knows them as one (keys.hpp).
class integer_format final : public converting_format {
 public:
  explicit integer_format(bool crlf) : converting_format(crlf) {}

 private:
  [[nodiscard]] std::size_t room_for(const chunk& c) const override { return c.number * 8; }
  std::optional<std::size_t> convert(const chunk& c, std::string_view key, char* to,
                                     line_function line) const override {
    try {
      return integer_key(key).copy(to, sizeof(std::uint64_t));
    } catch (const error& e) {
      throw_bad_record(c, line(), e.what());
    }
  }
};

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

void check_forms(const record_options& o) {
  struct form {
    bool given;
    const char* option;
  };
  const std::array<form, 7> forms = {{{o.null, "--null"},
                                      {!o.column.empty(), "--column"},
                                      {!o.json_key.empty(), "--json-key"},
                                      {o.record_bytes != 0, "--record-bytes"},
                                      {o.hex, "--hex"},
                                      {o.integers, "--integers"},
                                      {o.kmer != 0, "--kmer"}}};
  const char* first = nullptr;
  for (const form& f : forms) {
    if (!f.given) continue;
    if (first != nullptr) {
      throw error(errc::bad_argument,
                  fmt::format("{} and {} are two forms of input; choose one", first, f.option));
    }
    first = f.option;
  }
  if (o.column.empty() && (!o.delimiter.empty() || o.header)) {
    throw error(errc::bad_argument, "--delimiter and --header are for --column");
  }
}

}  // namespace

std::string integer_key(std::string_view text) {
  std::uint64_t value = 0;
  const bool negative = text.starts_with('-');
  const bool hex = text.starts_with("0x");
  const char* const first = text.data() + (negative ? 1 : hex ? 2 : 0);
  const char* const last = text.data() + text.size();
  const auto [end, failure] = std::from_chars(first, last, value, hex ? 16 : 10);
  const bool too_low = negative && value > std::uint64_t{1} << 63U;
  if (failure == std::errc::result_out_of_range || too_low) {
    throw error(errc::bad_argument, "the number does not fit into 64 bits");
  }
  if (failure != std::errc() || end != last) throw error(errc::bad_argument, "not a whole number");
  value = detail::little_endian(negative ? -value : value);
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::unique_ptr<record_format> make_format(const record_options& o) {
  check_forms(o);
  if (!o.column.empty()) return make_csv_format(o);
  if (!o.json_key.empty()) return make_json_format(o);
  if (o.record_bytes != 0) return std::make_unique<fixed_format>(o.record_bytes);
  if (o.hex) return std::make_unique<hex_format>(o.crlf);
  if (o.integers) return std::make_unique<integer_format>(o.crlf);
  if (o.kmer != 0) return make_kmer_format(o.kmer);
  return std::make_unique<line_format>(o.null ? '\0' : '\n', o.keep_empty, o.crlf);
}

}  // namespace bloomery::cli
