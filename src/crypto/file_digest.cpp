#include "bloomery/crypto/file_digest.hpp"

#include <sodium.h>

#include <array>
#include <fstream>
#include <vector>

#include "bloomery/core/error.hpp"

namespace bloomery {

std::string sha256_of_file(const std::filesystem::path& path) {
  constexpr std::size_t piece_bytes = std::size_t{1} << 16U;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw error(errc::io, path.string() + ": opening the file failed");
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  std::vector<char> piece(piece_bytes);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() != 0) {
    crypto_hash_sha256_update(&state, reinterpret_cast<const unsigned char*>(piece.data()),
                              static_cast<unsigned long long>(in.gcount()));
  }
  if (in.bad()) throw error(errc::io, path.string() + ": reading the file failed");
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest{};
  crypto_hash_sha256_final(&state, digest.data());
  std::array<char, 2 * crypto_hash_sha256_BYTES + 1> digits{};
  sodium_bin2hex(digits.data(), digits.size(), digest.data(), digest.size());
  return digits.data();
}

}  // namespace bloomery
