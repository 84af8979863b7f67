// The packed form of a filter: what travels.
//
// Close to the entropy of the bits (Mitzenmacher 2001 shows what that is good for: a larger,
// sparser filter can be smaller on the wire). docs/format.md has the layout; a chunk of a megabyte
// is coded by itself, so packing and unpacking stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/detail/core/function_ref.hpp"
#include "bloomery/format/image.hpp"
#include "bloomery/format/opening.hpp"

namespace bloomery {

// A function that takes the next piece of what is written.
using byte_sink = detail::function_ref<void(std::span<const std::byte>)>;

// Names the content of a plain image: the checksum of its header, which covers all the others.
[[nodiscard]] std::uint64_t image_name(const image_header& header,
                                       std::span<const std::uint64_t> words);

// Passes the packed form to the sink, piece by piece.
void pack(const image_header& header, std::span<const std::uint64_t> words, const byte_sink& sink);
[[nodiscard]] std::vector<std::byte> pack(const image_header& header,
                                          std::span<const std::uint64_t> words);

// Whether the bytes begin like a packed filter.
[[nodiscard]] bool is_packed(std::span<const std::byte> bytes) noexcept;

// Reads a packed filter chunk by chunk. Throws errc::corrupt for anything that pack did not make;
// the content itself is proven by finish() only, after the last chunk. A few bytes can claim to be
// a huge filter of zeros: errc::no_memory for one over the limit of format/opening.hpp.
class unpacker {
 public:
  explicit unpacker(std::span<const std::byte> bytes, const opening& how = {});

  [[nodiscard]] const image_header& header() const noexcept { return header_; }
  // The next words, at most a chunk; empty after the last. Valid until the next call.
  [[nodiscard]] std::span<const std::uint64_t> next();
  // Throws errc::corrupt unless all that was unpacked is what was packed.
  void finish() const;

 private:
  image_header header_;
  std::uint64_t name_ = 0;
  std::uint64_t words_left_ = 0;
  std::span<const std::byte> rest_;
  std::vector<std::uint64_t> chunk_;
  std::optional<image_writer> proof_;
};

struct unpacked_filter {
  image_header header;
  bit_array words;
};
[[nodiscard]] unpacked_filter unpack(std::span<const std::byte> bytes, const opening& how = {});

}  // namespace bloomery
