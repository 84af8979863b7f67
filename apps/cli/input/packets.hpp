// Packets for the verbs that measure traffic: captures in files, mapped; packed ones and pipes,
// piece by piece; and live interfaces.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bloomery/detail/core/function_ref.hpp"
#include "bloomery/measure/packet.hpp"
#include "cli/args/command.hpp"
#include "cli/output/progress.hpp"

namespace bloomery::cli {

struct packet_options {
  std::vector<std::string> paths;
  std::string interface;
  std::string span;  // how long to listen; empty: until a signal
  std::uint64_t snap_bytes = 256;
  bool quiet = false;
  bool progress = false;

  [[nodiscard]] bool live() const { return !interface.empty(); }
  [[nodiscard]] progress_options show() const { return {.quiet = quiet, .forced = progress}; }
};
// CAPTURE..., --interface, --for, --progress and --quiet.
void add_packet_options(command& verb, packet_options& o);

// Packets are valid during the call.
using packet_visit = detail::function_ref<void(std::span<const captured_packet>)>;
// Of a live interface: called about ten times a second with the time in ns, packets or not.
using packet_pause = detail::function_ref<void(std::uint64_t)>;

// Reads all packets. Of a capture that is cut or damaged all packets before that come; then a
// message names it, the next one is read, and in the end the result is false. Throws for what is no
// capture, cannot be opened, or gives no packets at all. A live interface ends well with SIGINT,
// SIGTERM or its time.
bool read_packets(const packet_options& o, const packet_visit& visit, const packet_pause& pause);

// Seconds, in nanoseconds: 5s, 500ms, 1m, 1h. Throws errc::bad_argument, also for none.
std::uint64_t parse_interval(const std::string& text);

}  // namespace bloomery::cli
