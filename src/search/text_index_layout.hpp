// The layout of a text index file, as docs/format.md describes it, for its reader and its writer.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bloomery/detail/core/arithmetic.hpp"

namespace bloomery::index_layout {

namespace at {
inline constexpr std::size_t probes = 12;
inline constexpr std::size_t terms = 16;
inline constexpr std::size_t unit = 18;
inline constexpr std::size_t kmer = 20;
inline constexpr std::size_t seed = 24;
inline constexpr std::size_t target = 32;
inline constexpr std::size_t words = 40;
inline constexpr std::size_t documents = 48;
inline constexpr std::size_t files = 56;
inline constexpr std::size_t groups = 64;
inline constexpr std::size_t name_bytes = 72;
inline constexpr std::size_t bit_bytes = 80;
inline constexpr std::size_t file_bytes = 88;
inline constexpr std::size_t reserved = 96;
inline constexpr std::size_t checksum = 120;
}  // namespace at

inline constexpr std::size_t header_bytes = 128;
inline constexpr std::size_t group_bytes = 24;    // rows, documents, words
inline constexpr std::size_t document_bytes = 8;  // file and line
inline constexpr std::size_t member_bytes = 4;
inline constexpr std::size_t end_bytes = 8;
inline constexpr std::size_t checksum_bytes = 8;
inline constexpr std::uint64_t most_documents = UINT32_MAX - 1;
inline constexpr std::uint32_t longest_kmer = 1024;

[[nodiscard]] constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

// Bits `from` to `from` + `count` - 1 of little-endian words; `count` is 1 to 64, all in the array.
[[nodiscard]] inline std::uint64_t bits_at(std::span<const std::uint64_t> words, std::uint64_t from,
                                           std::uint64_t count) {
  const auto first = static_cast<std::size_t>(from / 64);
  const std::uint64_t shift = from % 64;
  std::uint64_t value = detail::little_endian(words[first]) >> shift;
  if (shift + count > 64) value |= detail::little_endian(words[first + 1]) << (64 - shift);
  return count == 64 ? value : value & ((std::uint64_t{1} << count) - 1);
}

}  // namespace bloomery::index_layout
