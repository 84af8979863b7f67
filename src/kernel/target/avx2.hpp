// Switches AVX2 on, for all that follows in the file that includes this and for nothing that it has
// included before; target/end.hpp, at the end of that file, switches it off. A file that did all of
// it with -mavx2 would compile shared inline functions for AVX2, too, and the linker might keep
// those for every machine.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi2"))), apply_to = function)
#else
#pragma GCC target("avx2,bmi2")
#endif
