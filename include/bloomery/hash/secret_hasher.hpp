// XXH3 with a secret of 192 bytes, all of them drawn from a seed: for keys that strangers choose.
//
// The seed of xxh3_hasher is added to a secret that is public. With seed 0 keys that all have one
// hash can be written down; and for a seed that nobody knows there are still pairs of 32 bytes with
// one hash for every 262,144th seed, because what it adds to one word of the public secret it takes
// from the next. Here every word of the secret is a draw of its own, and no such pairs are known.
// It costs no more (docs/math.md has the measured times).
//
// It is no cipher: whoever sees many hashes, or the seed in a file, can find such keys. Against
// those there is crypto/siphash.hpp, at a higher price.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/hash/random_seed.hpp"

namespace bloomery {

class secret_hasher {
 public:
  using result_type = std::uint64_t;
  static constexpr hash_id id = hash_id::xxh3_secret;
  static constexpr bool seeded = true;

  // A seed that came from random_seed() is unknown to others; a file of the filter holds it.
  constexpr explicit secret_hasher(std::uint64_t seed) noexcept : seed_(seed) {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;  // the step of splitmix64's own stream
    for (std::size_t i = 0; i < secret_.size(); ++i) {
      secret_[i] = detail::little_endian(splitmix64(seed + i * golden));
    }
  }

  [[nodiscard]] std::uint64_t bytes(const void* data, std::size_t size) const noexcept {
    return XXH3_64bits_withSecret(data, size, secret_.data(), sizeof secret_);
  }
  // No two integers have one hash: XXH3 of eight bytes can be inverted.
  [[nodiscard]] std::uint64_t integer(std::uint64_t key) const noexcept {
    const std::uint64_t in_order = detail::little_endian(key);
    return bytes(&in_order, sizeof in_order);
  }
  [[nodiscard]] constexpr hash_spec spec() const noexcept { return {.id = id, .seed = seed_}; }

 private:
  alignas(64) std::array<std::uint64_t, 24> secret_{};
  std::uint64_t seed_;
};

// For std::unordered_map and _set with strings from strangers. The standard library's own hash is
// the same in every program, so that keys can be made which all fall into one bucket.
struct secret_text_hash {
  using is_transparent = void;
  [[nodiscard]] std::size_t operator()(std::string_view text) const {
    static const secret_hasher of_this_process(process_seed());
    return static_cast<std::size_t>(of_this_process.bytes(text.data(), text.size()));
  }
};

// The same with hashes as keys. The standard library's own hash of a number is the number, and
// there is a key for every hash: a hundred thousand of them in one bucket take a minute.
class secret_number_hash {
 public:
  [[nodiscard]] std::size_t operator()(std::uint64_t number) const noexcept {
    return static_cast<std::size_t>(mix64(number, seed_));
  }

 private:
  std::uint64_t seed_ = process_seed();
};

}  // namespace bloomery
