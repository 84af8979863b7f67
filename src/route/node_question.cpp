// Questions on their way through a node.
//
// A question becomes `pending`: whom it was passed on to and has not heard of is `outstanding`.
// When that is empty, the next step follows, up or along the next promise; without one the answer
// goes back to where the question came from. Its deadline ends it in any case.
#include <algorithm>

#include "bloomery/route/node.hpp"
#include "route/node_names.hpp"

namespace bloomery {

namespace {

constexpr std::uint64_t most_patience = 60'000;
constexpr std::uint64_t least_patience = 10;  // too little to pass a question on
constexpr std::size_t most_seen = 200'000;
constexpr std::uint64_t seen_for = 2 * most_patience;
constexpr std::size_t asked_at_once = 16;  // peers, by gossip

// What neighbours get of our own patience: they must answer before we have none left.
std::uint64_t passed_on(std::uint64_t patience) { return patience - patience / 8 - 5; }

bool is_passed_on(question_kind kind) {
  return kind != question_kind::start && kind != question_kind::only_you &&
         kind != question_kind::your_group;
}

std::uint64_t message_size(std::size_t payload) { return payload + 9; }  // as framed by transport

}  // namespace

bool route_node::seen_before(const node_question& q, std::uint64_t now) {
  const auto [at, fresh] =
      seen_.try_emplace(q.id, seen_question{.id = q.id, .hops = q.hops, .until = now + seen_for});
  if (fresh) {
    seen_order_.push_back(q.id);
    if (seen_order_.size() > most_seen) {
      seen_.erase(seen_order_.front());
      seen_order_.pop_front();
    }
    return false;
  }
  if (pending_.contains(q.id)) {
    ++counted_.loops;
    return true;
  }
  // A walk that comes again with more hops left may find more.
  if (q.kind != question_kind::walk || q.hops <= at->second.hops) return true;
  at->second.hops = q.hops;
  return false;
}

void route_node::take_question(link_id link, node_question q, std::uint64_t now) {
  const link_role role = role_of(links_.at(link));
  const bool from_node = role == link_role::neighbour || role == link_role::asker;
  if (q.hashes.empty()) throw_bad_message("a question for nothing");
  if (from_node == (q.kind == question_kind::start) ||
      (role == link_role::asker && is_passed_on(q.kind))) {
    throw_bad_message("a question that is not its to ask");
  }
  if ((q.kind == question_kind::walk && !near_) ||
      (q.kind == question_kind::your_group && !versions_)) {
    throw_bad_message("a question that this mode does not have");
  }
  ++(from_node ? counted_.passed_on : counted_.questions);
  pending p;
  p.reply_id = q.id;
  p.from = link;
  q.patience = std::min(q.patience, most_patience);
  p.deadline = now + q.patience;
  p.answer.complete = pending_.size() < options_.most_questions;
  const bool again = is_passed_on(q.kind) && seen_before(q, now);
  if (again || !p.answer.complete) {
    p.answer.id = q.id;
    return send(link, node_message_type::answer, encode(p.answer));
  }
  if (!is_passed_on(q.kind)) q.id = random();
  p.question = std::move(q);
  if (p.question.kind == question_kind::start) {
    p.origin = true;
    p.question.hops = most_hops;
    if (options_.mode == route_mode::flood) p.question.kind = question_kind::flood;
    if (options_.mode == route_mode::tree || (near_ && !p.question.nearest)) {
      p.question.kind = p.question.nearest ? question_kind::tree_first : question_kind::tree_all;
    } else if (near_) {
      p.question.kind = question_kind::walk;
      p.question.hops = options_.depth;
    }
    // It may come back here through others.
    if (is_passed_on(p.question.kind)) static_cast<void>(seen_before(p.question, now));
  }
  begin(std::move(p), now);
}

void route_node::begin(pending p, std::uint64_t now) {
  if (has(p.question.hashes) && p.answer.holders.empty()) {
    p.answer.holders.push_back({.name = options_.name, .path = {options_.name}});
  }
  const std::uint64_t id = p.question.id;
  pending& kept = pending_[id] = std::move(p);
  const bool enough = kept.question.nearest && !kept.answer.holders.empty();
  if (!enough) spread(kept, now);
  go_on(id, now);
}

void route_node::ask_tree(pending& p, bool up, std::uint64_t now) {
  if (p.question.hops == 0) return;
  const route_query q{.hashes = p.question.hashes, .covered = {}};
  const std::optional<link_id> parent = position_.parent();
  for (const link_id child : tree_.branches(q)) {
    if (p.from != child && parent != child) {
      ask_link(p, child, p.question.kind, p.question.hops - 1, now);
    }
  }
  if (!up || !parent || p.from == parent) return;
  p.up_asked = true;
  ask_link(p, *parent, p.question.kind, p.question.hops - 1, now);
}

void route_node::spread(pending& p, std::uint64_t now) {
  switch (p.question.kind) {
    case question_kind::tree_all: return ask_tree(p, true, now);
    case question_kind::tree_first: return ask_tree(p, false, now);
    case question_kind::walk:
      p.walk = attenuated_walk(
          near_->promises({.hashes = p.question.hashes, .covered = {}}, p.question.hops), p.from);
      return;
    case question_kind::flood:
      if (p.question.hops == 0) return;
      for (const link_id link : neighbours()) {
        if (p.from != link) ask_link(p, link, question_kind::flood, p.question.hops - 1, now);
      }
      return;
    case question_kind::start:
    case question_kind::your_group: p.candidates = candidates_for(p.question, now); return;
    case question_kind::only_you: return;
  }
}

void route_node::ask_link(pending& p, link_id link, question_kind kind, std::uint32_t hops,
                          std::uint64_t now) {
  const std::uint64_t left = p.deadline - std::min(p.deadline, now);
  if (left < least_patience || !links_.contains(link)) {
    p.answer.complete = false;
    return;
  }
  node_question q = p.question;
  q.kind = kind;
  q.hops = hops;
  q.patience = passed_on(left);
  message_bytes payload = encode(q);
  p.answer.messages += 1;
  p.answer.bytes += message_size(payload.size());
  p.outstanding.insert(link);
  send(link, node_message_type::question, std::move(payload));
}

void route_node::take_answer(link_id link, node_answer a, std::uint64_t now) {
  const auto at = pending_.find(a.id);
  if (at == pending_.end()) return;  // too late
  pending& p = at->second;
  const auto waited = p.outstanding.find(link);
  if (waited == p.outstanding.end()) return;
  p.outstanding.erase(waited);
  p.answer.messages += 1 + a.messages;
  p.answer.bytes += a.bytes + message_size(encode(a).size());
  p.answer.complete = p.answer.complete && a.complete;
  for (resource_holder& h : a.holders) {
    const auto known = std::ranges::find(p.answer.holders, h.name, &resource_holder::name);
    if (known != p.answer.holders.end() || p.answer.holders.size() >= most_holders) continue;
    if (h.path.size() > most_hops) continue;
    h.path.insert(h.path.begin(), options_.name);
    p.answer.holders.push_back(std::move(h));
  }
  go_on(a.id, now);
}

// Asks whoever is next; false when there is nobody.
bool route_node::next_step(pending& p, std::uint64_t now) {
  const std::size_t before = p.outstanding.size();
  const std::optional<link_id> parent = position_.parent();
  if (p.question.kind == question_kind::tree_first && !p.up_asked && parent && p.from != parent &&
      p.question.hops > 0 && before == 0) {
    p.up_asked = true;
    ask_link(p, *parent, p.question.kind, p.question.hops - 1, now);
  }
  while (p.question.kind == question_kind::walk && p.outstanding.empty()) {
    const auto next = p.walk.next();
    if (!next) break;
    ask_link(p, next->link, question_kind::walk, p.question.hops - 1, now);
  }
  const std::size_t most = p.question.nearest ? 1 : asked_at_once;
  while (!p.candidates.empty() && p.outstanding.size() < most) {
    const std::uint64_t peer = p.candidates.back();
    p.candidates.pop_back();
    ask_peer(p, peer, now);
  }
  return p.outstanding.size() > before;
}

void route_node::go_on(std::uint64_t id, std::uint64_t now) {
  const auto at = pending_.find(id);
  if (at == pending_.end()) return;
  pending& p = at->second;
  if (p.question.nearest && !p.answer.holders.empty()) return finish(id, now);
  if (now < p.deadline && next_step(p, now)) return;
  if (p.outstanding.empty()) finish(id, now);
}

void route_node::finish(std::uint64_t id, std::uint64_t now) {
  const auto at = pending_.find(id);
  pending p = std::move(at->second);
  pending_.erase(at);
  // Nothing within the depth, or false promises only: the deterministic way.
  if (p.origin && p.question.kind == question_kind::walk && p.answer.holders.empty() &&
      now < p.deadline) {
    p.question.kind = question_kind::tree_first;
    p.question.hops = most_hops;
    p.question.id = random();
    p.answer.fallback = true;
    static_cast<void>(seen_before(p.question, now));
    return begin(std::move(p), now);
  }
  if (!p.answer.complete) ++counted_.incomplete;
  p.answer.id = p.reply_id;
  if (p.from && links_.contains(*p.from)) {
    send(*p.from, node_message_type::answer, encode(p.answer));
  }
}

// Somebody will not answer any more.
void route_node::lose(std::uint64_t outstanding, std::uint64_t now) {
  std::vector<std::uint64_t> concerned;
  for (auto& [id, p] : pending_) {
    if (p.outstanding.erase(outstanding) == 0) continue;
    p.answer.complete = false;
    concerned.push_back(id);
  }
  for (const std::uint64_t id : concerned) go_on(id, now);
}

void route_node::end_late_questions(std::uint64_t now) {
  std::vector<std::uint64_t> late;
  for (auto& [id, p] : pending_) {
    if (now < p.deadline) continue;
    p.answer.complete = false;
    late.push_back(id);
  }
  for (const std::uint64_t id : late) finish(id, now);
  while (!seen_order_.empty()) {
    const auto oldest = seen_.find(seen_order_.front());
    if (oldest != seen_.end() && now < oldest->second.until) break;
    if (oldest != seen_.end()) seen_.erase(oldest);
    seen_order_.pop_front();
  }
}

}  // namespace bloomery
