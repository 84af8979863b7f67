// The fastest layout of other libraries: blocks of 256 bits, in which a key sets one bit in each of
// eight lanes (Putze, Sanders and Singler 2007). Parquet and Impala compute the bits with
// multipliers, Boost.Bloom with shifts. This does it as these libraries do, both for programs that
// are built for AVX2 and for those that are built for any x86-64.
#pragma once

#if defined(__x86_64__)
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "bloomery/detail/core/arithmetic.hpp"

namespace bloomery::bench {

// A rate of 1 % takes 10.53 bits a key.
class split_block {
 public:
  explicit split_block(std::size_t keys)
      : blocks_(static_cast<std::uint64_t>(static_cast<double>(keys) * 10.53) / 256 + 1),
        lines_(blocks_ / 2 + 1) {}

 protected:
  struct alignas(64) line {
    std::uint32_t lanes[16];
  };
  // A key takes one multiplication for mixing, one for the block and one for the bits.
  struct place {
    std::size_t lane;
    std::uint64_t rest;
  };
  [[gnu::always_inline]] [[nodiscard]] place place_of(std::uint64_t key) const {
    const std::uint64_t hash = detail::multiply_fold(key, 0x9fb21c651e98df25U) | 1U;
    return {detail::multiply_high(hash, blocks_) * 8, hash * 0xd1342543de82ef95U};
  }
  [[nodiscard]] const std::uint32_t* lanes() const { return lines_.data()->lanes; }
  [[nodiscard]] std::uint32_t* lanes() { return lines_.data()->lanes; }

 private:
  std::uint64_t blocks_;
  std::vector<line> lines_;
};

class split_block_avx2 : public split_block {
 public:
  static constexpr const char* name = "split_block_avx2";

  [[gnu::target("avx2")]] explicit split_block_avx2(std::span<const std::uint64_t> keys)
      : split_block(keys.size()) {
    for (const std::uint64_t key : keys) {
      const place p = place_of(key);
      bits block;
      std::memcpy(&block, lanes() + p.lane, sizeof block);
      block |= mask_of(p.rest);
      std::memcpy(lanes() + p.lane, &block, sizeof block);
    }
  }
  [[gnu::target("avx2")]] [[nodiscard]] std::uint64_t count(
      std::span<const std::uint64_t> keys) const {
    std::uint64_t found = 0;
    for (const std::uint64_t key : keys) {
      const place p = place_of(key);
      words block;
      std::memcpy(&block, lanes() + p.lane, sizeof block);
      const auto mask = reinterpret_cast<words>(mask_of(p.rest));
      found += static_cast<std::uint64_t>(__builtin_ia32_ptestc256(block, mask));
    }
    return found;
  }

 private:
  using bits [[gnu::vector_size(32)]] = std::uint32_t;
  using words [[gnu::vector_size(32)]] = long long;
  using hashes [[gnu::vector_size(32)]] = std::uint64_t;

  // Each lane uses five bits of the hash.
  [[gnu::target("avx2"), gnu::always_inline]] static bits mask_of(std::uint64_t rest) {
    const hashes shifted = (hashes{} + rest) << hashes{0, 5, 10, 15};
    return (bits{} + 1U) << (reinterpret_cast<bits>(shifted) >> 27U);
  }
};

class split_block_sse2 : public split_block {
 public:
  static constexpr const char* name = "split_block_sse2";

  explicit split_block_sse2(std::span<const std::uint64_t> keys) : split_block(keys.size()) {
    for (const std::uint64_t key : keys) {
      const place p = place_of(key);
      for (std::size_t half = 0; half < 2; ++half) {
        std::uint32_t* const start = lanes() + p.lane + half * 4;
        store(start, load(start) | mask_of(p.rest, half));
      }
    }
  }
  [[nodiscard]] std::uint64_t count(std::span<const std::uint64_t> keys) const {
    std::uint64_t found = 0;
    for (const std::uint64_t key : keys) {
      const place p = place_of(key);
      const std::uint32_t* const block = lanes() + p.lane;
      const bits missing =
          (mask_of(p.rest, 0) & ~load(block)) | (mask_of(p.rest, 1) & ~load(block + 4));
      const auto none = reinterpret_cast<bytes>(missing == 0);
      found += __builtin_ia32_pmovmskb128(none) == 0xffff ? 1U : 0U;
    }
    return found;
  }

 private:
  using bits [[gnu::vector_size(16)]] = std::uint32_t;
  using bytes [[gnu::vector_size(16)]] = char;
  using hashes [[gnu::vector_size(16)]] = std::uint64_t;

  // SSE2 cannot shift each lane by its own number. Instead the five bits go into the exponent of a
  // float, which is converted to an integer and so becomes a power of 2. A value too large for a
  // signed integer becomes 2^31, which is right.
  [[gnu::always_inline]] static bits mask_of(std::uint64_t rest, std::size_t half) {
    using floats [[gnu::vector_size(16)]] = float;
    const hashes both = hashes{rest, rest << 5U} << (half * 16);
    const bits number = (reinterpret_cast<bits>(both) & 0x0f800000U) + 0x3f800000U;
    return reinterpret_cast<bits>(__builtin_ia32_cvttps2dq(reinterpret_cast<floats>(number)));
  }
  [[gnu::always_inline]] static bits load(const std::uint32_t* from) {
    bits some;
    std::memcpy(&some, from, sizeof some);
    return some;
  }
  [[gnu::always_inline]] static void store(std::uint32_t* to, const bits& some) {
    std::memcpy(to, &some, sizeof some);
  }
};

}  // namespace bloomery::bench

#endif
