// The messages of keyword search, as bytes. All that is read was sent by somebody else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bloomery/exchange/keyword_search.hpp"
#include "bloomery/hash/hash.hpp"
#include "wire.hpp"

namespace bloomery::keyword_wire {

enum class search_step : std::uint8_t {
  list = 1,  // the list of nodes, please
  listed,
  join,  // this is the list, and this your place in it
  done,
  publish,
  count,
  counted,
  find,
  found,
  names,
  named,
  refused,  // a code of errors, and why
};
constexpr std::uint8_t number_of(search_step s) { return static_cast<std::uint8_t>(s); }

using list = std::vector<std::uint64_t>;

inline message made(search_step type, wire::buffer payload = {}) {
  return {.type = static_cast<std::uint8_t>(type), .payload = std::move(payload)};
}

// Throws errc::bad_argument unless there are nodes, not too many, and none twice.
void check_nodes(const std::vector<std::string>& nodes);

// One question and one answer over a connection of its own. Errors name the node.
message converse(const std::string& address, const message& sent, search_step wanted,
                 const keyword_limits& limits, std::uint64_t* bytes_sent = nullptr,
                 std::uint64_t* bytes_received = nullptr);

// The number of a document.
inline std::uint64_t number_of_document(std::string_view name) {
  return hash_key(xxh3_hasher(), name);
}
inline std::uint64_t hash_of(std::uint64_t document) { return hash_key(xxh3_hasher(), document); }

// ---- lists of documents -----------------------------------------------------------------------

// Sorted numbers as the gaps between them.
inline void put_list(wire::buffer& out, std::span<const std::uint64_t> sorted) {
  wire::put(out, sorted.size());
  std::uint64_t before = 0;
  for (const std::uint64_t value : sorted) {
    wire::put(out, value - before);
    before = value;
  }
}

inline std::uint64_t list_bytes(std::span<const std::uint64_t> sorted) {
  std::uint64_t bytes = wire::size_of(sorted.size());
  std::uint64_t before = 0;
  for (const std::uint64_t value : sorted) {
    bytes += wire::size_of(value - before);
    before = value;
  }
  return bytes;
}

// Calls take(number) for each of the list.
template <class Take>
void read_list(wire::reader& in, std::uint64_t most, Take take) {
  const std::uint64_t size = in.number(std::min<std::uint64_t>(most, in.rest().size()));
  std::uint64_t before = 0;
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::uint64_t gap = in.number();
    if ((i > 0 && gap == 0) || gap > UINT64_MAX - before) wire::reader::fail();
    before += gap;
    take(before);
  }
}

// A number takes a byte in the message and eight in memory, so the receiver says how many may come.
inline list take_list(wire::reader& in, std::uint64_t most) {
  list all;
  read_list(in, most, [&](std::uint64_t document) { all.push_back(document); });
  return all;
}

// Those of ours that are in a list of any length.
inline list common_with(wire::reader& in, std::span<const std::uint64_t> ours) {
  list both;
  auto at = ours.begin();
  read_list(in, UINT64_MAX, [&](std::uint64_t document) {
    while (at != ours.end() && *at < document) ++at;
    if (at != ours.end() && *at == document) both.push_back(document);
  });
  return both;
}

// In one question; names of 4 KiB each are a message of 8 MiB then.
inline constexpr std::size_t most_asked_names = 2000;

inline list intersection(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  list both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

// ---- nodes ------------------------------------------------------------------------------------

struct node_list {
  std::vector<std::string> nodes;
  std::size_t self = 0;
};

inline wire::buffer put_nodes(std::span<const std::string> nodes, std::size_t self) {
  wire::buffer out;
  wire::put(out, nodes.size());
  for (const std::string& node : nodes) wire::put_text(out, node);
  wire::put(out, self);
  return out;
}

inline node_list take_nodes(wire::reader& in) {
  constexpr std::size_t longest_address = 300;
  node_list all;
  const std::uint64_t size = in.number(most_keyword_nodes);
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::string_view address = in.text();
    if (address.empty() || address.size() > longest_address) wire::reader::fail();
    all.nodes.emplace_back(address);
  }
  all.self = static_cast<std::size_t>(in.number());
  if (all.self >= size) wire::reader::fail();
  return all;
}

// Names a list, so that nobody works with two different ones.
inline std::uint64_t id_of(std::span<const std::string> nodes) {
  const wire::buffer bytes = put_nodes(nodes, 0);
  return XXH3_64bits(bytes.data(), bytes.size());
}

