#include "bloomery/sketch/count_min.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "bloomery/filter/explanation.hpp"
#include "bloomery/hash/probe.hpp"
#include "cells.hpp"
#include "kernel/batch.hpp"
#include "kernel/count_min/cells.hpp"
#include "kernel/wide/wide.hpp"

namespace bloomery {

namespace {

using sketch_detail::cell_format;
using sketch_detail::saturating_sum;

// Calls visit(cells) with counters that are read as numbers of their own width. Against shifts in
// words that takes 0.6 of the instructions, so that a processor has more keys in flight while their
// lines come from memory: 36 against 57 ns for an add of seven rows in 39 MB. Not inlined, what the
// visitor captures would go through memory, and the add would take 88.
template <class Visit>
[[gnu::always_inline]] inline decltype(auto) with_cells(std::uint32_t cell_bits,
                                                        Visit visit) noexcept {
  switch (cell_bits) {
    case 8: return visit(kernel::count_min_cells<count_min, std::uint8_t>());
    case 16: return visit(kernel::count_min_cells<count_min, std::uint16_t>());
    case 32: return visit(kernel::count_min_cells<count_min, std::uint32_t>());
    default: return visit(kernel::count_min_cells<count_min, std::uint64_t>());
  }
}

constexpr std::uint64_t preamble_words = sizing::count_min_preamble_bits / 64;

// For the kernels of sketches with one_line().
template <class Word>
kernel::counter_lines<Word> lines_of(Word* words, const count_min_view& v) noexcept {
  return {.words = words + preamble_words,
          .lines = sizing::count_min_lines_of(v.shape()),
          .row = sizing::count_min_line_row(v.shape()),
          .rows = v.depth(),
          .cell_log = static_cast<std::uint32_t>(std::countr_zero(v.shape().cell_bits))};
}

// For the kernels: the counters as cells. They have the positions of a partitioned filter.
template <class Word>
kernel::scatter_array<Word> cells_of(Word* words, const count_min_view& v) noexcept {
  return {.words = words + preamble_words,
          .range = v.width(),
          .step = v.width(),
          .probes = v.depth(),
          .cell_log = static_cast<std::uint32_t>(std::countr_zero(v.shape().cell_bits))};
}

std::uint64_t checked_width(const shape& s, std::span<const std::uint64_t> words) {
  const std::uint64_t width = sizing::count_min_row(s);
  if (width == 0) {
    detail::throw_bad_argument("the number of bits", s.bits,
                               "at least 512 and a counter for each probe");
  }
  const cell_format cells(s.cell_bits);
  // Counters of a line that belong to no row are not checked, because that would read the whole
  // file.
  const std::uint64_t used = sizing::count_min_in_lines(s)
                                 ? s.bits / s.cell_bits
                                 : preamble_words * 64 / s.cell_bits + width * s.probes;
  const bool seeded = (s.variant & 2U) != 0;
  bool zero = std::all_of(words.begin() + (seeded ? 2 : 1), words.begin() + preamble_words,
                          [](std::uint64_t word) { return word == 0; });
  for (std::uint64_t i = used; i < s.bits / s.cell_bits; ++i) {
    zero = zero && cells.get(words.data(), i) == 0;
  }
  if (!zero) {
    detail::fail(errc::corrupt, "a count-min sketch has something where it must be zero");
  }
  return width;
}

std::vector<pairwise_hash> functions_of(const shape& s, std::uint64_t seed) {
  std::vector<pairwise_hash> functions;
  if ((s.variant & 2U) == 0) return functions;
  functions.reserve(s.probes);
  for (std::uint32_t j = 0; j < s.probes; ++j) functions.emplace_back(seed, j);
  return functions;
}

// Throws errc::mismatch unless the counters of the two mean the same.
void check_alike(const count_min_view& a, const count_min_view& b) {
  sketch_detail::check_mergeable(a.shape(), b.shape());
  if (a.row_seed() == b.row_seed()) return;
  detail::fail(errc::mismatch, "the sketches cannot be merged: the seeds of their rows differ, " +
                                   detail::to_text(a.row_seed()) + " and " +
                                   detail::to_text(b.row_seed()));
}

}  // namespace

// j * width + high64((h c^j) * width), or with the function of the row for h c^j; in lines the
// hash chooses a line as in a blocked filter, and its low half the counters there.
template <class Visit>
void count_min_view::for_each_row(std::uint64_t hash, Visit visit) const noexcept {
  const std::uint64_t width = width_;  // a local, because a store to a counter may change members
  std::uint64_t row = 0;
  if (one_line()) {
    const auto in_row = static_cast<std::uint32_t>(line_row_);
    const std::uint32_t rows = depth();
    row = detail::multiply_high(hash, lines_) * (bits_per_block / shape().cell_bits);
    for (std::uint32_t j = 0; j < rows; ++j) visit(row + kernel::counter_in_line(hash, j, in_row));
    return;
  }
  if (!functions_.empty()) {
    for (const pairwise_hash& function : functions_) {
      visit(row + detail::multiply_high(function(hash), width));
      row += width;
    }
    return;
  }
  for (std::uint32_t left = depth(); left > 0; --left) {
    visit(row + detail::multiply_high(hash, width));
    hash *= next_probe_multiplier;
    row += width;
  }
}

// For the loops over many keys: which bits of the payload a key touches.
struct count_min_lines {
  using hash_type = std::uint64_t;
  const count_min_view& sketch;

