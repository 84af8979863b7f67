#include "bloomery/filter/ribbon.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "kernel/ribbon/ribbon.hpp"
#include "ribbon_band.hpp"
#include "static_shards.hpp"

namespace bloomery {

namespace {

// Sorts a part of the hashes. fraction(hash) grows with the hash, from 0 at the part's beginning to
// all ones at its end. There are as many places as hashes, so most places get one or none, and
// insertion sort has few steps to go.
template <class Fraction>
void sort_part(std::span<const std::uint64_t> in, std::span<std::uint64_t> out,
               std::vector<std::uint32_t>& next, Fraction fraction) {
  constexpr std::uint32_t most_in_place = 32;  // more only where hashes are repeated or chosen
  next.assign(in.size() + 1, 0);
  const auto place_of = [&](std::uint64_t hash) {
    return detail::multiply_high(fraction(hash), in.size());
  };
  for (const std::uint64_t hash : in) ++next[place_of(hash) + 1];
  std::uint32_t most = 0;
  for (std::size_t i = 1; i < next.size(); ++i) {
    most = std::max(most, next[i]);
    next[i] += next[i - 1];
  }
  for (const std::uint64_t hash : in) out[next[place_of(hash)]++] = hash;
  if (most > most_in_place) return std::sort(out.begin(), out.end());
  for (std::size_t i = 1; i < out.size(); ++i) {
    const std::uint64_t hash = out[i];
    std::size_t to = i;
    for (; to > 0 && out[to - 1] > hash; --to) out[to] = out[to - 1];
    out[to] = hash;
  }
}

// Sorts mixed hashes, which are spread evenly: into parts of about a thousand, and each of those
// within the first-level cache.
class mixed_sorter {
 public:
  void operator()(std::span<std::uint64_t> hashes) {
    const std::uint64_t parts = hashes.size() / part_hashes + 1;
    parts_.assign(static_cast<std::size_t>(parts) + 1, 0);
    for (const std::uint64_t hash : hashes) ++parts_[detail::multiply_high(hash, parts) + 1];
    for (std::size_t i = 1; i < parts_.size(); ++i) parts_[i] += parts_[i - 1];
    scratch_.resize(hashes.size());
    for (const std::uint64_t hash : hashes) {
      scratch_[parts_[detail::multiply_high(hash, parts)]++] = hash;
    }
    std::size_t first = 0;
    for (std::size_t i = 0; i < parts; ++i) {
      const std::size_t count = parts_[i] - first;
      sort_part(std::span(scratch_).subspan(first, count), hashes.subspan(first, count), places_,
                [parts](std::uint64_t hash) { return hash * parts; });
      first = parts_[i];
    }
  }

 private:
  static constexpr std::size_t part_hashes = 1024;

  std::vector<std::uint64_t> scratch_;
  std::vector<std::uint32_t> parts_;  // how many first, then where the next one of each goes
  std::vector<std::uint32_t> places_;
};

class ribbon_solver {
 public:
  using item = std::uint64_t;
  using entry = std::array<std::uint64_t, sizing::ribbon_entry_words>;

  explicit ribbon_solver(const shape& s) : bits_(s.cell_bits) {}

  [[nodiscard]] std::uint64_t array_words(std::uint64_t keys) const noexcept {
    return sizing::ribbon_array_words(sizing::ribbon_size_for(keys), bits_);
  }

  std::uint64_t solve(std::uint64_t shard, std::span<std::uint64_t> hashes, std::uint64_t* out,
                      entry& e) {
    for (std::uint32_t attempt = 0; attempt < detail::max_tries; ++attempt) {
      const std::uint64_t seed = detail::shard_seed(shard, attempt);
      mixed_.resize(hashes.size());
      std::transform(hashes.begin(), hashes.end(), mixed_.begin(),
                     [seed](std::uint64_t hash) { return mix64(hash, seed); });
      sort_(mixed_);
      mixed_.erase(std::unique(mixed_.begin(), mixed_.end()), mixed_.end());
      const std::uint64_t keys = mixed_.size();
      const sizing::ribbon_size size = sizing::ribbon_size_for(keys);
      if (!solve_layers(size, out)) {
        std::fill_n(out, array_words(keys), 0);
        continue;
      }
      e = {0, seed, size[0], size[1], size[2], size[3], sizing::ribbon_column_words(size, bits_),
           0};
      return keys;
    }
    detail::throw_no_seed(filter_kind::ribbon, shard, hashes.size());
  }

