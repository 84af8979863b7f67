// Arbitrary bytes as a packed filter and as a delta: refused with an error of ours, or decoded and
// then sound.
//
//     byte 0       0 the rest is a file; 1 a packed filter, 2 a delta, without start and checksum,
//                  which are put around it so that mutations get past them
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "bloomery/bloomery.hpp"
#include "input.hpp"

namespace {

using namespace bloomery;
using bloomery_fuzz::require;
using byte_vector = std::vector<std::byte>;

constexpr opening small{.memory = std::uint64_t{1} << 17U};

byte_vector wrapped(std::span<const std::byte> inside, std::uint8_t form) {
  byte_vector file;
  for (const char c : std::string_view("BLOOMERY\1\0", 10))
    file.push_back(static_cast<std::byte>(c));
  file.push_back(static_cast<std::byte>(form));
  file.push_back(std::byte{0});
  file.insert(file.end(), inside.begin(), inside.end());
  const std::uint64_t sum = XXH3_64bits(file.data(), file.size());
  for (unsigned i = 0; i < 8; ++i) file.push_back(static_cast<std::byte>(sum >> (8 * i)));
  return file;
}

void try_unpack(std::span<const std::byte> file) {
  try {
    const unpacked_filter f = unpack(file, small);
    // What was accepted packs and unpacks to itself.
    const unpacked_filter again = unpack(pack(f.header, f.words.words()), small);
    require(std::ranges::equal(f.words.words(), again.words.words()));
  } catch (const error&) {
  }
}

void try_patch(std::span<const std::byte> file) {
  static const blocked_filter old = [] {
    blocked_filter f(options{.keys = 100});
    for (std::uint64_t i = 0; i < 100; ++i) f.add(splitmix64(i));
    return f;
  }();
  const filter_version from{
      .header = {.planned = old.planned(), .hash = {.id = hash_id::xxh3}, .keys = old.keys()},
      .words = old.words()};
  try {
    (void)patch(from, file, small);
  } catch (const error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto rest = std::as_bytes(std::span(data + 1, size - 1));
  const auto form = static_cast<std::uint8_t>(data[0] % 3);
  const byte_vector file = form == 0 ? byte_vector(rest.begin(), rest.end()) : wrapped(rest, form);
  try_unpack(file);
  try_patch(file);
  return 0;
}
