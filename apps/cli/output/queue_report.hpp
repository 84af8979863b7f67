// What bloomery queue tells: a line for each second, and in the end a sum, as text or JSON, and a
// picture.
#pragma once

#include <cstdint>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bloomery/measure/fair_queue.hpp"
#include "bloomery/sketch/frequent_keys.hpp"
#include "cli/output/figure.hpp"

namespace bloomery::cli {

struct queue_second {
  double at = 0;  // seconds since the beginning
  double length = 1;
  fair_queue_counts counts;  // of this second alone
  std::uint64_t bytes_offered = 0;
  std::size_t waiting = 0;  // packets at its end
  double highest = 0;       // of all bins' probabilities
  double mean = 0;          // and their mean
  std::uint64_t lost = 0;   // dropped by the kernel, before the queue
};

class queue_report {
 public:
  // A packet that came; `flow` is its name in tables.
  void came(std::uint64_t flow, std::string_view name, std::uint32_t bytes);
  void left(const released_packet& p);
  // Ends a second. Returns it.
  const queue_second& tick(const fair_queue& queue, double now, std::uint64_t lost);

  [[nodiscard]] static std::string heading();
  [[nodiscard]] static std::string line(const queue_second& s);
  [[nodiscard]] nlohmann::json json(const fair_queue& queue) const;
  [[nodiscard]] figure picture() const;
  [[nodiscard]] std::string sum(const fair_queue& queue) const;

 private:
  static constexpr std::size_t most_seconds = 3600;  // kept, the newest ones
  static constexpr std::size_t shown_flows = 5;

  struct flow_line {
    std::string name;
    std::uint64_t hash = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] std::vector<flow_line> largest() const;

  std::deque<queue_second> seconds_;
  fair_queue_counts before_;
  double before_at_ = 0;
  std::uint64_t offered_ = 0;
  std::uint64_t offered_before_ = 0;
  std::uint64_t lost_ = 0;
  // The largest flows by bytes that came; of these the bytes that went through, by second.
  frequent_keys flows_{{.keys = 4096, .key_bytes = std::size_t{1} << 20U}};
  std::deque<std::unordered_map<std::uint64_t, std::uint64_t, secret_number_hash>> through_ =
      std::deque<std::unordered_map<std::uint64_t, std::uint64_t, secret_number_hash>>(1);
};

}  // namespace bloomery::cli
