// How full the array of a filter is from its beginning to its end, for pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bloomery/filter/explanation.hpp"

namespace bloomery {

struct cell_slice {  // a share of the array: cells, and those of them that are not 0
  std::uint64_t cells = 0;
  std::uint64_t used = 0;
};

// The array in at most so many slices of about the same size; none when there is no array.
[[nodiscard]] std::vector<cell_slice> fill_slices(const cell_array& a, std::size_t most);

}  // namespace bloomery
