// The floor with AVX-512: a line is one vector, and eight keys are hashed at a time.
#if defined(__x86_64__)

#include <iterator>

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/hash.hpp"
#include "floor.hpp"

// With AVX-512 from here on.
#include "kernel/target/avx512.hpp"
// These are compiled for it.
#include "kernel/wide/eight_avx512.hpp"
#include "loop.hpp"

namespace bloomery::kernel {

namespace {

class avx512 {
 public:
  avx512(std::uint64_t lines, std::uint64_t spread_seed) noexcept
      : lines_(lines), seed_(eight::all(spread_seed)) {}

  [[gnu::always_inline]] void stage(const std::uint64_t* keys, std::uint64_t* slot) const noexcept {
    const eight hash = mix64(eight::load(keys), seed_);
    if (lines_ >> 32U != 0) [[unlikely]] {  // 256 GiB and more
      hash.store(slot);
      for (std::size_t i = 0; i < group; ++i) {
        slot[i] = detail::multiply_high(slot[i], lines_) * 8;
      }
      return;
    }
    (multiply_high_short(hash, eight::all(lines_)) << 3U).store(slot);
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

#include "kernel/target/end.hpp"

#endif
