// The blocked filter against the floor: nanoseconds a key of asking and adding many integers through
// keyed<blocked_filter> (1 % shape), and, in the same run, of what no filter of this size can avoid: hash the
// key and read (or read, change and write) one random line of an array as large. Medians of 7; the floor is the
// best of several pipelines. In the cache and out of it. Configure with -DBLOOMERY_BENCH=ON; arguments are
// numbers of keys. BLOOMERY_KERNEL chooses the kernel, not the floor.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/arithmetic.hpp"
#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/keyed.hpp"
#include "bloomery/hash/hash.hpp"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#endif

namespace {

using namespace bloomery;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t repetitions = 7;
constexpr std::size_t most_keys_asked = std::size_t{16}
                                        << 20U;  // of larger filters, to save memory
volatile std::uint64_t sink = 0;                 // what the compiler must not drop

struct times {
  std::vector<double> seconds;

  template <class Work>
  void measure(Work work) {
    const auto start = clock_type::now();
    work();
    seconds.push_back(std::chrono::duration<double>(clock_type::now() - start).count());
  }
  [[nodiscard]] double nanoseconds(std::size_t keys) {
    std::nth_element(seconds.begin(), seconds.begin() + repetitions / 2, seconds.end());
    return seconds[repetitions / 2] / static_cast<double>(keys) * 1e9;
  }
};

// Short runs are repeated: a millisecond is too short to measure.
std::size_t rounds_of(std::size_t keys) { return std::max<std::size_t>(1, 8'000'000 / keys); }

struct lines {
  std::uint64_t* words;
  std::uint64_t count;
};

using floor_loop = std::uint64_t (*)(const lines&, std::span<const std::uint64_t>, std::uint64_t);

// ---- the floor, portable: the line of a key is asked for Ahead keys before ---------------------------

template <bool Write, std::size_t Ahead>
std::uint64_t portable_floor(const lines& array, std::span<const std::uint64_t> keys,
                             std::uint64_t seed) {
  constexpr std::size_t ring = 64;
  std::array<std::uint64_t*, ring> line{};
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < keys.size() + Ahead; ++i) {
    if (i >= Ahead) {
      std::uint64_t* const at = line[(i - Ahead) % ring];
      std::uint64_t any = 0;
      for (std::size_t w = 0; w < 8; ++w) any |= at[w];
      sum += any & 1U;
      if constexpr (Write) {
        for (std::size_t w = 0; w < 8; ++w) at[w] ^= i;
      }
    }
    if (i >= keys.size()) continue;
    line[i % ring] = array.words + detail::multiply_high(mix64(keys[i], seed), array.count) * 8;
    if constexpr (Ahead > 1) __builtin_prefetch(line[i % ring], Write ? 1 : 0, 3);
  }
  return sum;
}

// ---- the floor with AVX-512: groups of eight, two levels of prefetch ----------------------------------

#if defined(__x86_64__)
#define BLOOMERY_AVX512 __attribute__((target("avx512f,avx512dq")))

