#include "bloomery/detail/filter/bit_filter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <string>

#include "block_rate.hpp"
#include "bloomery/core/kinds.hpp"
#include "bloomery/detail/core/scratch.hpp"
#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/classic.hpp"
#include "bloomery/filter/explanation.hpp"
#include "bloomery/filter/partitioned.hpp"
#include "bloomery/filter/shard.hpp"
#include "bloomery/filter/split_block.hpp"
#include "kernel/batch.hpp"
#include "kernel/blocked/blocked.hpp"
#include "kernel/split_block/split_block.hpp"
#include "kernel/wide/wide.hpp"

namespace bloomery {

namespace {

// Throws errc::bad_argument for a shard with positions of a whole filter, and the other way round.
template <class Probes>
const plan& checked_plan(const plan& p, std::span<const std::uint64_t> words) {
  if (p.shape.shard.whole() == sharded<Probes>) {
    detail::fail(errc::bad_argument, sharded<Probes>
                                         ? "a whole filter given where a shard is needed"
                                         : "a shard given where a whole filter is needed");
  }
  return detail::checked_plan(p, words, Probes::kind, Probes::scheme);
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

template <class Probes>
double rate_of_blocks(std::span<const std::uint64_t> words, const shape& s) noexcept {
  if constexpr (Probes::kind == filter_kind::blocked) {
    return detail::block_rate(words, s.probes);
  } else {
    return detail::split_block_rate(words);
  }
}

// The kernels see a shard as the whole filter, whose first words would lie in front of those that
// exist; keys of the shard never reach them. As no pointer may point there, a number makes it.
template <class Word>
kernel::block_array<Word> blocks_of(Word* words, const shape& s) noexcept {
  const std::uint64_t blocks = s.bits / s.block_bits;
  const auto first = reinterpret_cast<std::uintptr_t>(words) -
                     static_cast<std::uintptr_t>(blocks * s.shard.index * (s.block_bits / 8));
  return {.words = reinterpret_cast<Word*>(first),  // NOLINT(performance-no-int-to-ptr)
          .blocks = blocks * s.shard.count,
          .probes = s.probes,
          .stride = s.block_bits / 64};
}

template <class Probes>
const auto& kernels_for() noexcept {
  if constexpr (Probes::kind == filter_kind::blocked) {
    return kernel::blocked_kernels_chosen();
  } else {
    return kernel::split_block_kernels_chosen();
  }
}

// Calls work(first, own, places) for each piece of the hashes: those that the shard owns, and where
// they stand after `first` of all. `own` is filled up to eights with a hash that is in it already.
template <class Probes, class Work>
void for_each_own(const Probes& probes, std::span<const std::uint64_t> hashes, Work work) {
  constexpr std::size_t piece = 1024;
  detail::scratch<std::uint64_t, piece> own;
  detail::scratch<std::uint16_t, piece> places;
  for (std::size_t first = 0; first < hashes.size(); first += piece) {
    const std::size_t end = std::min(piece, hashes.size() - first);
    std::size_t count = 0;
    for (std::size_t i = 0; i < end; ++i) {
      own[count] = hashes[first + i];
      places[count] = static_cast<std::uint16_t>(i);
      count += std::size_t{probes.owns(hashes[first + i])};
    }
    std::size_t filled = count;
    while (filled % 8 != 0) own[filled++] = own[0];
    work(first, std::span<const std::uint64_t>(own).first(filled),
         std::span<const std::uint16_t>(places).first(count));
  }
}

template <class Probes>
void contains_own(const kernel::const_blocks& blocks, const Probes& probes,
                  std::span<const std::uint64_t> hashes, std::span<std::uint64_t> bitmap) {
  std::ranges::fill(bitmap.first((hashes.size() + 63) / 64), 0);
  for_each_own(probes, hashes, [&](std::size_t first, auto own, auto places) {
    detail::scratch<std::uint64_t, 1024 / 64> answers;
    kernels_for<Probes>().contains(blocks, kernel::run_of(own), answers.data());
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::uint64_t answer = (answers[i / 64] >> (i % 64)) & 1U;
      bitmap[(first + places[i]) / 64] |= answer << (places[i] % 64);
    }
  });
}

// Adds the hashes of the shard; returns how many there were.
template <class Probes>
std::uint64_t add_own(const kernel::changing_blocks& blocks, const Probes& probes,
                      std::span<const std::uint64_t> hashes) {
  std::uint64_t added = 0;
  for_each_own(probes, hashes, [&](std::size_t, auto own, auto places) {
    kernels_for<Probes>().add(blocks, kernel::run_of(own));
    added += places.size();
  });
  return added;
}

template <class Work>
void for_each_mixed(const mixed_integers& keys, Work work) {
  detail::scratch<std::uint64_t, 1024> hashes;
  for (std::size_t first = 0; first < keys.keys.size(); first += hashes.size()) {
    const std::size_t count = std::min(hashes.size(), keys.keys.size() - first);
    kernel::blocked_kernels_chosen().mix(keys.keys.data() + first, count, keys.spread_seed,
                                         hashes.data());
    work(first, std::span<const std::uint64_t>(hashes).first(count));
  }
}

// Classic and partitioned of 64-bit hashes, whose kernels differ in two numbers.
template <class Probes>
concept scattered =
    std::same_as<Probes, classic_probes> || std::same_as<Probes, partitioned_probes>;

template <class Word>
kernel::scatter_array<Word> scatter_of(Word* words, const shape& s) noexcept {
  const bool sliced = layout_of(s) == position_layout::slices;
  const std::uint64_t range = sliced ? s.bits / s.probes : s.bits;
  return {.words = words, .range = range, .step = sliced ? range : 0, .probes = s.probes};
}

}  // namespace

template <class Probes>
bit_view<Probes>::bit_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys)
    : detail::word_view(checked_plan<Probes>(p, words), words.data(), keys), probes_(p.shape) {}

