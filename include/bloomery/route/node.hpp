// A node that announces what it has and finds what others have, without sockets and without a
// clock: connections are numbers, messages and times are arguments, and what it wants to send waits
// in a list. So a network of nodes can be simulated and fuzzed, every run of the same calls has the
// same outcome, and `bloomery node` only moves bytes.
//
//     bloomery::route_node node({.name = "one", .mode = route_mode::tree, .planned = plan});
//     node.set_keys(hashes, now);
//     node.connected(link, bloomery::connection::dialled, now);   // also accepted, asked
//     node.received(link, type, payload, now);                    // throws: close the link
//     node.tick(now);                                             // some times a beat
//     for (auto& m : node.take_outgoing()) send(m.link, m.type, m.payload);
//
// Four modes, the same for all nodes of a network:
//
//     tree        nodes agree on a spanning tree; filters of subtrees go up, questions go where
//                 they may be answered (route/tree.hpp)
//     attenuated  who wants the nearest holder walks after promises (route/attenuated.hpp), and
//                 falls back to the tree; who wants all is answered by the tree
//     gossip      everybody's filter spreads to all (exchange/peer_versions.hpp); the nodes whose
//                 filters match are asked directly, in random order. In groups, members' filters
//                 stay inside, and the first member spreads one filter of all
//     flood       no filters: a question goes everywhere
//
// A question always ends: each node waits for its neighbours no longer than the question's
// patience, of which it passes on less than it got, and tells whether somebody did not answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bloomery/route/attenuated.hpp"
#include "bloomery/route/node_messages.hpp"
#include "bloomery/route/tree.hpp"

namespace bloomery {

struct node_options {
  std::string name = {};     // different for every node
  std::string address = {};  // where others reach it
  std::string group = {};    // gossip only
  route_mode mode = route_mode::tree;
  plan planned = {};  // of all filters: classic, for the keys of the fullest one
  hash_spec hash = {};
  std::uint32_t depth = 3;
  std::uint64_t epoch = 0;   // grows with each start of this node, such as a clock
  std::uint64_t beat = 500;  // between two signs of life, in milliseconds
  std::size_t most_links = 1000;
  std::size_t most_questions = 20'000;  // at the same time
  std::size_t most_peers = 10'000;      // whose filters gossip keeps
};

enum class connection : std::uint8_t { accepted, dialled, asked };

struct node_outgoing {
  link_id link = 0;
  node_message_type type = node_message_type::hello;
  message_bytes payload;
};
struct node_closing {
  link_id link = 0;
  std::string why;
};
struct node_dial {  // a node that is to be asked, and is no neighbour
  std::uint64_t ticket = 0;
  std::string address;
};

struct link_status {
  link_id link = 0;
  std::string name;
  link_role role = link_role::client;
  bool parent = false;
  bool child = false;
};

struct node_status {
  std::uint64_t keys = 0;
  std::vector<link_status> links;
  std::uint64_t root = 0;
  std::uint32_t distance = 0;      // to the root of the tree
  std::uint64_t peers = 0;         // whose filters gossip has
  std::uint64_t filter_bytes = 0;  // of neighbours and peers
  double fill = 0;                 // of the fullest filter that this node announces
  std::uint64_t questions = 0;     // from clients
  std::uint64_t passed_on = 0;     // from other nodes
  std::uint64_t incomplete = 0;    // answers without somebody's part
  std::uint64_t loops = 0;         // questions that came back
  std::uint64_t refused = 0;       // connections and messages
  std::uint64_t announcements = 0;
  std::uint64_t announced_bytes = 0;
};

class route_node {
 public:
  // Throws errc::bad_argument for an empty name or a long one, or a plan that is not classic.
  explicit route_node(const node_options& o);

  // What this node has, by hashes; the difference to what it had is announced.
  void set_keys(std::vector<std::uint64_t> hashes, std::uint64_t now);
  [[nodiscard]] bool has(std::span<const std::uint64_t> hashes) const;

  // A connection that exists; `ticket` is that of a node_dial. Both sides say hello.
  void connected(link_id link, connection how, std::uint64_t now, std::uint64_t ticket = 0);
  void disconnected(link_id link, std::uint64_t now);
  void dial_failed(std::uint64_t ticket, std::uint64_t now);
  // Throws errc::corrupt for what no node sends; the caller closes the link.
  void received(link_id link, std::uint8_t type, std::span<const std::byte> payload,
                std::uint64_t now);
  void tick(std::uint64_t now);

  [[nodiscard]] std::vector<node_outgoing> take_outgoing() { return std::exchange(outgoing_, {}); }
  [[nodiscard]] std::vector<node_closing> take_closing() { return std::exchange(closing_, {}); }
  [[nodiscard]] std::vector<node_dial> take_dials() { return std::exchange(dials_, {}); }

  [[nodiscard]] node_status status() const;
  [[nodiscard]] const node_options& options() const noexcept { return options_; }
  // Whether there is a neighbour of this name.
  [[nodiscard]] bool has_neighbour(const std::string& name) const;
  // Who is there; empty before its hello.
  [[nodiscard]] std::string name_of(link_id link) const;

