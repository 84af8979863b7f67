// Asymmetric numeral systems (Duda 2009), the range variant, for strings of bytes with known
// frequencies. Four 64-bit states take turns, so that their dependency chains overlap.
//
// Probabilities have 15 bits: with 12, as usual for bytes, the symbols that are too rare for them
// cost 1.6 % at a fill of 6 %. A 64-bit state over 15-bit probabilities loses nothing measurable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery::rans {

inline constexpr std::uint32_t scale_bits = 15;
inline constexpr std::uint32_t scale = 1U << scale_bits;

// Relative weights of the 256 symbols, their sum below 2^63.
using weights = std::array<std::uint64_t, 256>;

// Frequencies that sum to scale, none 0. Made with integers only: all machines must have the same.
class model {
 public:
  explicit model(const weights& w);

  std::array<std::uint32_t, 256> frequency{};
  std::array<std::uint32_t, 256> start{};
};

// Appends the coded symbols; empty for no symbols.
void encode(const model& m, std::span<const std::uint8_t> symbols, std::vector<std::byte>& out);

// Exactly symbols.size() symbols from all of the bytes. Throws errc::corrupt when the bytes are not
// what encode makes: too few, too many, or states that do not end where they began.
void decode(const model& m, std::span<const std::byte> coded, std::span<std::uint8_t> symbols);

}  // namespace bloomery::rans