template <class Probes>
void bit_view<Probes>::contains_bits(std::span<const hash_type> hashes,
                                     std::span<std::uint64_t> bitmap) const noexcept {
  if constexpr (sharded<Probes>) {
    contains_own(blocks_of(words_, shape()), probes_, hashes, bitmap);
  } else if constexpr (in_blocks<Probes>) {
    kernels_for<Probes>().contains(blocks_of(words_, shape()), kernel::run_of(hashes),
                                   bitmap.data());
  } else if constexpr (scattered<Probes>) {
    kernel::wide_kernels_chosen().scatter.contains(scatter_of(words_, shape()),
                                                   kernel::hashes_of(hashes), bitmap.data());
  } else {
    kernel::answer_loop(probes_, words(), hashes, bitmap,
                        [&](std::size_t i) { return contains(hashes[i]); });
  }
}

template <class Probes>
void bit_view<Probes>::contains_bits(const mixed_integers& keys,
                                     std::span<std::uint64_t> bitmap) const noexcept
  requires in_blocks<Probes>
{
  if constexpr (sharded<Probes>) {
    for_each_mixed(keys, [&](std::size_t first, std::span<const std::uint64_t> hashes) {
      contains_bits(hashes, bitmap.subspan(first / 64));
    });
  } else {
    kernels_for<Probes>().contains(blocks_of(words_, shape()), kernel::run_of(keys), bitmap.data());
  }
}

template <class Probes>
double bit_view<Probes>::fpr() const noexcept {
  if constexpr (in_blocks<Probes>) {
    return rate_of_blocks<Probes>(words(), shape());
  } else if constexpr (std::same_as<Probes, partitioned_probes>) {
    return partitioned_fpr_now(words(), shape());
  } else {
    return std::pow(fill(), shape().probes);
  }
}

template <class Probes>
double bit_view<Probes>::fpr_at(const hash_type& hash) const noexcept
  requires in_blocks<Probes>
{
  if constexpr (in_blocks<Probes>) {  // clang 14 instantiates it for the others, too
    constexpr std::size_t size = Probes::block_bits / 64;
    const auto block = static_cast<std::size_t>(probes_.block_of(hash));
    return rate_of_blocks<Probes>(words().subspan(block * size, size), shape());
  } else {
    return 0;
  }
}

