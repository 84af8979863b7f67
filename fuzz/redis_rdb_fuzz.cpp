// Arbitrary bytes as what a Redis database file holds of a filter: refused with an error of ours,
// or read and then sound.
//
// An input is a recipe: it names a valid value, patches it, makes checksums right again and cuts it
// into pieces.
//
//     byte 0       which valid value (mod 4)
//     byte 1       flags: 1 the checksums of the words stay wrong, 2 that of the header, 4 that of
//                  the module's bytes
//     byte 2       length of the pieces, less 1, in units of 16 bytes
//     byte 3       how many pieces are said to be there, in halves of those that are: 2 is true
//     byte 4       patches
//     then each    2 bytes offset, 1 byte size (mod 9), 8 bytes value
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bloomery/bloomery.hpp"
#include "input.hpp"
#include "redis/dump.hpp"

namespace {

using namespace bloomery;
using bloomery_fuzz::input;
using bloomery_fuzz::require;
using byte_vector = std::vector<std::byte>;
using bloomery_redis::dump_head_bytes;

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20U;
constexpr std::size_t header_sum = 248;
constexpr std::size_t sum_of_sums = 112;

byte_vector all_of(const bloomery_redis::image_source& source) {
  return source.read(0, static_cast<std::size_t>(source.bytes()));
}

byte_vector valid_value(std::uint64_t which) {
  constexpr filter_kind kinds[] = {filter_kind::layered, filter_kind::blocked,
                                   filter_kind::counting, filter_kind::windowed};
  any_filter f(sizing::make_plan({.kind = kinds[which % 4], .keys = 30, .fpr = 0.1}),
               erase(xxh3_hasher()));
  for (int i = 0; i < 70; ++i) {
    const std::string key = std::to_string(i);
    const std::string_view view = key;
    f.add({&view, 1});
  }
  return all_of({f, {100, 2}});
}

void put(byte_vector& bytes, std::size_t offset, std::size_t size, std::uint64_t number) {
  for (std::size_t i = 0; i < size && offset + i < bytes.size(); ++i) {
    bytes[offset + i] = static_cast<std::byte>(number >> (8 * i));
  }
}

std::uint64_t sum(const byte_vector& bytes, std::size_t first, std::size_t count) {
  return XXH3_64bits(bytes.data() + first, count);
}

// All valid values have one chunk: its checksum is the last word.
void seal(byte_vector& bytes, std::uint64_t flags) {
  const std::size_t start = dump_head_bytes;
  const std::size_t payload = start + image_header_bytes;
  if ((flags & 1U) == 0) {
    put(bytes, bytes.size() - 8, 8, sum(bytes, payload, bytes.size() - 8 - payload));
    put(bytes, start + sum_of_sums, 8, sum(bytes, bytes.size() - 8, 8));
  }
  if ((flags & 2U) == 0) put(bytes, start + header_sum, 8, sum(bytes, start, header_sum));
  if ((flags & 4U) == 0) put(bytes, start - 8, 8, sum(bytes, 0, start - 8));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input in(data, size);
  byte_vector bytes = valid_value(in.take(1));
  const std::uint64_t flags = in.take(1);
  const auto piece = static_cast<std::size_t>(in.take(1) + 1) * 16;
  const std::uint64_t halves = in.take(1);
  for (std::uint64_t patches = in.take(1); patches > 0 && !in.empty(); --patches) {
    const auto offset = static_cast<std::size_t>(in.take(2));
    const auto width = static_cast<std::size_t>(in.take(1) % 9);
    put(bytes, offset, width, in.take(8));
  }
  seal(bytes, flags);
  std::size_t at = 0;
  const auto next = [&]() -> std::optional<std::span<const std::byte>> {
    if (at >= bytes.size()) return std::nullopt;
    const auto got =
        std::span<const std::byte>(bytes).subspan(at, std::min(piece, bytes.size() - at));
    at += got.size();
    return got;
  };
  try {
    const std::uint64_t pieces = (bytes.size() + piece - 1) / piece * halves / 2;
    const bloomery_redis::dumped read = bloomery_redis::read_pieces(pieces, next, most_bytes);
    (void)read.filter.contains("apples");
    // What was accepted is written and read again as the same. It may be written in another way
    // than it came: a filter that forgets counts its keys itself.
    const byte_vector once = all_of({read.filter, read.facts});
    bloomery_redis::image_sink sink(bloomery_redis::image_sink::content::dump, most_bytes);
    sink.append(once);
    const bloomery_redis::dumped again = sink.finish();
    require(again.facts == read.facts);
    require(std::ranges::equal(all_of({again.filter, again.facts}), once));
  } catch (const error&) {
  }
  return 0;
}
