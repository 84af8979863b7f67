// Heavy flows (Estan and Varghese 2002): who sends most, in memory that does not grow with the
// number of flows.
//
//     packet -> in the flow memory? -- yes -> counted there, exactly
//                     | no
//                     v
//               multistage filter ---- below the threshold -> counted in its buckets
//                     | passes
//                     v
//               into the flow memory, with the bytes that it may have sent until now
//
// Flows in the memory never touch the filter (the paper calls that shielding), so that its buckets
// belong to the small ones. Bytes are never below the truth; what was added at the entrance of a
// flow is how far above it they may be.
//
// The threshold need not be known: it starts at 1, where all flows are kept and all counts exact,
// and rises when the memory is full. Then the smaller half of the flows goes into the filter, which
// remembers no names but as many bytes. Every flow that has sent threshold() bytes is listed,
// always.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bloomery/detail/measure/flow_table.hpp"
#include "bloomery/hash/secret_hasher.hpp"
#include "bloomery/measure/flow_key.hpp"
#include "bloomery/measure/multistage.hpp"

namespace bloomery {

struct flow_options {
  std::uint64_t memory_bytes = std::uint64_t{1} << 20U;  // half for the filter, half for flows
  std::uint32_t stages = 4;
  stage_order order = stage_order::parallel;
  std::uint64_t threshold = 1;  // bytes from which a flow is kept; rises when memory is short
  bool conservative = true;
  bool shielded = true;
  // Nobody who sends packets may know it: else they aim at a bucket.
  std::uint64_t seed = random_seed();
  // Instead of what follows from memory_bytes.
  std::uint64_t buckets = 0;
  std::size_t flows = 0;
};

struct flow_count {
  flow_key flow;
  std::uint64_t bytes = 0;        // never below the truth,
  std::uint64_t error_bytes = 0;  // and above it by this at most
  std::uint64_t packets = 0;      // since the flow is listed; all of them where error_bytes is 0
};

struct flow_packet {
  flow_key flow;
  std::uint64_t bytes = 0;
};

class heavy_flows {
 public:
  static constexpr std::uint64_t least_memory = std::uint64_t{16} << 10U;

  // Throws errc::bad_argument for less than that or for no stages, errc::no_memory.
  explicit heavy_flows(const flow_options& o = {});

  // A packet of no bytes changes nothing.
  void add(const flow_key& flow, std::uint64_t bytes) { add_hashed(flow, hash_of(flow), bytes); }
  void add_batch(std::span<const flow_packet> packets);

  // The largest first, equal ones by key; with at least so many bytes, no more than `most`.
  [[nodiscard]] std::vector<flow_count> list(std::uint64_t least_bytes = 1,
                                             std::size_t most = SIZE_MAX) const;
  // Every flow that has sent this much is listed; a flow that is not has sent less.
  [[nodiscard]] std::uint64_t threshold() const noexcept { return threshold_; }
  // No flow was ever left out: all counts are exact.
  [[nodiscard]] bool exact() const noexcept { return exact_; }

  // Begins to count anew. Flows that reached the threshold keep their places, so that heavy flows
  // that last are counted from their first byte: exactly (the paper's preserved entries).
  void next_interval();

  [[nodiscard]] std::size_t capacity() const noexcept { return table_.capacity(); }
  [[nodiscard]] std::size_t flows_held() const noexcept { return table_.entries().size(); }
  [[nodiscard]] std::uint64_t total_bytes() const noexcept { return total_bytes_; }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

  [[nodiscard]] std::uint64_t hash_of(const flow_key& flow) const noexcept {
    const auto bytes = flow.bytes();
    return hasher_.bytes(bytes.data(), bytes.size());
  }

 private:
  void add_hashed(const flow_key& flow, std::uint64_t hash, std::uint64_t bytes);
  void add_new(const flow_key& flow, std::uint64_t hash, std::uint64_t bytes,
               const std::uint64_t* places);
  void add_some(std::span<const flow_packet> packets);
  void make_room();

  flow_options options_;
  secret_hasher hasher_;
  std::uint64_t threshold_;
  bool exact_;
  std::uint64_t total_bytes_ = 0;
  multistage_filter filter_;
  detail::flow_table table_;
  std::vector<std::uint64_t> sizes_;   // room to find the median in
  std::vector<std::uint64_t> places_;  // of the buckets of a batch
};

}  // namespace bloomery
