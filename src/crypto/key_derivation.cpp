#include "bloomery/crypto/key_derivation.hpp"

#include <sodium.h>

#include <cerrno>
#include <fstream>
#include <system_error>
#include <tuple>

#include "bloomery/core/error.hpp"
#include "core/integers.hpp"
#include "secret_file.hpp"

namespace bloomery {

namespace {

unsigned char* as_chars(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }
const unsigned char* as_chars(const void* bytes) {
  return static_cast<const unsigned char*>(bytes);
}

void require_sodium() {
  if (sodium_init() < 0) throw error(errc::unsupported, "libsodium finds no random numbers");
}

}  // namespace

master_key random_master_key() {
  require_sodium();
  master_key key{};
  randombytes_buf(key.data(), key.size());
  return key;
}

siphash_hasher::key_type derive_key(const master_key& master, std::string_view recipient,
                                    std::uint32_t number) {
  constexpr std::string_view purpose = "bloomery key";
  std::array<unsigned char, 4> in_order{};
  integers::write(in_order, 0, number);
  siphash_hasher::key_type key{};
  crypto_generichash_state state;
  crypto_generichash_init(&state, as_chars(master.data()), master.size(), key.size());
  crypto_generichash_update(&state, as_chars(purpose.data()), purpose.size());
  crypto_generichash_update(&state, in_order.data(), in_order.size());
  crypto_generichash_update(&state, as_chars(recipient.data()), recipient.size());
  crypto_generichash_final(&state, as_chars(key.data()), key.size());
  sodium_memzero(&state, sizeof state);
  return key;
}

std::vector<siphash_hasher> derive_hashers(const master_key& master, std::string_view recipient,
                                           std::uint32_t count, std::uint32_t first) {
  std::vector<siphash_hasher> all;
  for (std::uint32_t i = 0; i < count; ++i) {
    all.emplace_back(derive_key(master, recipient, first + i));
  }
  return all;
}

master_key read_master_key(const std::filesystem::path& path) {
  master_key key{};
  detail::read_secret(path, key);
  return key;
}

std::string keys_as_text(const std::vector<siphash_hasher::key_type>& keys) {
  std::string text;
  for (const siphash_hasher::key_type& key : keys) {
    std::array<char, 2 * std::tuple_size_v<siphash_hasher::key_type> + 1> digits{};
    sodium_bin2hex(digits.data(), digits.size(), as_chars(key.data()), key.size());
    text.append(digits.data()).push_back('\n');
  }
  return text;
}

std::vector<siphash_hasher::key_type> read_keys(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in) {
    throw error(errc::io, path.string() + ": opening the file of keys failed: " +
                              std::generic_category().message(errno));
  }
  std::vector<siphash_hasher::key_type> keys;
  std::uint64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    siphash_hasher::key_type key{};
    if (!detail::from_hex(line, key)) {
      throw error(errc::corrupt, path.string() + ":" + std::to_string(number) +
                                     ": a key has 32 hexadecimal digits");
    }
    keys.push_back(key);
  }
  return keys;
}

}  // namespace bloomery
