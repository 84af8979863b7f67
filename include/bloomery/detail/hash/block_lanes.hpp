// One key and its block of sixteen 32-bit lanes: its bit or its counter in each lane that it uses.
//
// The arithmetic of a block stands in three forms, which give the same bits:
//
//   listed_lanes.hpp   One lane after the other, on any machine. It is the form that the text of
//                      docs/format.md says, and all_of in hash/probe.hpp visits positions by it.
//   vector_lanes.hpp   All lanes at once, in the compiler's vectors of 16, 32 or 64 bytes. Inlined
//                      into programs, for the machine that they are built for, and compiled into
//                      src/kernel/blocked for AVX2 and NEON, for one key and for many.
//   avx512.cpp there   Many keys with AVX-512, in intrinsics: it keeps the lanes of a key as a mask
//                      and turns the masks of 64 keys into a word of the answer together, which the
//                      compiler's vectors cannot say (counters: 3.6 against 4.9 ns a key).
//
// tests/hash/block_lanes_test.cpp, also built for AVX2 and AVX-512, holds the first two to the
// format's text; tests/kernel and fuzz/kernel_fuzz.cpp hold all kernels to the first.
//
// Zen 4, 1.25 MB, 7 probes, hashing included: 2.4 ns a key in programs built for AVX-512, 2.7 for
// AVX2, 9 with SSE2 or lane by lane. Those for any x86-64 call the AVX2 form (lane_calls.hpp).
#pragma once

#include <cstdint>

#include "bloomery/detail/hash/lane_calls.hpp"
#include "bloomery/detail/hash/lane_tables.hpp"
#include "bloomery/detail/hash/listed_lanes.hpp"
#include "bloomery/detail/hash/vector_lanes.hpp"

namespace bloomery::detail {

// The form that is inlined.
#if defined(__AVX512F__)
using built_lanes = vector_lanes<64>;
#elif defined(__AVX2__)
using built_lanes = vector_lanes<32>;
#elif defined(__SSE2__) || defined(__wasm_simd128__) || \
    (defined(__aarch64__) && defined(__AARCH64EL__))
using built_lanes = vector_lanes<16>;
#else
using built_lanes = listed_lanes;
#endif

// The form for one key: inlined, unless the machine may have better vectors than the build.
#if defined(__x86_64__) && !defined(__AVX2__)
using block_lanes = called_lanes;
#else
class block_lanes : public built_lanes {
 public:
  block_lanes(const lane_tables& tables, const lane_calls&) noexcept : built_lanes(tables) {}
};
#endif

}  // namespace bloomery::detail
