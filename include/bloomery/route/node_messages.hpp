// The messages between nodes, and between a node and who asks it (route/node.hpp), as structs and
// as bytes. They travel over any channel that keeps their order and their length, such as
// exchange/transport.hpp's. Numbers are varints, texts have their length before them.
//
//     hello     1  the first message of both sides: who speaks, and what all must agree on
//     refusal   2  why the connection ends
//     claim     3  the sender's place in the spanning tree; its sign of life
//     announce  4  a filter, or its change (route/summary.hpp)
//     digest    5  the stamps of all versions that the sender has (exchange/peer_versions.hpp)
//     want      6  what the sender lacks, with the versions that it has
//     news      7  a version of somebody's filter
//     question  8  who has all of these?
//     answer    9  those have
//
// What is read comes from outside: every decode throws errc::corrupt for bytes that encode does not
// make, and no number makes it reserve memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bloomery/exchange/peer_versions.hpp"
#include "bloomery/route/summary.hpp"
#include "bloomery/route/tree.hpp"

namespace bloomery {

enum class route_mode : std::uint8_t { tree = 0, attenuated = 1, gossip = 2, flood = 3 };

enum class node_message_type : std::uint8_t {
  hello = 1,
  refusal = 2,
  claim = 3,
  announce = 4,
  digest = 5,
  want = 6,
  news = 7,
  question = 8,
  answer = 9,
};

enum class link_role : std::uint8_t {
  neighbour = 0,  // announces, and passes questions on
  client = 1,     // asks
  asker = 2,      // a node that asks another one which is no neighbour
};

struct node_hello {
  link_role role = link_role::client;
  route_mode mode = route_mode::tree;
  std::string name = {};     // of the node; empty for clients
  std::string address = {};  // where it listens
  std::string group = {};
  std::uint64_t bits = 0;  // the shape of all filters,
  std::uint32_t probes = 0;
  std::uint32_t depth = 0;
  std::uint64_t hash_check = 0;  // and a sign that the hash functions agree
  std::uint64_t epoch = 0;       // grows with each start
};

struct node_news {
  std::string name;
  std::string address;
  std::string group;  // of the peer; a group itself has the name of the group and none of these
  peer_news news;
};

struct node_want {
  std::uint64_t peer = 0;
  std::optional<peer_version> have;
};

enum class question_kind : std::uint8_t {
  start = 0,       // from a client: the node chooses the way
  tree_all = 1,    // every holder, through the tree
  tree_first = 2,  // the holders in the smallest subtree around here that has any
  walk = 3,        // the nearest by attenuated filters
  flood = 4,
  only_you = 5,
  your_group = 6,  // all members of the group of whoever gets it
};

inline constexpr std::size_t most_question_hashes = 64;
inline constexpr std::uint32_t most_hops = 64;

struct node_question {
  std::uint64_t id = 0;
  question_kind kind = question_kind::start;
  bool nearest = false;        // one holder is enough
  std::uint32_t hops = 0;      // that are left
  std::uint64_t patience = 0;  // milliseconds until an answer is too late
  std::vector<std::uint64_t> hashes = {};
};

struct resource_holder {
  std::string name;
  std::vector<std::string> path;  // from the node that was asked to this one, both included

  friend bool operator==(const resource_holder&, const resource_holder&) = default;
};

inline constexpr std::size_t most_holders = 100'000;

struct node_answer {
  std::uint64_t id = 0;
  bool complete = true;        // false: somebody was gone or too slow, there may be more
  bool fallback = false;       // nothing near promised it, or falsely: the tree was asked
  std::uint64_t messages = 0;  // between nodes
  std::uint64_t bytes = 0;
  std::vector<resource_holder> holders;
};

using message_bytes = std::vector<std::byte>;

[[nodiscard]] message_bytes encode(const node_hello& m);
[[nodiscard]] message_bytes encode(const tree_claim& m);
[[nodiscard]] message_bytes encode(const announcement& m);
[[nodiscard]] message_bytes encode(std::span<const peer_entry> m);
[[nodiscard]] message_bytes encode(std::span<const node_want> m);
[[nodiscard]] message_bytes encode(const node_news& m);
[[nodiscard]] message_bytes encode(const node_question& m);
[[nodiscard]] message_bytes encode(const node_answer& m);
[[nodiscard]] message_bytes encode_refusal(const std::string& why);

[[nodiscard]] node_hello decode_hello(std::span<const std::byte> bytes);
[[nodiscard]] tree_claim decode_claim(std::span<const std::byte> bytes);
[[nodiscard]] announcement decode_announcement(std::span<const std::byte> bytes);
[[nodiscard]] std::vector<peer_entry> decode_digest(std::span<const std::byte> bytes);
[[nodiscard]] std::vector<node_want> decode_want(std::span<const std::byte> bytes);
[[nodiscard]] node_news decode_news(std::span<const std::byte> bytes);
[[nodiscard]] node_question decode_question(std::span<const std::byte> bytes);
[[nodiscard]] node_answer decode_answer(std::span<const std::byte> bytes);
[[nodiscard]] std::string decode_refusal(std::span<const std::byte> bytes);

}  // namespace bloomery
