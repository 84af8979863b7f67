// Filters of all nodes, or of all in a group, by gossip (PlanetP, Cuenca-Acuna and others 2003).
//
// News goes to some neighbours at once, who pass it on when it was news to them. In each beat a
// node tells two neighbours all stamps that it has, and they send what it lacks and ask for what
// they lack. So everybody hears of everything, whichever messages are lost.
//
// In groups, filters of members stay inside. The member with the smallest number leads: it spreads
// the union under the group's name, and others pass questions to it that the union may answer. A
// leader that takes over counts on from the last version of the group that it knows.
#include <algorithm>

#include "bloomery/route/node.hpp"
#include "bloomery/set/algebra.hpp"
#include "route/node_names.hpp"

namespace bloomery {

namespace {

constexpr std::size_t told_at_once = 4;  // neighbours that hear of news
constexpr std::size_t digests_a_beat = 2;
constexpr std::size_t most_wanted = 1000;  // in one message

}  // namespace

bool route_node::shares(link_id link, std::uint64_t peer) const {
  const auto known = peers_.find(peer);
  const bool is_group = known != peers_.end() && known->second.name.starts_with('@');
  return is_group || links_.at(link).hello->group == options_.group;
}

void route_node::tell(link_id link, std::uint64_t peer, std::optional<peer_version> theirs) {
  const auto known = peers_.find(peer);
  if (known == peers_.end()) return;
  for (peer_news& news : versions_->news_for(peer, theirs)) {
    message_bytes payload = encode(node_news{.name = known->second.name,
                                             .address = known->second.address,
                                             .group = known->second.group,
                                             .news = std::move(news)});
    ++counted_.announcements;
    counted_.announced_bytes += payload.size();
    send(link, node_message_type::news, std::move(payload));
  }
}

void route_node::publish(std::uint64_t now) {
  const classic_filter& own = tree_.local().filter();
  const image_header header{.planned = own.planned(), .hash = options_.hash, .keys = keys_.size()};
  peers_[self_] = {.name = options_.name, .address = options_.address, .group = options_.group};
  const peer_news news =
      versions_->publish(self_, options_.epoch, {.header = header, .words = own.words()}, now);
  group_changed_ = true;
  for (const link_id link : neighbours()) {
    if (shares(link, self_)) tell(link, self_, news.from);
  }
}

void route_node::publish_group(std::uint64_t now) {
  std::uint64_t leader = self_;
  for (const peer_entry& e : versions_->versions()) {
    const auto known = peers_.find(e.peer);
    const bool member = known != peers_.end() && known->second.group == options_.group &&
                        !known->second.name.starts_with('@');
    if (member) leader = std::min(leader, e.peer);
  }
  // Also after the last leader's version has been forgotten.
  if (const auto last = versions_->stamp_of(group_id_)) last_group_epoch_ = last->version.epoch;
  if (leader != self_) {
    group_epoch_ = 0;
    return;
  }
  if (group_epoch_ == 0 || last_group_epoch_ != group_epoch_) {
    group_epoch_ = std::max(options_.epoch, last_group_epoch_ + 1);
    last_group_epoch_ = group_epoch_;
    group_changed_ = true;
  }
  if (!group_changed_) {
    versions_->live(group_id_, now);
    return;
  }
  group_changed_ = false;
  classic_filter all(options_.planned);
  std::uint64_t keys = 0;
  for (const auto& [id, peer] : peers_) {
    const auto version = versions_->filter_of(id);
    if (!version || peer.name.starts_with('@') || peer.group != options_.group) continue;
    detail::or_words(all.mutable_words(), version->words);
    keys += version->header.keys;
  }
  peers_[group_id_] = {
      .name = group_name(options_.group), .address = options_.address, .group = {}};
  const image_header header{.planned = all.planned(), .hash = options_.hash, .keys = keys};
  const peer_news news =
      versions_->publish(group_id_, group_epoch_, {.header = header, .words = all.words()}, now);
  for (const link_id link : neighbours()) tell(link, group_id_, news.from);
}

void route_node::gossip_beat(std::uint64_t now) {
  if (!versions_->stamp_of(self_)) publish(now);
  versions_->live(self_, now);
  if (versions_->expire(now) != 0) group_changed_ = true;
  std::erase_if(peers_, [&](const auto& p) { return !versions_->stamp_of(p.first); });
  if (group_id_ != 0) publish_group(now);
  std::vector<link_id> to = neighbours();
  for (std::size_t i = 0; i < digests_a_beat && !to.empty(); ++i) {
    const std::size_t chosen = random() % to.size();
    send_digest(to[chosen]);
    to.erase(to.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
}

void route_node::send_digest(link_id link) {
  std::vector<peer_entry> shown = versions_->versions();
  std::erase_if(shown, [&](const peer_entry& e) { return !shares(link, e.peer); });
  send(link, node_message_type::digest, encode(shown));
}

void route_node::take_digest(link_id link, std::span<const peer_entry> theirs, std::uint64_t now) {
  for (const peer_entry& e : theirs) versions_->take(e, now);
  const auto differs = versions_->difference(theirs);
  std::map<std::uint64_t, peer_version> there;
  for (const peer_entry& e : theirs) there[e.peer] = e.stamp.version;
  for (const std::uint64_t peer : differs.newer_here) {
    const auto at = there.find(peer);
    if (!shares(link, peer)) continue;
    tell(link, peer, at == there.end() ? std::nullopt : std::optional(at->second));
  }
  std::vector<node_want> wanted;
  for (const std::uint64_t peer : differs.newer_there) {
    const auto ours = versions_->stamp_of(peer);
    if (wanted.size() == most_wanted) break;
    wanted.push_back({.peer = peer, .have = ours ? std::optional(ours->version) : std::nullopt});
  }
  if (!wanted.empty()) send(link, node_message_type::want, encode(wanted));
}

void route_node::take_want(link_id link, std::span<const node_want> wanted) {
  for (const node_want& w : wanted.first(std::min(wanted.size(), most_wanted))) {
    if (shares(link, w.peer)) tell(link, w.peer, w.have);
  }
}

void route_node::take_news(link_id link, const node_news& n, std::uint64_t now) {
  if (n.news.peer != node_id(n.name)) throw_bad_message("news under another's name");
  if (n.news.peer == self_) return;  // an echo of an earlier life, or of this one
  const bool is_group = n.name.starts_with('@');
  if (!is_group && n.group != options_.group) return;
  const news_outcome outcome = versions_->take(n.news, now);
  if (outcome == news_outcome::gap) {
    const node_want whole{.peer = n.news.peer, .have = {}};
    return send(link, node_message_type::want, encode(std::span(&whole, 1)));
  }
  if (outcome != news_outcome::taken) return;
  peers_[n.news.peer] = {.name = n.name, .address = n.address, .group = n.group};
  if (!is_group) group_changed_ = true;
  std::vector<link_id> to = neighbours();
  std::erase_if(to, [&](link_id l) { return l == link || !shares(l, n.news.peer); });
  while (to.size() > told_at_once) {
    to.erase(to.begin() + static_cast<std::ptrdiff_t>(random() % to.size()));
  }
  for (const link_id l : to) tell(l, n.news.peer, n.news.from);
}

// ---- asking -----------------------------------------------------------------------------------

std::vector<std::uint64_t> route_node::candidates_for(const node_question& q, std::uint64_t now) {
  std::map<std::uint64_t, std::size_t> matches;
  for (const candidate& c : versions_->ask(q.hashes, now)) ++matches[c.peer];
  std::vector<std::uint64_t> all;
  for (const auto& [peer, count] : matches) {
    const auto known = peers_.find(peer);
    if (count < q.hashes.size() || peer == self_ || peer == group_id_ || known == peers_.end()) {
      continue;
    }
    const bool is_group = known->second.name.starts_with('@');
    if (!is_group || q.kind == question_kind::start) all.push_back(peer);
  }
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random() % i]);
  return all;
}

void route_node::ask_peer(pending& p, std::uint64_t peer, std::uint64_t now) {
  const auto known = peers_.find(peer);
  if (known == peers_.end()) return;
  const auto kind =
      known->second.name.starts_with('@') ? question_kind::your_group : question_kind::only_you;
  for (const link_id link : neighbours()) {
    if (links_.at(link).id == peer) return ask_link(p, link, kind, 0, now);
  }
  const std::string& address = known->second.address;
  if (const auto at = asked_links_.find(address); at != asked_links_.end()) {
    return ask_link(p, at->second, kind, 0, now);
  }
  const auto [at, fresh] = dialling_.try_emplace(address, next_ticket_);
  if (fresh) dials_.push_back({.ticket = next_ticket_++, .address = address});
  p.outstanding.insert(at->second);
  waiting_[at->second].push_back({.question = p.question.id, .peer = peer});
}

void route_node::ask_waiting(link_id link, std::uint64_t ticket, std::uint64_t now) {
  const std::vector<waiting_dial> all = std::move(waiting_[ticket]);
  waiting_.erase(ticket);
  std::erase_if(dialling_, [&](const auto& d) { return d.second == ticket; });
  for (const waiting_dial& w : all) {
    const auto at = pending_.find(w.question);
    if (at == pending_.end()) continue;
    pending& p = at->second;
    if (const auto waited = p.outstanding.find(ticket); waited != p.outstanding.end()) {
      p.outstanding.erase(waited);
    }
    const auto known = peers_.find(w.peer);
    const bool is_group = known != peers_.end() && known->second.name.starts_with('@');
    ask_link(p, link, is_group ? question_kind::your_group : question_kind::only_you, 0, now);
    go_on(w.question, now);
  }
}

void route_node::dial_failed(std::uint64_t ticket, std::uint64_t now) {
  waiting_.erase(ticket);
  std::erase_if(dialling_, [&](const auto& d) { return d.second == ticket; });
  lose(ticket, now);
}

}  // namespace bloomery
