#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/keyword_search.hpp"
#include "bloomery/hash/hash.hpp"
#include "keyword_wire.hpp"

namespace bloomery {

namespace {

std::uint64_t weight(std::string_view node, std::uint64_t hash) {
  return mix64(hash, hash_key(xxh3_hasher(), node));
}

std::size_t home_of(std::span<const std::string> nodes, std::uint64_t hash) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    if (weight(nodes[i], hash) > weight(nodes[best], hash)) best = i;
  }
  return best;
}

// What a peer said about an error, without anything that a terminal would take for a command.
std::string readable(std::string_view text) {
  std::string out(text.substr(0, 300));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == '\x7f') c = ' ';
  }
  return out;
}

constexpr std::size_t publish_batch_bytes = std::size_t{256} << 10U;

}  // namespace

namespace keyword_wire {

void check_nodes(const std::vector<std::string>& nodes) {
  if (nodes.empty() || nodes.size() > most_keyword_nodes) {
    detail::throw_bad_argument("the number of nodes", std::uint64_t{nodes.size()}, "1 to 1024");
  }
  if (std::set<std::string>(nodes.begin(), nodes.end()).size() != nodes.size()) {
    throw error(errc::bad_argument, "a node is named twice");
  }
}

message converse(const std::string& address, const message& sent, search_step wanted,
                 const keyword_limits& limits, std::uint64_t* bytes_sent,
                 std::uint64_t* bytes_received) {
  try {
    channel connection = connect(address, limits.waiting);
    message_channel peer(std::move(connection));
    peer.send(sent.type, sent.payload);
    message got = peer.receive(limits.message_bytes);
    if (bytes_sent != nullptr) *bytes_sent += peer.bytes_sent();
    if (bytes_received != nullptr) *bytes_received += peer.bytes_received();
    if (got.type == static_cast<std::uint8_t>(search_step::refused)) {
      wire::reader in(got.payload);
      const std::uint64_t code = in.number(static_cast<std::uint64_t>(errc::full));
      throw error(code == 0 ? errc::corrupt : static_cast<errc>(code), readable(in.text()));
    }
    if (got.type != static_cast<std::uint8_t>(wanted)) wire::reader::fail();
    return got;
  } catch (const error& e) {
    const std::string what = e.what();
    throw error(e.code(), what.starts_with(address) ? what : address + ": " + what);
  }
}

}  // namespace keyword_wire

std::size_t keyword_home(std::span<const std::string> nodes, std::string_view word) {
  return home_of(nodes, hash_key(xxh3_hasher(), word));
}
std::size_t document_home(std::span<const std::string> nodes, std::uint64_t document) {
  return home_of(nodes, document);
}

keyword_network::keyword_network(std::vector<std::string> nodes, const keyword_limits& limits)
    : nodes_(std::move(nodes)),
      nodes_id_(keyword_wire::id_of(nodes_)),
      limits_(limits),
      batches_(nodes_.size()) {}

message keyword_network::ask(std::size_t node, std::uint8_t type,
                             std::span<const std::byte> payload, std::uint8_t wanted) {
  using namespace keyword_wire;
  return converse(nodes_[node], {.type = type, .payload = {payload.begin(), payload.end()}},
                  static_cast<keyword_wire::search_step>(wanted), limits_, &sent_, &received_);
}

keyword_network keyword_network::join(std::vector<std::string> nodes,
                                      const keyword_limits& limits) {
  using namespace keyword_wire;
  check_nodes(nodes);
  keyword_network network(std::move(nodes), limits);
  for (std::size_t i = 0; i < network.nodes_.size(); ++i) {
    network.ask(i, number_of(search_step::join), put_nodes(network.nodes_, i),
                number_of(search_step::done));
  }
  return network;
}

keyword_network keyword_network::find(std::span<const std::string> addresses,
                                      const keyword_limits& limits) {
  using namespace keyword_wire;
  std::optional<error> first;
  for (const std::string& address : addresses) {
    try {
      const message got = converse(address, made(search_step::list), search_step::listed, limits);
      wire::reader in(got.payload);
      node_list said = take_nodes(in);
      in.expect_end();
      return {std::move(said.nodes), limits};
    } catch (const error& e) {
      if (!first) first = e;
    }
  }
  if (!first) throw error(errc::bad_argument, "there is no node to ask");
  throw error(*first);
}

