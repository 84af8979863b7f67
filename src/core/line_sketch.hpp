// Sizes of count-min sketches with the counters of a key in one line (variants 4 and 5).
#pragma once

#include <cstdint>

#include "bloomery/core/shape.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/core/sizing_sketch.hpp"

namespace bloomery::sizing {

[[nodiscard]] shape line_sketch_shape(const count_min_guarantee& g);
[[nodiscard]] shape line_sketch_for_target(const request& r, std::uint32_t cell_bits);
[[nodiscard]] shape line_sketch_of_bits(const request& r, std::uint32_t cell_bits,
                                        std::uint64_t bits);
[[nodiscard]] double line_sketch_fpr(const shape& s, std::uint64_t keys);

}  // namespace bloomery::sizing