BLOOMERY_AVX512 inline void find_lines(const lines& array, const std::uint64_t* keys,
                                       std::uint64_t seed, std::uint64_t* out) {
  const __m512i low_half = _mm512_set1_epi64(0xffffffff);
  const __m512i m = _mm512_set1_epi64(static_cast<long long>(0x9fb21c651e98df25U));
  const __m512i m_high = _mm512_srli_epi64(m, 32);
  const __m512i a =
      _mm512_xor_si512(_mm512_loadu_si512(keys), _mm512_set1_epi64(static_cast<long long>(seed)));
  const __m512i a_high = _mm512_srli_epi64(a, 32);
  const __m512i low_low = _mm512_mul_epu32(a, m);
  const __m512i middle =
      _mm512_add_epi64(_mm512_mul_epu32(a_high, m), _mm512_srli_epi64(low_low, 32));
  const __m512i middle2 =
      _mm512_add_epi64(_mm512_mul_epu32(a, m_high), _mm512_and_si512(middle, low_half));
  const __m512i high = _mm512_add_epi64(
      _mm512_mul_epu32(a_high, m_high),
      _mm512_add_epi64(_mm512_srli_epi64(middle, 32), _mm512_srli_epi64(middle2, 32)));
  const __m512i low = _mm512_mask_blend_epi32(0xaaaa, low_low, _mm512_slli_epi64(middle2, 32));
  const __m512i hash = _mm512_mullo_epi64(
      _mm512_xor_si512(low, high), _mm512_set1_epi64(static_cast<long long>(0xd6e8feb86659fd93U)));
  const __m512i count = _mm512_set1_epi64(static_cast<long long>(array.count));
  const __m512i line =
      _mm512_srli_epi64(_mm512_add_epi64(_mm512_srli_epi64(_mm512_mul_epu32(hash, count), 32),
                                         _mm512_mul_epu32(_mm512_srli_epi64(hash, 32), count)),
                        32);
  _mm512_storeu_si512(out, _mm512_slli_epi64(line, 3));
}

// Far and Near are in groups; Near = 0: no prefetch. The keys after the last whole group are left out.
template <bool Write, std::size_t Far, std::size_t Near>
BLOOMERY_AVX512 std::uint64_t avx512_floor(const lines& array, std::span<const std::uint64_t> keys,
                                           std::uint64_t seed) {
  constexpr std::size_t ring = 32;
  alignas(64) std::array<std::uint64_t, ring * 8> word{};
  const __m512i change = _mm512_set1_epi64(static_cast<long long>(seed));
  const std::size_t groups = keys.size() / 8;
  std::uint64_t sum = 0;
  for (std::size_t g = 0; g < groups + Far; ++g) {
    if (g < groups) {
      std::uint64_t* const slot = &word[g % ring * 8];
      find_lines(array, keys.data() + g * 8, seed, slot);
      if constexpr (Near > 0) {
        for (std::size_t i = 0; i < 8; ++i) __builtin_prefetch(array.words + slot[i], 0, 2);
      }
    }
    if (g < Far) continue;
    if constexpr (Near > 0) {
      const std::uint64_t* const slot = &word[(g - Far + Near) % ring * 8];
      for (std::size_t i = 0; i < 8; ++i) {
        __builtin_prefetch(array.words + slot[i], Write ? 1 : 0, 3);
      }
    }
    const std::uint64_t* const slot = &word[(g - Far) % ring * 8];
    for (std::size_t i = 0; i < 8; ++i) {
      const __m512i line = _mm512_loadu_si512(array.words + slot[i]);
      if constexpr (Write) {
        _mm512_storeu_si512(array.words + slot[i], _mm512_xor_si512(line, change));
      } else {
        sum += std::uint64_t{_mm512_test_epi32_mask(line, line) != 0};
      }
    }
  }
  return sum;
}
#endif

template <bool Write>
std::vector<floor_loop> floor_loops() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0) {
    return {avx512_floor<Write, 1, 0>,  avx512_floor<Write, 2, 0>,  avx512_floor<Write, 3, 1>,
            avx512_floor<Write, 8, 1>,  avx512_floor<Write, 14, 1>, avx512_floor<Write, 14, 2>,
            avx512_floor<Write, 20, 2>, avx512_floor<Write, 28, 2>};
  }
#endif
  return {portable_floor<Write, 1>, portable_floor<Write, 8>, portable_floor<Write, 16>,
          portable_floor<Write, 32>};
}

template <bool Write>
floor_loop best_floor(const lines& all, std::span<const std::uint64_t> keys) {
  const std::size_t rounds = rounds_of(keys.size());
  double best = 1e9;
  floor_loop chosen = nullptr;
  for (const floor_loop loop : floor_loops<Write>()) {
    times t;
    for (std::size_t r = 0; r < repetitions; ++r) {
      t.measure([&] {
        for (std::size_t i = 0; i < rounds; ++i) sink = loop(all, keys, 0x1234567);
      });
    }
    const double now = t.nanoseconds(keys.size() * rounds);
    if (now < best) chosen = loop;
    best = std::min(best, now);
  }
  return chosen;
}

