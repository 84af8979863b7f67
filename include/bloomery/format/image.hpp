// A filter as bytes: header, payload, checksums. docs/format.md is the normative text; this is its
// one parser and its one writer.
//
// Parsing looks at the header and the last word only, so it takes the same time for any size. Every
// field is checked in 64-bit arithmetic that cannot overflow before anything is derived from it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bloomery/core/shape.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

inline constexpr std::uint16_t format_version = 1;
inline constexpr std::size_t image_header_bytes = 256;
inline constexpr std::size_t image_chunk_bytes = std::size_t{1} << 20U;

struct image_header {
  plan planned = {};  // shape, planned keys and target
  hash_spec hash = {};
  std::uint64_t keys = 0;
};

// Whether the bytes begin like any file of ours: a filter, a packed one, a delta, a map.
[[nodiscard]] bool begins_like_ours(std::span<const std::byte> bytes) noexcept;

// The length of the image, by its first image_header_bytes. Throws like parse.
[[nodiscard]] std::uint64_t image_bytes(std::span<const std::byte> header);

// Borrowed bytes that were parsed and found sound.
class image_view {
 public:
  // Throws errc::not_bloomery, unsupported or corrupt. Bytes after the image are an error too.
  static image_view parse(std::span<const std::byte> bytes);

  [[nodiscard]] const image_header& header() const noexcept { return header_; }
  [[nodiscard]] std::span<const std::byte> payload() const noexcept { return payload_; }
  // The payload as words. Throws errc::bad_argument when the bytes are not aligned for them.
  [[nodiscard]] std::span<const std::uint64_t> words() const;

  // Throws errc::corrupt unless every checksum holds; reads the whole payload with `threads`
  // threads (0: one for each core). The message names the first chunk that differs.
  void verify(unsigned threads = 0) const;

 private:
  image_header header_;
  std::span<const std::byte> payload_;
  std::span<const std::byte> checksums_;
  std::uint64_t checksum_of_checksums_ = 0;
};

// Collects the checksums while the payload passes by, then knows the header. The order of a file is
// header, payload, checksums: a filter in memory is passed once and then written in that order; one
// that is larger than memory is written piece by piece and its header last.
class image_writer {
 public:
  explicit image_writer(const image_header& header);

  // The next piece of the payload, of any length.
  void pass(std::span<const std::uint64_t> words);
  // A filter that is made while it is written knows its own size last.
  void replace_header(const image_header& header);

  using header_bytes = std::array<std::byte, image_header_bytes>;
  [[nodiscard]] header_bytes header() const;
  // The checksum of the header. It covers the checksum of the checksums, so it names the content.
  [[nodiscard]] std::uint64_t name() const;
  [[nodiscard]] std::span<const std::byte> checksums() const noexcept {
    return std::as_bytes(std::span(checksums_));
  }

 private:
  image_header header_;
  std::vector<std::uint64_t> checksums_;  // the last one is that of the open chunk so far
  std::size_t open_bytes_ = 0;            // of a chunk that is not full yet
  XXH3_state_t open_ = {};
};

}  // namespace bloomery
