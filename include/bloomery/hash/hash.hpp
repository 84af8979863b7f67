// Key + seed -> 64-bit hash. One hash per key; everything after it (hash/probe.hpp) works on that.
//
// Default: XXH3 (Collet) for bytes and a two-multiply mixer for integers. Both are fast and good,
// neither withstands somebody who may choose keys: crypto/siphash.hpp is for that.
//
// Your own types: write, beside the type,
//
//     template <class Hasher>
//     std::uint64_t bloomery_hash(const point& p, const Hasher& hasher) {
//       return bloomery::hash_both(hasher, p.x, p.y);
//     }
//
// and it is found by argument-dependent lookup.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>

// Inlined, because the call would cost more than the hash of a short key.
#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
// Read through memcpy. xxHash's default for GCC on Arm reads through another type, and once inlined
// the compiler may drop the stores that it is about to hash.
#ifndef XXH_FORCE_MEMORY_ACCESS
#define XXH_FORCE_MEMORY_ACCESS 0
#endif
#include <xxhash.h>

#include "bloomery/core/shape.hpp"
#include "bloomery/detail/core/arithmetic.hpp"

namespace bloomery {

// Part of the file format; a number never changes its meaning.
enum class hash_id : std::uint16_t {
  none = 0,         // the caller brought 64-bit hashes of its own
  xxh3 = 1,         // XXH3 for bytes, mix64 for integers
  siphash = 2,      // SipHash-2-4 with a secret key
  salted_sha1 = 3,  // k digests of salt + key, the first 32 bits of each
  md5 = 4,          // the four 32-bit words of one MD5 digest (Squid's cache digests)
};

[[nodiscard]] constexpr std::string_view hash_name(hash_id id) noexcept {
  switch (id) {
    case hash_id::none:
      return "none";
    case hash_id::xxh3:
      return "xxh3";
    case hash_id::siphash:
      return "siphash";
    case hash_id::salted_sha1:
      return "sha1";
    case hash_id::md5:
      return "md5";
  }
  return "unknown";
}

// What the strings are that were hashed, where they are not simply the user's keys: a filter of
// passwords asked for a password as if it were a word would give a wrong answer. Part of the file
// format like hash_id.
enum class key_rule : std::uint8_t {
  plain = 0,            // the keys as they are
  password = 1,         // lists/password.hpp: passwords,
  near_password = 2,    // passwords and what is left of them without one character,
  password_digest = 3,  // SHA-1 digests of passwords
  word = 4,             // lists/dictionary.hpp
  block_list = 5,       // lists/blocklist.hpp: addresses, domains and URLs
};

// What the strings are, in words that complete "the filter is one of ...".
[[nodiscard]] constexpr std::string_view rule_name(key_rule rule) noexcept {
  switch (rule) {
    case key_rule::plain:
      return "plain keys";
    case key_rule::password:
      return "passwords";
    case key_rule::near_password:
      return "passwords within one edit";
    case key_rule::password_digest:
      return "digests of passwords";
    case key_rule::word:
      return "words of a dictionary";
    case key_rule::block_list:
      return "a block list";
  }
  return "unknown";
}

// What a file stores of its hash: which function it is, and of which strings.
struct hash_spec {
  hash_id id = hash_id::none;
  key_rule rule = key_rule::plain;
  std::uint64_t seed = 0;
  std::uint64_t key_id = 0;  // names the secret key of a keyed hash without telling it

  friend bool operator==(const hash_spec&, const hash_spec&) = default;
};

// What a foreign scheme has instead of a 64-bit hash: a word for each probe. A fixed array, so that
// hashing never allocates; only the first `probes` words mean anything.
struct digest {
  std::array<std::uint32_t, max_probes> words{};
};

// Steele, Lea and Flood 2014: spreads a seed over 64 bits, so that seeds 0, 1, 2, ... are
// unrelated.
[[nodiscard]] constexpr std::uint64_t splitmix64(std::uint64_t seed) noexcept {
  std::uint64_t z = seed + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

// The integer mixer, with the seed spread beforehand. One multiply is not enough: on some ordinary
// key sets (timestamps, grids) it gave 6 to 46 times the expected false positives. This one stays
// within the noise of the model on all of them (tests/hash/quality_stat_test.cpp), and eight keys
// at a time vectorise.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t key, std::uint64_t spread_seed) noexcept {
  return detail::multiply_fold(key ^ spread_seed, 0x9fb21c651e98df25U) * 0xd6e8feb86659fd93U;
}

// Integers whose hash is their mix64. A batch call that takes these hashes them itself, eight at a
// time.
struct mixed_integers {
  std::span<const std::uint64_t> keys;
  std::uint64_t spread_seed = 0;
};

// out[i] = the mix64 of key i, by the machine's widest instructions: 0.33 ns a key with AVX-512 on
// a Zen 4.
void mix64_batch(const mixed_integers& keys, std::span<std::uint64_t> out) noexcept;

class xxh3_hasher {
 public:
  using result_type = std::uint64_t;
  static constexpr hash_id id = hash_id::xxh3;
  static constexpr bool seeded = true;

