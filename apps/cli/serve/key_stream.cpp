#include "cli/serve/key_stream.hpp"

#include <fmt/format.h>

#include <utility>

#include "bloomery/core/error.hpp"
#include "cli/serve/http.hpp"

namespace bloomery::cli {

record_options options_of_form(const key_form& form) {
  record_options o;
  o.keep_empty = true;  // the third answer is about the third line
  o.integers = form.type == key_type::integers;
  o.hex = form.type == key_type::binary;
  o.kmer = form.type == key_type::kmers ? form.length : 0;
  return o;
}

namespace {

[[noreturn]] void refuse_long_key() {
  throw http_error(413, fmt::format("a key has more than {} bytes", longest_http_key));
}

class line_stream final : public key_stream {
 public:
  explicit line_stream(const key_form& form) : options_(options_of_form(form)) {
    record_options lines = options_;
    lines.kmer = 0;  // a piece a line, and no sequences
    format_ = make_format(lines);
    chunk_.file = "line";
  }

  void feed(std::string_view piece, const sink& take) override {
    if (!carry_.empty()) {
      // The first line alone has to be put together.
      const std::size_t end = piece.find('\n');
      const std::string_view first = piece.substr(0, end == std::string_view::npos ? end : end + 1);
      if (carry_.size() + first.size() > longest_http_key) refuse_long_key();
      carry_ += first;
      if (end == std::string_view::npos) return;
      split(carry_, take);
      carry_.clear();
      piece.remove_prefix(first.size());
    }
    const std::size_t whole = format_->whole(piece, 0);
    if (whole != 0) split(piece.substr(0, whole), take);
    if (piece.size() - whole > longest_http_key) refuse_long_key();
    carry_ = piece.substr(whole);
  }

  void finish(const sink& take) override {
    if (!carry_.empty()) split(carry_, take);
    carry_.clear();
  }

 private:
  void split(std::string_view text, const sink& take) {
    chunk_.text = text;
    try {
      format_->begin(chunk_, std::exchange(first_, false));
      format_->split(chunk_);
      if (options_.kmer == 0) return take({chunk_.keys, chunk_.records});
      read_kmers(take);
    } catch (const error& e) {
      throw http_error(400, e.what());
    }
  }

  void read_kmers(const sink& take) {
    kmers_.clear();
    views_.clear();
    for (const std::string_view line : chunk_.records)
      kmers_.push_back(spelled_key(line, options_));
    views_.assign(kmers_.begin(), kmers_.end());
    take({views_, chunk_.records});
  }

  record_options options_;
  std::unique_ptr<record_format> format_;
  chunk chunk_;
  bool first_ = true;
  std::string carry_;  // a line whose end has not come yet
  std::vector<std::string> kmers_;
  std::vector<std::string_view> views_;
};

// An array of strings and whole numbers, read byte by byte, so that it may be cut anywhere.
class json_stream final : public key_stream {
 public:
  explicit json_stream(const key_form& form) : options_(options_of_form(form)) {}

  void feed(std::string_view piece, const sink& take) override {
    for (const char c : piece) read(c);
    hand_over(take);
  }

  void finish(const sink& take) override {
    if (at_ != place::after) refuse("the array of keys has no end");
    hand_over(take);
  }

 private:
  enum class place : std::uint8_t {
    before,         // the array
    first,          // a value, or the end of an empty array
    value,          // a value must come
    text,           // in a string
    escape,         // after its backslash
    hex,            // after \u
    low_backslash,  // the low half of a pair must follow
    low_u,
    number,
    comma,  // or the end
    after,  // the array
  };

  [[noreturn]] void refuse(std::string_view what) const {
    throw http_error(400, fmt::format("byte {}: {}", bytes_, what));
  }

