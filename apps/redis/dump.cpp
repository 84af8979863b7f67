#include "dump.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery_redis {

namespace {

using bloomery::errc;
using bloomery::error;

// The head: "BLOOMY" with its version in word 0, the facts, and last the checksum of the others. In
// version 2 the last fact, which such filters do not have, is how many bytes follow the image.
constexpr std::uint64_t head_mark = 0x0001594d4f4f4c42U;
constexpr std::uint64_t head_mark_foreign = 0x0002594d4f4f4c42U;
constexpr std::size_t head_words = dump_head_bytes / 8;

std::uint64_t read_word(std::span<const std::byte> bytes, std::size_t i) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + i * 8, sizeof word);
  return bloomery::detail::little_endian(word);
}

std::array<std::uint64_t, head_words> head_of(fact_list facts, std::uint64_t foreign_bytes) {
  std::array<std::uint64_t, head_words> words{};
  words[0] = bloomery::detail::little_endian(foreign_bytes == 0 ? head_mark : head_mark_foreign);
  if (foreign_bytes != 0) facts.back() = foreign_bytes;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    words[1 + i] = bloomery::detail::little_endian(facts[i]);
  }
  words.back() = bloomery::detail::little_endian(XXH3_64bits(words.data(), dump_head_bytes - 8));
  return words;
}

struct head_content {
  fact_list facts{};
  std::uint64_t foreign_bytes = 0;
};
head_content read_head(std::span<const std::byte> head) {
  const std::uint64_t mark = read_word(head, 0);
  if ((mark != head_mark && mark != head_mark_foreign) ||
      read_word(head, head_words - 1) != XXH3_64bits(head.data(), dump_head_bytes - 8)) {
    throw error(errc::corrupt, "the bytes before the filter are damaged");
  }
  head_content content;
  fact_list& facts = content.facts;
  for (std::size_t i = 0; i < facts.size(); ++i) facts[i] = read_word(head, 1 + i);
  if (mark == head_mark_foreign) content.foreign_bytes = std::exchange(facts.back(), 0);
  return content;
}

// The part behind the image, with its checksum.
std::shared_ptr<bloomery::foreign::value> read_foreign(std::span<const std::byte> bytes) {
  if (bytes.empty()) return nullptr;
  if (bytes.size() < 8) throw error(errc::corrupt, "the filter is cut off");
  const auto stream = bytes.first(bytes.size() - 8);
  if (read_word(bytes.last(8), 0) != XXH3_64bits(stream.data(), stream.size())) {
    throw error(errc::corrupt, "the part from another module is damaged");
  }
  return bloomery::foreign::decode(stream);
}

