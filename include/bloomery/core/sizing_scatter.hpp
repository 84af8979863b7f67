// How far the rate of one filter lies from that of the model, which is a mean over hash functions.
#pragma once

#include <cstdint>

#include "bloomery/core/shape.hpp"

namespace bloomery::sizing {

// One filter is one draw: 99 of 100 of this shape, with so many keys, have at most this rate. What
// make_plan plans for a target has it at most there, down to a target of 1e-6 for kinds in lines
// and of keys/2^50 for others, and unless a tiny filter, or count-min in lines of few keys, would
// have to double.
[[nodiscard]] double likely_fpr(const shape& s, std::uint64_t keys);

}  // namespace bloomery::sizing
