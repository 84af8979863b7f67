#include <algorithm>
#include <chrono>
#include <iterator>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/keyword_search.hpp"
#include "bloomery/exchange/sent_filter.hpp"
#include "bloomery/hash/hash.hpp"
#include "keyword_wire.hpp"

namespace bloomery {

namespace keyword_wire {
namespace {

// Those of our documents that may be in the answer, by what the node before sent.
list still_possible(std::span<const std::uint64_t> ours, const question& q,
                    std::size_t message_bytes) {
  if (q.given == form::everything) return {ours.begin(), ours.end()};
  if (q.given == form::documents) {
    wire::reader in(q.set);
    list both = common_with(in, ours);
    in.expect_end();
    return both;
  }
  // A few bytes can claim many parts.
  if (sent_filter::memory_bytes(q.set) > 4 * std::uint64_t{message_bytes}) wire::reader::fail();
  const sent_filter theirs(q.set);
  list kept;
  std::copy_if(ours.begin(), ours.end(), std::back_inserter(kept),
               [&](std::uint64_t document) { return theirs.contains(hash_of(document)); });
  return kept;
}

// Sends a filter when it takes fewer bytes, with its false positives that come back, than the list.
void put_set(question& q, const list& kept) {
  q.set.clear();
  put_list(q.set, kept);
  q.given = form::documents;
  if (!q.filters || kept.empty()) return;
  const auto list_bytes = static_cast<double>(q.set.size());
  const double each = list_bytes / static_cast<double>(kept.size());
  const auto next = static_cast<double>(q.stops[q.place].count);
  const sent_choice choice = choose_sent_filter(static_cast<double>(kept.size()), next, each);
  if (choice.fpr_bits == 0 || choice.bytes() >= list_bytes) return;
  list hashes;
  for (const std::uint64_t document : kept) hashes.push_back(hash_of(document));
  const sent_filter keys(std::move(hashes), choice.fpr_bits);
  q.set.assign(keys.message().begin(), keys.message().end());
  q.given = form::keys;
}

constexpr std::uint64_t name_overhead = 112;         // what a name takes in memory beside its bytes
constexpr std::chrono::seconds longest_silence{10};  // of somebody who has said nothing yet

}  // namespace
}  // namespace keyword_wire

void keyword_node::join(std::vector<std::string> nodes, std::size_t self) {
  using namespace keyword_wire;
  check_nodes(nodes);
  if (self >= nodes.size()) {
    detail::throw_bad_argument("the place of a node", std::uint64_t{self},
                               "below the number of nodes");
  }
  const std::lock_guard lock(mutex_);
  if (nodes_.empty()) {
    nodes_id_ = id_of(nodes);
    nodes_ = std::move(nodes);
    self_ = self;
  } else if (nodes != nodes_ || self != self_) {
    throw error(errc::mismatch, "this node is one of another list of " +
                                    detail::to_text(std::uint64_t{nodes_.size()}) +
                                    " nodes; name the same ones, in the same order");
  }
}

void keyword_node::serve(channel connection) {
  using namespace keyword_wire;
  message_channel peer(std::move(connection));
  const auto first = std::min<std::chrono::milliseconds>(limits_.waiting.idle, longest_silence);
  peer.set_patience({.idle = first, .total = first});
  for (bool greeted = false;; greeted = true) {
    message got;
    try {
      got = peer.receive(limits_.message_bytes);
      if (!greeted) peer.set_patience(limits_.waiting);
    } catch (const error& e) {
      if (e.code() == errc::io) return;  // it is done, or gone
      throw;
    }
    try {
      const message reply = answer(got);
      peer.send(reply.type, reply.payload);
      if (!peer.has_room()) peer.flush();  // who asks and does not listen shall not fill our memory
    } catch (const error& e) {
      wire::buffer out;
      wire::put(out, static_cast<std::uint64_t>(e.code()));
      wire::put_text(out, e.what());
      peer.send(static_cast<std::uint8_t>(search_step::refused), out);
      peer.flush();
      if (e.code() == errc::corrupt) throw;
    }
  }
}

message keyword_node::answer(const message& got) {
  using namespace keyword_wire;
  switch (static_cast<search_step>(got.type)) {
    case search_step::list: {
      const std::lock_guard lock(mutex_);
      if (nodes_.empty()) {
        throw error(errc::mismatch, "this node has no words yet; publish documents first");
      }
      return made(search_step::listed, put_nodes(nodes_, self_));
    }
    case search_step::join: {
      wire::reader in(got.payload);
      node_list said = take_nodes(in);
      in.expect_end();
      join(std::move(said.nodes), said.self);
      return made(search_step::done);
    }
    case search_step::publish: return answer_publish(got);
    case search_step::count: return answer_count(got);
    case search_step::find: return answer_find(got);
    case search_step::names: return answer_names(got);
    default: wire::reader::fail();
  }
}

// Under the lock.
void keyword_node::check_list(std::uint64_t id) const {
  if (!nodes_.empty() && id == nodes_id_) return;
  throw error(errc::mismatch, nodes_.empty() ? "this node has no words yet; publish documents first"
                                             : "this node is one of another list of nodes");
}

// Documents are read one after the other under the lock: a view of a word takes 16 bytes, however
// short the word is, and many may publish at once.
message keyword_node::answer_publish(const message& got) {
  using namespace keyword_wire;
  wire::reader in(got.payload);
  const std::uint64_t id = in.number();
  const std::lock_guard lock(mutex_);
  check_list(id);
  while (!in.at_end()) {
    const published p = take_published(in);
    // A name of another document would end every search that finds this one.
    if (!p.name.empty() && number_of_document(p.name) != p.document) wire::reader::fail();
    const std::uint64_t more = inverted_index::bytes_of(p.words) + p.name.size() + name_overhead;
    if (index_.bytes() + name_bytes_ + more > limits_.memory_bytes) {
      throw error(errc::full, "this node has no room for more than its " +
                                  detail::to_text(index_.documents()) + " documents");
    }
    index_.set(p.document, p.words);
    if (p.name.empty()) continue;
    std::string& name = names_[p.document];
    name_bytes_ += p.name.size() + (name.empty() ? name_overhead : 0);
    name_bytes_ -= name.size();
    name = p.name;
  }
  return made(search_step::done);
}

// The documents that have all of these words.
std::vector<std::uint64_t> keyword_node::common(std::span<const std::string> words) {
  using namespace keyword_wire;
  list both;
  bool first = true;
  for (const std::string& word : words) {
    list documents = index_.documents(word);
    both = first ? std::move(documents) : intersection(both, documents);
    first = false;
  }
  return both;
}

message keyword_node::answer_count(const message& got) {
  using namespace keyword_wire;
  wire::reader in(got.payload);
  const std::uint64_t id = in.number();
  const std::vector<std::string> words = take_words(in);
  in.expect_end();
  const std::lock_guard lock(mutex_);
  check_list(id);
  wire::buffer counts;
  for (const std::string& word : words) wire::put(counts, index_.count(word));
  wire::put(counts, common(words).size());
  return made(search_step::counted, std::move(counts));
}

message keyword_node::answer_find(const message& got) {
  using namespace keyword_wire;
  question q = take_question(got.payload);
  list ours;
  std::string next;
  {
    const std::lock_guard lock(mutex_);
    check_list(q.nodes_id);
    if (q.stops[q.place].node != self_) wire::reader::fail();
    ours = common(q.stops[q.place].words);
    if (q.place + 1 < q.stops.size()) {
      const std::uint64_t node = q.stops[q.place + 1].node;
      if (node >= nodes_.size()) wire::reader::fail();
      next = nodes_[static_cast<std::size_t>(node)];
    }
  }
  const list kept = still_possible(ours, q, limits_.message_bytes);
  found f;
  if (++q.place == q.stops.size()) {
    f.documents = kept;
  } else {
    if (!kept.empty()) {
      put_set(q, kept);
      const message forward = made(search_step::find, put_question(q));
      const message back = converse(next, forward, search_step::found, limits_);
      f = take_found(back.payload, &ours);
      f.forward += forward.payload.size();
      f.back += back.payload.size();
    }
    f.lists += list_bytes(ours);
  }
  return made(search_step::found, put_found(f));
}

message keyword_node::answer_names(const message& got) {
  using namespace keyword_wire;
  wire::reader in(got.payload);
  const std::uint64_t id = in.number();
  const list documents = take_list(in, most_asked_names);
  in.expect_end();
  const std::lock_guard lock(mutex_);
  check_list(id);
  wire::buffer names;
  for (const std::uint64_t document : documents) {
    const auto at = names_.find(document);
    wire::put_text(names, at == names_.end() ? "" : at->second);
    if (names.size() > limits_.message_bytes) {
      throw error(errc::full, "names that are longer than a message");
    }
  }
  return made(search_step::named, std::move(names));
}

}  // namespace bloomery
