#include "bloomery/crypto/message_proof.hpp"

#include <sodium.h>

#include <string_view>

namespace bloomery {

std::array<std::byte, 32> message_proof(const master_key& master,
                                        std::span<const std::byte> message) {
  constexpr std::string_view purpose = "bloomery proof";
  const auto chars = [](const void* bytes) { return static_cast<const unsigned char*>(bytes); };
  std::array<std::byte, 32> proof{};
  crypto_generichash_state state;
  crypto_generichash_init(&state, chars(master.data()), master.size(), proof.size());
  crypto_generichash_update(&state, chars(purpose.data()), purpose.size());
  crypto_generichash_update(&state, chars(message.data()), message.size());
  crypto_generichash_final(&state, reinterpret_cast<unsigned char*>(proof.data()), proof.size());
  sodium_memzero(&state, sizeof state);
  return proof;
}

}  // namespace bloomery