template <class Range>
void append_bytes(std::vector<std::byte>& to, const Range& range) {
  const auto bytes = std::as_bytes(std::span(range));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace

image_source::image_source(const bloomery::any_filter& filter_to_read, when checksums)
    : parts_(filter_to_read->parts()), writer_(filter_to_read.header()) {
  if (checksums == when::now) prepare(SIZE_MAX);
}

image_source::image_source(const bloomery::any_filter& filter_to_read, const fact_list& facts,
                           std::shared_ptr<const bloomery::foreign::value> foreign, when checksums)
    : parts_(filter_to_read->parts()),
      foreign_(std::move(foreign)),
      writer_(filter_to_read.header()) {
  append_bytes(head_, head_of(facts, foreign_ == nullptr ? 0 : foreign_->stream().size() + 8));
  if (checksums == when::now) prepare(SIZE_MAX);
}

bool image_source::prepare(std::size_t most) {
  std::size_t left = most / sizeof(std::uint64_t);
  while (part_ < parts_.size() && left != 0) {
    const auto rest = parts_[part_].subspan(word_);
    const auto piece = rest.first(std::min(rest.size(), left));
    writer_->pass(piece);
    left -= piece.size();
    word_ += piece.size();
    if (word_ == parts_[part_].size()) {
      ++part_;
      word_ = 0;
    }
  }
  if (part_ < parts_.size()) return false;
  if (writer_) add_up();
  return true;
}

void image_source::add_up() {
  start_ = head_;
  append_bytes(start_, writer_->header());
  append_bytes(checksums_, writer_->checksums());
  bytes_ = start_.size() + checksums_.size();
  for (const auto part : parts_) bytes_ += part.size_bytes();
  if (foreign_ != nullptr) {
    const auto stream = foreign_->stream();
    const std::array<std::uint64_t, 1> sum = {
        bloomery::detail::little_endian(XXH3_64bits(stream.data(), stream.size()))};
    append_bytes(foreign_sum_, sum);
    bytes_ += stream.size() + foreign_sum_.size();
  }
  writer_.reset();
}

std::vector<std::byte> image_source::read(std::uint64_t offset, std::size_t most) const {
  std::vector<std::byte> out;
  if (offset >= bytes_) return out;
  out.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(most, bytes_ - offset)));
  const auto take = [&](std::span<const std::byte> place) {
    if (offset >= place.size()) {
      offset -= place.size();
      return;
    }
    const auto here = place.subspan(static_cast<std::size_t>(offset));
    const auto wanted = here.first(std::min(here.size(), most - out.size()));
    out.insert(out.end(), wanted.begin(), wanted.end());
    offset = 0;
  };
  take(start_);
  for (const auto part : parts_) take(std::as_bytes(part));
  take(checksums_);
  if (foreign_ != nullptr) take(foreign_->stream());
  take(foreign_sum_);
  return out;
}

void image_sink::append(std::span<const std::byte> piece) {
  if (expected_ && piece.size() > *expected_ - received()) {
    throw error(errc::corrupt, "there are more bytes than the filter has");
  }
  bytes_.insert(bytes_.end(), piece.begin(), piece.end());
  const std::size_t start = head_bytes() + bloomery::image_header_bytes;
  if (expected_ || bytes_.size() < start) return;
  if (what_ == content::dump) foreign_bytes_ = read_head(bytes_).foreign_bytes;
  const std::uint64_t image = bloomery::image_bytes(
      std::span<const std::byte>(bytes_).subspan(head_bytes(), start - head_bytes()));
  if (image > most_bytes_ || foreign_bytes_ > most_bytes_ - image) {
    throw error(errc::no_memory, "the filter is larger than this server allows");
  }
  if (foreign_bytes_ > UINT64_MAX - head_bytes() - image) {
    throw error(errc::corrupt, "there are more bytes than the filter has");
  }
  expected_ = head_bytes() + image + foreign_bytes_;
  if (received() > *expected_) {
    throw error(errc::corrupt, "there are more bytes than the filter has");
  }
}

dumped image_sink::finish() const {
  if (!complete()) throw error(errc::corrupt, "the filter is cut off");
  const std::span<const std::byte> all(bytes_);
  const auto foreign_bytes = static_cast<std::size_t>(foreign_bytes_);
  const auto image = bloomery::image_view::parse(
      all.subspan(head_bytes(), all.size() - head_bytes() - foreign_bytes));
  image.verify(1);
  dumped result{
      .filter = bloomery::any_filter::copy_of({.header = image.header(), .words = image.words()})};
  if (result.filter.hasher() == nullptr || makes_digests(result.filter.hash().id)) {
    throw error(errc::unsupported,
                "only filters of strings with the default hash can be asked here");
  }
  if (what_ == content::dump) result.facts = read_head(all).facts;
  result.foreign = read_foreign(all.last(foreign_bytes));
  return result;
}

dumped read_pieces(std::uint64_t pieces,
                   const std::function<std::optional<std::span<const std::byte>>()>& next,
                   std::uint64_t most_bytes) {
  image_sink sink(image_sink::content::dump, most_bytes);
  for (std::uint64_t i = 0; i < pieces; ++i) {
    const auto piece = next();
    if (!piece) throw error(errc::corrupt, "the filter is cut off");
    sink.append(*piece);
  }
  return sink.finish();
}

}  // namespace bloomery_redis
