#include "bloomery/filter/bit_filter.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <string>

#include "../kernel/batch.hpp"
#include "../kernel/blocked.hpp"
#include "../kernel/wide.hpp"
#include "block_rate.hpp"
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

double partitioned_fpr_now(std::span<const std::uint64_t> words, const shape& s) noexcept {
  const std::uint64_t slice = s.bits / s.probes;
  double rate = 1;
  for (std::uint32_t j = 0; j < s.probes; ++j) {
    const std::uint64_t set = count_bits(words, j * slice, (j + 1) * slice);
    rate *= static_cast<double>(set) / static_cast<double>(slice);
  }
  return rate;
}

template <class Word>
kernel::block_array<Word> blocks_of(Word* words, const shape& s) noexcept {
  return {.words = words, .blocks = s.bits / bits_per_block, .probes = s.probes};
}

// Classic and partitioned of 64-bit hashes, whose kernels differ in two numbers.
template <class Probes>
concept scattered =
    std::same_as<Probes, classic_probes> || std::same_as<Probes, partitioned_probes>;

template <class Word>
kernel::scatter_array<Word> scatter_of(Word* words, const shape& s) noexcept {
  const bool sliced = s.kind == filter_kind::partitioned;
  const std::uint64_t range = sliced ? s.bits / s.probes : s.bits;
  return {.words = words, .range = range, .step = sliced ? range : 0, .probes = s.probes};
}

}  // namespace

template <class Probes>
bit_view<Probes>::bit_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys)
    : plan_(checked_plan<Probes>(p, words)), probes_(p.shape), words_(words.data()), keys_(keys) {}

template <class Probes>
void bit_view<Probes>::contains_bits(std::span<const hash_type> hashes,
                                     std::span<std::uint64_t> bitmap) const noexcept {
  if constexpr (Probes::kind == filter_kind::blocked) {
    kernel::blocked_kernels_chosen().contains(blocks_of(words_, shape()), kernel::run_of(hashes),
                                              bitmap.data());
  } else if constexpr (scattered<Probes>) {
    kernel::wide_kernels_chosen().scatter.contains(
        scatter_of(words_, shape()), {.hashes = hashes.data(), .count = hashes.size()},
        bitmap.data());
  } else {
    kernel::answer_loop(probes_, words_, hashes, bitmap,
                        [&](std::size_t i) { return contains(hashes[i]); });
  }
}

template <class Probes>
void bit_view<Probes>::contains_bits(const mixed_integers& keys,
                                     std::span<std::uint64_t> bitmap) const noexcept
  requires(Probes::kind == filter_kind::blocked)
{
  kernel::blocked_kernels_chosen().contains(blocks_of(words_, shape()), kernel::run_of(keys),
                                            bitmap.data());
}

template <class Probes>
double bit_view<Probes>::fpr() const noexcept {
  if constexpr (Probes::kind == filter_kind::blocked) {
    return detail::block_rate(words(), shape().probes);
  } else if constexpr (Probes::kind == filter_kind::partitioned) {
    return partitioned_fpr_now(words(), shape());
  } else {
    return std::pow(fill(), shape().probes);
  }
}

template <class Probes>
void bit_filter<Probes>::add_batch(std::span<const hash_type> hashes) noexcept {
  if constexpr (Probes::kind == filter_kind::blocked) {
    kernel::blocked_kernels_chosen().add(blocks_of(array_.words().data(), this->shape()),
                                         kernel::run_of(hashes));
    this->key_count() += hashes.size();
  } else if constexpr (scattered<Probes>) {
    kernel::wide_kernels_chosen().scatter.add(scatter_of(array_.words().data(), this->shape()),
                                              {.hashes = hashes.data(), .count = hashes.size()});
    this->key_count() += hashes.size();
  } else {
    kernel::look_ahead_loop(this->probes(), array_.words().data(), hashes,
                            [&](std::size_t i) { add(hashes[i]); });
  }
}

template <class Probes>
void bit_filter<Probes>::add_batch(const mixed_integers& keys) noexcept
  requires(Probes::kind == filter_kind::blocked)
{
  kernel::blocked_kernels_chosen().add(blocks_of(array_.words().data(), this->shape()),
                                       kernel::run_of(keys));
  this->key_count() += keys.keys.size();
}

template <class Probes>
bit_array bit_filter<Probes>::copy_of(const view& other) {
  bit_array array(other.shape().bits);
  std::copy(other.words().begin(), other.words().end(), array.words().begin());
  return array;
}

template <class Probes>
void bit_filter<Probes>::concurrent_handle::add_batch(std::span<const hash_type> hashes) noexcept {
  kernel::look_ahead_loop(filter_->probes(), words_, hashes,
                          [&](std::size_t i) { add(hashes[i]); });
}

template <class Probes>
void bit_filter<Probes>::concurrent_handle::contains_bits(
    std::span<const hash_type> hashes, std::span<std::uint64_t> bitmap) const noexcept {
  kernel::answer_loop(filter_->probes(), words_, hashes, bitmap,
                      [&](std::size_t i) { return contains(hashes[i]); });
}

template <class Probes>
void bit_filter<Probes>::shared_adder::add_batch(std::span<const hash_type> hashes) noexcept {
  if constexpr (in_blocks) {
    const auto blocks = blocks_of(filter_->array_.words().data(), filter_->shape());
    stripes_.visit(hashes, [&](std::span<const std::uint64_t> some) {
      kernel::blocked_kernels_chosen().add(blocks, {.keys = some.data(), .count = some.size()});
    });
    const std::atomic_ref<std::uint64_t> keys(filter_->key_count());
    keys.fetch_add(hashes.size(), std::memory_order_relaxed);
  } else {
    filter_->concurrent().add_batch(hashes);
  }
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
