// SipHash-2-4 with a secret key (Aumasson and Bernstein 2012), from libsodium.
//
// With the default hash, an attacker who chooses keys can choose ones that all set the same bits,
// and one who holds a filter can test guesses offline. With a secret key neither is possible. A
// file stores the id of its key, never the key.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "bloomery/hash/hash.hpp"

namespace bloomery {

class siphash_hasher {
 public:
  using result_type = std::uint64_t;
  using key_type = std::array<std::byte, 16>;
  static constexpr hash_id id = hash_id::siphash;

  explicit siphash_hasher(const key_type& key);

  [[nodiscard]] std::uint64_t bytes(const void* data, std::size_t size) const noexcept;
  [[nodiscard]] std::uint64_t integer(std::uint64_t key) const noexcept {
    const std::uint64_t in_order = detail::little_endian(key);
    return bytes(&in_order, sizeof in_order);
  }
  [[nodiscard]] hash_spec spec() const noexcept { return {.id = id, .key_id = key_id_}; }

 private:
  key_type key_;
  std::uint64_t key_id_;
};

// A key file holds 32 hexadecimal digits, with or without a line end, or 16 raw bytes.
[[nodiscard]] siphash_hasher::key_type read_key_file(const std::filesystem::path& path);

}  // namespace bloomery
