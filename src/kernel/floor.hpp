// The pipelines of bits/floor.hpp for each instruction set.
#pragma once

#include <cstddef>

#include "bloomery/bits/floor.hpp"

namespace bloomery::kernel {

struct floor_table {
  const floor_pipeline* rows;
  std::size_t count;
};

#if defined(__x86_64__)
extern const floor_table floor_avx2;
extern const floor_table floor_avx512;
#endif

}  // namespace bloomery::kernel
