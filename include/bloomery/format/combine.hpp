// Set algebra on files: what set/algebra.hpp does to filters in memory, a megabyte at a time, for
// filters of any size and of a kind that is known at run time only.
#pragma once

#include <cstdint>
#include <span>

#include "bloomery/format/delta.hpp"
#include "bloomery/format/file.hpp"

namespace bloomery {

enum class set_operation : std::uint8_t { merge, intersect };

// Throws errc::mismatch, with the difference named, unless the two can be combined.
void check_combinable(const image_header& a, const image_header& b);

// The header of the result. A merge has the sum of the keys, which counts what came twice twice; an
// intersection has as many as the bits of the parts tell (set/estimate.hpp), of more than two parts
// the least estimate for two of them, and never more than the smallest part.
[[nodiscard]] image_header combined_header(std::span<const filter_version> parts,
                                           set_operation operation);
void combine(atomic_file& file, std::span<const filter_version> parts, set_operation operation);

// The filter folded to 1/divisor of its size.
[[nodiscard]] unpacked_filter fold(const filter_version& f, std::uint64_t divisor);

}  // namespace bloomery
