// Keys that are spelled: bytes in hexadecimal, integers and other numbers in decimal. Another
// format finds them, as lines, in a column or in a field of JSON, and this one converts them.
// Records stay as they are.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "cli/input/records.hpp"

namespace bloomery::cli {

namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// These append the bytes that `text` stands for to `to`, or throw errc::bad_argument.
void read_hex(std::string_view text, std::string& to) {
  if (text.size() % 2 != 0) {
    throw error(errc::bad_argument, "an odd number of hexadecimal digits");
  }
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = digit(text[i]);
    const int low = digit(text[i + 1]);
    if (high < 0 || low < 0) throw error(errc::bad_argument, "not a hexadecimal number");
    to.push_back(static_cast<char>(high * 16 + low));
  }
}
// The eight bytes of an integer in decimal, or in hexadecimal after 0x.
void read_integer(std::string_view text, std::string& to) {
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
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The eight bytes of a double, as this machine has them.
void read_double(std::string_view text, std::string& to) {
  constexpr std::string_view blank = " \t\r";
  const std::size_t first = text.find_first_not_of(blank);
  text = first == std::string_view::npos ? "" : text.substr(first);
  text = text.substr(0, text.find_last_not_of(blank) + 1);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure == std::errc::result_out_of_range) {
    throw error(errc::bad_argument, "the number is too large or too small");
  }
  if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    throw error(errc::bad_argument, "not a number");
  }
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

class spelled_format final : public record_format {
 public:
  spelled_format(const record_options& o, std::unique_ptr<record_format> found)
      : read_(o.integers  ? read_integer
              : o.numbers ? read_double
                          : read_hex),
        found_(std::move(found)) {}

  [[nodiscard]] std::string_view terminator() const override { return found_->terminator(); }
  [[nodiscard]] std::size_t whole(std::string_view text, std::size_t searched) const override {
    return found_->whole(text, searched);
  }
  void begin(chunk& c, bool first_of_file) override {
    number_lines(c, first_of_file);
    found_->begin(c, first_of_file);
  }

  void split(chunk& c) const override {
    found_->split(c);
    // Reserves memory for all keys first, so that none of them moves.
    std::size_t size = 0;
    for (const std::string_view key : c.keys)
      size += read_ == read_hex ? key.size() / 2 : sizeof(std::uint64_t);
    c.read.clear();
    c.read.reserve(size);
    c.key_list.resize(c.number);
    std::size_t kept = 0;
    auto keyless = c.keyless.begin();
    for (std::size_t i = 0; i < c.number; ++i) {
      for (; keyless != c.keyless.end() && keyless->before <= i; ++keyless) keyless->before = kept;
      const std::size_t start = c.read.size();
      try {
        read_(c.keys[i], c.read);
      } catch (const error& e) {
        take_bad(c, c.records[i].data(), e.what());
        c.read.resize(start);
        continue;
      }
      c.record_list[kept] = c.records[i];
      c.key_list[kept++] = std::string_view(c.read).substr(start);
    }
    for (; keyless != c.keyless.end(); ++keyless) keyless->before = kept;
    std::ranges::sort(c.bad, {}, &bad_record::line);  // the other format had some, too
    c.key_list.resize(kept);
    c.records = c.records.first(kept);
    c.number = kept;
    c.keys = c.key_list;
  }

 private:
  void (*read_)(std::string_view text, std::string& to);
  std::unique_ptr<record_format> found_;
};

}  // namespace

std::string spelled_key(std::string_view text, const record_options& o) {
  std::string key;
  if (o.kmer != 0) {
    // A piece of DNA is a sequence of one k-mer.
    const std::string sequence = ">\n" + std::string(text);
    chunk c;
    c.text = sequence;
    const auto format = make_kmer_format(o.kmer);
    format->begin(c, true);
    format->split(c);
    if (text.size() != o.kmer || c.keys.size() != 1) {
      throw error(errc::bad_argument,
                  fmt::format("'{}' is no {}-mer of A, C, G and T (or U)", text, o.kmer));
    }
    key = c.keys.front();
  } else if (o.integers) {
    read_integer(text, key);
  } else if (o.numbers) {
    read_double(text, key);
  } else if (o.hex) {
    read_hex(text, key);
  } else {
    key = text;
  }
  return key;
}

void append_readable(std::string& to, std::string_view key, const record_options& o) {
  if (o.integers && key.size() == sizeof(std::uint64_t)) {
    std::uint64_t value = 0;
    std::memcpy(&value, key.data(), sizeof value);
    to.append(std::to_string(detail::little_endian(value)));
  } else if (o.hex) {
    for (const char c : key) to.append(fmt::format("{:02x}", static_cast<unsigned char>(c)));
  } else {
    to.append(key);
  }
}

std::unique_ptr<record_format> make_spelled_format(const record_options& o,
                                                   std::unique_ptr<record_format> found) {
  return std::make_unique<spelled_format>(o, std::move(found));
}

}  // namespace bloomery::cli
