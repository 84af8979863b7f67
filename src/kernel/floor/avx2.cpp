// The floor with AVX2: a line is two vectors; keys are hashed singly (no 64-bit multiply).
#if defined(__x86_64__)

#include <iterator>

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/hash.hpp"
#include "floor.hpp"

// With AVX2 from here on.
#include "kernel/target/avx2.hpp"
// These are compiled for it.
#include "loop.hpp"

namespace bloomery::kernel {

namespace {

class avx2 : public floor_stage {
 public:
  using floor_stage::floor_stage;

  [[gnu::always_inline]] [[nodiscard]] std::uint64_t any(const std::uint64_t* line) const noexcept {
    const __m256i all = _mm256_or_si256(load(line), load(line + 4));
    return _mm256_testz_si256(all, all) == 0 ? 1 : 0;
  }
  [[gnu::always_inline]] void invert(std::uint64_t* line) const noexcept {
    const __m256i ones = _mm256_set1_epi64x(-1);
    store(line, _mm256_xor_si256(load(line), ones));
    store(line + 4, _mm256_xor_si256(load(line + 4), ones));
  }

 private:
  [[gnu::always_inline]] static __m256i load(const std::uint64_t* from) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  [[gnu::always_inline]] static void store(std::uint64_t* to, __m256i what) noexcept {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), what);
  }
};

constexpr floor_loops pipelines[] = {
    floor_row<avx2, 1, false, 0>("avx2 1"),    floor_row<avx2, 4, false, 0>("avx2 4"),
    floor_row<avx2, 8, false, 0>("avx2 8"),    floor_row<avx2, 4, false, 1>("avx2 0/1"),
    floor_row<avx2, 3, true, 1>("avx2 3/1"),   floor_row<avx2, 8, true, 1>("avx2 8/1"),
    floor_row<avx2, 14, true, 1>("avx2 14/1"), floor_row<avx2, 20, true, 2>("avx2 20/2")};

}  // namespace

const floor_table floor_avx2 = {pipelines, std::size(pipelines)};

}  // namespace bloomery::kernel

#include "kernel/target/end.hpp"

#endif
