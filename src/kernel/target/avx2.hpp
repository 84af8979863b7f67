// Switches AVX2 on for all that follows in the including file; target/end.hpp, at its end, switches
// it off. With -mavx2 for a whole file, shared inline functions would be compiled for AVX2, too,
// and the linker might keep those for every machine.
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
