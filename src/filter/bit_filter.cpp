#include "bloomery/filter/bit_filter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "../kernel/batch.hpp"
#include "bloomery/core/block_geometry.hpp"
#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/classic.hpp"
#include "bloomery/filter/partitioned.hpp"

namespace bloomery {

namespace {

template <class Probes>
const plan& checked_plan(const plan& p, std::span<const std::uint64_t> words) {
  check_shape(p.shape);
  if (p.shape.kind != Probes::kind || p.shape.scheme != Probes::scheme) {
    throw error(errc::bad_argument, "a shape of kind " + std::string(kind_name(p.shape.kind)) +
                                        " given to a filter of kind " +
                                        std::string(kind_name(Probes::kind)));
  }
  if (words.size() != bit_array::words_for(p.shape.bits)) {
    detail::throw_bad_argument("the number of words", std::uint64_t{words.size()},
                               detail::to_text(bit_array::words_for(p.shape.bits)));
  }
  return p;
}

// Blocked: for each block, the mean over the 16 rotations of the product of the fills of the k lanes
// that the rotated pattern asks for. The fills are laid out twice, backwards, so that the rotations
// are 16 neighbouring entries and the inner loop is one vector multiplication.
double blocked_fpr_now(std::span<const std::uint64_t> words, std::uint32_t probes) noexcept {
  using block_geometry::lanes;
  constexpr std::size_t words_per_block = bits_per_block / 64;
  double sum = 0;
  for (std::size_t at = 0; at + words_per_block <= words.size(); at += words_per_block) {
    std::array<float, std::size_t{2} * lanes> fill{};
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const std::uint64_t word = detail::little_endian(words[at + lane / 2]);
      const auto half = static_cast<std::uint32_t>(word >> (lane % 2 * 32));
      const float share = static_cast<float>(std::popcount(half)) / block_geometry::lane_bits;
      fill[(lanes - lane) % lanes] = share;
      fill[(lanes - lane) % lanes + lanes] = share;
    }
    std::array<float, lanes> product{};
    product.fill(1.0F);
    for (std::uint32_t i = 0; i < lanes; ++i) {
      if (((block_geometry::lane_pattern[probes] >> i) & 1U) == 0) continue;
      // Rotation r asks lane i - r, which stands at index r - i (mod 16).
      for (std::uint32_t r = 0; r < lanes; ++r) product[r] *= fill[lanes + r - i];
    }
    float in_block = 0;
    for (const float p : product) in_block += p;
    sum += static_cast<double>(in_block);
  }
  return sum / lanes / (static_cast<double>(words.size()) / words_per_block);
}

double partitioned_fpr_now(std::span<const std::uint64_t> words, const shape& s) noexcept {
  const std::uint64_t slice = s.bits / s.probes;
  double rate = 1;
  for (std::uint32_t j = 0; j < s.probes; ++j) {
    const std::uint64_t set = count_bits(words, j * slice, (j + 1) * slice);
    rate *= static_cast<double>(set) / static_cast<double>(slice);
  }
  return rate;
}

}  // namespace

template <class Probes>
bit_view<Probes>::bit_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys)
    : plan_(checked_plan<Probes>(p, words)), probes_(p.shape), words_(words.data()), keys_(keys) {}

template <class Probes>
void bit_view<Probes>::contains_bits(std::span<const hash_type> hashes,
                                     std::span<std::uint64_t> bitmap) const noexcept {
  kernel::answer_loop(probes_, words_, hashes, bitmap,
                      [&](std::size_t i) { return contains(hashes[i]); });
}

template <class Probes>
double bit_view<Probes>::fpr() const noexcept {
  if constexpr (Probes::kind == filter_kind::blocked) {
    return blocked_fpr_now(words(), shape().probes);
  } else if constexpr (Probes::kind == filter_kind::partitioned) {
    return partitioned_fpr_now(words(), shape());
  } else {
    return std::pow(fill(), shape().probes);
  }
}

template <class Probes>
void bit_filter<Probes>::add_batch(std::span<const hash_type> hashes) noexcept {
  kernel::look_ahead_loop<kernel::access::write>(this->probes(), array_.words().data(), hashes,
                                                 [&](std::size_t i) { add(hashes[i]); });
}

template <class Probes>
bit_array bit_filter<Probes>::copy_of(const view& other) {
  bit_array array(other.shape().bits);
  std::copy(other.words().begin(), other.words().end(), array.words().begin());
  return array;
}

template <class Probes>
void bit_filter<Probes>::concurrent_handle::add_batch(std::span<const hash_type> hashes) noexcept {
  kernel::look_ahead_loop<kernel::access::write>(filter_->probes(), words_, hashes,
                                                 [&](std::size_t i) { add(hashes[i]); });
}

template <class Probes>
void bit_filter<Probes>::concurrent_handle::contains_bits(
    std::span<const hash_type> hashes, std::span<std::uint64_t> bitmap) const noexcept {
  kernel::answer_loop(filter_->probes(), words_, hashes, bitmap,
                      [&](std::size_t i) { return contains(hashes[i]); });
}

template class bit_view<classic_probes>;
template class bit_filter<classic_probes>;
template class bit_view<digest_probes>;
template class bit_filter<digest_probes>;
template class bit_view<partitioned_probes>;
template class bit_filter<partitioned_probes>;
template class bit_view<blocked_probes>;
template class bit_filter<blocked_probes>;

}  // namespace bloomery
