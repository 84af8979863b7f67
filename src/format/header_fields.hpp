// The fields of a header as numbers, from whichever form of file, and their one check.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bloomery/format/image.hpp"

namespace bloomery {

inline constexpr std::array<char, 8> magic = {'B', 'L', 'O', 'O', 'M', 'E', 'R', 'Y'};

// What follows magic and version, at offset 10: the form; the header's length in a plain image.
enum class image_form : std::uint16_t {
  packed = 1,
  delta = 2,
  text_index = 3,  // search/text_index.hpp
  string_map = 4,  // string_map.hpp
  plain = image_header_bytes,
};

// Throws errc::not_bloomery, corrupt (too short) or unsupported (the version); the form otherwise.
image_form check_start(std::span<const std::byte> bytes);

struct header_fields {
  std::uint64_t kind = 0;
  std::uint64_t hash = 0;
  std::uint64_t key_form = 0;  // what the keys were, and from bit 16 on the bases of a k-mer
  std::uint64_t scheme = 0;
  std::uint64_t probes = 0;
  std::uint64_t block_bits = 0;
  std::uint64_t cell_bits = 0;
  std::uint64_t variant = 0;
  std::uint64_t shard = 0;  // its number, and from bit 16 on how many there are less one
  std::uint64_t bits = 0;
  std::uint64_t seed = 0;
  std::uint64_t key_id = 0;
  std::uint64_t keys = 0;
  std::uint64_t planned_keys = 0;
  std::uint64_t target = 0;  // the bits of a double
};

// Throws errc::unsupported or corrupt unless every field is lawful.
image_header checked_header(const header_fields& f);
// Throws errc::corrupt when the last word, in the machine's order, has bits past the array's end.
void check_padding(std::uint64_t last_word, const shape& s);

header_fields fields_of(const image_header& h);

}  // namespace bloomery
