// A node on the network: moves the messages of a route_node (route/node.hpp) between connections,
// sealed where there is a key (crypto/session.hpp), dials its peers again and again, follows its
// resources, and tells its state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bloomery/crypto/key_derivation.hpp"
#include "bloomery/exchange/transport.hpp"
#include "bloomery/route/node.hpp"
#include "cli/input/resources.hpp"

namespace bloomery::cli {

struct node_program {
  node_options node;
  resource_options resources;
  std::vector<std::string> peers;
  std::optional<master_key> key;
  std::string status;  // an address for HTTP
  bool quiet = false;
};

// Until SIGTERM or SIGINT.
void run_node(node_program program, listener door);

// The seed of all filters' hash function: secret where there is a key.
std::uint64_t route_seed(const std::optional<master_key>& key);

// The type of the greeting that comes before all messages of a node where there is a key.
inline constexpr std::uint8_t session_greeting_type = 0;

}  // namespace bloomery::cli
