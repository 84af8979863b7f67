// Packets from an interface of this machine, through libpcap.
#pragma once

#include "cli/input/packets.hpp"

namespace bloomery::cli {

void read_live_packets(const packet_options& o, const packet_visit& visit,
                       const packet_pause& pause);

}  // namespace bloomery::cli
