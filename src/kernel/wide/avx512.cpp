// The kernels of wide.hpp with AVX-512: eight numbers are one vector.
#if defined(__x86_64__)

#include "bloomery/core/shape.hpp"
#include "bloomery/detail/bits/cuckoo_table.hpp"
#include "bloomery/detail/bits/static_arrays.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/detail/hash/static_probe.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/hash/probe.hpp"
#include "wide.hpp"

// With AVX-512 from here on.
#include "kernel/target/avx512.hpp"
// These are compiled for it.
#include "eight_avx512.hpp"
#include "loop.hpp"

namespace bloomery::kernel {

const wide_kernels wide_avx512 = wide_kernels_with<eight>;

}  // namespace bloomery::kernel

#include "kernel/target/end.hpp"

#endif