 private:
  struct link_state {
    connection how = connection::accepted;
    std::optional<node_hello> hello;  // theirs
    std::uint64_t id = 0;             // of the name
    std::uint64_t heard = 0;
    std::uint64_t ticket = 0;
  };
  struct pending {
    node_question question;
    std::optional<link_id> from;
    std::uint64_t reply_id = 0;  // as the one who asked calls it
    std::uint64_t deadline = 0;
    std::multiset<std::uint64_t> outstanding;  // links, and tickets above all links
    node_answer answer;
    attenuated_walk walk;
    std::vector<std::uint64_t> candidates;  // peers still to be asked, the next one last
    bool up_asked = false;
    bool origin = false;  // the question began here
  };
  struct known_peer {
    std::string name;
    std::string address;
    std::string group;
  };
  struct seen_question {
    std::uint64_t id = 0;
    std::uint32_t hops = 0;
    std::uint64_t until = 0;
  };

  // node.cpp: connections, the tree and announcements
  void send(link_id link, node_message_type type, message_bytes payload);
  void close(link_id link, std::string why);
  void greet(link_id link, const node_hello& hello, std::uint64_t now);
  [[nodiscard]] node_hello own_hello(link_role role) const;
  [[nodiscard]] static link_role role_of(const link_state& s);
  void refuse(link_id link, const std::string& why);
  void welcome(link_id link);
  void dispatch(link_id link, node_message_type type, std::span<const std::byte> payload,
                std::uint64_t now);
  void close_silent_links(std::uint64_t now);
  [[nodiscard]] std::string objection(const node_hello& hello) const;
  [[nodiscard]] std::string namesake(link_id link, const node_hello& hello) const;
  [[nodiscard]] bool replaces_other(link_id link, const node_hello& hello, std::uint64_t now);
  void forget_link(link_id link, std::uint64_t now);
  [[nodiscard]] std::vector<link_id> neighbours() const;
  void take_claim(link_id link, const tree_claim& claim, std::uint64_t now);
  void take_announcement(link_id link, const announcement& a);
  void settle_tree(bool tell_all);
  void announce(bool all);
  void send_announcement(link_id link, const announcement& a);
  [[nodiscard]] std::uint64_t random();

  // node_question.cpp
  void take_question(link_id link, node_question q, std::uint64_t now);
  void take_answer(link_id link, node_answer a, std::uint64_t now);
  void begin(pending p, std::uint64_t now);
  void spread(pending& p, std::uint64_t now);
  void ask_tree(pending& p, bool up, std::uint64_t now);
  void go_on(std::uint64_t id, std::uint64_t now);
  bool next_step(pending& p, std::uint64_t now);
  void ask_link(pending& p, link_id link, question_kind kind, std::uint32_t hops,
                std::uint64_t now);
  void finish(std::uint64_t id, std::uint64_t now);
  void lose(std::uint64_t outstanding, std::uint64_t now);
  [[nodiscard]] bool seen_before(const node_question& q, std::uint64_t now);
  void end_late_questions(std::uint64_t now);

  // node_gossip.cpp
  void publish(std::uint64_t now);
  void publish_group(std::uint64_t now);
  void gossip_beat(std::uint64_t now);
  void send_digest(link_id link);
  void take_digest(link_id link, std::span<const peer_entry> theirs, std::uint64_t now);
  void take_want(link_id link, std::span<const node_want> wanted);
  void take_news(link_id link, const node_news& news, std::uint64_t now);
  [[nodiscard]] bool shares(link_id link, std::uint64_t peer) const;
  void tell(link_id link, std::uint64_t peer, std::optional<peer_version> theirs);
  [[nodiscard]] std::vector<std::uint64_t> candidates_for(const node_question& q,
                                                          std::uint64_t now);
  void ask_peer(pending& p, std::uint64_t peer, std::uint64_t now);
  void ask_waiting(link_id link, std::uint64_t ticket, std::uint64_t now);

  node_options options_;
  std::uint64_t self_;
  std::uint64_t group_id_ = 0;
  std::uint64_t random_;
  std::vector<std::uint64_t> keys_;  // sorted
  std::map<link_id, link_state> links_;
  spanning_tree position_;
  tree_router tree_;
  std::optional<attenuated_router> near_;
  tree_claim told_claim_;
  std::optional<link_id> told_parent_;
  bool changed_ = true;
  std::uint64_t next_beat_ = 0;
  std::uint64_t beats_ = 0;

  std::optional<peer_versions> versions_;
  std::map<std::uint64_t, known_peer> peers_;
  std::uint64_t group_epoch_ = 0;       // while this node leads its group
  std::uint64_t last_group_epoch_ = 0;  // of whoever led it last
  bool group_changed_ = true;
  std::map<std::string, link_id> asked_links_;  // by address
  struct waiting_dial {
    std::uint64_t question = 0;
    std::uint64_t peer = 0;
  };
  std::map<std::uint64_t, std::vector<waiting_dial>> waiting_;  // by ticket
  std::map<std::string, std::uint64_t> dialling_;               // tickets by address
  std::uint64_t next_ticket_ = std::uint64_t{1} << 32U;

  std::unordered_map<std::uint64_t, pending> pending_;
  std::unordered_map<std::uint64_t, seen_question> seen_;
  std::deque<std::uint64_t> seen_order_;

  std::vector<node_outgoing> outgoing_;
  std::vector<node_closing> closing_;
  std::vector<node_dial> dials_;
  node_status counted_;
};

}  // namespace bloomery