  template <class Touch>
  void lines(std::uint64_t hash, Touch touch) const noexcept {
    sketch.for_each_row(hash, [&](std::uint64_t index) {
      touch(sizing::count_min_preamble_bits + index * sketch.shape().cell_bits);
    });
  }
  // And for explanations.
  template <class Visit>
  void all_of(std::uint64_t hash, Visit visit) const noexcept {
    sketch.for_each_row(hash, visit);
  }
};

count_min_view::count_min_view(const plan& p, std::span<const std::uint64_t> words,
                               std::uint64_t keys)
    : word_view(detail::checked_plan(p, words, kind), words.data(), keys),
      width_(checked_width(p.shape, words)),
      lines_(sizing::count_min_lines_of(p.shape)),
      line_row_(sizing::count_min_line_row(p.shape)),
      functions_(functions_of(p.shape, row_seed())) {}

std::uint64_t count_min_view::count(std::uint64_t hash) const noexcept {
  return with_cells(shape().cell_bits, [&](auto cells) {
    std::uint64_t least = ~std::uint64_t{0};
    for_each_row(hash, [&](std::uint64_t index) {
      least = std::min(least, cells.get(words_ + preamble_words, index));
    });
    return least;
  });
}

void count_min_view::count_batch(std::span<const std::uint64_t> hashes,
                                 std::span<std::uint64_t> counts) const noexcept {
  const auto& kernels = kernel::wide_kernels_chosen().count_min;
  if (one_line()) {
    return kernels.count_in_lines(lines_of(words_, *this), kernel::hashes_of(hashes),
                                  counts.data());
  }
  if (pairwise()) {
    kernel::look_ahead_loop(count_min_lines{*this}, words(), hashes,
                            [&](std::size_t i) { counts[i] = count(hashes[i]); });
    return;
  }
  kernels.count(cells_of(words_, *this), kernel::hashes_of(hashes), counts.data());
}

void count_min_view::contains_bits(std::span<const std::uint64_t> hashes,
                                   std::span<std::uint64_t> bitmap) const noexcept {
  if (pairwise() || one_line()) {
    kernel::answer_loop(count_min_lines{*this}, words(), hashes, bitmap,
                        [&](std::size_t i) { return contains(hashes[i]); });
    return;
  }
  kernel::wide_kernels_chosen().scatter.contains(cells_of(words_, *this), kernel::hashes_of(hashes),
                                                 bitmap.data());
}

double count_min_view::epsilon() const noexcept { return sizing::count_min_epsilon(shape()); }
double count_min_view::delta() const noexcept { return sizing::count_min_delta(depth()); }

std::uint64_t count_min_view::used_in_row(std::uint32_t row) const noexcept {
  const cell_format cells(shape().cell_bits);
  std::uint64_t used = 0;
  for (std::uint64_t i = row * width_; i < (row + 1) * width_; ++i) {
    used += cells.get(words_ + preamble_words, i) != 0 ? 1U : 0U;
  }
  return used;
}

std::uint64_t count_min_view::counters() const noexcept {
  return one_line() ? lines_ * (bits_per_block / shape().cell_bits) : width_ * depth();
}

std::uint64_t count_min_view::saturated() const noexcept {
  return sketch_detail::count_saturated(words().subspan(preamble_words), shape().cell_bits);
}

std::uint64_t count_min_view::inner_product(const count_min_view& other) const {
  check_alike(*this, other);
  if (conservative()) {
    detail::fail(errc::unsupported,
                 "sketches with conservative update have no inner product: their counters are no "
                 "sums");
  }
  if (one_line()) {
    detail::fail(errc::unsupported,
                 "sketches with the counters of a key in one line have no inner product: it has no "
                 "proved bound, because their rows are not independent");
  }
  const cell_format cells(shape().cell_bits);
  detail::uint128 least = ~detail::uint128{0};
  for (std::uint32_t j = 0; j < depth(); ++j) {
    detail::uint128 sum = 0;
    for (std::uint64_t i = j * width_; i < (j + 1) * width_; ++i) {
      const auto product = static_cast<detail::uint128>(cells.get(words_ + preamble_words, i)) *
                           cells.get(other.words_ + preamble_words, i);
      sum += std::min(product, ~sum);
    }
    least = std::min(least, sum);
  }
  constexpr std::uint64_t most = ~std::uint64_t{0};
  return least < most ? static_cast<std::uint64_t>(least) : most;
}

double count_min_view::fill() const noexcept {
  if (one_line()) return fill_of_lines();
  std::uint64_t used = 0;
  for (std::uint32_t j = 0; j < depth(); ++j) used += used_in_row(j);
  return static_cast<double>(used) / static_cast<double>(width_ * depth());
}

double count_min_view::fpr() const noexcept {
  if (one_line()) return fpr_of_lines();
  double rate = 1;
  for (std::uint32_t j = 0; j < depth(); ++j) {
    rate *= static_cast<double>(used_in_row(j)) / static_cast<double>(width_);
  }
  return rate;
}

void count_min::choose_rows(std::uint64_t seed) {
  if (!pairwise() || total() != 0) {
    detail::fail(errc::bad_argument,
                 "rows are chosen for an unused sketch with pairwise independent ones");
  }
  mutable_words()[1] = detail::little_endian(seed);
  functions_ = functions_of(shape(), seed);
}

void count_min::clear() noexcept {
  const std::uint64_t seed = words()[1];
  changeable::clear();
  mutable_words()[1] = seed;
}

void count_min::raise(std::uint64_t hash, std::uint64_t count) noexcept {
  std::uint64_t* const counters = mutable_words().data() + preamble_words;
  with_cells(shape().cell_bits, [&](auto cells) {
    if (conservative()) {
      const std::uint64_t risen = cells.sum(this->count(hash), count);
      // Without a branch, as in add_below_in.
      for_each_row(hash, [&](std::uint64_t index) {
        cells.set(counters, index, std::max(cells.get(counters, index), risen));
      });
    } else {
      for_each_row(hash, [&](std::uint64_t index) {
        cells.set(counters, index, cells.sum(cells.get(counters, index), count));
      });
    }
  });
}

void count_min::add(std::uint64_t hash, std::uint64_t count) noexcept {
  if (count == 0) return;
  raise(hash, count);
  add_totals(1, count);
}

void count_min::add_batch(std::span<const std::uint64_t> hashes) noexcept {
  add_run(hashes, nullptr);
  add_totals(hashes.size(), hashes.size());
}

void count_min::add_batch(std::span<const std::uint64_t> hashes,
                          std::span<const std::uint64_t> counts) noexcept {
  add_run(hashes, counts.data());
  std::uint64_t calls = 0;
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts.first(hashes.size())) {
    calls += count != 0 ? 1U : 0U;
    sum = saturating_sum(sum, count);
  }
  add_totals(calls, sum);
}

