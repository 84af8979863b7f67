// Kernels that take eight keys at a time through the arithmetic and differ between instruction sets
// in nothing else: a table of calls for each kind. Their loops are templates over `eight`
// (eight_avx512.hpp, eight_avx2.hpp, eight_scalar.hpp), compiled once for each instruction set.
//
// How to add a kind:
//   1. NAME/NAME.hpp declares `struct NAME_kernels`, a table of pointers to noexcept functions, and
//      what they take.
//   2. NAME/loop.hpp has the loops and `template <class Eight> constexpr NAME_kernels
//      NAME_kernels_with`. It is compiled for several machines: everything in it is a template over
//      Eight, which is a type of the including file, or lies in an anonymous name space. It calls
//      nothing that the linker could merge with another file's copy (functions of the standard
//      library that are not inlined).
//   3. wide.hpp gets a member, and wide/loop.hpp a line for it.
// Filters call wide_kernels_chosen().NAME. tests/kernel compares every level with one-key calls.
#pragma once

#include "kernel/count_min/count_min.hpp"
#include "kernel/cuckoo/cuckoo.hpp"
#include "kernel/dispatch.hpp"
#include "kernel/fuse/fuse.hpp"
#include "kernel/scatter/scatter.hpp"

namespace bloomery::kernel {

struct wide_kernels {
  scatter_kernels scatter;
  fuse_kernels fuse;
  count_min_kernels count_min;
  cuckoo_kernels cuckoo;
};

// Those of one instruction set; the portable ones where this build has no others.
[[nodiscard]] const wide_kernels& wide_kernels_of(level l) noexcept;
[[nodiscard]] const wide_kernels& wide_kernels_chosen() noexcept;

extern const wide_kernels wide_portable;
#if defined(__x86_64__)
extern const wide_kernels wide_avx2;
extern const wide_kernels wide_avx512;
#elif defined(__aarch64__) && defined(__AARCH64EL__)
extern const wide_kernels wide_neon;
#endif

}  // namespace bloomery::kernel
