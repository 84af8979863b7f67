// The kernels of wide.hpp with AVX-512: eight numbers are one vector.
#if defined(__x86_64__)

#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 takes the undefined registers in its own AVX-512 header for a mistake of ours.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "bloomery/core/shape.hpp"
#include "bloomery/detail/bits/static_arrays.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/detail/hash/static_probe.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/hash/probe.hpp"
#include "wide.hpp"

// From here to the end of the file, and for nothing that is included above.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,bmi2"))), \
                                 apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512bw,bmi2")
#endif

#include "eight_avx512.hpp"
#include "loop.hpp"

namespace bloomery::kernel {

const wide_kernels wide_avx512 = wide_kernels_with<eight>;

}  // namespace bloomery::kernel

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
