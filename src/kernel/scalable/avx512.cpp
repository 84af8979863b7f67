// Lines of fingerprints with AVX-512: a line is one vector.
#if defined(__x86_64__)

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/hash.hpp"
#include "kernel/blocked/blocked.hpp"
#include "scalable.hpp"

// With AVX-512 from here on.
#include "kernel/target/avx512.hpp"
// These are compiled for it.
#include "kernel/blocked/stage_avx512.hpp"
#include "loop.hpp"

namespace bloomery::kernel {

namespace {

class avx512_lines : public avx512_hashes<avx512_lines> {
 public:
  static constexpr std::uint64_t cached_bytes = std::uint64_t{5} << 19U;

  avx512_lines(const detail::split_lines& table, std::uint64_t spread_seed) noexcept
      : avx512_hashes(spread_seed), table_(table) {}

  // The place of the lanes in the ring has what stands behind the point, and its last bit is set,
  // see fits.
  [[gnu::always_inline]] void place(eight hash, key_ring& ring, std::size_t slot) const noexcept {
    hash.store(&ring.hash[slot * group]);
    if (table_.lines >> 32U != 0) [[unlikely]] {  // 256 GiB and more
      for (std::size_t i = slot * group; i < (slot + 1) * group; ++i) {
        ring.word[i] = detail::multiply_high(ring.hash[i], table_.lines) * words_per_line;
        ring.lanes[i] = static_cast<std::uint16_t>(table_.rest_of(ring.hash[i]) | 1U);
      }
      return;
    }
    eight behind{};
    const eight line = multiply_short(hash, eight::all(table_.lines), behind);
    (line << 3U).store(&ring.word[slot * group]);
    _mm_store_si128(reinterpret_cast<__m128i*>(&ring.lanes[slot * group]),
                    _mm512_cvtepi64_epi16(((behind >> 48U) | eight::all(1)).v));
  }

  [[gnu::always_inline]] [[nodiscard]] bool fits(const key_ring& ring, std::size_t at,
                                                 const std::uint64_t* line) const noexcept {
    const __m512i cells = _mm512_loadu_si512(line);
    const __m512i rest = _mm512_set1_epi16(static_cast<short>(ring.lanes[at]));
    const __m512i less = _mm512_subs_epu16(cells, _mm512_set1_epi16(1));
    // What split_lines::fits does: (cells ^ rest) & ~(cells ^ less).
    constexpr int differ = (0xf0 ^ 0xcc) & ~(0xf0 ^ 0xaa);
    const __m512i differing = _mm512_ternarylogic_epi64(cells, rest, less, differ);
    return _mm512_testn_epi16_mask(differing, differing) != 0;
  }

 private:
  static constexpr std::size_t words_per_line = detail::split_lines::words_per_line;

  detail::split_lines table_;
};

}  // namespace

const scalable_kernels scalable_avx512 = {contains_lines_run<avx512_lines>};

}  // namespace bloomery::kernel

#include "kernel/target/end.hpp"

#endif
