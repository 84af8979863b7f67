// Names of nodes and groups as numbers, and what all sources of a node throw.
#pragma once

#include <cstdint>
#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

[[nodiscard]] inline std::uint64_t node_id(const std::string& name) {
  return XXH3_64bits(name.data(), name.size());
}

// A group is a peer among peers; no node has such a name.
[[nodiscard]] inline std::string group_name(const std::string& group) { return "@" + group; }

// Shows that two nodes hash alike, and not how: a seed may be secret.
[[nodiscard]] inline std::uint64_t hash_check(const hash_spec& hash) {
  return splitmix64(splitmix64(hash.seed ^ 0x626c6f6f6d657279U) +
                    static_cast<std::uint64_t>(hash.id));
}

[[noreturn]] inline void throw_bad_message(const char* what) {
  detail::fail(errc::corrupt, std::string("the peer sent ") + what);
}

}  // namespace bloomery
