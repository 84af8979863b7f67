// What a server has done, counted by all of its threads, and as the text that Prometheus reads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "cli/serve/http.hpp"

namespace bloomery::cli {

class made_forms;
class shelf;

struct serve_counters {
  using number = std::atomic<std::uint64_t>;
  static constexpr std::array<double, 8> seconds = {0.0001, 0.0005, 0.001, 0.005,
                                                    0.01,   0.05,   0.25,  1};

  std::array<std::array<number, 5>, http_routes> requests{};  // by route, and status / 100 - 1
  std::array<number, seconds.size() + 1> took{};              // by time, up to seconds[i]
  number took_microseconds = 0;
  number connections = 0;  // at present
  number connections_total = 0;
  number connections_refused = 0;
  number timeouts = 0;
  number bytes_received = 0;
  number bytes_sent = 0;
  number keys_asked = 0;
  number keys_found = 0;
  number keys_added = 0;

  void count(http_route route, unsigned status, double took_seconds);
};

[[nodiscard]] std::string metrics_text(const serve_counters& c, const shelf& filters,
                                       const made_forms& made);

}  // namespace bloomery::cli
