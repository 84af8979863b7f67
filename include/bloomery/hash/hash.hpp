// Key + seed -> 64-bit hash. One hash per key; everything after it (hash/probe.hpp) works on that.
//
// Default: XXH3 (Collet) for bytes and a two-multiply mixer for integers. Both are fast and good,
// neither withstands somebody who may choose keys: hash/secret_hasher.hpp is for that, with a seed
// that nobody knows, and crypto/siphash.hpp with a key that stays secret.
//
// Your own types: write, beside the type,
//
//     template <class Hasher>
//     std::uint64_t bloomery_hash(const point& p, const Hasher& hasher) {
//       return bloomery::hash_fields(hasher, p.x, p.y);
//     }
//
// and it is found by argument-dependent lookup.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

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
#include "bloomery/hash/hash_spec.hpp"
#include "bloomery/hash/mix.hpp"

namespace bloomery {

// What a foreign scheme has instead of a 64-bit hash: a word for each probe. A fixed array, so that
// hashing never allocates; only the first `probes` words mean anything.
struct digest {
  std::array<std::uint32_t, max_probes> words{};
};

// Integers whose hash is their mix64. A batch call hashes them itself, eight at a time.
struct mixed_integers {
  std::span<const std::uint64_t> keys;
  std::uint64_t spread_seed = 0;
};

// out[i] = the mix64 of key i, by the widest instructions: 0.33 ns a key with AVX-512 on a Zen 4.
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
concept bytes_key = !text_key<T> && requires(const T& key) {
  std::ranges::begin(key);
  std::ranges::size(key);
  requires byte_like<std::remove_cvref_t<decltype(*std::ranges::data(key))>>;
};

// Numbers, truth values and enumerators, but no characters: f.add('a') is most often a slip.
template <class T>
concept integer_key = (std::integral<T> || std::is_enum_v<T>)&&!character<T>;

// A std::filesystem::path, known by its members because <filesystem> is slow to compile.
template <class T>
concept path_key = requires(const T& key) {
  { key.native() } noexcept -> std::same_as<const std::string&>;
  key.lexically_normal();
};

// How a type says that it is made of other keys; the second argument is the hash function.
template <class T, class Hasher>
inline constexpr bool composed_key = false;

template <class T, class Hasher>
concept custom_key = requires(const T& key, const Hasher& h) {
  { bloomery_hash(key, h) } -> std::same_as<typename Hasher::result_type>;
};

}  // namespace detail

template <class T, class Hasher = xxh3_hasher>
concept key_for =
    detail::text_key<T> || detail::bytes_key<T> || detail::integer_key<T> || detail::path_key<T> ||
    detail::composed_key<T, Hasher> || detail::custom_key<T, Hasher>;

namespace detail {

// Fields have to have 64-bit hashes, so that they can be hashed again.
template <class Hasher, class... Fields>
inline constexpr bool are_fields = std::same_as<typename Hasher::result_type, std::uint64_t> &&
                                   (key_for<std::remove_cvref_t<Fields>, Hasher> && ...);

template <class First, class Second, class Hasher>
inline constexpr bool composed_key<std::pair<First, Second>, Hasher> =
    are_fields<Hasher, First, Second>;
template <class First, class... Rest, class Hasher>
inline constexpr bool composed_key<std::tuple<First, Rest...>, Hasher> =
    are_fields<Hasher, First, Rest...>;
template <class Value, class Hasher>
inline constexpr bool composed_key<std::optional<Value>, Hasher> = are_fields<Hasher, Value>;

// The hash of a path, in which several separators in a row mean one: equal paths are equal keys.
template <class Hasher>
typename Hasher::result_type hash_path(const Hasher& h, std::string text) {
  text.erase(
      std::unique(text.begin(), text.end(), [](char a, char b) { return a == '/' && b == '/'; }),
      text.end());
  return h.bytes(text.data(), text.size());
}

}  // namespace detail

template <hasher Hasher, class... Fields>
[[nodiscard]] std::uint64_t hash_fields(const Hasher& h, const Fields&... fields) noexcept;

// The one place where a key becomes a hash. What has the same bytes below is the same key, whatever
// its type; the encoding is part of the file format (docs/format.md) and never changes.
//   strings, views, ranges of bytes   the bytes
//   integers, enumerators, bool       the 64-bit number, a negative one in two's complement: not
//                                     the key that is its decimal text
//   std::filesystem::path             the bytes of its text, with one / for several in a row
//   std::pair, std::tuple             the hashes of the fields, 8 bytes each: hash_fields
//   std::optional                     as the tuple (true, value), or as (false) without a value
template <hasher Hasher, class Key>
[[nodiscard]] typename Hasher::result_type hash_key(const Hasher& h, const Key& key) noexcept {
  static_assert(key_for<Key, Hasher>,
                "This type is no key for this hash function. Write a function bloomery_hash(const "
                "Key&, const Hasher&) beside it; see bloomery/hash/hash.hpp.");
  if constexpr (detail::custom_key<Key, Hasher>) {
    return bloomery_hash(key, h);
  } else if constexpr (detail::integer_key<Key>) {
    return h.integer(static_cast<std::uint64_t>(key));
  } else if constexpr (detail::text_key<Key>) {
    const std::string_view text = key;
    return h.bytes(text.data(), text.size());
  } else if constexpr (detail::bytes_key<Key>) {
    return h.bytes(std::ranges::data(key), std::ranges::size(key));
  } else if constexpr (detail::path_key<Key>) {
    const std::string& text = key.native();
    if (text.find("//") != std::string::npos) return detail::hash_path(h, text);
    return h.bytes(text.data(), text.size());
  } else if constexpr (requires { key.has_value(); }) {
    return key.has_value() ? hash_fields(h, true, *key) : hash_fields(h, false);
  } else if constexpr (detail::composed_key<Key, Hasher>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return hash_fields(h, std::get<I>(key)...);
    }(std::make_index_sequence<std::tuple_size_v<Key>>{});
  }
}

// The hash of the fields' hashes, in this order: ("ab", "c") and ("a", "bc") are different keys.
template <hasher Hasher, class... Fields>
[[nodiscard]] std::uint64_t hash_fields(const Hasher& h, const Fields&... fields) noexcept {
  const std::array<std::uint64_t, sizeof...(Fields)> hashes = {
      detail::little_endian(hash_key(h, fields))...};
  return h.bytes(hashes.data(), sizeof hashes);
}

}  // namespace bloomery
