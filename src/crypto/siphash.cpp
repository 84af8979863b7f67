#include "bloomery/crypto/siphash.hpp"

#include <sodium.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "bloomery/core/error.hpp"
#include "core/integers.hpp"
#include "secret_file.hpp"

namespace bloomery {

namespace {

const unsigned char* as_chars(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

// The text makes the id specific to this use: it reveals nothing about other ids of the key.
std::uint64_t id_of(const siphash_hasher::key_type& key) {
  constexpr std::string_view purpose = "bloomery siphash id";
  std::array<unsigned char, purpose.size() + std::tuple_size_v<siphash_hasher::key_type>> input{};
  std::copy(purpose.begin(), purpose.end(), input.begin());
  std::copy_n(as_chars(key.data()), key.size(), input.begin() + purpose.size());
  std::array<unsigned char, 32> hash{};
  crypto_generichash(hash.data(), hash.size(), input.data(), input.size(), nullptr, 0);
  sodium_memzero(input.data(), input.size());
  return integers::read<std::uint64_t>(hash, 0);
}

}  // namespace

static_assert(crypto_shorthash_KEYBYTES == std::tuple_size_v<siphash_hasher::key_type>);
static_assert(crypto_shorthash_BYTES == sizeof(std::uint64_t));

siphash_hasher::siphash_hasher(const key_type& key) : key_(key), key_id_(id_of(key)) {}

std::uint64_t siphash_hasher::bytes(const void* data, std::size_t size) const noexcept {
  std::array<unsigned char, crypto_shorthash_BYTES> out{};
  crypto_shorthash(out.data(), static_cast<const unsigned char*>(data), size,
                   as_chars(key_.data()));
  return integers::read<std::uint64_t>(out, 0);
}

siphash_hasher::key_type read_key_file(const std::filesystem::path& path) {
  siphash_hasher::key_type key{};
  detail::read_secret(path, key);
  return key;
}

namespace detail {

bool from_hex(std::string_view text, std::span<std::byte> secret) {
  std::size_t written = 0;
  return text.size() == 2 * secret.size() &&
         sodium_hex2bin(reinterpret_cast<unsigned char*>(secret.data()), secret.size(), text.data(),
                        text.size(), nullptr, &written, nullptr) == 0 &&
         written == secret.size();
}

void read_secret(const std::filesystem::path& path, std::span<std::byte> secret) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw error(errc::io, path.string() + ": opening the key file failed");
  // A little more than the longest valid content, so that a file that is too long is noticed.
  std::array<char, 128> text{};
  const std::size_t most = 4 * secret.size();
  in.read(text.data(), static_cast<std::streamsize>(most));
  std::string_view content(text.data(), static_cast<std::size_t>(in.gcount()));
  bool sound = content.size() == secret.size();
  if (sound) {
    std::transform(content.begin(), content.end(), secret.begin(),
                   [](char c) { return static_cast<std::byte>(c); });
  } else {
    while (!content.empty() && (content.back() == '\n' || content.back() == '\r')) {
      content.remove_suffix(1);
    }
    sound = static_cast<std::size_t>(in.gcount()) < most && from_hex(content, secret);
  }
  sodium_memzero(text.data(), text.size());
  if (sound) return;
  const std::string bytes = std::to_string(secret.size());
  throw error(errc::bad_argument, path.string() + ": a key file holds " +
                                      std::to_string(2 * secret.size()) +
                                      " hexadecimal digits or " + bytes +
                                      " raw bytes; make one with: openssl rand -hex " + bytes);
}

}  // namespace detail
}  // namespace bloomery
