#include "bloomery/crypto/session.hpp"

#include <sodium.h>

#include <algorithm>
#include <string_view>

#include "bloomery/core/error.hpp"
#include "core/integers.hpp"

namespace bloomery {

namespace {

const unsigned char* session_bytes(const void* bytes) {
  return static_cast<const unsigned char*>(bytes);
}

// Never the same twice under one key: the number of the message.
std::array<unsigned char, crypto_aead_xchacha20poly1305_ietf_NPUBBYTES> numbered(
    std::uint64_t number) {
  std::array<unsigned char, crypto_aead_xchacha20poly1305_ietf_NPUBBYTES> nonce{};
  integers::write(nonce, 0, number);
  return nonce;
}

}  // namespace

sealed_session::sealed_session(const master_key& shared, bool initiator)
    : shared_(shared), initiator_(initiator) {
  if (sodium_init() < 0) throw error(errc::unsupported, "libsodium finds no random numbers");
  randombytes_buf(greeting_.data(), greeting_.size());
}

sealed_session::~sealed_session() {
  sodium_memzero(shared_.data(), shared_.size());
  sodium_memzero(sending_.data(), sending_.size());
  sodium_memzero(receiving_.data(), receiving_.size());
}

void sealed_session::meet(std::span<const std::byte> greeting) {
  // Our own, sent back, would make both directions look alike.
  if (met_ || greeting.size() != greeting_bytes || std::ranges::equal(greeting, greeting_)) {
    throw error(errc::corrupt, "the peer's greeting is none");
  }
  constexpr std::string_view purpose = "bloomery session";
  const std::span<const std::byte> first = initiator_ ? greeting_ : greeting;
  const std::span<const std::byte> second = initiator_ ? greeting : greeting_;
  const auto derive = [&](unsigned char direction) {
    session_key key{};
    crypto_generichash_state state;
    crypto_generichash_init(&state, session_bytes(shared_.data()), shared_.size(), key.size());
    crypto_generichash_update(&state, session_bytes(purpose.data()), purpose.size());
    crypto_generichash_update(&state, &direction, 1);
    crypto_generichash_update(&state, session_bytes(first.data()), first.size());
    crypto_generichash_update(&state, session_bytes(second.data()), second.size());
    crypto_generichash_final(&state, key.data(), key.size());
    sodium_memzero(&state, sizeof state);
    return key;
  };
  sending_ = derive(initiator_ ? 1 : 2);
  receiving_ = derive(initiator_ ? 2 : 1);
  met_ = true;
}

std::vector<std::byte> sealed_session::seal(std::uint8_t type, std::span<const std::byte> payload) {
  std::vector<std::byte> sealed(payload.size() + overhead_bytes);
  const auto nonce = numbered(sent_++);
  crypto_aead_xchacha20poly1305_ietf_encrypt(reinterpret_cast<unsigned char*>(sealed.data()),
                                             nullptr, session_bytes(payload.data()), payload.size(),
                                             &type, 1, nullptr, nonce.data(), sending_.data());
  return sealed;
}

std::vector<std::byte> sealed_session::open(std::uint8_t type, std::span<const std::byte> sealed) {
  if (!met_ || sealed.size() < overhead_bytes) {
    throw error(errc::corrupt, "the peer does not seal its messages; both sides need the same key");
  }
  std::vector<std::byte> payload(sealed.size() - overhead_bytes);
  const auto nonce = numbered(received_);
  if (crypto_aead_xchacha20poly1305_ietf_decrypt(reinterpret_cast<unsigned char*>(payload.data()),
                                                 nullptr, nullptr, session_bytes(sealed.data()),
                                                 sealed.size(), &type, 1, nonce.data(),
                                                 receiving_.data()) != 0) {
    throw error(errc::corrupt, "the peer's message is forged, or it has another key");
  }
  ++received_;
  return payload;
}

}  // namespace bloomery
