// Strings of independent bits in as many bits as their entropy, for packed filters and deltas.
//
// Both codes assume nothing but the number of ones. Strings with as many ones then cost the same,
// total * H(ones/total), a filter's bound: nothing to adapt to. Neither is fast and tight always:
//
//   bytes   rANS over bytes. The same time at any fill, but towards sparse strings the 15-bit
//           probabilities cost: 0.1 % at a fill of 8 %, 0.34 % at 4 %, 0.7 % at 2 %.
//   gaps    The numbers of zeros between ones, which are geometric: the upper part of a gap by
//           rANS, the lower bits as they are. Within 0.1 %, but its time grows with the ones, so
//           it is used up to a fill of 1/24.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery::bit_code {

// Small numbers in little space: 7 bits a byte, the lowest first, the top bit if more follow.
void put_varint(std::vector<std::byte>& out, std::uint64_t value);

class reader {  // reads what was put; throws errc::corrupt at the end of the bytes
 public:
  explicit reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::uint64_t varint();
  std::uint64_t fixed64();
  std::span<const std::byte> take(std::uint64_t bytes);
  [[nodiscard]] std::span<const std::byte> rest() const noexcept { return rest_; }

 private:
  std::span<const std::byte> rest_;
};

// Appends words.size() * 64 bits in the smallest form, at most 16 bytes above the string itself.
void encode_words(std::span<const std::uint64_t> words, std::vector<std::byte>& out);
// Reads one into `words`, which must have the size that was encoded. Throws errc::corrupt.
void decode_words(reader& in, std::span<std::uint64_t> words);

// Appends gaps whose sum plus their number is at most `total`: ones among `total` bits.
void encode_gaps(std::span<const std::uint32_t> gaps, std::uint64_t total,
                 std::vector<std::byte>& out);
// Reads them; throws errc::corrupt unless they fit into `total` bits.
[[nodiscard]] std::vector<std::uint32_t> decode_gaps(reader& in, std::uint64_t total);

}  // namespace bloomery::bit_code
