// The multistage filter of Estan and Varghese (2002): which of many flows may be heavy, without
// keeping any.
//
//     parallel   a flow has a bucket in each stage. A packet's bytes go into all of them, and the
//                flow passes when the least of them would reach the threshold. Conservative update
//                raises a bucket no further than to the least one plus the packet: with 2 as the
//                least and four new bytes buckets rise to 6, and larger ones stay.
//     serial     each stage has its share of the threshold. Only what has passed one comes to the
//                next, so most packets touch one bucket.
//
// No flow that has reached the threshold is stopped. What passes is not counted here any more:
// whoever asks remembers it (measure/flows.hpp). Stages are count-min sketches: parallel ones the
// rows of a conservative one, serial ones a row each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bloomery/sketch/count_min.hpp"

namespace bloomery {

enum class stage_order : std::uint8_t { parallel, serial };

struct multistage_options {
  std::uint64_t buckets = 16384;  // in each stage, 8 bytes each
  std::uint32_t stages = 4;       // 1 to 16
  stage_order order = stage_order::parallel;
  bool conservative = true;  // only ever off to see what it is good for
};

class multistage_filter {
 public:
  static constexpr std::uint32_t most_stages = 16;

  explicit multistage_filter(const multistage_options& o);

  // A packet of a flow. Returns 0 when it was stopped, and counted. Otherwise the flow passes, and
  // may have sent as many bytes as this, with those of the packet, but no more.
  std::uint64_t offer(std::uint64_t hash, std::uint64_t bytes, std::uint64_t threshold) noexcept;
  // Goes on from here for a flow that was remembered elsewhere, and sent fewer than `threshold`.
  void remember(std::uint64_t hash, std::uint64_t bytes, std::uint64_t threshold) noexcept;
  void clear() noexcept;

  // The same for a packet whose buckets were fetched before: `places` has room for as many numbers
  // as there are stages, which locate() sets.
  void locate(std::uint64_t hash, std::uint64_t* places) const noexcept {
    stages_.front().locate(hash, places);
  }
  std::uint64_t offer_at(const std::uint64_t* places, std::uint64_t hash, std::uint64_t bytes,
                         std::uint64_t threshold) noexcept {
    if (!at_once_) return offer(hash, bytes, threshold);
    const std::uint64_t risen = stages_.front().add_below_at(places, bytes, threshold);
    return risen >= threshold ? risen : 0;
  }
  [[nodiscard]] std::uint32_t stages() const noexcept { return options_.stages; }
  // How much a flow that was always stopped can have sent.
  [[nodiscard]] std::uint64_t most_of(std::uint64_t hash) const noexcept;
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  [[nodiscard]] std::uint64_t share(std::uint64_t threshold) const noexcept;

  multistage_options options_;
  bool at_once_;                   // parallel and conservative
  std::vector<count_min> stages_;  // one for all parallel ones
};

}  // namespace bloomery
