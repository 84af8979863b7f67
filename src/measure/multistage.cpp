#include "bloomery/measure/multistage.hpp"

#include <algorithm>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing_sketch.hpp"
#include "bloomery/hash/probe.hpp"

namespace bloomery {

namespace {

count_min stage_of(std::uint64_t buckets, std::uint32_t rows, bool conservative) {
  constexpr std::uint32_t counter_bits = 64;  // bytes of a fast link are too many for 32
  shape s = sizing::count_min_shape(buckets, rows, counter_bits);
  s.variant = conservative ? 1 : 0;
  return count_min(plan{.shape = s});
}

}  // namespace

multistage_filter::multistage_filter(const multistage_options& o)
    : options_(o), at_once_(o.order == stage_order::parallel && o.conservative) {
  if (o.stages < 1 || o.stages > most_stages) {
    detail::throw_bad_argument("the number of stages", std::uint64_t{o.stages}, "1 to 16");
  }
  if (o.buckets == 0) detail::throw_bad_argument("the number of buckets", o.buckets, "at least 1");
  const bool parallel = o.order == stage_order::parallel;
  for (std::uint32_t i = 0; i < (parallel ? 1 : o.stages); ++i) {
    stages_.push_back(stage_of(o.buckets, parallel ? o.stages : 1, o.conservative));
  }
}

// Rounded down, so that nobody passes too late: what stages stop is less than the threshold.
std::uint64_t multistage_filter::share(std::uint64_t threshold) const noexcept {
  return std::max<std::uint64_t>(1, threshold / options_.stages);
}

std::uint64_t multistage_filter::offer(std::uint64_t hash, std::uint64_t bytes,
                                       std::uint64_t threshold) noexcept {
  if (options_.order == stage_order::parallel) {
    if (!options_.conservative) {  // as the first version of the paper: all packets go in
      stages_[0].add(hash, bytes);
      const std::uint64_t now = stages_[0].count(hash);
      return now >= threshold ? now : 0;
    }
    const std::uint64_t risen = stages_[0].add_below(hash, bytes, threshold);
    return risen >= threshold ? risen : 0;
  }
  // A stopped packet is in the bucket of one stage: a flow's bytes are at most the sum of buckets.
  const std::uint64_t limit = share(threshold);
  std::uint64_t most = bytes;
  for (count_min& stage : stages_) {
    const std::uint64_t risen = stage.add_below(hash, bytes, limit);
    if (risen < limit) return 0;
    most += risen - bytes;
    hash *= next_probe_multiplier;
  }
  return most;
}

void multistage_filter::remember(std::uint64_t hash, std::uint64_t bytes,
                                 std::uint64_t threshold) noexcept {
  if (options_.order == stage_order::parallel) {
    stages_[0].raise_to(hash, bytes);
    return;
  }
  // As packets would have come: the first stage up to its share, then the next.
  for (count_min& stage : stages_) {
    const std::uint64_t part =
        &stage == &stages_.back() ? bytes : std::min(bytes, share(threshold));
    stage.raise_to(hash, part);
    bytes -= part;
    hash *= next_probe_multiplier;
  }
}

void multistage_filter::clear() noexcept {
  for (count_min& stage : stages_) stage.clear();
}

std::uint64_t multistage_filter::most_of(std::uint64_t hash) const noexcept {
  std::uint64_t sum = 0;
  for (const count_min& stage : stages_) {
    sum += stage.count(hash);
    hash *= next_probe_multiplier;
  }
  return sum;
}

std::uint64_t multistage_filter::memory_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const count_min& stage : stages_) bytes += stage.words().size_bytes();
  return bytes;
}

}  // namespace bloomery
