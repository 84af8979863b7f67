#include "bloomery/foreign/filters.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/sizing_sketch.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/murmur.hpp"
#include "bloomery/sketch/top_k.hpp"

namespace bloomery::foreign {

std::optional<any_filter> to_filter(const bloom_layers& of, const bloom_layers::layer& layer) {
  constexpr std::uint64_t most_bits = std::uint64_t{1} << 32U;
  if (!of.hashes_by_murmur64() || layer.probes > max_probes || layer.modulus > most_bits) {
    return std::nullopt;
  }
  const auto hash = erase(murmur_hasher(layer.modulus));
  image_header header;
  header.planned = {.shape = {.kind = filter_kind::classic,
                              .scheme = probe_scheme::modulo,
                              .probes = layer.probes,
                              .bits = layer.modulus},
                    .keys = layer.capacity,
                    .fpr_target = layer.error > 0 && layer.error < 1 ? layer.error : 0};
  header.hash = hash->spec();
  header.keys = layer.items;
  // Bit p is bit p mod 8 of byte p / 8 in both. The array may be longer than what is used.
  std::vector<std::uint64_t> words(bit_array::words_for(layer.modulus));
  const auto bytes = of.array(layer);
  std::memcpy(words.data(), bytes.data(), std::min(bytes.size(), words.size() * 8));
  if (const std::uint64_t rest = layer.modulus % 64; rest != 0) {
    words.back() &= detail::little_endian((std::uint64_t{1} << rest) - 1);
  }
  return any_filter::copy_of({.header = header, .words = words}, hash);
}

any_filter to_filter(const top_list& list, std::shared_ptr<const any_hasher> hash) {
  constexpr std::uint64_t most_rows = max_probes;
  constexpr double least_decay = 0x1p-32;
  constexpr double most_decay = 0.99;
  const plan p = {.shape = sizing::top_k_shape(
                      static_cast<std::uint32_t>(list.k()),
                      static_cast<std::uint32_t>(std::min(list.depth(), most_rows)), list.width())};
  any_filter made(p, std::move(hash));
  auto& sketch = *made.get_if<top_k>();
  sketch.set_decay(std::clamp(list.decay(), least_decay, most_decay));
  for (const top_list::entry& entry : list.entries()) {
    std::uint64_t hashed = 0;
    made.hasher()->hash({&entry.item, 1}, std::span<std::uint64_t>(&hashed, 1));
    sketch.add(entry.item, hashed, entry.count);
  }
  return made;
}

}  // namespace bloomery::foreign
