// Ribbon kernels with AVX-512: eight keys are staged at a time; eight columns are one vector.
#if defined(__x86_64__)

#include "bloomery/core/sizing_static.hpp"
#include "bloomery/detail/bits/static_arrays.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/detail/hash/static_probe.hpp"
#include "bloomery/hash/hash.hpp"
#include "ribbon.hpp"

// With AVX-512 from here on.
#include "kernel/target/avx512.hpp"
// These are compiled for it.
#include "columns.hpp"
#include "kernel/wide/eight_avx512.hpp"
#include "loop.hpp"

namespace bloomery::kernel {

namespace {

struct avx512_columns : vector_columns<avx512_columns> {
  static constexpr std::uint64_t cached_bytes = std::uint64_t{4} << 20U;

  [[gnu::always_inline]] static std::uint64_t odd_eight(const std::uint64_t* columns,
                                                        std::uint32_t bits, const ribbon_ring& ring,
                                                        std::size_t at) noexcept {
    eight x = (eight::load(columns) & eight::all(ring.first[at])) ^
              (eight::load(columns + bits) & eight::all(ring.second[at])) ^
              (eight::load(columns + std::size_t{2} * bits) & eight::all(ring.third[at]));
    // The parities of groups of four bits, then the sum of those in the uppermost one. With
    // vpopcntq, which not all have, a lookup takes 6.0 ns instead of 6.2.
    x = x ^ (x >> 1);
    x = x ^ (x >> 2);
    const eight lowest = eight::all(0x1111111111111111U);
    return meet((x & lowest) * lowest, eight::all(std::uint64_t{1} << 60U));
  }
};

}  // namespace

const ribbon_kernels ribbon_avx512 = ribbon_kernels_with<eight, avx512_columns>;

}  // namespace bloomery::kernel

#include "kernel/target/end.hpp"

#endif
