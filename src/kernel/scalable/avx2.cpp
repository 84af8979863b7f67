// Lines of fingerprints with AVX2: a line is two vectors.
#if defined(__x86_64__)

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/hash.hpp"
#include "kernel/blocked/blocked.hpp"
#include "scalable.hpp"

// With AVX2 from here on.
#include "kernel/target/avx2.hpp"
// These are compiled for it.
#include "kernel/blocked/scalar.hpp"
#include "loop.hpp"

namespace bloomery::kernel {

namespace {

[[gnu::always_inline]] inline __m256i load_half(const void* from, std::size_t half) noexcept {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from) + half);
}

template <bool Sixteen>
class avx2_lines : public scalar_stage {
 public:
  static constexpr std::uint64_t cached_bytes = std::uint64_t{2} << 20U;

  avx2_lines(const detail::split_lines& table, std::uint64_t spread_seed) noexcept
      : scalar_stage(const_blocks{.blocks = table.lines}, spread_seed), table_(table) {}

  [[gnu::always_inline]] [[nodiscard]] bool fits(const key_ring& ring, std::size_t at,
                                                 const std::uint64_t* line) const noexcept {
    const std::uint32_t cell = table_.cell_of(ring.hash[at]);
    const __m256i wanted =
        Sixteen ? _mm256_set1_epi16(static_cast<short>(cell)) : all(table_.cells.ones * cell);
    const __m256i found =
        _mm256_or_si256(fitting(load_half(line, 0), wanted), fitting(load_half(line, 1), wanted));
    if constexpr (Sixteen) return _mm256_testz_si256(found, found) == 0;
    return _mm256_testz_si256(found, all(table_.cells.tops)) == 0;
  }

  [[gnu::always_inline]] void append(const key_ring& ring, std::size_t at,
                                     std::uint64_t* line) const noexcept {
    const std::uint32_t cell = table_.cell_of(ring.hash[at]);
    if constexpr (Sixteen) {
      // Two bits for each empty cell. A store of the cell alone waits for nothing that it changes.
      const std::uint64_t low = empty_bytes(load_half(line, 0));
      const std::uint64_t empty = low | empty_bytes(load_half(line, 1)) << 32U;
      const auto stored = static_cast<std::uint16_t>(cell);
      __builtin_memcpy(reinterpret_cast<unsigned char*>(line) + __builtin_ctzll(empty), &stored, 2);
    } else {
      table_.cells.append(line, cell);
    }
  }

 private:
  [[gnu::always_inline]] static std::uint64_t empty_bytes(__m256i cells) noexcept {
    return static_cast<unsigned>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi16(cells, _mm256_setzero_si256())));
  }
  [[gnu::always_inline]] static __m256i all(std::uint64_t value) noexcept {
    return _mm256_set1_epi64x(static_cast<long long>(value));
  }
  // What split_lines::fits does, for half a line.
  [[gnu::always_inline]] [[nodiscard]] __m256i fitting(__m256i cells,
                                                       __m256i wanted) const noexcept {
    const __m256i ones = all(table_.cells.ones);
    const __m256i less =
        Sixteen ? _mm256_subs_epu16(cells, _mm256_set1_epi16(1)) : _mm256_sub_epi64(cells, ones);
    const __m256i left =
        _mm256_andnot_si256(_mm256_xor_si256(cells, less), _mm256_xor_si256(cells, wanted));
    if constexpr (Sixteen) return _mm256_cmpeq_epi16(left, _mm256_setzero_si256());
    const __m256i borrows = _mm256_andnot_si256(left, _mm256_sub_epi64(left, ones));
    return _mm256_andnot_si256(_mm256_andnot_si256(cells, less), borrows);
  }

  detail::split_lines table_;
};

}  // namespace

const scalable_kernels scalable_avx2 = {contains_cells_run<avx2_lines>, add_cells_run<avx2_lines>};

}  // namespace bloomery::kernel

#include "kernel/target/end.hpp"

#endif