void count_min::add_run(std::span<const std::uint64_t> hashes,
                        const std::uint64_t* counts) noexcept {
  const auto& kernels = kernel::wide_kernels_chosen().count_min;
  if (one_line()) {
    return (conservative() ? kernels.raise_in_lines : kernels.add_in_lines)(
        lines_of(mutable_words().data(), *this), kernel::hashes_of(hashes), counts);
  }
  if (pairwise()) {
    kernel::look_ahead_loop(count_min_lines{*this}, words(), hashes, [&](std::size_t i) {
      if (counts == nullptr || counts[i] != 0) raise(hashes[i], counts == nullptr ? 1 : counts[i]);
    });
    return;
  }
  (conservative() ? kernels.raise : kernels.add)(cells_of(mutable_words().data(), *this),
                                                 kernel::hashes_of(hashes), counts);
}

void count_min::add_totals(std::uint64_t calls, std::uint64_t count) noexcept {
  mutable_words()[0] = detail::little_endian(saturating_sum(total(), count));
  key_count() = saturating_sum(keys(), calls);
}

void count_min::add_and_count(std::span<const std::uint64_t> hashes,
                              std::span<const std::uint64_t> counts,
                              std::span<std::uint64_t> sums) noexcept {
  kernel::look_ahead_loop(count_min_lines{*this}, this->words(), hashes,
                          [&](std::size_t i) { sums[i] = add_and_count(hashes[i], counts[i]); });
}

