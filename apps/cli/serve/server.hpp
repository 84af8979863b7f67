// The server itself: connections and their requests, many at a time in few threads. server.cpp is
// the one source that knows Boost; what is answered is in routes.hpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "bloomery/exchange/transport.hpp"
#include "cli/serve/counters.hpp"
#include "cli/serve/routes.hpp"

namespace bloomery::cli {

struct server_options {
  unsigned threads = 1;
  std::size_t connections = 10'000;
  std::chrono::milliseconds header_time{10'000};  // for a whole header, however it comes
  std::chrono::milliseconds idle_time{60'000};    // between two requests
  // For all the rest of a request: so long, and a second for each so many bytes that moved.
  std::chrono::milliseconds slack{30'000};
  std::uint64_t least_rate = 4096;
  // So long without a byte, at most, whatever was earned. Buffers of both hosts together have some
  // megabytes, and tell of room in them by the third or the sixteenth: at the least rate that takes
  // minutes.
  std::chrono::milliseconds longest_silence{600'000};
  std::chrono::milliseconds grace{10'000};  // to finish what is under way when it is stopped
  std::string certificate;                  // PEM; nothing: plain HTTP
  std::string key_file;
  std::string log;
  std::function<void(const std::string&)> report = [](const std::string&) {};
};

// When a request is given up that has moved so many bytes since `from`, the last of them now.
[[nodiscard]] inline std::chrono::steady_clock::time_point request_deadline(
    const server_options& o, std::chrono::steady_clock::time_point from,
    std::chrono::steady_clock::time_point now, std::uint64_t moved_bytes) {
  const auto earned = std::chrono::milliseconds(1000 * moved_bytes / o.least_rate);
  return std::min(from + o.slack + earned, now + std::max(o.slack, o.longest_silence));
}

class http_server {
 public:
  // Reads certificate and key, and opens the log: all that may need rights that are dropped later.
  http_server(listener door, routes& answers, serve_counters& counters, server_options o);
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;
  ~http_server();

  // Serves until SIGTERM or SIGINT, and ends what is under way. At SIGHUP the log is opened
  // anew and the certificate read again.
  void run();

 private:
  class inside;
  std::unique_ptr<inside> inside_;
};

}  // namespace bloomery::cli
