// The floor with AVX-512: a line is one vector, and eight keys are hashed at a time.
#if defined(__x86_64__)

#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 takes the undefined registers in its own AVX-512 header for a mistake of ours.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/hash.hpp"
#include "floor.hpp"

// From here to the end of the file, and for nothing that is included above.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,bmi2"))), \
                                 apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512bw,bmi2")
#endif

#include "kernel/wide/eight_avx512.hpp"
#include "loop.hpp"

namespace bloomery::kernel {

namespace {

class avx512 {
 public:
  avx512(std::uint64_t lines, std::uint64_t spread_seed) noexcept
      : lines_(lines), seed_(eight::all(spread_seed)) {}

  [[gnu::always_inline]] void stage(const std::uint64_t* keys, std::uint64_t* slot) const noexcept {
    const __m512i hash = mix64(eight::load(keys), seed_).v;
    if (lines_ >> 32U != 0) [[unlikely]] {  // 256 GiB and more
      _mm512_store_si512(slot, hash);
      for (std::size_t i = 0; i < floor_group; ++i) {
        slot[i] = detail::multiply_high(slot[i], lines_) * 8;
      }
      return;
    }
    const __m512i lines = _mm512_set1_epi64(static_cast<long long>(lines_));
    const __m512i low = _mm512_srli_epi64(_mm512_mul_epu32(hash, lines), 32);
    const __m512i high = _mm512_mul_epu32(_mm512_srli_epi64(hash, 32), lines);
    const __m512i word = _mm512_srli_epi64(_mm512_add_epi64(low, high), 29);
    _mm512_store_si512(slot, _mm512_and_si512(word, _mm512_set1_epi64(~std::int64_t{7})));
  }
  [[gnu::always_inline]] [[nodiscard]] std::uint64_t any(const std::uint64_t* line) const noexcept {
    const __m512i all = _mm512_loadu_si512(line);
    return _mm512_test_epi64_mask(all, all) != 0 ? 1 : 0;
  }
  [[gnu::always_inline]] void invert(std::uint64_t* line) const noexcept {
    const __m512i all = _mm512_loadu_si512(line);
    _mm512_storeu_si512(line, _mm512_xor_si512(all, _mm512_set1_epi64(-1)));
  }

 private:
  std::uint64_t lines_;
  eight seed_;
};

// In the cache the first four, out of it the others; which one changes with the size and the
// machine. On a Zen 4 the best takes 1.0 ns a key with 1.25 MB and 4.7 with 125 MB.
constexpr floor_loops pipelines[] = {
    floor_row<avx512, 1, false, 0>("avx512 1"),    floor_row<avx512, 2, false, 0>("avx512 2"),
    floor_row<avx512, 4, false, 0>("avx512 4"),    floor_row<avx512, 8, false, 0>("avx512 8"),
    floor_row<avx512, 4, false, 1>("avx512 0/1"),  floor_row<avx512, 3, true, 1>("avx512 3/1"),
    floor_row<avx512, 8, true, 1>("avx512 8/1"),   floor_row<avx512, 14, true, 1>("avx512 14/1"),
    floor_row<avx512, 14, true, 2>("avx512 14/2"), floor_row<avx512, 20, true, 2>("avx512 20/2"),
    floor_row<avx512, 28, true, 2>("avx512 28/2")};

}  // namespace

const floor_table floor_avx512 = {pipelines, std::size(pipelines)};

}  // namespace bloomery::kernel

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