std::uint64_t count_min::add_and_count(std::uint64_t hash, std::uint64_t count) noexcept {
  if (count == 0) return this->count(hash);
  if (conservative()) {
    add(hash, count);
    return this->count(hash);
  }
  std::uint64_t* const counters = mutable_words().data() + preamble_words;
  const std::uint64_t least = with_cells(shape().cell_bits, [&](auto cells) {
    std::uint64_t lowest = ~std::uint64_t{0};
    for_each_row(hash, [&](std::uint64_t index) {
      const std::uint64_t risen = cells.sum(cells.get(counters, index), count);
      cells.set(counters, index, risen);
      lowest = std::min(lowest, risen);
    });
    return lowest;
  });
  add_totals(1, count);
  return least;
}

namespace {

// What cell_format is for counters of 64 bits: this is called for every packet of a link.
struct whole_words {
  [[nodiscard]] static std::uint64_t get(const std::uint64_t* words, std::uint64_t index) noexcept {
    return detail::little_endian(words[index]);
  }
  static void set(std::uint64_t* words, std::uint64_t index, std::uint64_t value) noexcept {
    words[index] = detail::little_endian(value);
  }
  [[nodiscard]] static std::uint64_t sum(std::uint64_t value, std::uint64_t count) noexcept {
    return saturating_sum(value, count);
  }
};

}  // namespace

// `rows` calls what it is given with the place of each counter.
template <class Cells, class Rows>
std::uint64_t count_min::add_below_in(const Cells& cells, const Rows& rows, std::uint64_t count,
                                      std::uint64_t limit) noexcept {
  std::uint64_t* const counters = mutable_words().data() + preamble_words;
  std::uint64_t least = ~std::uint64_t{0};
  rows([&](std::uint64_t index) { least = std::min(least, cells.get(counters, index)); });
  const std::uint64_t risen = cells.sum(least, count);
  if (risen >= limit || count == 0) return risen;
  // Written without a branch: whether a counter is the larger one cannot be foreseen.
  if (conservative()) {
    rows([&](std::uint64_t index) {
      cells.set(counters, index, std::max(cells.get(counters, index), risen));
    });
  } else {
    rows([&](std::uint64_t index) {
      cells.set(counters, index, cells.sum(cells.get(counters, index), count));
    });
  }
  add_totals(1, count);
  return risen;
}

std::uint64_t count_min::add_below(std::uint64_t hash, std::uint64_t count,
                                   std::uint64_t limit) noexcept {
  const auto rows = [&](const auto& visit) { for_each_row(hash, visit); };
  if (shape().cell_bits == 64) return add_below_in(whole_words{}, rows, count, limit);
  return add_below_in(cell_format(shape().cell_bits), rows, count, limit);
}

std::uint64_t count_min::add_below_at(const std::uint64_t* places, std::uint64_t count,
                                      std::uint64_t limit) noexcept {
  if (shape().cell_bits == 64 && depth() == 4) {  // what a multistage filter is, without its loops
    const auto four = [places](const auto& visit) {
      visit(places[0]);
      visit(places[1]);
      visit(places[2]);
      visit(places[3]);
    };
    return add_below_in(whole_words{}, four, count, limit);
  }
  const auto rows = [&](const auto& visit) { std::for_each_n(places, depth(), visit); };
  return add_below_in(cell_format(shape().cell_bits), rows, count, limit);
}

void count_min_view::locate(std::uint64_t hash, std::uint64_t* places) const noexcept {
  const auto shift = static_cast<std::uint32_t>(std::countr_zero(shape().cell_bits));
  const std::uint64_t* const counters = words_ + preamble_words;
  for_each_row(hash, [&](std::uint64_t index) {
    __builtin_prefetch(counters + ((index << shift) >> 6U), 1);
    *places++ = index;
  });
}

// GCC 12 takes a function that does nothing but prefetch for one without effects and drops calls of
// it. So the visitor stores the places, and this function, which nobody here calls, fetches them.
void count_min_view::prefetch(std::uint64_t hash) const noexcept {
  const auto shift = static_cast<std::uint32_t>(std::countr_zero(shape().cell_bits));
  std::array<const std::uint64_t*, max_probes> lines;  // NOLINT: only what is read is set
  std::size_t rows = 0;
  for_each_row(hash, [&](std::uint64_t index) {
    lines[rows++] = words_ + preamble_words + ((index << shift) >> 6U);
  });
  for (std::size_t j = 0; j < rows; ++j) __builtin_prefetch(lines[j], 1);
}

