#include "bloomery/format/codec.hpp"

#include <algorithm>
#include <cstring>

#include "bit_code.hpp"
#include "bloomery/core/error.hpp"
#include "container.hpp"
#include "core/integers.hpp"
#include "header_fields.hpp"

namespace bloomery {

namespace {

constexpr std::size_t chunk_words = image_chunk_bytes / sizeof(std::uint64_t);

}  // namespace

std::uint64_t image_name(const image_header& header, std::span<const std::uint64_t> words) {
  image_writer writer(header);
  writer.pass(words);
  return writer.name();
}

void pack(const image_header& header, std::span<const std::uint64_t> words, const byte_sink& sink) {
  container_writer out(image_form::packed, sink);
  put_header(out.buffer(), header);
  integers::append(out.buffer(), image_name(header, words));
  for (std::size_t from = 0; from < words.size(); from += chunk_words) {
    bit_code::encode_words(words.subspan(from, std::min(chunk_words, words.size() - from)),
                           out.buffer());
    out.flush();
  }
  out.finish();
}

std::vector<std::byte> pack(const image_header& header, std::span<const std::uint64_t> words) {
  std::vector<std::byte> out;
  pack(header, words, [&](std::span<const std::byte> bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
  });
  return out;
}

bool is_packed(std::span<const std::byte> bytes) noexcept {
  return starts_as(bytes, image_form::packed);
}

unpacker::unpacker(std::span<const std::byte> bytes, const opening& how) {
  bit_code::reader in(open_container(bytes, image_form::packed));
  header_ = take_header(in);
  name_ = in.fixed64();
  const std::uint64_t bits = header_.planned.shape.bits;
  words_left_ = bit_array::words_for(bits);
  check_memory(words_left_ * sizeof(std::uint64_t), how.memory, bytes.size());
  rest_ = in.rest();
  proof_.emplace(header_);
}

std::span<const std::uint64_t> unpacker::next() {
  if (words_left_ == 0) return {};
  chunk_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(words_left_, chunk_words)));
  bit_code::reader in(rest_);
  bit_code::decode_words(in, chunk_);
  rest_ = in.rest();
  words_left_ -= chunk_.size();
  if (words_left_ == 0) {
    check_padding(detail::little_endian(chunk_.back()), header_.planned.shape);
  }
  proof_->pass(chunk_);
  return chunk_;
}

void unpacker::finish() const {
  if (words_left_ != 0 || !rest_.empty() || proof_->name() != name_) {
    detail::fail(errc::corrupt, "the packed filter is damaged: it does not hold what it says");
  }
}

unpacked_filter unpack(std::span<const std::byte> bytes, const opening& how) {
  unpacker in(bytes, how);
  unpacked_filter out{.header = in.header(),
                      .words = bit_array(in.header().planned.shape.bits, detail::unset_words{})};
  auto to = out.words.words().begin();
  for (auto words = in.next(); !words.empty(); words = in.next()) {
    to = std::copy(words.begin(), words.end(), to);
  }
  in.finish();
  return out;
}

}  // namespace bloomery
