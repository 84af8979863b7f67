// The one home of the mathematics: false-positive rates, sizes, bounds and costs.
//
// Symbols as in the literature: n keys, m bits, k probes. docs/math.md derives the formulas, with
// sources. Every function throws errc::bad_argument, with value and limit, rather than return NaN.
#pragma once

#include <cstdint>
#include <optional>

#include "bloomery/core/shape.hpp"

namespace bloomery::sizing {

// ---- classic ----------------------------------------------------------------------------------

// (1 - (1 - 1/m)^(kn))^k, the formula of the textbooks.
[[nodiscard]] double classic_fpr(std::uint64_t keys, std::uint64_t bits, std::uint32_t probes);

// (1 - e^(-kn/m))^k, its limit for large m.
[[nodiscard]] double classic_fpr_approx(std::uint64_t keys, std::uint64_t bits,
                                        std::uint32_t probes);
[[nodiscard]] double classic_fpr_approx(double bits_per_key, std::uint32_t probes);

// The expectation over all hash functions. The textbook raises the mean fill to the power k, but
// the mean of the power is larger (Bose et al. 2008); this adds the second-order term: 0.07 % more
// at 1,000 keys and 1 %, which decides whether a small filter keeps its promise.
[[nodiscard]] double classic_fpr_expected(std::uint64_t keys, std::uint64_t bits,
                                          std::uint32_t probes);

// ---- partitioned ------------------------------------------------------------------------------

// (1 - (1 - k/m)^n)^k: exact, since the slices are independent. Never below classic_fpr.
[[nodiscard]] double partitioned_fpr(std::uint64_t keys, std::uint64_t bits, std::uint32_t probes);

// ---- blocked ----------------------------------------------------------------------------------

// The exact expectation for 64-byte blocks, lanes and patterns as in hash/probe.hpp, with `keys`
// keys thrown into `blocks` blocks (a binomial mixture over the loads of the blocks). A lane has 32
// positions when they are bits, and 32/w when they are counters of w bits (filter/counting.hpp) or
// when w generations share it (filter/windowed.hpp).
[[nodiscard]] double blocked_fpr(std::uint64_t keys, std::uint64_t blocks, std::uint32_t probes,
                                 std::uint32_t lane_positions = 32);

// The simple mixture for k bits anywhere in the block, the mean over the loads i of
// (1 - (1 - k/512)^i)^k, for comparison: from 1.2 % below to 2.6 % above the exact one.
[[nodiscard]] double blocked_fpr_simple(std::uint64_t keys, std::uint64_t blocks,
                                        std::uint32_t probes);

// The same for blocks that are classic filters of `block_bits` bits each (format/compact.hpp).
[[nodiscard]] double small_blocks_fpr(std::uint64_t keys, std::uint64_t blocks,
                                      std::uint64_t block_bits, std::uint32_t probes);

// The exact expectation for split blocks: 32 bytes, one of 32 bits in each of eight lanes. The mean
// of (1 - (31/32)^i)^8 over the same loads i.
[[nodiscard]] double split_block_fpr(std::uint64_t keys, std::uint64_t blocks);

// A key leaves 32 bits of its hash inside a block, so two keys of one block are the same to it once
// in 2^32. Below this target a filter of blocks would pay with absurd sizes; the planner refuses.
inline constexpr double blocked_fpr_limit = 1e-9;

// ---- any kind ---------------------------------------------------------------------------------

// The expected rate of a filter of this shape that holds `keys` keys.
[[nodiscard]] double fpr(const shape& s, std::uint64_t keys);

// The different keys expected to set this many bits; infinite when all are set. A bit stays 0 with
// probability (1 - 1/m)^(kn) in a classic filter and with (1 - k/m)^n in the others.
[[nodiscard]] double estimate_keys(const shape& s, std::uint64_t bits_set);

// The other way round: the share of the bits, or of the counters of a counting filter, that this
// many different keys are expected to set. For the kinds of one such array.
[[nodiscard]] double expected_fill(const shape& s, std::uint64_t keys);

// Cache lines that a lookup reads when nothing ends it early; of one layer where there are several.
[[nodiscard]] std::uint32_t lines_of_lookup(const shape& s);
// Those where an add changes or looks for room; 0 for the kinds that are built from all keys.
[[nodiscard]] std::uint32_t lines_of_add(const shape& s);

// The probes with the least fpr for this many bits a key, and the real-valued optimum m/n ln 2.
[[nodiscard]] std::uint32_t best_probes(filter_kind kind, double bits_per_key);
[[nodiscard]] double ideal_probes(double bits_per_key);

// The fewest probes with which a classic filter of this size still meets the target; empty if none.
[[nodiscard]] std::optional<std::uint32_t> cheapest_probes(std::uint64_t keys, std::uint64_t bits,
                                                           double fpr);

// Bits a key that a classic filter needs with this many probes: -k / ln(1 - fpr^(1/k)).
[[nodiscard]] double bits_per_key(std::uint32_t probes, double fpr);

// The shortest classic filter over all numbers of probes from 1 to 100 (the article's search).
struct length {
  double bits;
  std::uint32_t probes;
};
[[nodiscard]] length shortest_length(std::uint64_t keys, double fpr);

// ---- bounds -----------------------------------------------------------------------------------

// No representation of n keys with this fpr needs fewer than n log2(1/fpr) bits ...
[[nodiscard]] double lower_bound_bits(std::uint64_t keys, double fpr);

// ... in an infinite universe. In one of u keys: log2 of C(u, n) / C(n + fpr (u - n), n).
[[nodiscard]] double lower_bound_bits(std::uint64_t keys, double fpr, double universe);

// Azuma-Hoeffding: P(|zeros - p'm| > deviation m) < 2 exp(-2 deviation^2 m^2 / (nk)).
[[nodiscard]] double concentration_bound(std::uint64_t keys, std::uint64_t bits,
                                         std::uint32_t probes, double deviation);

// The other way round: the deviation that is exceeded with at most this probability.
[[nodiscard]] double concentration_deviation(std::uint64_t keys, std::uint64_t bits,
                                             std::uint32_t probes, double probability);

// Union bound on the chance that any of m counters reaches `value` while it represents `sets` sets
// of at most n keys: exactly from the binomial tail, and by the loose closed form m (e ln 2 / j)^j
// of the survey for k <= (m/n) ln 2. Both capped at 1.
[[nodiscard]] double overflow_bound(std::uint64_t keys, std::uint64_t counters,
                                    std::uint32_t probes, std::uint32_t value,
                                    std::uint64_t sets = 1);
[[nodiscard]] double overflow_bound_loose(std::uint64_t counters, std::uint32_t value,
                                          std::uint64_t sets = 1);

// Expected number of those counters that reach `value`.
[[nodiscard]] double expected_overflows(std::uint64_t keys, std::uint64_t counters,
                                        std::uint32_t probes, std::uint32_t value);

// ---- packed -----------------------------------------------------------------------------------

// Bits a key that a classic filter needs on the wire: its bits times the entropy of one. A sparser
// one with fewer probes can have the lower fpr for the same bits sent (Mitzenmacher 2001).
[[nodiscard]] double sent_bits_per_key(double bits_per_key, std::uint32_t probes);

struct packed_choice {
  double bits_per_key = 0;  // of the array in memory
  std::uint32_t probes = 0;
  double sent_bits_per_key = 0;
  double fpr = 0;
};
// The array and probes with the least fpr, for at most this many bits a key sent and in memory.
[[nodiscard]] packed_choice best_packed(double sent_bits_per_key, double most_bits_per_key);
// The one with the fewest bits to send for this rate, with at most so many bits a key in memory.
[[nodiscard]] packed_choice smallest_packed(double fpr, double most_bits_per_key);

// ---- costs ------------------------------------------------------------------------------------

// Mean time of a lookup behind a filter: every query asks the filter, the present keys and the
// false positives among the absent ones go on to the store. Times in any one unit.
struct guarded_lookup {
  double present = 0;      // queries for keys that the store has
  double absent = 0;       // queries for keys that it lacks
  double fpr = 0;          // of the filter
  double filter_time = 0;  // per query
  double lookup_time = 0;  // per query that reaches the store
};
[[nodiscard]] double mean_time(const guarded_lookup& g);

// ---- the planner ------------------------------------------------------------------------------

// What the caller knows; `keys` and exactly one of fpr, bits_per_key and bytes. `probes` may fix
// the number of probes; otherwise the exact model chooses it.
struct request {
  filter_kind kind = filter_kind::blocked;
  std::uint64_t keys = 0;
  std::optional<double> fpr = std::nullopt;
  std::optional<double> bits_per_key = std::nullopt;
  std::optional<std::uint64_t> bytes = std::nullopt;
  std::optional<std::uint32_t> probes = std::nullopt;
  std::optional<std::uint32_t> cell_bits = std::nullopt;     // of a counter or fingerprint
  std::optional<std::uint32_t> block_bits = std::nullopt;    // counting: 0 or 512
  std::optional<std::uint32_t> bucket_cells = std::nullopt;  // cuckoo: fingerprints in a bucket
  std::optional<std::uint32_t> variant = std::nullopt;       // core/shape.hpp says what it means
  growth_rule growth = growth_rule::reserved;                // layered
};

// The smallest shape that meets the target, or the best one within the size. Sizes are rounded so
// that the filter can be folded in halves: up for a target (by at most 0.1 %, or one unit for small
// filters), down for a number of bytes, which is never exceeded.
[[nodiscard]] plan make_plan(const request& r);

// The blocked filter of the right size for one that has grown: planned as p, with so many keys and
// this rate now; about half as large and one line a key. The caller must replay the keys.
[[nodiscard]] plan compact_plan(const plan& p, std::uint64_t stored, double fpr_now);

}  // namespace bloomery::sizing