// ---- the filter ------------------------------------------------------------------------------------

std::vector<std::uint64_t> integers(std::size_t count, std::uint64_t first) {
  std::vector<std::uint64_t> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = first + i * 3;
  return keys;
}

void print_row(const char* name, double nanoseconds, double floor) {
  std::printf("| %s | %.2f | %.2f | %.0f %% |\n", name, nanoseconds, floor,
              floor / nanoseconds * 100);
  std::fflush(stdout);
}

void print_table(std::size_t keys) {
  filter f({.keys = keys, .fpr = 0.01});
  for (std::size_t first = 0; first < keys; first += most_keys_asked) {
    f.add_batch(integers(std::min(most_keys_asked, keys - first), first * 3));
  }
  const auto in = integers(std::min(keys, most_keys_asked), 0);
  const auto out = integers(in.size(), 1);
  std::vector<std::uint64_t> bitmap((in.size() + 63) / 64);
  const std::uint64_t bits = f.hashes().shape().bits;
  bit_array other(bits);
  std::fill(other.words().begin(), other.words().end(), 1);  // untouched pages are all one page
  const lines all{other.words().data(), bits / 512};
  const floor_loop read = best_floor<false>(all, in);
  const floor_loop write = best_floor<true>(all, in);
  const std::size_t rounds = rounds_of(in.size());
  std::array<times, 8> t;  // the last two are the floors: next to what they are compared with
  for (std::size_t r = 0; r < repetitions; ++r) {
    t[0].measure([&] {
      for (std::size_t i = 0; i < rounds; ++i) f.contains_bits(in, bitmap);
    });
    t[1].measure([&] {
      for (std::size_t i = 0; i < rounds; ++i) f.contains_bits(out, bitmap);
    });
    t[2].measure([&] {
      for (std::size_t i = 0; i < rounds; ++i) sink = f.contains_count(out);
    });
    t[3].measure([&] {
      for (std::size_t i = 0; i < rounds; ++i) f.add_batch(out);
    });
    sink = read(all, in, 0x1234567);  // brings the array back into the cache, if it fits
    t[6].measure([&] {
      for (std::size_t i = 0; i < rounds; ++i) sink = read(all, in, 0x1234567);
    });
    t[7].measure([&] {
      for (std::size_t i = 0; i < rounds; ++i) sink = write(all, in, 0x1234567);
    });
    f = filter(blocked_filter(f.hashes().planned()));
    f.add_batch(in);
    t[4].measure([&] {
      std::uint64_t found = 0;
      for (std::size_t i = 0; i < rounds; ++i) {
        for (const std::uint64_t key : in) found += std::uint64_t{f.contains(key)};
      }
      sink = found;
    });
    t[5].measure([&] {
      for (std::size_t i = 0; i < rounds; ++i) {
        for (const std::uint64_t key : in) f.add(key);
      }
    });
  }
  std::printf(
      "\n%zu keys, %.1f MB, %u probes\n\n| | ns | floor | of the floor's speed "
      "|\n|---|---|---|---|\n",
      keys, static_cast<double>(bits) / 8e6, f.hashes().shape().probes);
  const std::array<const char*, 6> names = {"lookup, bitmap, present", "lookup, bitmap, absent",
                                            "lookup, count, absent",   "insert",
                                            "lookup, one at a time",   "insert, one at a time"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool writes = i == 3 || i == 5;
    print_row(names[i], t[i].nanoseconds(in.size() * rounds),
              t[writes ? 7 : 6].nanoseconds(in.size() * rounds));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    for (int i = 1; i < argc; ++i) {
      print_table(static_cast<std::size_t>(std::strtoull(argv[i], nullptr, 10)));
    }
    return 0;
  }
  for (const std::size_t keys : {std::size_t{1'000'000}, std::size_t{100'000'000}}) {
    print_table(keys);
  }
}
