// Messages between two parties that share a key, sealed: whoever does not have the key can neither
// read, nor change, repeat, reorder or forge them. With libsodium.
//
//     bloomery::sealed_session here(key, true);     // the one who connected
//     send(here.greeting());                        // in the clear, both sides
//     here.meet(their_greeting);
//     send(here.seal(type, payload));
//     here.open(type, sealed);                      // throws errc::corrupt
//
// A greeting is 32 random bytes. From both of them and the shared key come two keys, one for each
// direction (BLAKE2b), so each connection has its own. A message is sealed with
// XChaCha20-Poly1305 under the number of the message, and its type is authenticated with it. That
// the peer has the key is proven by its first message.
//
// There is no forward secrecy: who learns the shared key later can read what was recorded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bloomery/crypto/key_derivation.hpp"

namespace bloomery {

class sealed_session {
 public:
  static constexpr std::size_t greeting_bytes = 32;
  static constexpr std::size_t overhead_bytes = 16;  // of a sealed message

  sealed_session(const master_key& shared, bool initiator);
  sealed_session(const sealed_session&) = delete;
  sealed_session& operator=(const sealed_session&) = delete;
  sealed_session(sealed_session&&) = default;
  sealed_session& operator=(sealed_session&&) = default;
  ~sealed_session();

  [[nodiscard]] std::span<const std::byte> greeting() const noexcept { return greeting_; }
  // Throws errc::corrupt for what is no greeting, a second one, or our own.
  void meet(std::span<const std::byte> greeting);
  [[nodiscard]] bool met() const noexcept { return met_; }

  // After meet().
  [[nodiscard]] std::vector<std::byte> seal(std::uint8_t type, std::span<const std::byte> payload);
  [[nodiscard]] std::vector<std::byte> open(std::uint8_t type, std::span<const std::byte> sealed);

 private:
  using session_key = std::array<unsigned char, 32>;

  master_key shared_;
  bool initiator_;
  bool met_ = false;
  std::array<std::byte, greeting_bytes> greeting_{};
  session_key sending_{};
  session_key receiving_{};
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace bloomery
