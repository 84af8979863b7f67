#include "bloomery/filter/counting.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "block_rate.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/core/sizing_removable.hpp"
#include "bloomery/detail/core/scratch.hpp"
#include "bloomery/detail/filter/batch.hpp"
#include "bloomery/filter/explanation.hpp"
#include "kernel/batch.hpp"
#include "kernel/blocked/blocked.hpp"
#include "kernel/wide/wide.hpp"

namespace bloomery {

namespace {

// The schemes of the two layouts. The unused one must be harmless: at most 16 probes in a block.
shape line_shape(shape s) {
  if (s.block_bits == 0) s.probes = 1;
  return s;
}

shape scattered_shape(shape s) {
  s.bits /= s.cell_bits;
  return s;
}

// The rate of a blocked filter in which each counter above 0 is a group of w set bits: the mean
// chance over the blocks that a key finds its lanes set. The bits are made in pieces, on the stack.
double line_fpr(const shape& s, std::span<const std::uint64_t> words) noexcept {
  constexpr std::size_t words_per_block = bits_per_block / 64;
  std::array<std::uint64_t, 64 * words_per_block> piece{};
  double sum = 0;
  for (std::size_t at = 0; at < words.size(); at += piece.size()) {
    const std::size_t count = std::min(piece.size(), words.size() - at);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t word = detail::little_endian(words[at + i]);
      piece[i] = detail::little_endian(detail::spread_cells(word, s.cell_bits));
    }
    sum += detail::block_rate(std::span(piece).first(count), s.probes) * static_cast<double>(count);
  }
  return sum / static_cast<double>(words.size());
}

// The sum of the counters that `mark` marks with a one in each.
template <class Mark>
std::uint64_t count_cells(std::span<const std::uint64_t> words, Mark mark) noexcept {
  std::uint64_t count = 0;
  for (const std::uint64_t word : words) {
    count += static_cast<std::uint64_t>(std::popcount(mark(detail::little_endian(word))));
  }
  return count;
}

template <class Word>
kernel::block_array<Word> blocks_of(Word* words, const shape& s) noexcept {
  return {
      .words = words, .blocks = s.bits / bits_per_block, .probes = s.probes, .width = s.cell_bits};
}

// The other layout: positions of a classic filter of counters.
kernel::scatter_array<const std::uint64_t> cells_of(const std::uint64_t* words,
                                                    const shape& s) noexcept {
  return {.words = words,
          .range = s.bits / s.cell_bits,
          .probes = s.probes,
          .cell_log = static_cast<std::uint32_t>(std::countr_zero(s.cell_bits))};
}

// For the layout that takes hashes alone: a piece of them at a time.
template <class Visit>
void for_each_mixed(const mixed_integers& keys, Visit visit) noexcept {
  detail::scratch<std::uint64_t, detail::batch_keys> hashes;
  for (std::size_t first = 0; first < keys.keys.size(); first += hashes.size()) {
    const std::size_t count = std::min(hashes.size(), keys.keys.size() - first);
    mix64_batch({.keys = keys.keys.subspan(first, count), .spread_seed = keys.spread_seed}, hashes);
    visit(first, std::span<const std::uint64_t>(hashes).first(count));
  }
}

}  // namespace

counting_probes::counting_probes(const bloomery::shape& s) noexcept
    : cells_(s.cell_bits),
      in_lines_(s.block_bits != 0),
      counters_(s.bits / s.cell_bits),
      lines_(line_shape(s)),
      scattered_(scattered_shape(s)) {}

counting_view::counting_view(const plan& p, std::span<const std::uint64_t> words,
                             std::uint64_t keys)
    : word_view(detail::checked_plan(p, words, kind), words.data(), keys), probes_(p.shape) {}

bool counting_view::contains_scattered(std::uint64_t hash) const noexcept {
  return probes_.all_of(hash, [this](std::uint64_t position) {
    return detail::get_counter(words_, position, probes_.width()) != 0;
  });
}

void counting_view::contains_bits(std::span<const std::uint64_t> hashes,
                                  std::span<std::uint64_t> bitmap) const noexcept {
  if (probes_.in_lines()) {
    kernel::blocked_kernels_chosen().contains_counted(blocks_of(words_, shape()),
                                                      kernel::run_of(hashes), bitmap.data());
    return;
  }
  kernel::wide_kernels_chosen().scatter.contains(cells_of(words_, shape()),
                                                 kernel::hashes_of(hashes), bitmap.data());
}

void counting_view::contains_bits(const mixed_integers& keys,
                                  std::span<std::uint64_t> bitmap) const noexcept {
  if (probes_.in_lines()) {
    kernel::blocked_kernels_chosen().contains_counted(blocks_of(words_, shape()),
                                                      kernel::run_of(keys), bitmap.data());
    return;
  }
  for_each_mixed(keys, [&](std::size_t first, std::span<const std::uint64_t> hashes) {
    contains_bits(hashes, bitmap.subspan(first / 64));
  });
}

void counting_view::count_batch(std::span<const std::uint64_t> hashes,
                                std::span<std::uint64_t> counts) const noexcept {
  if (probes_.in_lines()) {
    kernel::blocked_kernels_chosen().count(blocks_of(words_, shape()), kernel::run_of(hashes),
                                           counts.data());
    return;
  }
  kernel::look_ahead_loop(probes_, words(), hashes,
                          [&](std::size_t i) { counts[i] = count(hashes[i]); });
}

double counting_view::fill() const noexcept {
  const std::uint32_t width = probes_.width();
  const std::uint64_t used = count_cells(
      words(), [width](std::uint64_t word) { return detail::nonzero_cells(word, width); });
  return static_cast<double>(used) / static_cast<double>(counters());
}