  constexpr explicit xxh3_hasher(std::uint64_t seed = 0) noexcept
      : seed_(seed), spread_seed_(splitmix64(seed)) {}

  [[nodiscard]] std::uint64_t bytes(const void* data, std::size_t size) const noexcept {
    return XXH3_64bits_withSeed(data, size, seed_);
  }
  [[nodiscard]] constexpr std::uint64_t integer(std::uint64_t key) const noexcept {
    return mix64(key, spread_seed_);
  }
  [[nodiscard]] constexpr mixed_integers integers(
      std::span<const std::uint64_t> keys) const noexcept {
    return {.keys = keys, .spread_seed = spread_seed_};
  }
  [[nodiscard]] constexpr hash_spec spec() const noexcept { return {.id = id, .seed = seed_}; }

 private:
  std::uint64_t seed_;
  std::uint64_t spread_seed_;
};

template <class T>
concept hasher = requires(const T& h, const void* data, std::size_t size, std::uint64_t key) {
  { h.bytes(data, size) } -> std::same_as<typename T::result_type>;
  { h.integer(key) } -> std::same_as<typename T::result_type>;
  { h.spec() } -> std::same_as<hash_spec>;
  { T::id } -> std::convertible_to<hash_id>;
};

// A hasher that follows from a seed alone, so that options and file headers can make it.
template <class T>
concept seeded_hasher = hasher<T> && T::seeded && std::constructible_from<T, std::uint64_t>;

namespace detail {

template <class T>
concept character = std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
                    std::same_as<T, char16_t> || std::same_as<T, char32_t>;

template <class T>
concept byte_like =
    std::same_as<T, std::byte> || std::same_as<T, unsigned char> || std::same_as<T, char> ||
    std::same_as<T, signed char> || std::same_as<T, char8_t>;

template <class T>
concept text_key =
    std::convertible_to<const T&, std::string_view> && !std::same_as<T, std::nullptr_t>;

template <class T>
concept bytes_key =
    !text_key<T> && std::ranges::contiguous_range<const T> && std::ranges::sized_range<const T> &&
    byte_like<std::remove_cv_t<std::ranges::range_value_t<const T>>>;

// Neither bool nor characters: f.add('a') is far more often a mistake than meant so.
template <class T>
concept integer_key = std::integral<T> && !std::same_as<T, bool> && !character<T>;

template <class T, class Hasher>
concept custom_key = requires(const T& key, const Hasher& h) {
  { bloomery_hash(key, h) } -> std::same_as<typename Hasher::result_type>;
};

}  // namespace detail

template <class T, class Hasher = xxh3_hasher>
concept key_for = detail::text_key<T> || detail::bytes_key<T> || detail::integer_key<T> ||
                  detail::custom_key<T, Hasher>;

// The one place where a key becomes a hash. Strings, views and ranges of bytes with the same bytes
// have the same hash; so have integers of the same value, whatever their type (a negative number is
// its 64-bit two's complement). An integer and its decimal text are different keys.
template <hasher Hasher, key_for<Hasher> Key>
[[nodiscard]] typename Hasher::result_type hash_key(const Hasher& h, const Key& key) noexcept {
  if constexpr (detail::custom_key<Key, Hasher>) {
    return bloomery_hash(key, h);
  } else if constexpr (detail::integer_key<Key>) {
    return h.integer(static_cast<std::uint64_t>(key));
  } else if constexpr (detail::text_key<Key>) {
    const std::string_view text = key;
    return h.bytes(text.data(), text.size());
  } else {
    return h.bytes(std::ranges::data(key), std::ranges::size(key));
  }
}

// For keys of two fields: the hash of both hashes, in this order. Nest it for more fields.
template <hasher Hasher, key_for<Hasher> First, key_for<Hasher> Second>
  requires std::same_as<typename Hasher::result_type, std::uint64_t>
[[nodiscard]] std::uint64_t hash_both(const Hasher& h, const First& first,
                                      const Second& second) noexcept {
  const std::array<std::uint64_t, 2> both = {detail::little_endian(hash_key(h, first)),
                                             detail::little_endian(hash_key(h, second))};
  return h.bytes(both.data(), sizeof both);
}

}  // namespace bloomery
