// Serves many connections at once, whoever they come from.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "bloomery/exchange/transport.hpp"

namespace bloomery {

struct server_options {
  std::size_t connections = 16;  // handled at the same time; more wait until one of them ends
  // So many wait, and so many may have connected without a byte so far; of more silent ones the
  // oldest loses its connection.
  std::size_t waiting = 256;
  // Strangers who hold a connection and say nothing lose it.
  patience limits{.idle = std::chrono::seconds(30), .total = std::chrono::minutes(10)};
};

// Accepts connections until `stop` is set (it is looked at five times a second) and handles each in
// a thread of its own, once the first byte of it has come: who connects has to speak first, and who
// does not takes no place from others. An exception from `handle` ends that connection and nothing
// else; nor does a failure to accept one, such as for want of descriptors, end the server. At the
// end nothing more is read from anybody, and it returns when all are handled.
void serve_connections(listener& door, const server_options& o,
                       const std::function<void(channel)>& handle, const std::atomic<bool>& stop);

}  // namespace bloomery