void count_min::raise_to(std::uint64_t hash, std::uint64_t count) noexcept {
  const std::uint64_t now = this->count(hash);
  if (now < count) add(hash, count - now);
}

bool count_min::remove(std::uint64_t hash, std::uint64_t count) noexcept {
  if (conservative()) return false;
  if (count == 0) return true;
  const cell_format cells(shape().cell_bits);
  if (!cells.covers(this->count(hash), count)) return false;
  std::uint64_t* const words = mutable_words().data();
  std::uint64_t* const counters = words + preamble_words;
  for_each_row(hash, [&](std::uint64_t index) {
    cells.set(counters, index, cells.difference(cells.get(counters, index), count));
  });
  // Like a counter: a saturated total stays. Foreign words may have a total below their counters.
  const std::uint64_t before = total();
  if (before != ~std::uint64_t{0}) {
    words[0] = detail::little_endian(before - std::min(before, count));
  }
  if (keys() > 0) --key_count();
  return true;
}

std::size_t count_min::remove_batch(std::span<const std::uint64_t> hashes) noexcept {
  std::size_t removed = 0;
  kernel::look_ahead_loop(count_min_lines{*this}, this->words(), hashes,
                          [&](std::size_t i) { removed += remove(hashes[i]) ? 1U : 0U; });
  return removed;
}

void count_min::merge(const view& other) {
  check_alike(*this, other);
  const cell_format cells(shape().cell_bits);
  std::uint64_t* const words = mutable_words().data();
  const std::uint64_t theirs = other.total();
  for (std::uint64_t i = 0; i < counters(); ++i) {
    const std::uint64_t more = cells.get(other.words().data() + preamble_words, i);
    cells.set(words + preamble_words, i, cells.sum(cells.get(words + preamble_words, i), more));
  }
  words[0] = detail::little_endian(saturating_sum(total(), theirs));
  key_count() = saturating_sum(keys(), other.keys());
}

namespace {

// The sum of weight * number(sketch) over the terms; nothing when it is below 0 or above `most`.
template <class Number>
std::optional<std::uint64_t> weighted_sum(std::span<const weighted_count_min> terms,
                                          std::uint64_t most, Number number) {
  detail::int128 sum = 0;
  for (const weighted_count_min& t : terms) {
    const std::uint64_t n = number(*t.sketch);
    // 63 bits times 64 bits and a sign are no more than 128.
    const auto product = static_cast<detail::int128>(t.weight) * static_cast<detail::int128>(n);
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  if (sum < 0 || sum > static_cast<detail::int128>(most)) return std::nullopt;
  return static_cast<std::uint64_t>(sum);
}

}  // namespace

bool count_min::assign_sum(std::span<const weighted_count_min> terms) {
  for (const weighted_count_min& t : terms) {
    check_alike(*this, *t.sketch);
  }
  const cell_format cells(shape().cell_bits);
  const auto sum_at = [&](std::uint64_t i) {
    return weighted_sum(terms, cells.most(), [&](const view& v) {
      return cells.get(v.words().data() + preamble_words, i);
    });
  };
  constexpr std::uint64_t any = ~std::uint64_t{0};
  const auto sum = weighted_sum(terms, any, [](const view& v) { return v.total(); });
  const auto calls = weighted_sum(terms, any, [](const view& v) { return v.keys(); });
  const std::uint64_t counters = this->counters();
  bool fits = sum.has_value();
  for (std::uint64_t i = 0; fits && i < counters; ++i) fits = sum_at(i).has_value();
  if (!fits) return false;
  // A counter is read in all terms before it is written, so this sketch may be one of them.
  std::uint64_t* const words = mutable_words().data();
  for (std::uint64_t i = 0; i < counters; ++i) cells.set(words + preamble_words, i, *sum_at(i));
  words[0] = detail::little_endian(*sum);
  key_count() = calls.value_or(any);
  return true;
}

// A counter in each row, as a partitioned filter has a bit in each slice.
explanation count_min_view::explain(std::uint64_t hash) const {
  return detail::explain_counters(
      count_min_lines{*this}, hash, count(hash), [&](std::uint64_t counter) {
        return cell_format(shape().cell_bits).get(words_ + preamble_words, counter);
      });
}

cell_array count_min_view::cells() const {
  return {.unit = "counters",
          .parts = {words().subspan(sizing::count_min_preamble_bits / 64)},
          .cell_bits = shape().cell_bits};
}

}  // namespace bloomery
