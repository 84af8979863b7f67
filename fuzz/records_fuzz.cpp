// The forms of input: any bytes give the same keys, or the same error with the same line, wherever
// the chunks are cut, and as many keys are counted as are split off. The first two bytes choose the
// form, the third the pieces in which the rest is read.
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "cli/input/records.hpp"
#include "input.hpp"

namespace {

using bloomery_fuzz::require;
using namespace bloomery;
using namespace bloomery::cli;

record_options options_from(unsigned form, unsigned detail) {
  record_options o;
  o.keep_empty = (detail & 1U) != 0;
  o.skip_bad = (detail & 64U) != 0;
  const bool crlf = (detail & 2U) != 0;
  switch (form % 9) {
    case 0: o.crlf = crlf; break;
    case 1: o.null = true; break;
    case 2:
      o.column = std::string(1, static_cast<char>('1' + detail / 4 % 3));
      o.header = crlf;
      if (detail >= 128) o.delimiter = ";";
      break;
    case 3: o.column = "a"; break;
    case 4: o.json_key = crlf ? "a" : "a.b"; break;
    case 5: o.record_bytes = 1 + detail % 8; break;
    case 6:
      o.hex = true;
      o.crlf = crlf;
      break;
    case 7:
      o.integers = true;
      o.crlf = crlf;
      break;
    default: o.kmer = 1 + detail % 8;
  }
  return o;
}

struct outcome {
  std::vector<std::string> keys{};
  std::size_t number = 0;
  std::string failure{};
};

// What key_source does with one file that comes in pieces; each chunk in memory of its own size, so
// that a sanitizer sees the first byte read beyond it.
class reader {
 public:
  reader(const record_options& o, bool count) : format_(make_format(o)), count_(count) {}

  outcome read(std::string_view text, std::size_t piece) {
    try {
      std::string buffer;
      std::size_t searched = 0;
      for (std::size_t from = 0; from < text.size(); from += piece) {
        buffer += text.substr(from, piece);
        const std::size_t whole = format_->whole(buffer, searched);
        require(whole <= buffer.size());
        searched = buffer.size();
        if (whole == 0) continue;
        take(std::string_view(buffer).substr(0, whole));
        buffer.erase(0, whole);
        searched = 0;
      }
      if (!buffer.empty()) take(buffer);
    } catch (const error& e) {
      out_.failure = e.what();
    }
    return std::move(out_);
  }

 private:
  void take(std::string_view text) {
    const std::vector<char> exact(text.begin(), text.end());
    chunk_.text = {exact.data(), exact.size()};
    chunk_.file = "input";
    format_->begin(chunk_, std::exchange(first_, false));
    count_ ? format_->count(chunk_) : format_->split(chunk_);
    out_.number += chunk_.number;
    if (count_) return;
    require(chunk_.keys.size() == chunk_.number && chunk_.records.size() == chunk_.number);
    for (const std::string_view key : chunk_.keys) out_.keys.emplace_back(key);
  }

  std::unique_ptr<record_format> format_;
  bool count_;
  bool first_ = true;
  chunk chunk_;
  outcome out_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const record_options o = options_from(data[0], data[1]);
  const std::size_t piece = 1 + data[2] % 64U;
  const std::string_view text(reinterpret_cast<const char*>(data + 3), size - 3);
  const outcome at_once = reader(o, false).read(text, size);
  const outcome in_pieces = reader(o, false).read(text, piece);
  require(at_once.failure == in_pieces.failure);
  if (!at_once.failure.empty()) return 0;
  require(at_once.keys == in_pieces.keys);
  const outcome counted = reader(o, true).read(text, piece);
  require(counted.number == at_once.number && counted.failure.empty());
  return 0;
}
