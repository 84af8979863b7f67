// Switches AVX-512 on, as target/avx2.hpp does AVX2.
#pragma once

#if !defined(__clang__)
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
#include <type_traits>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,bmi2"))), \
                                 apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512bw,bmi2")
#endif
