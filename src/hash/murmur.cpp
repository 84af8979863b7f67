#include "bloomery/hash/murmur.hpp"

#include <cstring>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/arithmetic.hpp"

namespace bloomery {

namespace {

// Up to eight bytes as a little-endian number, on every machine.
std::uint64_t murmur_number(const char* bytes, std::size_t count) noexcept {
  std::uint64_t n = 0;
  if (count != 0) std::memcpy(&n, bytes, count);
  return detail::little_endian(n);
}

std::uint64_t murmur_mix(std::uint64_t k) noexcept {
  constexpr std::uint64_t multiplier = 0xc6a4a7935bd1e995U;
  k *= multiplier;
  k ^= k >> 47U;
  return k * multiplier;
}

}  // namespace

std::uint32_t murmur2(std::string_view key, std::uint32_t seed) noexcept {
  constexpr std::uint32_t multiplier = 0x5bd1e995U;
  std::uint32_t h = seed ^ static_cast<std::uint32_t>(key.size());
  for (; key.size() >= 4; key.remove_prefix(4)) {
    auto k = static_cast<std::uint32_t>(murmur_number(key.data(), 4));
    k *= multiplier;
    k ^= k >> 24U;
    h = (h * multiplier) ^ (k * multiplier);
  }
  if (!key.empty()) {
    h ^= static_cast<std::uint32_t>(murmur_number(key.data(), key.size()));
    h *= multiplier;
  }
  h ^= h >> 13U;
  h *= multiplier;
  return h ^ (h >> 15U);
}

std::uint64_t murmur64a(std::string_view key, std::uint64_t seed) noexcept {
  constexpr std::uint64_t multiplier = 0xc6a4a7935bd1e995U;
  std::uint64_t h = seed ^ (key.size() * multiplier);
  for (; key.size() >= 8; key.remove_prefix(8)) {
    h = (h ^ murmur_mix(murmur_number(key.data(), 8))) * multiplier;
  }
  if (!key.empty()) h = (h ^ murmur_number(key.data(), key.size())) * multiplier;
  h ^= h >> 47U;
  h *= multiplier;
  return h ^ (h >> 47U);
}

murmur_pair murmur_pair_of(std::string_view key) noexcept {
  const std::uint64_t a = murmur64a(key, 0xc6a4a7935bd1e995U);
  return {.a = a, .b = murmur64a(key, a)};
}

murmur_hasher::murmur_hasher(std::uint64_t positions) : positions_(positions) {
  if (positions == 0 || positions > std::uint64_t{1} << 32U) {
    detail::throw_bad_argument("the number of positions", positions, "from 1 to 2^32");
  }
}

digest murmur_hasher::bytes(const void* data, std::size_t size) const noexcept {
  const murmur_pair h = murmur_pair_of({static_cast<const char*>(data), size});
  digest words;
  std::uint64_t sum = h.a;
  for (std::uint32_t& word : words.words) {
    word = static_cast<std::uint32_t>(sum % positions_);
    sum += h.b;
  }
  return words;
}

digest murmur_hasher::integer(std::uint64_t key) const noexcept {
  const std::uint64_t in_order = detail::little_endian(key);
  return bytes(&in_order, sizeof in_order);
}

}  // namespace bloomery
