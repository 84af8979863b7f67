#include "bloomery/crypto/siphash.hpp"

#include <sodium.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "bloomery/core/error.hpp"
#include "core/integers.hpp"

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
  std::ifstream in(path, std::ios::binary);
  if (!in) throw error(errc::io, path.string() + ": opening the key file failed");
  // A little more than the longest valid content, so that a file that is too long is noticed.
  std::array<char, 64> text{};
  in.read(text.data(), text.size());
  std::string_view content(text.data(), static_cast<std::size_t>(in.gcount()));
  siphash_hasher::key_type key{};
  bool sound = content.size() < text.size();
  if (content.size() == key.size()) {
    std::transform(content.begin(), content.end(), key.begin(),
                   [](char c) { return static_cast<std::byte>(c); });
  } else {
    while (!content.empty() && (content.back() == '\n' || content.back() == '\r')) {
      content.remove_suffix(1);
    }
    std::size_t written = 0;
    sound = sound && content.size() == 2 * key.size() &&
            sodium_hex2bin(reinterpret_cast<unsigned char*>(key.data()), key.size(), content.data(),
                           content.size(), nullptr, &written, nullptr) == 0 &&
            written == key.size();
  }
  sodium_memzero(text.data(), text.size());
  if (!sound) {
    throw error(errc::bad_argument,
                path.string() +
                    ": a key file holds 32 hexadecimal digits or 16 raw bytes; make one "
                    "with: openssl rand -hex 16");
  }
  return key;
}

}  // namespace bloomery
