// Arbitrary bytes as a filter file: refused with an error of ours, or accepted and then sound.
//
// An input that starts with B is the file itself. Mutations of it hardly get past the checksums, so
// any other input is a recipe: it names a valid file and patches it, and the checksums are made
// right again.
//
//     byte 0       which valid file (mod 4)
//     byte 1       flags: 1 the checksums of the payload stay wrong, 2 that of the header does,
//                  4 the lengths follow from the patched number of bits, and the payload from
//                  what is left
//     byte 2       patches
//     then each    2 bytes offset, 1 byte size (mod 9), 8 bytes value

#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "bloomery/bloomery.hpp"
#include "input.hpp"

namespace {

using namespace bloomery;
using bloomery_fuzz::input;
using bloomery_fuzz::require;
using byte_vector = std::vector<std::byte>;

constexpr std::size_t header_end = 248;
constexpr std::uint64_t most_payload = std::uint64_t{1} << 14U;

// ---- recipes ----------------------------------------------------------------------------------

void put(byte_vector& bytes, std::size_t offset, std::size_t size, std::uint64_t value) {
  for (std::size_t i = 0; i < size && offset + i < bytes.size(); ++i) {
    bytes[offset + i] = static_cast<std::byte>(value >> (8 * i));
  }
}

std::uint64_t get(const byte_vector& bytes, std::size_t offset) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[offset + i]) << (8 * i);
  }
  return value;
}

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

byte_vector valid_image(std::uint64_t which) {
  image_header header;
  header.planned.shape = {.kind = filter_kind::classic, .probes = 3, .bits = 200};
  header.hash = {.id = hash_id::xxh3, .seed = 7};
  shape& s = header.planned.shape;
  if (which == 1) s = {.kind = filter_kind::partitioned, .probes = 4, .bits = 260};
  if (which == 2) s = {.kind = filter_kind::blocked, .probes = 8, .block_bits = 512, .bits = 1024};
  if (which == 4) {
    s = {.kind = filter_kind::split_block, .probes = 8, .block_bits = 256, .bits = 768};
  }
  if (which == 3) {
    s.scheme = probe_scheme::modulo;
    header.hash = {.id = hash_id::md5};
  }
  const std::vector<std::uint64_t> words(bit_array::words_for(s.bits));
  image_writer writer(header);
  writer.pass(words);
  byte_vector bytes(256 + words.size() * 8 + 8);
  std::memcpy(bytes.data(), writer.header().data(), 256);
  std::memcpy(bytes.data() + bytes.size() - 8, writer.checksums().data(), 8);
  return bytes;
}

void follow_bits(byte_vector& image, input& in) {
  const std::uint64_t payload = (get(image, 24) + 63) / 64 * 8;
  if (payload > most_payload) return;
  put(image, 88, 8, payload);
  put(image, 96, 8, 256 + payload);
  image.resize(256);
  while (image.size() < 256 + payload) {
    image.push_back(static_cast<std::byte>(in.empty() ? 0x55 : in.take(1)));
  }
  const std::uint64_t chunks = payload == 0 ? 0 : 1;
  put(image, 104, 8, 256 + payload + 8 * chunks);
  image.resize(256 + payload + 8 * chunks);
}

byte_vector cook(input in) {
  byte_vector image = valid_image(in.take(1) % 5);
  const std::uint64_t flags = in.take(1);
  for (std::uint64_t patches = in.take(1); patches > 0 && !in.empty(); --patches) {
    const std::uint64_t offset = in.take(2) % image.size();
    const std::uint64_t size = in.take(1) % 9;
    put(image, offset, size, in.take(8));
  }
  if ((flags & 4U) != 0) follow_bits(image, in);
  if ((flags & 1U) == 0 && image.size() >= 256 + 8) {
    const std::size_t end = image.size() - 8;
    put(image, end, 8, checksum(std::span(image).subspan(256, end - 256)));
    put(image, 112, 8, checksum(std::span(image).subspan(end)));
  }
  if ((flags & 2U) == 0) put(image, header_end, 8, checksum(std::span(image).first(header_end)));
  return image;
}

// ---- what must hold of an accepted file -------------------------------------------------------

template <class Probes>
void ask(const image_view& image) {
  const bit_view<Probes> view(image.header().planned, image.words(), image.header().keys);
  std::vector<typename Probes::hash_type> hashes(70);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const std::uint64_t random = i == 0 ? 0 : i == 1 ? UINT64_MAX : splitmix64(i);
    if constexpr (std::is_same_v<typename Probes::hash_type, digest>) {
      hashes[i].words.fill(static_cast<std::uint32_t>(random));
    } else {
      hashes[i] = random;
    }
  }
  std::vector<std::uint64_t> bitmap(2);
  view.contains_bits(hashes, bitmap);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    require(view.contains(hashes[i]) == (((bitmap[i / 64] >> (i % 64)) & 1U) != 0));
  }
  require(view.bits_set() <= view.shape().bits);
  require(view.fpr() >= 0 && view.fpr() <= 1.0000001);
  bit_filter<Probes> owner(view);
  owner.add(hashes[5]);
  if constexpr (sharded<Probes>) {
    require(owner.contains(hashes[5]) == owner.probes().owns(hashes[5]));
  } else {
    require(owner.contains(hashes[5]));
  }
}

void use(std::span<const std::byte> bytes) {
  const image_view image = image_view::parse(bytes);
  const shape& s = image.header().planned.shape;
  if (s.scheme == probe_scheme::modulo) {
    ask<digest_probes>(image);
  } else if (s.kind == filter_kind::classic) {
    ask<classic_probes>(image);
  } else if (s.kind == filter_kind::partitioned) {
    ask<partitioned_probes>(image);
  } else if (s.kind == filter_kind::blocked) {
    s.shard.whole() ? ask<blocked_probes>(image) : ask<shard_probes>(image);
  } else if (s.kind == filter_kind::split_block) {
    s.shard.whole() ? ask<split_block_probes>(image) : ask<split_block_shard_probes>(image);
  }  // the others have a fuzzer of their own
  image.verify(2);
  // A header has one spelling: writing what was read gives the same bytes.
  image_writer writer(image.header());
  writer.pass(image.words());
  require(std::ranges::equal(writer.header(), bytes.first(256)));
  require(std::ranges::equal(writer.checksums(), bytes.last(writer.checksums().size())));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  byte_vector image;
  if (size != 0 && data[0] == 'B') {
    image.resize(size);
    std::memcpy(image.data(), data, size);
  } else {
    image = cook(input(data, size));
  }
  try {
    use(image);
  } catch (const error& e) {
    const errc code = e.code();
    require(code == errc::corrupt || code == errc::unsupported || code == errc::not_bloomery);
  }
  return 0;
}
