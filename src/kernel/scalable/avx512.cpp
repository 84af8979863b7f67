// Lines of fingerprints with AVX-512: a line is one vector.
#if defined(__x86_64__)

#include <bit>
#include <cstddef>
#include <cstdint>

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

template <bool Sixteen>
class avx512_lines : public avx512_hashes<avx512_lines<Sixteen>> {
 public:
  static constexpr std::uint64_t cached_bytes = std::uint64_t{5} << 19U;

  avx512_lines(const detail::split_lines& table, std::uint64_t spread_seed) noexcept
      : avx512_hashes<avx512_lines>(spread_seed), table_(table) {}

  // The ring has the key's cell, not the hash, repeated to fill a word: a vector takes one load.
  [[gnu::always_inline]] void place(eight hash, key_ring& ring, std::size_t slot) const noexcept {
    const detail::word_cells& cells = table_.cells;
    if (table_.lines >> 32U != 0) [[unlikely]] {  // 256 GiB and more
      hash.store(&ring.hash[slot * group]);
      for (std::size_t i = slot * group; i < (slot + 1) * group; ++i) {
        ring.word[i] = detail::multiply_high(ring.hash[i], table_.lines) * words_per_line;
        ring.hash[i] = table_.cell_of(ring.hash[i]) * cells.ones;
      }
      return;
    }
    eight fraction{};
    const eight line = multiply_short(hash, eight::all(table_.lines), fraction);
    (line << 3U).store(&ring.word[slot * group]);
    if constexpr (Sixteen) {
      // The two highest bytes of each fraction, four times.
      const __m512i high = _mm512_set4_epi32(0x0f0e0f0e, 0x0f0e0f0e, 0x07060706, 0x07060706);
      const eight four{_mm512_shuffle_epi8(fraction.v, high)};
      (four | eight::all(cells.ones)).store(&ring.hash[slot * group]);
    } else {
      const eight cell = (fraction >> eight::all(64 - cells.width)) | eight::all(1);
      (cell * eight::all(cells.ones)).store(&ring.hash[slot * group]);
    }
  }

  // What split_lines::fits does. A ternary operation is its result for words 0xf0, 0xcc and 0xaa.
  [[gnu::always_inline]] [[nodiscard]] bool fits(const key_ring& ring, std::size_t at,
                                                 const std::uint64_t* line) const noexcept {
    const __m512i cells = _mm512_loadu_si512(line);
    const __m512i wanted = eight::all(ring.hash[at]).v;
    const __m512i ones = eight::all(table_.cells.ones).v;
    const __m512i less =
        Sixteen ? _mm512_subs_epu16(cells, _mm512_set1_epi16(1)) : _mm512_sub_epi64(cells, ones);
    constexpr int differ = (0xf0 ^ 0xcc) & ~(0xf0 ^ 0xaa);
    const __m512i left = _mm512_ternarylogic_epi64(cells, wanted, less, differ);
    if constexpr (Sixteen) return _mm512_testn_epi16_mask(left, left) != 0;
    constexpr int in_use = 0xf0 | (~0xcc & 0xff);
    const __m512i used = _mm512_ternarylogic_epi64(cells, less, less, in_use);
    constexpr int borrow = 0xf0 & ~0xcc & 0xaa;
    const __m512i found =
        _mm512_ternarylogic_epi64(_mm512_sub_epi64(left, ones), left, used, borrow);
    return _mm512_test_epi64_mask(found, eight::all(table_.cells.tops).v) != 0;
  }

  [[gnu::always_inline]] void append(const key_ring& ring, std::size_t at,
                                     std::uint64_t* line) const noexcept {
    if constexpr (Sixteen) {
      const __m512i cells = _mm512_loadu_si512(line);
      const auto first = static_cast<unsigned>(
          std::countr_zero(std::uint32_t{_mm512_testn_epi16_mask(cells, cells)}));
      const auto cell = static_cast<std::uint16_t>(ring.hash[at]);
      __builtin_memcpy(reinterpret_cast<std::uint16_t*>(line) + first, &cell, 2);
    } else {
      table_.cells.append(line, ring.hash[at] & (~std::uint64_t{0} >> (64 - table_.cells.width)));
    }
  }

 private:
  static constexpr std::size_t words_per_line = detail::split_lines::words_per_line;

  detail::split_lines table_;
};

}  // namespace

const scalable_kernels scalable_avx512 = {contains_cells_run<avx512_lines>,
                                          add_cells_run<avx512_lines>};

}  // namespace bloomery::kernel

#include "kernel/target/end.hpp"

#endif