std::uint64_t counting_view::saturated() const noexcept {
  const std::uint32_t width = probes_.width();
  return count_cells(words(),
                     [width](std::uint64_t word) { return detail::full_cells(word, width); });
}

double counting_view::overflow_bound() const {
  const double different = std::min(keys_estimated(), static_cast<double>(keys()));
  return sizing::counting_overflow_bound(shape(),
                                         static_cast<std::uint64_t>(std::llround(different)));
}

double counting_view::fpr() const noexcept {
  return probes_.in_lines() ? line_fpr(shape(), words()) : std::pow(fill(), shape().probes);
}

bool counting_filter::increment_scattered(const counting_probes& probes, std::uint64_t* words,
                                          std::uint64_t hash) noexcept {
  const std::uint32_t width = probes.width();
  bool is_new = false;
  probes.each(hash, [&](std::uint64_t position) {
    is_new |= detail::increment_counter(words, position, width);
  });
  return is_new;
}

// False, and nothing changed, when a counter is 0. Positions take half of the time: found once.
bool counting_filter::decrement_scattered(const counting_probes& probes, std::uint64_t* words,
                                          std::uint64_t hash) noexcept {
  const std::uint32_t width = probes.width();
  detail::scratch<std::uint64_t, max_probes> positions;
  std::size_t count = 0;
  bool present = true;
  probes.each(hash, [&](std::uint64_t position) {
    present &= detail::get_counter(words, position, width) != 0;
    positions[count++] = position;
  });
  if (!present) return false;
  for (std::size_t i = 0; i < count; ++i) detail::decrement_counter(words, positions[i], width);
  return true;
}

// Loops that write use a copy of the probes, since the compiler knows that no write changes it.
void counting_filter::add_batch(std::span<const std::uint64_t> hashes) noexcept {
  std::uint64_t* const words = mutable_words().data();
  key_count() += hashes.size();
  if (probes().in_lines()) {
    kernel::blocked_kernels_chosen().add_counted(blocks_of(words, shape()), kernel::run_of(hashes));
    return;
  }
  const counting_probes copy = probes();
  kernel::look_ahead_loop(copy, mutable_words(), hashes,
                          [&](std::size_t i) { increment(copy, words, hashes[i]); });
}

void counting_filter::add_batch(const mixed_integers& keys) noexcept {
  if (!probes().in_lines()) {
    for_each_mixed(keys,
                   [&](std::size_t, std::span<const std::uint64_t> hashes) { add_batch(hashes); });
    return;
  }
  kernel::blocked_kernels_chosen().add_counted(blocks_of(mutable_words().data(), shape()),
                                               kernel::run_of(keys));
  key_count() += keys.keys.size();
}

void counting_filter::shared_adder::add_batch(std::span<const std::uint64_t> hashes) noexcept {
  if (!filter_->probes().in_lines()) {
    const std::lock_guard guard(all_);
    filter_->add_batch(hashes);
    return;
  }
  const auto blocks = blocks_of(filter_->mutable_words().data(), filter_->shape());
  stripes_.visit(hashes, [&](std::span<const std::uint64_t> some) {
    kernel::blocked_kernels_chosen().add_counted(blocks, kernel::run_of(some));
  });
  const std::atomic_ref<std::uint64_t> keys(filter_->key_count());
  keys.fetch_add(hashes.size(), std::memory_order_relaxed);
}

std::size_t counting_filter::remove_batch(std::span<const std::uint64_t> hashes) noexcept {
  std::uint64_t* const words = mutable_words().data();
  std::size_t removed = 0;
  if (probes().in_lines()) {
    removed = kernel::blocked_kernels_chosen().remove_counted(blocks_of(words, shape()),
                                                              kernel::run_of(hashes));
  } else {
    const counting_probes copy = probes();
    kernel::look_ahead_loop(copy, mutable_words(), hashes, [&](std::size_t i) {
      removed += std::size_t{decrement(copy, words, hashes[i])};
    });
  }
  key_count() -= std::min<std::uint64_t>(removed, key_count());
  return removed;
}

std::size_t counting_filter::remove_batch(const mixed_integers& keys) noexcept {
  std::size_t removed = 0;
  if (!probes().in_lines()) {
    for_each_mixed(keys, [&](std::size_t, std::span<const std::uint64_t> hashes) {
      removed += remove_batch(hashes);
    });
    return removed;
  }
  removed = kernel::blocked_kernels_chosen().remove_counted(
      blocks_of(mutable_words().data(), shape()), kernel::run_of(keys));
  key_count() -= std::min<std::uint64_t>(removed, key_count());
  return removed;
}

// Counters that are not 0 are what set bits are in a filter with as many bits.
double counting_view::keys_estimated() const {
  const bloomery::shape bits{
      .kind = filter_kind::classic, .probes = shape().probes, .bits = counters()};
  return sizing::estimate_keys(
      bits, static_cast<std::uint64_t>(std::llround(fill() * static_cast<double>(bits.bits))));
}

explanation counting_view::explain(std::uint64_t hash) const {
  explanation e{.unit = "counter"};
  e.places.reserve(shape().probes);  // all_of must not throw
  const std::uint32_t width = probes_.width();
  const auto add = [&](std::uint64_t bit) {  // any of a counter's bits
    const std::uint64_t position = bit / width * width;
    e.places.push_back({bit / width, detail::get_counter(words_, position, width)});
    return true;
  };
  if (probes_.in_lines()) {
    blocked_probes(shape()).all_of(hash, add);
  } else {
    probes_.each(hash, add);
  }
  return e;
}

cell_array counting_view::cells() const {
  return {.unit = "counters", .parts = {words()}, .cell_bits = probes_.width()};
}

}  // namespace bloomery
