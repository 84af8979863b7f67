// XXH3 with 64 bits and a seed (Collet; the text is the specification that xxHash publishes), as a
// GPU can run it. xxhash.h is for processors: its vectors and its way of reading do not compile for
// a device. The host goes on using xxhash.h; tests/gpu holds the two together for every length.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bloomery/detail/core/arithmetic.hpp"

namespace bloomery::detail {

class portable_xxh3 {
 public:
  BLOOMERY_HOST_DEVICE constexpr explicit portable_xxh3(std::uint64_t seed) noexcept
      : seed_(seed) {}

  // On a device whole aligned words are read, so that the last one may lie up to seven bytes past
  // the end of the string: the memory must go on to the next multiple of eight bytes.
  [[nodiscard]] BLOOMERY_HOST_DEVICE std::uint64_t operator()(const unsigned char* data,
                                                              std::size_t size) const noexcept {
    if (size <= 16) return up_to_16(data, size);
    if (size <= 128) return up_to_128(data, size);
    if (size <= 240) return up_to_240(data, size);
    return longer(data, size);
  }

 private:
  using bytes = const unsigned char*;
  static constexpr std::uint64_t prime32_1 = 0x9e3779b1U;
  static constexpr std::uint64_t prime32_2 = 0x85ebca77U;
  static constexpr std::uint64_t prime32_3 = 0xc2b2ae3dU;
  static constexpr std::uint64_t prime64_1 = 0x9e3779b185ebca87U;
  static constexpr std::uint64_t prime64_2 = 0xc2b2ae3d27d4eb4fU;
  static constexpr std::uint64_t prime64_3 = 0x165667b19e3779f9U;
  static constexpr std::uint64_t prime64_4 = 0x85ebca77c2b2ae63U;
  static constexpr std::uint64_t prime64_5 = 0x27d4eb2f165667c5U;
  static constexpr std::uint64_t prime_mx_1 = 0x165667919e3779f9U;
  static constexpr std::uint64_t prime_mx_2 = 0x9fb21c651e98df25U;
  static constexpr std::size_t secret_bytes = 192;
  static constexpr std::size_t stripe = 64;

  // Word i of the secret, whose 192 bytes are the specification's.
  BLOOMERY_HOST_DEVICE static std::uint64_t secret_word(std::size_t i) noexcept {
    static constexpr std::uint64_t words[secret_bytes / 8] = {
        0xbe4ba423396cfeb8U, 0x1cad21f72c81017cU, 0xdb979083e96dd4deU, 0x1f67b3b7a4a44072U,
        0x78e5c0cc4ee679cbU, 0x2172ffcc7dd05a82U, 0x8e2443f7744608b8U, 0x4c263a81e69035e0U,
        0xcb00c391bb52283cU, 0xa32e531b8b65d088U, 0x4ef90da297486471U, 0xd8acdea946ef1938U,
        0x3f349ce33f76faa8U, 0x1d4f0bc7c7bbdcf9U, 0x3159b4cd4be0518aU, 0x647378d9c97e9fc8U,
        0xc3ebd33483acc5eaU, 0xeb6313faffa081c5U, 0x49daf0b751dd0d17U, 0x9e68d429265516d3U,
        0xfca1477d58be162bU, 0xce31d07ad1b8f88fU, 0x280416958f3acb45U, 0x7e404bbbcafbd7afU,
    };
    return words[i];
  }
  // The eight bytes from this offset, of the secret as it is
  BLOOMERY_HOST_DEVICE static std::uint64_t secret(std::size_t offset) noexcept {
    const std::size_t shift = offset % 8 * 8;
    const std::uint64_t low = secret_word(offset / 8);
    return shift == 0 ? low : low >> shift | secret_word(offset / 8 + 1) << (64 - shift);
  }
  // and of the one that long strings make of it by the seed.
  [[nodiscard]] BLOOMERY_HOST_DEVICE std::uint64_t seeded_word(std::size_t i) const noexcept {
    return i % 2 == 0 ? secret_word(i) + seed_ : secret_word(i) - seed_;
  }
  [[nodiscard]] BLOOMERY_HOST_DEVICE std::uint64_t seeded(std::size_t offset) const noexcept {
    const std::size_t shift = offset % 8 * 8;
    const std::uint64_t low = seeded_word(offset / 8);
    return shift == 0 ? low : low >> shift | seeded_word(offset / 8 + 1) << (64 - shift);
  }

  BLOOMERY_HOST_DEVICE static std::uint64_t read64(bytes p) noexcept {
#if defined(__CUDA_ARCH__)
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    const auto* words = reinterpret_cast<const std::uint64_t*>(address & ~std::uintptr_t{7});
    const auto shift = static_cast<unsigned>(address % 8 * 8);
    const std::uint64_t low = words[0];
    return shift == 0 ? low : low >> shift | words[1] << (64U - shift);
#else
    std::uint64_t value = 0;
    std::memcpy(&value, p, sizeof value);
    return little_endian(value);
#endif
  }
  BLOOMERY_HOST_DEVICE static std::uint32_t read32(bytes p) noexcept {
    return p[0] | std::uint32_t{p[1]} << 8U | std::uint32_t{p[2]} << 16U |
           std::uint32_t{p[3]} << 24U;
  }
  BLOOMERY_HOST_DEVICE static constexpr std::uint64_t rotated(std::uint64_t x,
                                                              unsigned by) noexcept {
    return x << by | x >> (64U - by);
  }
  BLOOMERY_HOST_DEVICE static constexpr std::uint32_t swapped32(std::uint32_t x) noexcept {
    return x << 24U | (x << 8U & 0xff0000U) | (x >> 8U & 0xff00U) | x >> 24U;
  }
  BLOOMERY_HOST_DEVICE static constexpr std::uint64_t swapped64(std::uint64_t x) noexcept {
    return std::uint64_t{swapped32(static_cast<std::uint32_t>(x))} << 32U |
           swapped32(static_cast<std::uint32_t>(x >> 32U));
  }
  BLOOMERY_HOST_DEVICE static constexpr std::uint64_t avalanche(std::uint64_t h) noexcept {
    h = (h ^ h >> 37U) * prime_mx_1;
    return h ^ h >> 32U;
  }
  BLOOMERY_HOST_DEVICE static constexpr std::uint64_t avalanche_64(std::uint64_t h) noexcept {
    h = (h ^ h >> 33U) * prime64_2;
    h = (h ^ h >> 29U) * prime64_3;
    return h ^ h >> 32U;
  }

