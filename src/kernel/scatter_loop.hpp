// The loops of scatter.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/hash/probe.hpp"
#include "scatter.hpp"

namespace bloomery::kernel {

template <class Eight>
struct scatter_loop {
  // The positions of eight keys for probe 0, 1, ... as numbers: each(position).
  template <bool Short, class Word, class Each>
  [[gnu::always_inline]] static void for_each_probe(const scatter_array<Word>& array, Eight hash,
                                                    Each each) noexcept {
    const Eight range = Eight::all(array.range);
    const Eight step = Eight::all(array.step);
    const Eight multiplier = Eight::all(next_probe_multiplier);
    Eight first = Eight::all(0);
    for (std::uint32_t j = 0; j < array.probes; ++j) {
      each(first + (Short ? multiply_high_short(hash, range) : multiply_high(hash, range)));
      hash = hash * multiplier;
      first = first + step;
    }
  }

  static void contains(const scatter_array<const std::uint64_t>& array, const hash_run& run,
                       std::uint64_t* bitmap) noexcept {
    const std::size_t count = run.count;
    for (std::size_t w = 0; w < (count + 63) / 64; ++w) bitmap[w] = 0;
    for (std::size_t i = 0; i < count; i += 8) {
      std::uint64_t some[8] = {};
      for (std::size_t n = 0; n < 8 && i + n < count; ++n) some[n] = run.hashes[i + n];
      unsigned in = count - i >= 8 ? 0xffU : (1U << (count - i)) - 1;
      for_each_probe<false>(array, Eight::load(some), [&](const Eight& position) {
        const Eight word = Eight::gather(array.words, position >> 6);
        in &= meet(word >> (position & Eight::all(63)), Eight::all(1));
      });
      bitmap[i / 64] |= std::uint64_t{in} << (i % 64);
    }
  }

  static void add(const scatter_array<std::uint64_t>& array, const hash_run& run) noexcept {
    const std::size_t count = run.count;
    for (std::size_t i = 0; i < count; i += 8) {
      std::uint64_t some[8] = {};
      for (std::size_t n = 0; n < 8 && i + n < count; ++n) some[n] = run.hashes[i + n];
      for_each_probe<false>(array, Eight::load(some), [&](const Eight& position) {
        std::uint64_t at[8];
        position.store(at);
        for (std::size_t n = 0; n < 8 && i + n < count; ++n) {
          array.words[at[n] >> 6U] |= detail::little_endian(std::uint64_t{1} << (at[n] & 63U));
        }
      });
    }
  }
};

template <class Eight>
inline constexpr scatter_kernels scatter_kernels_with = {.contains = scatter_loop<Eight>::contains,
                                                         .add = scatter_loop<Eight>::add};

}  // namespace bloomery::kernel
