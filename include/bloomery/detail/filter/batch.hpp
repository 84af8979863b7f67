// The forms in which a batch call answers, each derived from one: a bitmap.
//
// A filter answers 64 keys in one word (`contains_bits`), because that is what the loops over many
// keys produce best. A count, a byte for each key and the list of matching indexes follow from it
// in small pieces that stay in the first-level cache.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bloomery/detail/core/scratch.hpp"

namespace bloomery {

struct explanation;  // filter/explanation.hpp
struct cell_array;

}  // namespace bloomery

namespace bloomery::detail {

// A piece: its hashes and answers fit on the stack and stay in the first-level cache. Each piece
// starts the look-ahead of the loops anew, so it should not be shorter.
inline constexpr std::size_t batch_keys = 1024;
// For threads that add to one filter: each piece goes through all of its locks, so it is longer.
inline constexpr std::size_t shared_keys = 8 * batch_keys;
// A piece of hashes that are there already. A filter that asks several arrays, one after the other,
// has each of them in the cache for longer when the piece is long; the answers are 8 KiB.
inline constexpr std::size_t batch_hashes = 65536;

// Calls bits(first, count, bitmap), then take with the same, for consecutive pieces.
template <std::size_t Piece = batch_keys, class Bits, class Take>
void for_each_piece(std::size_t keys, Bits bits, Take take) {
  detail::scratch<std::uint64_t, Piece / 64> bitmap;
  for (std::size_t first = 0; first < keys; first += Piece) {
    const std::size_t count = std::min(Piece, keys - first);
    const std::span<std::uint64_t> answers(bitmap.data(), (count + 63) / 64);
    bits(first, count, answers);
    take(first, count, std::span<const std::uint64_t>(answers));
  }
}

template <std::size_t Piece = batch_keys, class Bits>
std::size_t answer_count(std::size_t keys, Bits bits) {
  std::size_t found = 0;
  for_each_piece<Piece>(keys, bits,
                        [&](std::size_t, std::size_t, std::span<const std::uint64_t> answers) {
                          for (const std::uint64_t word : answers)
                            found += static_cast<std::size_t>(std::popcount(word));
                        });
  return found;
}

template <std::size_t Piece = batch_keys, class Bits>
void answer_bytes(std::size_t keys, std::span<std::uint8_t> out, Bits bits) {
  for_each_piece<Piece>(
      keys, bits,
      [&](std::size_t first, std::size_t count, std::span<const std::uint64_t> answers) {
        for (std::size_t i = 0; i < count; ++i) {
          out[first + i] = static_cast<std::uint8_t>((answers[i / 64] >> (i % 64)) & 1U);
        }
      });
}

template <std::size_t Piece = batch_keys, class Bits>
std::size_t answer_indexes(std::size_t keys, std::span<std::uint32_t> out, Bits bits) {
  std::size_t found = 0;
  for_each_piece<Piece>(
      keys, bits, [&](std::size_t first, std::size_t, std::span<const std::uint64_t> answers) {
        for (std::size_t w = 0; w < answers.size(); ++w) {
          for (std::uint64_t word = answers[w]; word != 0; word &= word - 1) {
            const auto bit = static_cast<std::size_t>(std::countr_zero(word));
            out[found++] = static_cast<std::uint32_t>(first + w * 64 + bit);
          }
        }
      });
  return found;
}

// Gives a filter that has contains_bits the other forms.
template <class Filter, class Hash = std::uint64_t>
class batch_answers {
 public:
  // out[i] is 1 or 0; needs hashes.size() bytes.
  void contains_bytes(std::span<const Hash> hashes, std::span<std::uint8_t> out) const noexcept {
    answer_bytes<batch_hashes>(hashes.size(), out,
                               pieces_of{static_cast<const Filter*>(this), hashes});
  }
  // How many of the hashes are contained.
  [[nodiscard]] std::size_t contains_count(std::span<const Hash> hashes) const noexcept {
    return answer_count<batch_hashes>(hashes.size(),
                                      pieces_of{static_cast<const Filter*>(this), hashes});
  }
  // The indexes of those that are, ascending; returns how many. `out` must have room for all.
  std::size_t contains_indexes(std::span<const Hash> hashes,
                               std::span<std::uint32_t> out) const noexcept {
    return answer_indexes<batch_hashes>(hashes.size(), out,
                                        pieces_of{static_cast<const Filter*>(this), hashes});
  }

 private:
  struct pieces_of {
    const Filter* self;
    std::span<const Hash> hashes;
    void operator()(std::size_t first, std::size_t count, std::span<std::uint64_t> bitmap) const {
      self->contains_bits(hashes.subspan(first, count), bitmap);
    }
  };
};

}  // namespace bloomery::detail
