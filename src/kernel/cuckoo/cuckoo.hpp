// Many keys at a time for a layer of a cuckoo filter: where they may be, and if they are there.
// All agree with detail/bits/cuckoo_table.hpp's calls for one key.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bloomery/detail/bits/cuckoo_table.hpp"
#include "kernel/key_run.hpp"

namespace bloomery::kernel {

// cuckoo_table::place of so many keys.
struct cuckoo_places {
  static constexpr std::size_t most = 32;
  alignas(64) std::uint64_t first[most];
  alignas(64) std::uint64_t second[most];
  alignas(64) std::uint64_t fingerprint[most];
};

// Tables of fewer than 2^32 buckets; those of wide_portable take any.
struct cuckoo_kernels {
  // Bit i % 64 of bitmap[i / 64]: whether hash i is there. Bits after the last become 0. Each
  // bucket must be in one load.
  void (*contains)(const detail::cuckoo_array& table, const hash_run& run,
                   std::uint64_t* bitmap) noexcept;
  // At most cuckoo_places::most hashes. Places after the last have no meaning.
  void (*places)(const detail::cuckoo_array& table, const hash_run& run,
                 cuckoo_places& places) noexcept;
};

}  // namespace bloomery::kernel
