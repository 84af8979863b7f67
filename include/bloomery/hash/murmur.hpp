// MurmurHash2, for filters that other programs made with it (foreign/values.hpp). Our own use XXH3,
// which is faster and better.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bloomery/hash/hash.hpp"

namespace bloomery {

// MurmurHash2 and its form for 64 bits (Appleby 2008).
[[nodiscard]] std::uint32_t murmur2(std::string_view key, std::uint32_t seed) noexcept;
[[nodiscard]] std::uint64_t murmur64a(std::string_view key, std::uint64_t seed) noexcept;

struct murmur_pair {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
};
// As RedisBloom has it: the first seed is 0xc6a4a7935bd1e995, and a is the second.
[[nodiscard]] murmur_pair murmur_pair_of(std::string_view key) noexcept;

// The words of a digest are the positions (a + j b) mod `positions`, from 1 to 2^32 of them, which
// is the seed in a file. A filter with so many bits, or with a divisor of it, has these.
class murmur_hasher {
 public:
  using result_type = digest;
  static constexpr hash_id id = hash_id::murmur;
  static constexpr bool seeded = false;

  // Throws errc::bad_argument for another number of positions.
  explicit murmur_hasher(std::uint64_t positions);

  [[nodiscard]] digest bytes(const void* data, std::size_t size) const noexcept;
  [[nodiscard]] digest integer(std::uint64_t key) const noexcept;
  [[nodiscard]] std::uint32_t probes() const noexcept { return max_probes; }
  [[nodiscard]] hash_spec spec() const noexcept { return {.id = id, .seed = positions_}; }

 private:
  std::uint64_t positions_;
};

}  // namespace bloomery
