// Which hash function a filter was made with, and over what: what a file stores of its hash.
#pragma once

#include <cstdint>
#include <string_view>

#include "bloomery/hash/key_form.hpp"

namespace bloomery {

// Part of the file format; a number never changes its meaning.
enum class hash_id : std::uint16_t {
  none = 0,         // the caller brought 64-bit hashes of its own
  xxh3 = 1,         // XXH3 for bytes, mix64 for integers
  siphash = 2,      // SipHash-2-4 with a secret key
  salted_sha1 = 3,  // k digests of salt + key, the first 32 bits of each
  md5 = 4,          // the four 32-bit words of one MD5 digest (Squid's cache digests)
  folded_sha1 = 5,  // k digests of salt + key, the XOR of the five 32-bit words of each
  xxh3_secret = 6,  // XXH3 with a secret that is drawn from the seed
  murmur = 7,       // two MurmurHash64A make all positions below the seed (RedisBloom's layers)
};

// Whether it makes words of a digest, for probe_scheme::modulo, instead of one 64-bit hash.
[[nodiscard]] constexpr bool makes_digests(hash_id id) noexcept {
  return id == hash_id::salted_sha1 || id == hash_id::md5 || id == hash_id::folded_sha1 ||
         id == hash_id::murmur;
}

// Whether a seed chooses the function.
[[nodiscard]] constexpr bool takes_seed(hash_id id) noexcept {
  return id == hash_id::xxh3 || id == hash_id::xxh3_secret || id == hash_id::murmur;
}

[[nodiscard]] constexpr std::string_view hash_name(hash_id id) noexcept {
  switch (id) {
    case hash_id::none: return "none";
    case hash_id::xxh3: return "xxh3";
    case hash_id::siphash: return "siphash";
    case hash_id::salted_sha1: return "sha1";
    case hash_id::md5: return "md5";
    case hash_id::folded_sha1: return "sha1-folded";
    case hash_id::xxh3_secret: return "xxh3-secret";
    case hash_id::murmur: return "murmur";
  }
  return "unknown";
}

// What the hashed strings are, where not the user's keys: a filter of passwords asked for a
// password as if it were a word would answer wrongly. Part of the file format like hash_id.
enum class key_rule : std::uint8_t {
  plain = 0,            // the keys as they are
  password = 1,         // lists/password.hpp: passwords,
  near_password = 2,    // passwords and what is left of them without one character,
  password_digest = 3,  // SHA-1 digests of passwords
  word = 4,             // lists/dictionary.hpp
  block_list = 5,       // lists/blocklist.hpp: addresses, domains and URLs
};

// As in "the filter is one of ...".
[[nodiscard]] constexpr std::string_view rule_name(key_rule rule) noexcept {
  switch (rule) {
    case key_rule::plain: return "plain keys";
    case key_rule::password: return "passwords";
    case key_rule::near_password: return "passwords within one edit";
    case key_rule::password_digest: return "digests of passwords";
    case key_rule::word: return "words of a dictionary";
    case key_rule::block_list: return "a block list";
  }
  return "unknown";
}

// Which function of a family, over what: what a file stores of its hash.
struct hash_spec {
  hash_id id = hash_id::none;
  key_rule rule = key_rule::plain;
  key_form form = {};  // what the keys were; known with plain keys only
  std::uint64_t seed = 0;
  std::uint64_t key_id = 0;  // names the secret key of a keyed hash without telling it

  friend bool operator==(const hash_spec&, const hash_spec&) = default;
};

}  // namespace bloomery
