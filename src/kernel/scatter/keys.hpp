// What the loops over keys with several random lines share: which arrays are near (in the cache,
// and so better off without prefetches), the positions of a key, and the look-ahead of the others.
//
// The positions are those of detail::position_walk in hash/probe.hpp, here for eight keys
// (eight_walk) and for one probe of many keys (scatter_probe). A test and a fuzzer compare them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/probe.hpp"
#include "kernel/pipeline.hpp"
#include "scatter.hpp"

namespace bloomery::kernel {

namespace {

[[gnu::always_inline]] inline void prefetch_line(const std::uint64_t* word) noexcept {
  __builtin_prefetch(word, 0, 2);
  asm volatile("");  // GCC 12 would drop it, see pipeline.hpp
}

}  // namespace

// detail::position_walk for eight keys.
template <class Eight>
class eight_walk {
 public:
  template <class Word>
  [[gnu::always_inline]] eight_walk(const scatter_array<Word>& array,
                                    const std::uint64_t* hashes) noexcept
      : hash_(Eight::load(hashes)), range_(array.range), step_(array.step) {}

  [[gnu::always_inline]] Eight next() noexcept {
    const Eight position = Eight::all(base_) + multiply_high_short(hash_, Eight::all(range_));
    hash_ = hash_ * Eight::all(next_probe_multiplier);
    base_ += step_;
    return position;
  }

 private:
  Eight hash_;
  std::uint64_t range_;
  std::uint64_t step_;
  std::uint64_t base_ = 0;
};

template <class Eight>
struct scatter_keys {
  // Arrays better off without prefetches. With 32 MB of third-level cache, eight at a time without
  // are 1.5 times as fast at 10 MB, half as fast at 19 MB. One at a time the two meet at 5 MB.
  static constexpr std::uint64_t near_bytes = std::uint64_t{Eight::is_vector ? 8 : 4} << 20U;

  template <class Word>
  [[nodiscard]] static bool is_near(const scatter_array<Word>& array) noexcept {
    return array.bytes() <= near_bytes;
  }

  // visit(position) for each probe.
  template <class Word, class Visit>
  [[gnu::always_inline]] static void for_each_position(const scatter_array<Word>& array,
                                                       std::uint64_t hash, Visit visit) noexcept {
    detail::position_walk walk(hash, array.range, array.step);
    for (std::uint32_t j = 0; j < array.probes; ++j) visit(walk.next());
  }

  // How many keys ahead all lines of a key are prefetched: 128 lines, and never fewer than 8 keys.
  [[nodiscard]] static std::size_t keys_ahead(std::uint32_t probes) noexcept {
    return 128 / probes + 8;
  }

  // visit(i) for each key of an array that is not near, in order, with its lines prefetched.
  template <class Word, class Visit>
  [[gnu::always_inline]] static void look_ahead(const scatter_array<Word>& array,
                                                const hash_run& run, Visit visit) noexcept {
    const auto prefetch_all = [&](std::size_t i) __attribute__((always_inline)) {
      for_each_position(
          array, run.hashes[i], [&](std::uint64_t position) __attribute__((always_inline)) {
            prefetch_line(array.word_of(position));
          });
    };
    roll(run.count, keys_ahead(array.probes), prefetch_all, visit);
  }
};

// The cells of one probe, for one key or eight. With Bits, loops need no shifts by variables.
template <class Eight, bool Bits>
struct scatter_probe {
  const std::uint64_t* words;
  std::uint64_t range;
  std::uint64_t base;
  unsigned log;

  scatter_probe(const scatter_array<const std::uint64_t>& array, std::uint32_t j) noexcept
      : words(array.words),
        range(array.range),
        base(j * array.step),
        log(Bits ? 0 : array.cell_log) {}

  [[nodiscard]] std::uint64_t of(std::uint64_t hash) const noexcept {
    return base + detail::multiply_high(hash, range);
  }
  [[nodiscard]] Eight of(const Eight& hash) const noexcept {
    return Eight::all(base) + multiply_high_short(hash, Eight::all(range));
  }
  // A one in each bit of a cell that starts a word.
  [[nodiscard]] std::uint64_t cell() const noexcept {
    return Bits ? 1 : ~std::uint64_t{0} >> (64U - (1U << log));
  }
  [[nodiscard]] const std::uint64_t* word(std::uint64_t position) const noexcept {
    return words + (position >> (6U - log));
  }
  [[nodiscard]] std::uint64_t test(std::uint64_t position) const noexcept {
    const std::uint64_t at = (position << log) & 63U;
    const std::uint64_t value = (detail::little_endian(*word(position)) >> at) & cell();
    return Bits ? value : std::uint64_t{value != 0};
  }
  [[nodiscard]] unsigned test(const Eight& position) const noexcept {
    const Eight there = Eight::gather(words, position >> (6U - log));
    return meet(there, Eight::all(cell()) << ((position << log) & Eight::all(63)));
  }
  void prefetch(std::uint64_t position) const noexcept { prefetch_line(word(position)); }
};

}  // namespace bloomery::kernel