template <class Probes>
explanation bit_view<Probes>::explain(const hash_type& hash) const {
  explanation e{.unit = "bit"};
  e.places.reserve(shape().probes);  // all_of must not throw
  probes_.all_of(hash, [&](std::uint64_t position) {
    e.places.push_back({position, detail::test_bit(words_, position) ? 1U : 0U});
    return true;
  });
  if constexpr (sharded<Probes>) {
    const std::uint64_t owner = shard_of(hash, shape().shard.count);
    if (!probes_.owns(hash)) {
      e.why = {.text = "it belongs to shard {shard}", .numbers = {{"shard", owner}}};
    }
  }
  if constexpr (in_blocks<Probes>) {
    constexpr std::size_t block_words = Probes::block_bits / 64;
    if (!e.places.empty()) {
      const std::size_t block = e.places.front().position / Probes::block_bits;
      e.block = words().subspan(block * block_words, block_words);
    }
  }
  return e;
}

template <class Probes>
cell_array bit_view<Probes>::cells() const {
  return {.unit = "bits", .parts = {words()}};
}

template <class Probes>
void bit_filter<Probes>::add_batch(std::span<const hash_type> hashes) noexcept {
  if constexpr (sharded<Probes>) {
    this->key_count() +=
        add_own(blocks_of(this->mutable_words().data(), this->shape()), this->probes(), hashes);
  } else if constexpr (in_blocks<Probes>) {
    kernels_for<Probes>().add(blocks_of(this->mutable_words().data(), this->shape()),
                              kernel::run_of(hashes));
    this->key_count() += hashes.size();
  } else if constexpr (scattered<Probes>) {
    kernel::wide_kernels_chosen().scatter.add(
        scatter_of(this->mutable_words().data(), this->shape()), kernel::hashes_of(hashes));
    this->key_count() += hashes.size();
  } else {
    kernel::look_ahead_loop(this->probes(), this->words(), hashes,
                            [&](std::size_t i) { add(hashes[i]); });
  }
}

template <class Probes>
void bit_filter<Probes>::add_batch(const mixed_integers& keys) noexcept
  requires in_blocks<Probes>
{
  if constexpr (sharded<Probes>) {
    for_each_mixed(keys, [&](std::size_t, auto hashes) { add_batch(hashes); });
  } else {
    kernels_for<Probes>().add(blocks_of(this->mutable_words().data(), this->shape()),
                              kernel::run_of(keys));
    this->key_count() += keys.keys.size();
  }
}

template <class Probes>
void bit_filter<Probes>::concurrent_handle::add_batch(std::span<const hash_type> hashes) noexcept {
  kernel::look_ahead_loop(filter_->probes(), filter_->words(), hashes,
                          [&](std::size_t i) { add(hashes[i]); });
}

template <class Probes>
void bit_filter<Probes>::concurrent_handle::contains_bits(
    std::span<const hash_type> hashes, std::span<std::uint64_t> bitmap) const noexcept {
  kernel::answer_loop(filter_->probes(), filter_->words(), hashes, bitmap,
                      [&](std::size_t i) { return contains(hashes[i]); });
}

template <class Probes>
void bit_filter<Probes>::shared_adder::add_batch(std::span<const hash_type> hashes) noexcept {
  if constexpr (striped) {
    const auto blocks = blocks_of(filter_->mutable_words().data(), filter_->shape());
    stripes_.visit(hashes, [&](std::span<const std::uint64_t> some) {
      kernels_for<Probes>().add(blocks, {.keys = some.data(), .count = some.size()});
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
template class bit_view<split_block_probes>;
template class bit_filter<split_block_probes>;
template class bit_view<shard_probes>;
template class bit_filter<shard_probes>;
template class bit_view<split_block_shard_probes>;
template class bit_filter<split_block_shard_probes>;

}  // namespace bloomery
