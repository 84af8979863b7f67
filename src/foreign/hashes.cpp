#include "bloomery/foreign/hashes.hpp"

#include <bit>
#include <cstring>

#include "bloomery/detail/core/arithmetic.hpp"

namespace bloomery::foreign {

namespace {

// Up to eight bytes as a little-endian number, on every machine.
std::uint64_t number_of(const char* bytes, std::size_t count) noexcept {
  std::uint64_t n = 0;
  if (count != 0) std::memcpy(&n, bytes, count);
  return detail::little_endian(n);
}

class sip13 {
 public:
  sip13(std::uint64_t k0, std::uint64_t k1) noexcept
      : a_(k0 ^ 0x736f6d6570736575U),
        b_(k1 ^ 0x646f72616e646f6dU),
        c_(k0 ^ 0x6c7967656e657261U),
        d_(k1 ^ 0x7465646279746573U) {}

  void word(std::uint64_t w) noexcept {
    d_ ^= w;
    round();
    a_ ^= w;
  }
  [[nodiscard]] std::uint64_t finish() noexcept {
    c_ ^= 0xffU;
    for (int i = 0; i < 3; ++i) round();
    return a_ ^ b_ ^ c_ ^ d_;
  }

 private:
  void round() noexcept {
    a_ += b_;
    b_ = std::rotl(b_, 13) ^ a_;
    a_ = std::rotl(a_, 32);
    c_ += d_;
    d_ = std::rotl(d_, 16) ^ c_;
    a_ += d_;
    d_ = std::rotl(d_, 21) ^ a_;
    c_ += b_;
    b_ = std::rotl(b_, 17) ^ c_;
    c_ = std::rotl(c_, 32);
  }

  std::uint64_t a_;
  std::uint64_t b_;
  std::uint64_t c_;
  std::uint64_t d_;
};

}  // namespace

std::uint64_t sip13_of_slice(std::string_view key, const sip_key& secret) noexcept {
  const auto* const words = reinterpret_cast<const char*>(secret.data());
  sip13 state(number_of(words, 8), number_of(words + 8, 8));
  const std::uint64_t hashed = key.size() + 8;  // of the length and the key
  state.word(key.size());
  for (; key.size() >= 8; key.remove_prefix(8)) state.word(number_of(key.data(), 8));
  state.word((hashed << 56U) | number_of(key.data(), key.size()));
  return state.finish();
}

}  // namespace bloomery::foreign
