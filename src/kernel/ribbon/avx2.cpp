// Ribbon kernels with AVX2: eight columns are two vectors; keys go singly (no 64-bit multiply).
#if defined(__x86_64__)

#include "bloomery/core/sizing_static.hpp"
#include "bloomery/detail/bits/static_arrays.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/detail/hash/static_probe.hpp"
#include "bloomery/hash/hash.hpp"
#include "ribbon.hpp"

// With AVX2 from here on.
#include "kernel/target/avx2.hpp"
// These are compiled for it.
#include "columns.hpp"
#include "kernel/wide/one.hpp"
#include "loop.hpp"

namespace bloomery::kernel {

namespace {

struct avx2_columns : vector_columns<avx2_columns> {
  static constexpr std::uint64_t cached_bytes = std::uint64_t{2} << 20U;

  [[gnu::always_inline]] static std::uint64_t odd_eight(const std::uint64_t* columns,
                                                        std::uint32_t bits, const ribbon_ring& ring,
                                                        std::size_t at) noexcept {
    const auto chosen = [&](std::size_t j) __attribute__((always_inline)) {
      const __m256i a = _mm256_and_si256(load(columns + j), all(ring.first[at]));
      const __m256i b = _mm256_and_si256(load(columns + bits + j), all(ring.second[at]));
      const __m256i c =
          _mm256_and_si256(load(columns + std::size_t{2} * bits + j), all(ring.third[at]));
      return _mm256_castsi256_ps(_mm256_xor_si256(_mm256_xor_si256(a, b), c));
    };
    // The halves of all eight numbers onto each other, and those of the 32 bits that are left.
    const __m256 low = chosen(0);
    const __m256 high = chosen(4);
    __m256i x = _mm256_castps_si256(
        _mm256_xor_ps(_mm256_shuffle_ps(low, high, 0x88), _mm256_shuffle_ps(low, high, 0xdd)));
    x = _mm256_permute4x64_epi64(x, 0xd8);  // into their order
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 16));
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 8));
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 4));
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 2));
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 1));
    return static_cast<std::uint64_t>(
        static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(x))));
  }

 private:
  [[gnu::always_inline]] static __m256i load(const std::uint64_t* from) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  [[gnu::always_inline]] static __m256i all(std::uint64_t number) noexcept {
    return _mm256_set1_epi64x(static_cast<long long>(number));
  }
};

}  // namespace

const ribbon_kernels ribbon_avx2 = ribbon_kernels_with<one, avx2_columns>;

}  // namespace bloomery::kernel

#include "kernel/target/end.hpp"

#endif
