#include <algorithm>
#include <array>
#include <cstring>

#include "bloomery/core/error.hpp"
#include "bloomery/foreign/values.hpp"
#include "numbers.hpp"

namespace bloomery::foreign {

namespace {

constexpr std::uint64_t option_64_bits = 4;
constexpr std::uint64_t option_fixed = 8;
constexpr std::uint64_t most_probes = 1024;
constexpr std::uint32_t first_seed_32 = 0x9747b28cU;
constexpr double layer_share = 0.5;  // of the rate: what RedisBloom gives the first layer

void check_layer(const bloom_layers::layer& l) {
  if (l.probes == 0 || l.modulus == 0 || (l.modulus - 1) / 8 >= l.bytes) {
    detail::fail(errc::corrupt, "a layer of the foreign filter has not the bits that it speaks of");
  }
}

std::uint32_t checked_probes(std::uint64_t probes) {
  if (probes == 0 || probes > most_probes) {
    detail::fail(errc::corrupt, "a layer of the foreign filter has " + detail::to_text(probes) +
                                    " probes, but at most 1024 are possible");
  }
  return static_cast<std::uint32_t>(probes);
}

double checked_rate(double rate) { return rate > 0 && rate < 1 ? rate : 0.01; }

// The head of valkey-bloom's arrays: version, length, probes, seed.
constexpr std::size_t valkey_head_bytes = 1 + 8 + 4 + 32;

}  // namespace

bloom_layers::bloom_layers(int version, field_reader& fields, origin from) : value(from) {
  from == origin::valkey_bloom ? read_valkey(version, fields) : read_redisbloom(version, fields);
  if (layers_.empty()) detail::fail(errc::corrupt, "the foreign filter has no layer");
}

std::unique_ptr<value> bloom_layers::clone() const { return std::make_unique<bloom_layers>(*this); }

void bloom_layers::read_redisbloom(int version, field_reader& fields) {
  constexpr int with_options = 2;
  constexpr int with_growth = 4;
  items_ = fields.number();
  const std::uint64_t count = fields.number();
  const std::uint64_t options = version >= with_options ? fields.number() : 0;
  const std::uint64_t growth = version >= with_growth ? fields.number() : 2;
  for (const std::uint64_t n : {items_, count, options, growth}) fields_.number(n);
  for (std::uint64_t i = 0; i < count; ++i) read_redisbloom_layer(version, fields);
  wide_ = (options & option_64_bits) != 0;
  const bool fixed = (options & option_fixed) != 0;
  expansion_ = fixed ? 0 : std::max<std::uint64_t>(growth, 1);
  if (!layers_.empty()) {
    const double first = checked_rate(layers_.front().error);
    error_ = fixed || first >= layer_share ? first : first / layer_share;
  }
}

void bloom_layers::read_redisbloom_layer(int version, field_reader& fields) {
  layer l;
  l.capacity = fields.number();
  l.error = fields.real();
  l.probes = checked_probes(fields.number());
  const double bits_per_item = fields.real();
  std::uint64_t bits = 0;
  std::uint64_t exponent = 0;
  if (version > 0) {
    bits = fields.number();
    exponent = fields.number();
  } else if (const double product = static_cast<double>(l.capacity) * bits_per_item;
             product >= 1 && product < 0x1p62) {
    bits = static_cast<std::uint64_t>(product);
  }
  if (exponent > 62) detail::fail(errc::corrupt, "a layer of the foreign filter is too large");
  l.modulus = exponent != 0 ? std::uint64_t{1} << exponent : bits;
  const auto array = fields.text();
  fields_.number(l.capacity);
  fields_.real(l.error);
  fields_.number(l.probes);
  fields_.real(bits_per_item);
  fields_.number(bits);
  fields_.number(exponent);
  l.bytes = array.size();
  l.begin = put_text(array);
  l.items = fields.number();
  fields_.number(l.items);
  check_layer(l);
  layers_.push_back(l);
}

void bloom_layers::read_valkey(int, field_reader& fields) {
  const std::uint64_t count = fields.number();
  expansion_ = fields.number();
  error_ = checked_rate(fields.real());
  const double tightening = fields.real();
  const std::uint64_t random_seed = fields.number();
  fields_.number(count);
  fields_.number(expansion_);
  fields_.real(error_);
  fields_.real(tightening);
  fields_.number(random_seed);
  for (std::uint64_t i = 0; i < count; ++i) {
    read_valkey_layer(fields.text());
    layer& l = layers_.back();
    l.error = error_;
    l.capacity = l.items = fields.number();
    fields_.number(l.capacity);
    if (i + 1 == count) {  // the others are full
      l.items = fields.number();
      fields_.number(l.items);
    }
    items_ += l.items;
  }
}

void bloom_layers::read_valkey_layer(std::span<const std::byte> bytes) {
  if (bytes.size() < valkey_head_bytes || bytes[0] != std::byte{1} ||
      read_number(bytes, 1, 8) != bytes.size() - valkey_head_bytes) {
    detail::fail(errc::corrupt, "a layer of the foreign filter has another length than it says");
  }
  layer l;
  l.probes = checked_probes(read_number(bytes, 9, 4));
  l.begin = put_text(bytes) + valkey_head_bytes;
  l.bytes = bytes.size() - valkey_head_bytes;
  l.modulus = std::uint64_t{l.bytes} * 8;
  check_layer(l);
  std::pair<sip_key, sip_key> seed;
  constexpr std::size_t seed_at = valkey_head_bytes - 2 * sizeof(sip_key);
  std::memcpy(seed.first.data(), bytes.data() + seed_at, sizeof(sip_key));
  std::memcpy(seed.second.data(), bytes.data() + seed_at + sizeof(sip_key), sizeof(sip_key));
  if (seed_ && *seed_ != seed) {
    detail::fail(errc::corrupt, "the layers of the foreign filter have different seeds");
  }
  seed_ = seed;
  layers_.push_back(l);
}

murmur_pair bloom_layers::hash(std::string_view item) const noexcept {
  if (seed_) {
    return {.a = sip13_of_slice(item, seed_->first), .b = sip13_of_slice(item, seed_->second)};
  }
  if (wide_) return murmur_pair_of(item);
  const std::uint32_t a = murmur2(item, first_seed_32);
  return {.a = a, .b = murmur2(item, a)};
}

bool bloom_layers::contains(std::string_view item) const noexcept {
  const murmur_pair h = hash(item);
  return std::ranges::any_of(layers_, [&](const layer& l) {
    const auto bytes = array(l);
    for (std::uint64_t j = 0; j < l.probes; ++j) {
      std::uint64_t sum = h.a + j * h.b;
      if (seed_) sum = j == 1 ? h.b : (j == 0 ? h.a : sum % 0xffffffffffffffc5U);
      const std::uint64_t position = sum % l.modulus;
      const auto byte = std::to_integer<unsigned>(bytes[static_cast<std::size_t>(position / 8)]);
      if (((byte >> (position % 8)) & 1U) == 0) return false;
    }
    return true;
  });
}

std::uint64_t bloom_layers::capacity() const noexcept {
  std::uint64_t sum = 0;
  for (const layer& l : layers_) sum += l.capacity;
  return sum;
}

}  // namespace bloomery::foreign
