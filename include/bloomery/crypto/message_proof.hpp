// Proves that a message comes from somebody who has a secret: BLAKE2b with 32 bytes of output,
// keyed with the master key, over "bloomery proof" and the message. From libsodium.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "bloomery/crypto/key_derivation.hpp"

namespace bloomery {

[[nodiscard]] std::array<std::byte, 32> message_proof(const master_key& master,
                                                      std::span<const std::byte> message);

}  // namespace bloomery