void keyword_network::publish(std::string_view name, std::span<const std::string_view> words) {
  using namespace keyword_wire;
  if (name.empty() || name.size() > longest_document) {
    detail::throw_bad_argument("the length of a document's name", std::uint64_t{name.size()},
                               "1 to 4096 bytes");
  }
  const std::uint64_t document = keyword_wire::number_of_document(name);
  std::vector<std::vector<std::string_view>> of(nodes_.size());
  for (const std::string_view word : words) {
    if (word.empty() || word.size() > longest_keyword) {
      detail::throw_bad_argument("the length of a word", std::uint64_t{word.size()},
                                 "1 to 4096 bytes");
    }
    of[keyword_home(nodes_, word)].push_back(word);
  }
  // Every node hears of it: one that has none of its words now may have had some before.
  const std::size_t home = document_home(nodes_, document);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    put_published(batches_[i], {.document = document,
                                .name = i == home ? name : std::string_view{},
                                .words = std::move(of[i])});
    if (batches_[i].size() >= publish_batch_bytes) send_batch(i);
  }
}

void keyword_network::send_batch(std::size_t node) {
  using namespace keyword_wire;
  if (batches_[node].empty()) return;
  wire::buffer out;
  wire::put(out, nodes_id_);
  out.insert(out.end(), batches_[node].begin(), batches_[node].end());
  ask(node, number_of(search_step::publish), out, number_of(search_step::done));
  batches_[node].clear();
}

void keyword_network::flush() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) send_batch(i);
}

keyword_answer keyword_network::search(std::span<const std::string> words,
                                       const search_options& o) {
  using namespace keyword_wire;
  if (words.empty() || words.size() > most_keywords) {
    detail::throw_bad_argument("the number of words", std::uint64_t{words.size()}, "1 to 64");
  }
  keyword_answer result;
  result.counts.resize(words.size());
  std::map<std::size_t, std::vector<std::size_t>> of;  // the places of the words of each node
  for (std::size_t i = 0; i < words.size(); ++i) of[keyword_home(nodes_, words[i])].push_back(i);
  question q{.filters = o.filters, .nodes_id = nodes_id_, .stops = {}, .set = {}};
  for (const auto& [node, places] : of) {
    stop s{.node = node, .words = {}, .count = 0};
    for (const std::size_t place : places) s.words.push_back(words[place]);
    wire::buffer out;
    wire::put(out, nodes_id_);
    put_words(out, s.words);
    const message got =
        ask(node, number_of(search_step::count), out, number_of(search_step::counted));
    wire::reader in(got.payload);
    for (const std::size_t place : places) result.counts[place] = in.number();
    s.count = in.number();
    in.expect_end();
    q.stops.push_back(std::move(s));
  }
  result.nodes = q.stops.size();
  std::ranges::stable_sort(q.stops, {}, &stop::count);
  if (q.stops.front().count == 0) return result;
  const message got =
      ask(static_cast<std::size_t>(q.stops.front().node), number_of(search_step::find),
          put_question(q), number_of(search_step::found));
  const found f = take_found(got.payload);
  result.bytes_forward = f.forward;
  result.bytes_back = f.back;
  result.bytes_lists = f.lists;
  result.documents = names_of(f.documents);
  return result;
}

// Documents without a name are half published: their publisher has gone, or a node was full.
std::vector<std::string> keyword_network::names_of(std::span<const std::uint64_t> documents) {
  using namespace keyword_wire;
  std::map<std::size_t, list> of;
  for (const std::uint64_t d : documents) of[document_home(nodes_, d)].push_back(d);
  std::vector<std::string> names;
  for (const auto& [node, all] : of) {
    for (std::size_t first = 0; first < all.size(); first += most_asked_names) {
      const auto some =
          std::span(all).subspan(first, std::min(most_asked_names, all.size() - first));
      wire::buffer out;
      wire::put(out, nodes_id_);
      put_list(out, some);
      const message got =
          ask(node, number_of(search_step::names), out, number_of(search_step::named));
      wire::reader in(got.payload);
      for (const std::uint64_t document : some) {
        const std::string_view name = in.text();
        if (name.empty()) continue;
        if (number_of_document(name) != document) {
          throw error(errc::corrupt, nodes_[node] + ": it has another name for a document");
        }
        names.emplace_back(name);
      }
      in.expect_end();
    }
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace bloomery
