// A node (route/node.hpp) against hostile neighbours, clients and strangers.
//
//     byte 0       the mode
//     the rest     what happens: a link and an action (1 byte), then a message with its type (1),
//                  length (2) and payload; or time passes, a link ends, a node is dialled
//
// Whatever comes, the node throws errc::corrupt or another error of the library, or goes on. What
// it sends can be read again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/route/node.hpp"
#include "input.hpp"

namespace {

using namespace bloomery;

node_options fuzzed_options(std::uint64_t choice) {
  node_options o;
  o.name = "here";
  o.address = "127.0.0.1:1";
  o.mode = static_cast<route_mode>(choice & 3U);
  if (o.mode == route_mode::gossip && (choice & 4U) != 0) o.group = "group";
  o.planned = sizing::make_plan({.kind = filter_kind::classic, .keys = 40, .fpr = 0.05});
  o.epoch = 1000;
  o.beat = 100;
  o.most_links = 6;
  o.most_questions = 20;
  o.most_peers = 10;
  return o;
}

// What the node sends must be what a node can read.
void read_again(const node_outgoing& m) {
  switch (m.type) {
    case node_message_type::hello: static_cast<void>(decode_hello(m.payload)); return;
    case node_message_type::refusal: static_cast<void>(decode_refusal(m.payload)); return;
    case node_message_type::claim: static_cast<void>(decode_claim(m.payload)); return;
    case node_message_type::announce: static_cast<void>(decode_announcement(m.payload)); return;
    case node_message_type::digest: static_cast<void>(decode_digest(m.payload)); return;
    case node_message_type::want: static_cast<void>(decode_want(m.payload)); return;
    case node_message_type::news: static_cast<void>(decode_news(m.payload)); return;
    case node_message_type::question: static_cast<void>(decode_question(m.payload)); return;
    case node_message_type::answer: static_cast<void>(decode_answer(m.payload)); return;
  }
  bloomery_fuzz::require(false);
}

void drain(route_node& node, std::uint64_t now) {
  for (const node_outgoing& m : node.take_outgoing()) read_again(m);
  for (const node_dial& d : node.take_dials()) {
    if (d.ticket % 2 == 0) {
      node.dial_failed(d.ticket, now);
    } else {
      node.connected(7, connection::asked, now, d.ticket);
    }
  }
  for (const node_closing& c : node.take_closing()) node.disconnected(c.link, now);
}

// A link that has greeted as a neighbour that fits, so that the rest is reached.
void befriend(route_node& node, link_id link, std::uint64_t choice, std::uint64_t now) {
  const node_options& o = node.options();
  route_node twin = [&] {
    node_options other = o;
    other.name = "peer" + std::to_string(link);
    return route_node(other);
  }();
  twin.connected(1, choice % 2 == 0 ? connection::dialled : connection::asked, now);
  node.connected(link, connection::accepted, now);
  node.received(link, 1, twin.take_outgoing().at(0).payload, now);
}

std::vector<std::byte> payload_of(bloomery_fuzz::input& in) {
  std::vector<std::byte> payload;
  for (std::uint64_t left = in.take(2) & 0x3ffU; left > 0 && !in.empty(); --left) {
    payload.push_back(static_cast<std::byte>(in.take(1)));
  }
  return payload;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bloomery_fuzz::input in(data, size);
  route_node node(fuzzed_options(in.take(1)));
  std::uint64_t now = 1000;
  node.set_keys({1, 2, 3}, now);
  while (!in.empty()) {
    const std::uint64_t action = in.take(1);
    const auto link = static_cast<link_id>(action & 7U);
    try {
      switch (action >> 4U) {
        case 0: node.connected(link, connection::accepted, now); break;
        case 1: node.connected(link, connection::dialled, now); break;
        case 2: befriend(node, link, action >> 3U, now); break;
        case 3: node.disconnected(link, now); break;
        case 4: now += in.take(2); break;
        case 5: node.set_keys({in.take(1), in.take(1)}, now); break;
        case 6: node.dial_failed(in.take(8), now); break;
        default: {
          const auto type = static_cast<std::uint8_t>(in.take(1) % 11);
          const std::vector<std::byte> payload = payload_of(in);
          node.received(link, type, payload, now);
        }
      }
      node.tick(now);
    } catch (const bloomery::error&) {
      node.disconnected(link, now);
    }
    drain(node, now);
  }
  // After the longest patience all that was pending ends.
  now += 200'000;
  node.tick(now);
  drain(node, now);
  static_cast<void>(node.status());
  return 0;
}
