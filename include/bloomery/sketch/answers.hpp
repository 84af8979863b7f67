// The forms of a batch answer that every sketch derives from its contains_bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bloomery/filter/batch.hpp"

namespace bloomery::detail {

// A base of Sketch, which has contains_bits. The forms are those of filter/bit_filter.hpp.
template <class Sketch>
class batch_answers {
 public:
  // out[i] is 1 or 0; needs hashes.size() bytes.
  void contains_bytes(std::span<const std::uint64_t> hashes,
                      std::span<std::uint8_t> out) const noexcept {
    answer_bytes(hashes.size(), out, pieces(hashes));
  }
  // How many of the hashes are contained.
  [[nodiscard]] std::size_t contains_count(std::span<const std::uint64_t> hashes) const noexcept {
    return answer_count(hashes.size(), pieces(hashes));
  }
  // The indexes of those that are, ascending; returns how many. `out` must have room for all.
  std::size_t contains_indexes(std::span<const std::uint64_t> hashes,
                               std::span<std::uint32_t> out) const noexcept {
    return answer_indexes(hashes.size(), out, pieces(hashes));
  }

 private:
  friend Sketch;
  batch_answers() = default;

  auto pieces(std::span<const std::uint64_t> hashes) const noexcept {
    return [this, hashes](std::size_t first, std::size_t count, std::span<std::uint64_t> bitmap) {
      static_cast<const Sketch&>(*this).contains_bits(hashes.subspan(first, count), bitmap);
    };
  }
};

}  // namespace bloomery::detail
