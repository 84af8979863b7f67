#include "popcount.hpp"

#include <bit>
#include <span>

#include "bloomery/bits/bit_array.hpp"

namespace bloomery {

namespace kernel {

namespace {

// Four sums: one would be a chain of additions, and slower than reading from the cache.
template <class Word>
[[gnu::always_inline]] inline std::uint64_t sum_of_ones(std::size_t size, Word word) noexcept {
  std::uint64_t sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= size; i += 4) {
    for (std::size_t n = 0; n < 4; ++n) {
      sums[n] += static_cast<std::uint64_t>(std::popcount(word(i + n)));
    }
  }
  for (; i < size; ++i) sums[0] += static_cast<std::uint64_t>(std::popcount(word(i)));
  return sums[0] + sums[1] + sums[2] + sums[3];
}

std::uint64_t count_portable(const std::uint64_t* words, std::size_t size) noexcept {
  return sum_of_ones(size, [=](std::size_t i) { return words[i]; });
}

std::uint64_t count_union_portable(const std::uint64_t* a, const std::uint64_t* b,
                                   std::size_t size) noexcept {
  return sum_of_ones(size, [=](std::size_t i) { return a[i] | b[i]; });
}

constexpr popcount_kernels portable = {count_portable, count_union_portable};

#if defined(__x86_64__)
// Every machine with AVX2 has it. 31 GB/s from memory on a Zen 4: reading has 33, without it 2.6.
[[gnu::target("popcnt")]] std::uint64_t count_popcnt(const std::uint64_t* words,
                                                     std::size_t size) noexcept {
  return sum_of_ones(
      size, [=](std::size_t i) __attribute__((always_inline)) { return words[i]; });
}

[[gnu::target("popcnt")]] std::uint64_t count_union_popcnt(const std::uint64_t* a,
                                                           const std::uint64_t* b,
                                                           std::size_t size) noexcept {
  return sum_of_ones(
      size, [=](std::size_t i) __attribute__((always_inline)) { return a[i] | b[i]; });
}

constexpr popcount_kernels popcnt = {count_popcnt, count_union_popcnt};
#endif

}  // namespace

const popcount_kernels& popcount_kernels_of(level l) noexcept {
  switch (l) {
#if defined(__x86_64__)
    case level::avx2:
    case level::avx512: return popcnt;
#endif
    default: return portable;
  }
}

const popcount_kernels& popcount_kernels_chosen() noexcept {
  static const popcount_kernels& kernels = popcount_kernels_of(chosen_level());
  return kernels;
}

}  // namespace kernel

std::uint64_t count_bits(std::span<const std::uint64_t> words) noexcept {
  return kernel::popcount_kernels_chosen().count(words.data(), words.size());
}

}  // namespace bloomery
