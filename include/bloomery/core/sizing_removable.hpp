// Rates, overflow and sizes of the kinds from which keys can be removed: counting and cuckoo.
// docs/math.md derives each formula. Arguments are checked, and nothing is NaN.
#pragma once

#include <cstdint>

#include "bloomery/core/shape.hpp"

namespace bloomery::sizing {

// ---- counting ---------------------------------------------------------------------------------

// The expected false-positive rate. In lines: the exact model of the blocked layout with 32/w
// positions in a lane. Unblocked: that of a classic filter with as many bits as there are counters.
[[nodiscard]] double counting_fpr(const shape& s, std::uint64_t keys);

// The expected number of counters that reach 2^w - 1 and stick, for `keys` different keys: the
// number of counters times the tail of Binomial(keys, p). A key finds a given counter with p = k/m
// in lines, where its counters all differ, and with p = 1 - (1 - 1/m)^k unblocked. How the keys
// spread over the blocks does not matter: binomials over binomial loads are a binomial.
[[nodiscard]] double counting_overflow(const shape& s, std::uint64_t keys);

// Union bound on the chance that any counter sticks; sizing::overflow_bound is for any value.
[[nodiscard]] double counting_overflow_bound(const shape& s, std::uint64_t keys);

// At and above this target counters in one line are the default; below, unblocked ones. There a
// line takes about a third more counters: 19.2 a key against 14.4 with 4 bits at 0.1 %. Wider
// counters are fewer in a line, and reach that price earlier: 8 bits at 1 %, 16 at 5 %.
[[nodiscard]] constexpr double counting_line_limit(std::uint32_t cell_bits) noexcept {
  return cell_bits <= 4 ? 0.001 : cell_bits <= 8 ? 0.01 : 0.05;
}

// ---- cuckoo -----------------------------------------------------------------------------------

// A query compares its fingerprint with what two buckets hold, and each differs from it with
// probability 1 - 1/(2^f - 1), as 0 is an empty cell: 1 - (1 - 1/(2^f - 1))^(2 b load).
[[nodiscard]] double cuckoo_fpr(std::uint32_t fingerprint_bits, std::uint32_t bucket_cells,
                                double load);

// The same for a shape with this many keys; beyond its room, with layers of twice the size each.
[[nodiscard]] double cuckoo_fpr(const shape& s, std::uint64_t keys);

// The fewest bits of a fingerprint for the target, with buckets filled as the planner fills them.
// Throws errc::unreachable when it would take more than 32.
[[nodiscard]] std::uint32_t cuckoo_fingerprint_bits(std::uint32_t bucket_cells, double fpr);

}  // namespace bloomery::sizing