// ---- documents and words ----------------------------------------------------------------------

struct published {
  std::uint64_t document = 0;
  std::string_view name;  // empty where another node keeps it
  std::vector<std::string_view> words;
};

inline void put_published(wire::buffer& out, const published& p) {
  wire::put(out, p.document);
  wire::put_text(out, p.name);
  wire::put(out, p.words.size());
  for (const std::string_view word : p.words) wire::put_text(out, word);
}

inline published take_published(wire::reader& in) {
  published p;
  p.document = in.number();
  p.name = in.text();
  if (p.name.size() > longest_document) wire::reader::fail();
  const std::uint64_t words = in.number(in.rest().size() / 2);  // two bytes each at least
  p.words.reserve(static_cast<std::size_t>(words));             // and not twice as much
  for (std::uint64_t i = 0; i < words; ++i) {
    p.words.push_back(in.text());
    if (p.words.back().empty() || p.words.back().size() > longest_keyword) wire::reader::fail();
  }
  return p;
}

inline void put_words(wire::buffer& out, std::span<const std::string> words) {
  wire::put(out, words.size());
  for (const std::string& word : words) wire::put_text(out, word);
}

inline std::vector<std::string> take_words(wire::reader& in) {
  std::vector<std::string> words;
  const std::uint64_t size = in.number(most_keywords);
  for (std::uint64_t i = 0; i < size; ++i) words.emplace_back(in.text());
  if (words.empty()) wire::reader::fail();
  return words;
}

// ---- questions and answers --------------------------------------------------------------------

enum class form : std::uint8_t { everything = 0, documents, keys };

struct stop {  // a node of the chain and its words
  std::uint64_t node = 0;
  std::vector<std::string> words;
  std::uint64_t count = 0;  // of documents that have all of them
};

struct question {  // what goes from node to node
  bool filters = true;
  std::uint64_t nodes_id = 0;
  std::vector<stop> stops;
  std::size_t place = 0;  // the stop that it is for
  form given = form::everything;
  wire::buffer set;  // documents or a filter of them
};

inline wire::buffer put_question(const question& q) {
  wire::buffer out;
  wire::put(out, q.filters ? 1 : 0);
  wire::put(out, q.nodes_id);
  wire::put(out, q.stops.size());
  for (const stop& s : q.stops) {
    wire::put(out, s.node);
    put_words(out, s.words);
    wire::put(out, s.count);
  }
  wire::put(out, q.place);
  wire::put(out, static_cast<std::uint64_t>(q.given));
  wire::put_bytes(out, q.set);
  return out;
}

// No node is in a chain twice, so that nobody can send a question around in circles.
inline question take_question(std::span<const std::byte> payload) {
  wire::reader in(payload);
  question q;
  q.filters = in.number(1) != 0;
  q.nodes_id = in.number();
  const std::uint64_t stops = in.number(most_keywords);
  std::set<std::uint64_t> nodes;
  std::size_t words = 0;
  for (std::uint64_t i = 0; i < stops; ++i) {
    stop s;
    s.node = in.number();
    s.words = take_words(in);
    s.count = in.number();
    words += s.words.size();
    if (!nodes.insert(s.node).second || words > most_keywords) wire::reader::fail();
    q.stops.push_back(std::move(s));
  }
  q.place = static_cast<std::size_t>(in.number());
  if (q.place >= stops) wire::reader::fail();
  q.given = static_cast<form>(in.number(static_cast<std::uint64_t>(form::keys)));
  const auto set = in.bytes();
  q.set.assign(set.begin(), set.end());
  in.expect_end();
  return q;
}

struct found {
  list documents;
  std::uint64_t forward = 0;
  std::uint64_t back = 0;
  std::uint64_t lists = 0;
};

inline wire::buffer put_found(const found& f) {
  wire::buffer out;
  for (const std::uint64_t number : {f.forward, f.back, f.lists}) wire::put(out, number);
  put_list(out, f.documents);
  return out;
}

// With a list of ours, only what is in it.
inline found take_found(std::span<const std::byte> payload, const list* ours = nullptr) {
  wire::reader in(payload);
  found f;
  for (std::uint64_t* number : {&f.forward, &f.back, &f.lists}) *number = in.number();
  f.documents = ours == nullptr ? take_list(in, UINT64_MAX) : common_with(in, *ours);
  in.expect_end();
  return f;
}

}  // namespace bloomery::keyword_wire
