#include "bloomery/route/loop.hpp"

#include <algorithm>
#include <cmath>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

link_mask mask_of(std::uint64_t name, std::uint64_t seed, std::uint32_t bits,
                  std::uint32_t probes) {
  link_mask mask{};
  std::uint64_t random = splitmix64(name ^ splitmix64(seed));
  for (std::uint32_t set = 0; set < probes; random = splitmix64(random)) {
    const std::uint64_t at = detail::multiply_high(random, bits);
    const std::uint64_t bit = std::uint64_t{1} << (at % 64);
    if ((mask[at / 64] & bit) != 0) continue;
    mask[at / 64] |= bit;
    ++set;
  }
  return mask;
}

double loop_false_positive(const loop_shape& s, std::uint32_t hops) {
  const double spared = 1 - static_cast<double>(s.probes) / s.bits;
  return std::pow(1 - std::pow(spared, hops), s.probes);
}

loop_filter::loop_filter(const loop_shape& s, std::uint64_t seed) : shape_(s), seed_(seed) {
  if (s.bits == 0 || s.bits % 64 != 0 || s.bits > 64 * words_.size()) {
    detail::throw_bad_argument("the bits of a loop filter", std::uint64_t{s.bits},
                               "64, 128, 192 or 256");
  }
  if (s.probes == 0 || s.probes > s.bits / 2) {
    detail::throw_bad_argument("the bits a node", std::uint64_t{s.probes},
                               "from 1 to half of the filter's");
  }
}

bool loop_filter::visit(std::uint64_t node) {
  const link_mask mask = mask_of(node, seed_, shape_.bits, shape_.probes);
  bool there = true;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    there = there && (mask[i] & ~words_[i]) == 0;
    words_[i] |= mask[i];
  }
  return there;
}

void loop_filter::set_words(std::span<const std::uint64_t> words) {
  std::copy_n(words.begin(), std::min<std::size_t>(words.size(), shape_.bits / 64), words_.begin());
}

loop_verdict loop_header::visit(std::uint64_t node) {
  const bool first = first_.visit(node);
  const bool second = second_.visit(node);
  if (first && second) return loop_verdict::looping;
  return first ? loop_verdict::suspected : loop_verdict::passed;
}

}  // namespace bloomery
