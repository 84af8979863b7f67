// The planners of the kinds that are not arrays of bits. make_plan (planner.cpp) has checked that
// `keys` and exactly one of fpr, bits_per_key and bytes are given, and fills in the plan's keys,
// fpr_target and fpr afterwards: each planner returns the shape, and each model the expected rate
// of a shape that holds `keys` keys.
#pragma once

#include "bloomery/core/sizing.hpp"

namespace bloomery::sizing {

// The model gives the mean over all hash functions. The filter that somebody builds is one draw,
// and his measurement another; both scatter around the mean. Planning for a little less keeps what
// he sees at or below what he asked for. At 1 % it costs 0.05 bits a key.
inline constexpr double planned_share = 0.98;

[[nodiscard]] shape shape_for_counting(const request& r);
[[nodiscard]] double fpr_of_counting(const shape& s, std::uint64_t keys);
[[nodiscard]] shape shape_for_cuckoo(const request& r);
[[nodiscard]] double fpr_of_cuckoo(const shape& s, std::uint64_t keys);

[[nodiscard]] shape shape_for_fuse(const request& r);
[[nodiscard]] double fpr_of_fuse(const shape& s, std::uint64_t keys);
[[nodiscard]] shape shape_for_ribbon(const request& r);
[[nodiscard]] double fpr_of_ribbon(const shape& s, std::uint64_t keys);
[[nodiscard]] shape shape_for_bloomier(const request& r);
[[nodiscard]] double fpr_of_bloomier(const shape& s, std::uint64_t keys);

[[nodiscard]] shape shape_for_count_min(const request& r);
[[nodiscard]] double fpr_of_count_min(const shape& s, std::uint64_t keys);
[[nodiscard]] shape shape_for_spectral(const request& r);
[[nodiscard]] double fpr_of_spectral(const shape& s, std::uint64_t keys);
[[nodiscard]] shape shape_for_top_k(const request& r);
[[nodiscard]] double fpr_of_top_k(const shape& s, std::uint64_t keys);

[[nodiscard]] shape shape_for_scalable(const request& r);
[[nodiscard]] double fpr_of_scalable(const shape& s, std::uint64_t keys);
[[nodiscard]] shape shape_for_windowed(const request& r);
[[nodiscard]] double fpr_of_windowed(const shape& s, std::uint64_t keys);

}  // namespace bloomery::sizing
