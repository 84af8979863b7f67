// Lines of fingerprints for every machine: the call for one key, in the loop for many.
#include <cstddef>
#include <cstdint>

#include "kernel/blocked/scalar.hpp"
#include "loop.hpp"

namespace bloomery::kernel {

namespace {

template <bool Sixteen>
class lines : public scalar_stage {
 public:
  static constexpr std::uint64_t cached_bytes = std::uint64_t{256} << 10U;

  lines(const detail::split_lines& table, std::uint64_t spread_seed) noexcept
      : scalar_stage(const_blocks{.blocks = table.lines}, spread_seed), table_(table) {}

  [[gnu::always_inline]] [[nodiscard]] bool fits(const key_ring& ring, std::size_t at,
                                                 const std::uint64_t* line) const noexcept {
    return table_.fits(line, table_.cell_of(ring.hash[at]));
  }

  [[gnu::always_inline]] void append(const key_ring& ring, std::size_t at,
                                     std::uint64_t* line) const noexcept {
    table_.cells.append(line, table_.cell_of(ring.hash[at]));
  }

 private:
  detail::split_lines table_;
};

}  // namespace

const scalable_kernels scalable_portable = {contains_cells_run<lines>, add_cells_run<lines>};

}  // namespace bloomery::kernel
