// The kernels of wide.hpp with AVX2: vectors for kinds with short arithmetic (an absent key of a
// cached classic filter takes 3.7 ns, not 5.7); plain C++ with mulx for others (eight_scalar.hpp).
#if defined(__x86_64__)

#include "bloomery/core/shape.hpp"
#include "bloomery/detail/bits/cuckoo_table.hpp"
#include "bloomery/detail/bits/static_arrays.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/detail/hash/static_probe.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/hash/probe.hpp"
#include "wide.hpp"

// With AVX2 from here on.
#include "kernel/target/avx2.hpp"
// These are compiled for it.
#include "eight_avx2.hpp"
#include "eight_scalar.hpp"
#include "loop.hpp"

namespace bloomery::kernel {

const wide_kernels wide_avx2 = wide_kernels_with<eight, two_fours>;

}  // namespace bloomery::kernel

#include "kernel/target/end.hpp"

#endif
