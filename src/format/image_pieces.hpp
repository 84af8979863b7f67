// The pieces of an image in the order of a file, for whatever they are written to.
#pragma once

#include <cstdint>
#include <span>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/error.hpp"
#include "bloomery/format/image.hpp"

namespace bloomery::detail {

// Calls append(bytes) for the header, each part of the words, and the checksums.
template <class Append>
void for_each_piece_of_image(const image_header& header,
                             std::span<const std::span<const std::uint64_t>> parts, Append append) {
  std::uint64_t words = 0;
  for (const auto part : parts) words += part.size();
  const std::uint64_t needed = bit_array::words_for(header.planned.shape.bits);
  if (words != needed) throw_bad_argument("the number of words", words, to_text(needed));
  image_writer writer(header);
  for (const auto part : parts) writer.pass(part);
  append(std::span<const std::byte>(writer.header()));
  for (const auto part : parts) append(std::as_bytes(part));
  append(writer.checksums());
}

}  // namespace bloomery::detail
