// Many keys at a time for fuse and bloomier filters, with the answers of their one-key calls.
#pragma once

#include <cstdint>
#include <span>

#include "bloomery/detail/bits/static_arrays.hpp"
#include "kernel/key_run.hpp"

namespace bloomery::kernel {

struct fuse_array {  // a payload whose directory has been checked
  const detail::static_directory& directory;
  std::uint32_t probes = 0;  // 3 or 4
  std::uint32_t cell_bits =
      0;  // of a fuse filter 8, 16 or 32; of the tags of a bloomier one 2 to 34
  std::uint32_t value_bits = 0;  // of a bloomier filter
};

// Bit i % 64 of bitmap[i / 64] becomes the answer for key i; the bits after the last one become 0.
struct fuse_kernels {
  void (*contains)(const fuse_array& array, const key_run& run, std::uint64_t* bitmap) noexcept;
  // Bloomier: by the tags.
  void (*tagged)(const fuse_array& array, const key_run& run, std::uint64_t* bitmap) noexcept;
  // And the value of each key, 0 for one that is absent.
  void (*values)(const fuse_array& array, std::span<const std::uint64_t> hashes,
                 std::uint64_t* values, std::uint64_t* bitmap) noexcept;
};

}  // namespace bloomery::kernel
