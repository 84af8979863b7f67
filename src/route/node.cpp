// Connections of a node, its place in the tree, and what it announces. Questions are in
// node_question.cpp, gossip is in node_gossip.cpp.
#include "bloomery/route/node.hpp"

#include <algorithm>
#include <iterator>

#include "bloomery/core/error.hpp"
#include "route/node_names.hpp"

namespace bloomery {

namespace {

constexpr std::uint64_t silent_beats = 8;      // of a neighbour that is taken for dead
constexpr std::uint64_t idle_beats = 40;       // of others
constexpr std::uint64_t greeting_time = 5000;  // for the first message, in milliseconds
constexpr std::uint64_t all_levels_beats = 2;  // far levels wait no longer

node_options checked_options(const node_options& o) {
  if (o.name.empty() || o.name.size() > 255 || o.name.front() == '@') {
    detail::fail(errc::bad_argument,
                 "the name '" + o.name + "' of a node has 1 to 255 bytes, and no @ at its start");
  }
  if (o.beat == 0) detail::throw_bad_argument("the beat", o.beat, "at least 1 ms");
  detail::check_kind(o.planned.shape, filter_kind::classic);
  return o;
}

peer_versions_options gossip_options(const node_options& o) {
  return {.longest_age = idle_beats * o.beat,
          .remembered = 4 * idle_beats * o.beat,
          .deltas = 8,
          .most_peers = o.most_peers,
          .most_bits = bit_array::words_for(o.planned.shape.bits) * 64};
}

}  // namespace

route_node::route_node(const node_options& o)
    : options_(checked_options(o)),
      self_(node_id(o.name)),
      random_(self_ ^ o.epoch),
      position_(self_, silent_beats * o.beat, o.epoch),
      tree_(o.planned) {
  if (o.mode == route_mode::attenuated) {
    near_.emplace(attenuated_options{.planned = o.planned, .depth = o.depth});
  }
  if (o.mode == route_mode::gossip) {
    versions_.emplace(o.hash, gossip_options(o));
    if (!o.group.empty()) group_id_ = node_id(group_name(o.group));
  }
}

std::uint64_t route_node::random() { return random_ = splitmix64(random_); }

void route_node::set_keys(std::vector<std::uint64_t> hashes, std::uint64_t now) {
  std::ranges::sort(hashes);
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  std::vector<std::uint64_t> gone;
  std::vector<std::uint64_t> fresh;
  std::ranges::set_difference(keys_, hashes, std::back_inserter(gone));
  std::ranges::set_difference(hashes, keys_, std::back_inserter(fresh));
  for (const std::uint64_t h : gone) {
    tree_.local().remove(h);
    if (near_) near_->local().remove(h);
  }
  for (const std::uint64_t h : fresh) {
    tree_.local().add(h);
    if (near_) near_->local().add(h);
  }
  keys_ = std::move(hashes);
  changed_ = true;
  if (versions_) publish(now);
  announce(false);
}

bool route_node::has(std::span<const std::uint64_t> hashes) const {
  return std::ranges::all_of(hashes,
                             [&](std::uint64_t h) { return std::ranges::binary_search(keys_, h); });
}

// ---- connections ------------------------------------------------------------------------------

void route_node::send(link_id link, node_message_type type, message_bytes payload) {
  outgoing_.push_back({.link = link, .type = type, .payload = std::move(payload)});
}

void route_node::close(link_id link, std::string why) {
  closing_.push_back({.link = link, .why = std::move(why)});
}

link_role route_node::role_of(const link_state& s) {
  if (s.how == connection::dialled) return link_role::neighbour;
  if (s.how == connection::asked || !s.hello) return link_role::asker;
  return s.hello->role;
}

node_hello route_node::own_hello(link_role role) const {
  return {.role = role,
          .mode = options_.mode,
          .name = options_.name,
          .address = options_.address,
          .group = options_.group,
          .bits = options_.planned.shape.bits,
          .probes = options_.planned.shape.probes,
          .depth = options_.mode == route_mode::attenuated ? options_.depth : 0,
          .hash_check = hash_check(options_.hash),
          .epoch = options_.epoch};
}

void route_node::connected(link_id link, connection how, std::uint64_t now, std::uint64_t ticket) {
  links_[link] = {.how = how, .hello = {}, .id = 0, .heard = now, .ticket = ticket};
  send(link, node_message_type::hello,
       encode(own_hello(how == connection::asked ? link_role::asker : link_role::neighbour)));
}

void route_node::disconnected(link_id link, std::uint64_t now) { forget_link(link, now); }

void route_node::forget_link(link_id link, std::uint64_t now) {
  const auto at = links_.find(link);
  if (at == links_.end()) return;
  const link_state gone = std::move(at->second);
  links_.erase(at);
  tree_.children().remove_link(link);
  if (near_) near_->remove_link(link);
  position_.drop(link, now);
  std::erase_if(asked_links_, [&](const auto& a) { return a.second == link; });
  changed_ = true;
  if (gone.how == connection::asked && !gone.hello) dial_failed(gone.ticket, now);
  lose(link, now);
  settle_tree(false);
}

std::string route_node::objection(const node_hello& h) const {
  const node_hello own = own_hello(link_role::neighbour);
  if (h.name == own.name) return "both nodes have the name '" + own.name + "'; give each its own";
  if (h.name.empty() || h.name.front() == '@') return "a node needs a name";
  if (h.mode != own.mode) return "the nodes have different modes";
  if (h.bits != own.bits || h.probes != own.probes) {
    return "filters of " + detail::to_text(h.bits) + " bits and " + detail::to_text(own.bits) +
           " cannot be united; give all nodes the same number of keys and rate";
  }
  if (h.depth != own.depth) return "the nodes have different depths";
  if (h.hash_check != own.hash_check) return "the nodes hash differently; they need the same key";
  return "";
}

// Of two connections between the same nodes both sides keep the same one: that which the node with
// the smaller number made. A node that has started again, or connects again, means the new one.
bool route_node::replaces_other(link_id link, const node_hello& hello, std::uint64_t now) {
  const std::uint64_t id = node_id(hello.name);
  const connection how = links_.at(link).how;
  for (const auto& [other, s] : links_) {
    if (other == link || !s.hello || s.id != id || role_of(s) != link_role::neighbour) continue;
    const bool mine_preferred = self_ < id;
    const bool new_preferred = (how == connection::dialled) == mine_preferred;
    if (hello.epoch <= s.hello->epoch && how != s.how && !new_preferred) return false;
    close(other, "another connection to the same node replaces it");
    forget_link(other, now);
    break;
  }
  return true;
}

// Where another neighbour of that name is; empty when there is none. A node that has started again
// comes from the address that it had, or its old connection is gone soon; two that share a name
// would throw each other out for ever.
std::string route_node::namesake(link_id link, const node_hello& hello) const {
  for (const auto& [other, s] : links_) {
    if (other != link && s.hello && s.hello->name == hello.name &&
        s.hello->address != hello.address && role_of(s) == link_role::neighbour) {
      return s.hello->address;
    }
  }
  return "";
}

void route_node::refuse(link_id link, const std::string& why) {
  ++counted_.refused;
  send(link, node_message_type::refusal, encode_refusal(why));
  close(link, why);
}

void route_node::greet(link_id link, const node_hello& hello, std::uint64_t now) {
  link_state& s = links_.at(link);
  const bool neighbour = s.how == connection::dialled ||
                         (s.how == connection::accepted && hello.role == link_role::neighbour);
  if (links_.size() > options_.most_links) return refuse(link, "the node has too many connections");
  if (neighbour || hello.role == link_role::asker || s.how == connection::asked) {
    if (const std::string why = objection(hello); !why.empty()) return refuse(link, why);
  }
  if (const std::string at = neighbour ? namesake(link, hello) : ""; !at.empty()) {
    return refuse(
        link, "another node, at " + at + ", has the name '" + hello.name + "'; give each its own");
  }
  if (neighbour && !replaces_other(link, hello, now)) {
    return close(link, "there is another connection to the same node");
  }
  s.hello = hello;
  s.id = node_id(hello.name);
  if (neighbour) return welcome(link);
  if (s.how == connection::asked) {
    asked_links_[hello.address] = link;
    ask_waiting(link, s.ticket, now);
  }
}

void route_node::welcome(link_id link) {
  send(link, node_message_type::claim, encode(position_.claim()));
  if (near_) {
    near_->add_link(link);
    for (const announcement& a : near_->whole()) send_announcement(link, a);
  }
  // One side is enough: the other answers with what it has and asks for what it lacks.
  if (versions_ && links_.at(link).how == connection::dialled) send_digest(link);
}

std::vector<link_id> route_node::neighbours() const {
  std::vector<link_id> all;
  for (const auto& [link, s] : links_) {
    if (s.hello && role_of(s) == link_role::neighbour) all.push_back(link);
  }
  return all;
}

bool route_node::has_neighbour(const std::string& name) const {
  return std::ranges::any_of(neighbours(), [&](link_id l) { return name_of(l) == name; });
}

std::string route_node::name_of(link_id link) const {
  const auto at = links_.find(link);
  return at == links_.end() || !at->second.hello ? std::string() : at->second.hello->name;
}

void route_node::received(link_id link, std::uint8_t type, std::span<const std::byte> payload,
                          std::uint64_t now) {
  const auto at = links_.find(link);
  if (at == links_.end()) return;  // closed meanwhile
  at->second.heard = now;
  const auto kind = static_cast<node_message_type>(type);
  if (kind == node_message_type::refusal) {
    ++counted_.refused;
    return close(link, "refused: " + decode_refusal(payload));
  }
  if (!at->second.hello) {
    if (kind != node_message_type::hello) throw_bad_message("a message before the greeting");
    return greet(link, decode_hello(payload), now);
  }
  dispatch(link, kind, payload, now);
}

void route_node::dispatch(link_id link, node_message_type type, std::span<const std::byte> payload,
                          std::uint64_t now) {
  if (type == node_message_type::question) {
    return take_question(link, decode_question(payload), now);
  }
  if (type == node_message_type::answer) return take_answer(link, decode_answer(payload), now);
  if (role_of(links_.at(link)) != link_role::neighbour) {
    throw_bad_message("a message that only neighbours send");
  }
  if (type == node_message_type::claim) return take_claim(link, decode_claim(payload), now);
  if (type == node_message_type::announce && !versions_) {
    return take_announcement(link, decode_announcement(payload));
  }
  if (versions_ && type == node_message_type::digest) {
    return take_digest(link, decode_digest(payload), now);
  }
  if (versions_ && type == node_message_type::want) return take_want(link, decode_want(payload));
  if (versions_ && type == node_message_type::news) {
    return take_news(link, decode_news(payload), now);
  }
  throw_bad_message("a message that this mode does not have");
}

// ---- the tree and announcements ---------------------------------------------------------------

void route_node::take_claim(link_id link, const tree_claim& claim, std::uint64_t now) {
  position_.take(link, links_.at(link).id, claim, now);
  settle_tree(false);
}

void route_node::take_announcement(link_id link, const announcement& a) {
  if (a.level == 0) {
    // One that crossed the news that we are not its parent any more is nobody's loss.
    if (tree_.children().has_link(link)) tree_.children().take(link, a);
  } else if (near_) {
    near_->take(link, a);
  } else {
    throw_bad_message("a filter that this mode does not have");
  }
  changed_ = true;
}

// Claims go first: a parent has to know its child before the child's filter comes.
void route_node::settle_tree(bool tell_all) {
  const std::vector<link_id> all = neighbours();
  if (tell_all || position_.claim() != told_claim_) {
    told_claim_ = position_.claim();
    for (const link_id link : all) send(link, node_message_type::claim, encode(told_claim_));
  }
  for (const link_id link : all) {
    const bool child = position_.is_child(link);
    if (child == tree_.children().has_link(link)) continue;
    if (child) {
      tree_.children().add_link(link);
    } else {
      tree_.children().remove_link(link);
    }
    changed_ = true;
  }
  if (position_.parent() == told_parent_) return;
  told_parent_ = position_.parent();
  if (told_parent_ && !versions_ && options_.mode != route_mode::flood) {
    send_announcement(*told_parent_, tree_.whole());
  }
}

void route_node::send_announcement(link_id link, const announcement& a) {
  message_bytes payload = encode(a);
  ++counted_.announcements;
  counted_.announced_bytes += payload.size();
  send(link, node_message_type::announce, std::move(payload));
}

void route_node::announce(bool all) {
  if (versions_ || options_.mode == route_mode::flood) return;
  if (!changed_ && !(all && near_)) return;
  changed_ = false;
  if (const auto change = tree_.change(); change && told_parent_) {
    send_announcement(*told_parent_, *change);
  }
  if (!near_) return;
  for (const announcement& a : near_->changes(all)) {
    for (const link_id link : neighbours()) send_announcement(link, a);
  }
}

void route_node::close_silent_links(std::uint64_t now) {
  std::vector<link_id> silent;
  for (const auto& [link, s] : links_) {
    const std::uint64_t age = now - std::min(now, s.heard);
    const bool neighbour = s.hello && role_of(s) == link_role::neighbour;
    const bool client = s.hello && role_of(s) == link_role::client;
    const std::uint64_t most = !s.hello    ? std::max(greeting_time, silent_beats * options_.beat)
                               : neighbour ? silent_beats * options_.beat
                                           : idle_beats * options_.beat;
    if (age > most && !client) silent.push_back(link);
  }
  for (const link_id link : silent) {
    close(link, "silent for too long");
    forget_link(link, now);
  }
}

void route_node::tick(std::uint64_t now) {
  if (now >= next_beat_) {
    next_beat_ = now + options_.beat;
    ++beats_;
    close_silent_links(now);
    position_.beat(now);
    settle_tree(true);
    if (versions_) gossip_beat(now);
  }
  announce(beats_ % all_levels_beats == 0);
  end_late_questions(now);
}

node_status route_node::status() const {
  node_status s = counted_;
  s.keys = keys_.size();
  for (const auto& [link, l] : links_) {
    if (!l.hello) continue;
    s.links.push_back({.link = link,
                       .name = l.hello->name,
                       .role = role_of(l),
                       .parent = position_.parent() == link,
                       .child = position_.is_child(link)});
  }
  s.root = position_.claim().root;
  s.distance = position_.claim().distance;
  s.filter_bytes = tree_.children().bytes() + (near_ ? near_->bytes() : 0);
  s.fill = std::max(tree_.local().filter().fill(), tree_.children().merged().fill());
  if (near_) s.fill = std::max(s.fill, near_->level(near_->depth()).merged().fill());
  if (versions_) {
    s.peers = versions_->versions().size();
    s.filter_bytes += versions_->directory().bytes();
  }
  return s;
}

}  // namespace bloomery