  [[nodiscard]] BLOOMERY_HOST_DEVICE std::uint64_t up_to_16(bytes p,
                                                            std::size_t size) const noexcept {
    if (size > 8) {
      const std::uint64_t low = read64(p) ^ ((secret(24) ^ secret(32)) + seed_);
      const std::uint64_t high = read64(p + size - 8) ^ ((secret(40) ^ secret(48)) - seed_);
      return avalanche(size + swapped64(low) + high + multiply_fold(low, high));
    }
    if (size >= 4) {
      const std::uint64_t seed = seed_ ^ std::uint64_t{swapped32(static_cast<std::uint32_t>(seed_))}
                                             << 32U;
      const std::uint64_t both = read32(p + size - 4) + (std::uint64_t{read32(p)} << 32U);
      std::uint64_t h = both ^ ((secret(8) ^ secret(16)) - seed);
      h = (h ^ rotated(h, 49) ^ rotated(h, 24)) * prime_mx_2;
      h = (h ^ ((h >> 35U) + size)) * prime_mx_2;
      return h ^ h >> 28U;
    }
    if (size == 0) return avalanche_64(seed_ ^ secret(56) ^ secret(64));
    const std::uint32_t combined = std::uint32_t{p[0]} << 16U | std::uint32_t{p[size / 2]} << 24U |
                                   p[size - 1] | static_cast<std::uint32_t>(size << 8U);
    const std::uint64_t first = secret(0);
    return avalanche_64(combined ^ (((first ^ first >> 32U) & 0xffffffffU) + seed_));
  }

  [[nodiscard]] BLOOMERY_HOST_DEVICE std::uint64_t mix16(bytes p,
                                                         std::size_t offset) const noexcept {
    return multiply_fold(read64(p) ^ (secret(offset) + seed_),
                         read64(p + 8) ^ (secret(offset + 8) - seed_));
  }

  // Pairs of 16 bytes from both ends.
  [[nodiscard]] BLOOMERY_HOST_DEVICE std::uint64_t up_to_128(bytes p,
                                                             std::size_t size) const noexcept {
    std::uint64_t sum = size * prime64_1;
    for (std::size_t i = (size - 1) / 32 + 1; i-- > 0;) {
      sum += mix16(p + 16 * i, 32 * i);
      sum += mix16(p + size - 16 * (i + 1), 32 * i + 16);
    }
    return avalanche(sum);
  }

  [[nodiscard]] BLOOMERY_HOST_DEVICE std::uint64_t up_to_240(bytes p,
                                                             std::size_t size) const noexcept {
    std::uint64_t sum = size * prime64_1;
    for (std::size_t i = 0; i < 8; ++i) sum += mix16(p + 16 * i, 16 * i);
    sum = avalanche(sum);
    for (std::size_t i = 8; i < size / 16; ++i) sum += mix16(p + 16 * i, 16 * (i - 8) + 3);
    return avalanche(sum + mix16(p + size - 16, 136 - 17));
  }

  BLOOMERY_HOST_DEVICE void add_stripe(std::uint64_t (&sums)[8], bytes p,
                                       std::size_t offset) const noexcept {
    for (std::size_t i = 0; i < 8; ++i) {
      const std::uint64_t value = read64(p + 8 * i);
      const std::uint64_t keyed = value ^ seeded(offset + 8 * i);
      sums[i ^ 1U] += value;
      sums[i] += (keyed & 0xffffffffU) * (keyed >> 32U);
    }
  }

  [[nodiscard]] BLOOMERY_HOST_DEVICE std::uint64_t longer(bytes p,
                                                          std::size_t size) const noexcept {
    constexpr std::size_t in_block = (secret_bytes - stripe) / 8;  // stripes
    std::uint64_t sums[8] = {prime32_3, prime64_1, prime64_2, prime64_3,
                             prime64_4, prime32_2, prime64_5, prime32_1};
    const std::size_t stripes = (size - 1) / stripe;
    for (std::size_t n = 0; n < stripes; ++n) {
      add_stripe(sums, p + n * stripe, n % in_block * 8);
      if (n % in_block != in_block - 1) continue;
      for (std::size_t i = 0; i < 8; ++i) {
        const std::uint64_t key = seeded(secret_bytes - stripe + 8 * i);
        sums[i] = (sums[i] ^ sums[i] >> 47U ^ key) * prime32_1;
      }
    }
    add_stripe(sums, p + size - stripe, secret_bytes - stripe - 7);
    std::uint64_t sum = size * prime64_1;
    for (std::size_t i = 0; i < 4; ++i) {
      sum += multiply_fold(sums[2 * i] ^ seeded(11 + 16 * i),
                           sums[2 * i + 1] ^ seeded(11 + 16 * i + 8));
    }
    return avalanche(sum);
  }

  std::uint64_t seed_;
};

}  // namespace bloomery::detail