 private:
  bool solve_layers(const sizing::ribbon_size& size, std::uint64_t* columns) {
    std::uint64_t* thresholds = columns + sizing::ribbon_column_words(size, bits_);
    for (std::uint32_t layer = 0; layer + 1 < sizing::ribbon_layers; ++layer) {
      if (size[layer] == 0) continue;
      mixed_.resize(band_.insert_bumping(mixed_, size[layer], bits_, thresholds));
      band_.solve(columns);
      columns += size[layer] / 64 * bits_;
      thresholds += sizing::ribbon_threshold_words(size[layer]);
      std::transform(mixed_.begin(), mixed_.end(), mixed_.begin(), detail::ribbon_next);
      sort_(mixed_);
    }
    if (size.back() == 0) return true;
    if (!band_.insert_all(mixed_, size.back(), bits_)) return false;
    band_.solve(columns);
    return true;
  }

  std::uint32_t bits_;
  std::vector<std::uint64_t> mixed_;
  mixed_sorter sort_;
  detail::ribbon_band band_;
};

void check_shards(const detail::static_directory& d, std::uint32_t bits) {
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < d.shards; ++i) {
    const std::uint64_t* const words = d.entries + i * sizing::ribbon_entry_words;
    std::array<std::uint64_t, sizing::ribbon_entry_words> e{};
    std::transform(words, words + e.size(), e.begin(), detail::little_endian);
    if (e[0] != next) detail::throw_bad_shard(filter_kind::ribbon, i, "begins where it must not");
    const sizing::ribbon_size size = {e[2], e[3], e[4], e[5]};
    for (const std::uint64_t slots : size) {
      if (slots % 64 != 0 || slots >> 32U != 0 || (slots != 0 && slots <= sizing::ribbon_width)) {
        detail::throw_bad_shard(filter_kind::ribbon, i, "has a layer of an odd size");
      }
    }
    if (e[6] != sizing::ribbon_column_words(size, bits) || e[7] != 0) {
      detail::throw_bad_shard(filter_kind::ribbon, i, "contradicts itself");
    }
    next += sizing::ribbon_array_words(size, bits);
    if (next > d.array_words) {
      detail::throw_bad_shard(filter_kind::ribbon, i, "is longer than the payload");
    }
  }
  if (next != d.array_words) {
    detail::throw_bad_shard(filter_kind::ribbon, d.shards - 1, "ends before the directory");
  }
}

}  // namespace

ribbon_view::ribbon_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys)
    : static_view(p, detail::open_static(p, kind, words, keys, sizing::ribbon_entry_words)) {
  check_shards(directory(), p.shape.cell_bits);
}

void ribbon_view::contains_bits(std::span<const std::uint64_t> hashes,
                                std::span<std::uint64_t> bitmap) const noexcept {
  kernel::ribbon_kernels_chosen().contains({.directory = directory(), .bits = shape().cell_bits},
                                           hashes, bitmap.data());
}

double ribbon_view::fpr() const noexcept {
  if (keys() == 0) return 0.0;
  return std::ldexp(1.0, -static_cast<int>(shape().cell_bits)) +
         static_cast<double>(keys()) * 0x1p-64;
}

ribbon_filter::ribbon_filter(const plan& p, std::span<const std::uint64_t> hashes, unsigned threads)
    : owned(detail::build_set<ribbon_solver>(detail::checked_static_plan(p, kind), hashes,
                                             threads)) {}

ribbon_builder::ribbon_builder(const plan& p)
    : static_builder(std::make_unique<detail::shard_writer<ribbon_solver>>(
          detail::checked_static_plan(p, filter_kind::ribbon))) {}

explanation ribbon_view::explain(std::uint64_t hash) const {
  const detail::ribbon_place place = place_of(hash);
  if (place.columns == nullptr) return detail::no_keys_in_shard();
  const std::uint32_t bits = shape().cell_bits;
  const detail::ribbon_equation equation(place.mixed);
  const detail::ribbon_cover cover(equation, place.shift);
  std::uint64_t found = 0;
  for (std::uint32_t j = 0; j < bits; ++j) {
    const int chosen = std::popcount(cover.chosen(place.columns, bits, j));
    found |= static_cast<std::uint64_t>(chosen % 2) << j;
  }
  const auto first = static_cast<std::uint64_t>(place.columns - directory().words);
  const int chosen = std::popcount(equation.low) + std::popcount(equation.high);
  explanation e;
  e.findings.push_back({.text = "the XOR of {slots_chosen} of the 128 slots from {slot} on",
                        .numbers = {{"slot", first / bits * 64 + place.shift},
                                    {"slots_chosen", static_cast<std::uint64_t>(chosen)}}});
  detail::compare_prints(e, detail::ribbon_print(place.mixed, bits), found);
  return e;
}

}  // namespace bloomery