  void read(char c) {
    ++bytes_;
    switch (at_) {
      case place::before:
        if (c == '[') {
          at_ = place::first;
        } else if (!is_space(c)) {
          refuse("keys are a JSON array of strings or whole numbers");
        }
        return;
      case place::first:
      case place::value: return begin_value(c);
      case place::text: return read_text(c);
      case place::escape: return read_escape(c);
      case place::hex: return read_hex(c);
      case place::low_backslash:
      case place::low_u:
        if (c != (at_ == place::low_backslash ? '\\' : 'u')) refuse("half of a pair of surrogates");
        at_ = at_ == place::low_backslash ? place::low_u : place::hex;
        return;
      case place::number:
        if (c >= '0' && c <= '9') return push(c);
        end_number();
        [[fallthrough]];
      case place::comma:
        if (c == ',') {
          at_ = place::value;
        } else if (c == ']') {
          at_ = place::after;
        } else if (!is_space(c)) {
          refuse("a comma or the end of the array should stand here");
        }
        return;
      case place::after:
        if (!is_space(c)) refuse("something stands after the array");
    }
  }

  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  void begin_value(char c) {
    if (is_space(c)) return;
    if (c == ']' && at_ == place::first) {
      at_ = place::after;
    } else if (c == '"') {
      spelling_.clear();
      at_ = place::text;
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      if (!options_.integers) refuse("a number, and the keys of this filter are strings");
      spelling_.assign(1, c);
      at_ = place::number;
    } else {
      refuse("keys are strings or whole numbers");
    }
  }

  void push(char c) {
    if (spelling_.size() >= longest_http_key) refuse_long_key();
    spelling_.push_back(c);
  }

  void read_text(char c) {
    if (c == '"') return end_key();
    if (static_cast<unsigned char>(c) < 0x20) refuse("a control character in a string");
    if (c == '\\') {
      at_ = place::escape;
      return;
    }
    push(c);
  }

  void read_escape(char c) {
    constexpr std::string_view names = "\"\\/bfnrt";
    constexpr std::string_view means = "\"\\/\b\f\n\r\t";
    if (c == 'u') {
      at_ = place::hex;
      return;
    }
    const std::size_t which = names.find(c);
    if (which == std::string_view::npos) refuse("no escape of JSON");
    push(means[which]);
    at_ = place::text;
  }

  void read_hex(char c) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) refuse("not four hexadecimal digits");
    unit_ = unit_ * 16 + static_cast<std::uint32_t>(digit);
    if (++digits_ < 4) return;
    digits_ = 0;
    const std::uint32_t unit = std::exchange(unit_, 0);
    const bool low = unit >= 0xdc00 && unit < 0xe000;
    if (low != (high_ != 0)) refuse("half of a pair of surrogates");
    if (unit >= 0xd800 && unit < 0xdc00) {
      high_ = unit;
      at_ = place::low_backslash;
      return;
    }
    append_utf8(low ? 0x10000 + ((high_ - 0xd800) << 10U) + (unit - 0xdc00) : unit);
    high_ = 0;
    at_ = place::text;
  }

  void append_utf8(std::uint32_t code) {
    const auto put = [&](std::uint32_t byte) { push(static_cast<char>(byte)); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
      put(0xc0U | (code >> 6U));
    } else {
      if (code < 0x10000) {
        put(0xe0U | (code >> 12U));
      } else {
        put(0xf0U | (code >> 18U));
        put(0x80U | ((code >> 12U) & 0x3fU));
      }
      put(0x80U | ((code >> 6U) & 0x3fU));
    }
    put(0x80U | (code & 0x3fU));
  }

  void end_number() {
    const std::string_view digits = std::string_view(spelling_).substr(spelling_[0] == '-' ? 1 : 0);
    if (digits.size() > 1 && digits[0] == '0') refuse("a number that begins with 0");
    end_key();
  }

  void end_key() {
    at_ = place::comma;
    try {
      keys_.push_back(spelled_key(spelling_, options_));
    } catch (const error& e) {
      refuse(e.what());
    }
    records_.push_back(spelling_);
  }

  void hand_over(const sink& take) {
    if (keys_.empty()) return;
    const std::vector<std::string_view> keys(keys_.begin(), keys_.end());
    const std::vector<std::string_view> records(records_.begin(), records_.end());
    take({keys, records});
    keys_.clear();
    records_.clear();
  }

  record_options options_;
  place at_ = place::before;
  std::uint64_t bytes_ = 0;
  std::string spelling_;
  std::uint32_t unit_ = 0;  // of \uXXXX, so far
  unsigned digits_ = 0;
  std::uint32_t high_ = 0;  // the first half of a pair
  std::vector<std::string> keys_;
  std::vector<std::string> records_;
};

}  // namespace

std::unique_ptr<key_stream> make_line_stream(const key_form& form) {
  return std::make_unique<line_stream>(form);
}
std::unique_ptr<key_stream> make_json_stream(const key_form& form) {
  return std::make_unique<json_stream>(form);
}

}  // namespace bloomery::cli
