#include "bloomery/exchange/keyword_search.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/sent_filter.hpp"
#include "bloomery/hash/hash.hpp"
#include "wire.hpp"

namespace bloomery {

namespace {

enum class search_step : std::uint8_t { count = 1, counted, find, found, end };
enum class form : std::uint8_t { everything = 0, documents, keys };

constexpr std::size_t most_words = 64;
constexpr std::size_t message_bytes = std::size_t{1} << 28U;

using list = std::vector<std::uint64_t>;

std::uint64_t hash_of(std::uint64_t document) { return hash_key(xxh3_hasher(), document); }

// Sorted numbers as the gaps between them.
void put_list(wire::buffer& out, std::span<const std::uint64_t> sorted) {
  wire::put(out, sorted.size());
  std::uint64_t before = 0;
  for (const std::uint64_t value : sorted) {
    wire::put(out, value - before);
    before = value;
  }
}

list take_list(wire::reader& in) {
  const std::uint64_t size = in.number(in.rest().size());  // a byte each at least
  list all;
  all.reserve(static_cast<std::size_t>(size));
  std::uint64_t before = 0;
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::uint64_t gap = in.number();
    if ((i > 0 && gap == 0) || gap > UINT64_MAX - before) wire::reader::fail();
    before += gap;
    all.push_back(before);
  }
  return all;
}

list intersection(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  list both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

struct question {  // what goes from node to node
  bool filters = true;
  std::vector<std::string> words;
  list counts;             // of the words before this one; of all words when `find` is asked
  std::uint64_t node = 0;  // the number of the word that it is about
  form given = form::everything;
  wire::buffer set;  // documents or a filter of them
};

wire::buffer put_question(const question& q) {
  wire::buffer out;
  wire::put(out, q.filters ? 1 : 0);
  wire::put(out, q.words.size());
  for (const std::string& word : q.words) wire::put_text(out, word);
  wire::put(out, q.counts.size());
  for (const std::uint64_t count : q.counts) wire::put(out, count);
  wire::put(out, q.node);
  wire::put(out, static_cast<std::uint64_t>(q.given));
  wire::put_bytes(out, q.set);
  return out;
}

question take_question(const message& got) {
  wire::reader in(got.payload);
  question q;
  q.filters = in.number(1) != 0;
  const std::uint64_t words = in.number(most_words);
  for (std::uint64_t i = 0; i < words; ++i) q.words.emplace_back(in.text());
  const std::uint64_t counts = in.number(words);
  for (std::uint64_t i = 0; i < counts; ++i) q.counts.push_back(in.number());
  q.node = in.number();
  q.given = static_cast<form>(in.number(static_cast<std::uint64_t>(form::keys)));
  const auto set = in.bytes();
  q.set.assign(set.begin(), set.end());
  in.expect_end();
  if (q.node >= words) wire::reader::fail();
  return q;
}

struct answer {
  list documents;
  std::uint64_t forward = 0;
  std::uint64_t back = 0;
};

wire::buffer put_answer(const answer& a) {
  wire::buffer out;
  wire::put(out, a.forward);
  wire::put(out, a.back);
  put_list(out, a.documents);
  return out;
}

answer take_answer(const message& got) {
  wire::reader in(got.payload);
  answer a;
  a.forward = in.number();
  a.back = in.number();
  a.documents = take_list(in);
  in.expect_end();
  return a;
}

void send(message_channel& to, search_step type, std::span<const std::byte> payload) {
  to.send(static_cast<std::uint8_t>(type), payload);
}

message receive(message_channel& from, search_step wanted) {
  message got = from.receive(message_bytes);
  if (got.type != static_cast<std::uint8_t>(wanted)) wire::reader::fail();
  return got;
}

// Those of our documents that may be in the answer, by what the node before sent.
list still_possible(std::span<const std::uint64_t> ours, const question& q) {
  if (q.given == form::everything) return {ours.begin(), ours.end()};
  if (q.given == form::documents) {
    wire::reader in(q.set);
    const list theirs = take_list(in);
    in.expect_end();
    return intersection(ours, theirs);
  }
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
  const auto next = static_cast<double>(q.counts[static_cast<std::size_t>(q.node)]);
  const sent_choice choice = choose_sent_filter(static_cast<double>(kept.size()), next, each);
  if (choice.fpr_bits == 0 || choice.bytes() >= list_bytes) return;
  list hashes;
  for (const std::uint64_t document : kept) hashes.push_back(hash_of(document));
  const sent_filter keys(std::move(hashes), choice.fpr_bits);
  q.set.assign(keys.message().begin(), keys.message().end());
  q.given = form::keys;
}

std::span<const std::uint64_t> documents_for(const inverted_index& index, const question& q,
                                             const message_channel* next) {
  const auto node = static_cast<std::size_t>(q.node);
  if (node + 1 < q.words.size() && next == nullptr) {
    throw error(errc::bad_argument, "there are more words than nodes");
  }
  return index.documents(q.words[node]);
}

void answer_count(const inverted_index& index, const message& got, message_channel& previous,
                  message_channel* next) {
  question q = take_question(got);
  q.counts.push_back(documents_for(index, q, next).size());
  if (++q.node == q.words.size()) {
    wire::buffer counts;
    for (const std::uint64_t count : q.counts) wire::put(counts, count);
    send(previous, search_step::counted, counts);
    return;
  }
  send(*next, search_step::count, put_question(q));
  send(previous, search_step::counted, receive(*next, search_step::counted).payload);
}

void answer_find(const inverted_index& index, const message& got, message_channel& previous,
                 message_channel* next) {
  question q = take_question(got);
  if (q.counts.size() != q.words.size()) wire::reader::fail();
  const auto ours = documents_for(index, q, next);
  const list kept = still_possible(ours, q);
  answer a;
  if (++q.node == q.words.size()) {
    a.documents = kept;
  } else if (!kept.empty()) {
    put_set(q, kept);
    const wire::buffer forward = put_question(q);
    send(*next, search_step::find, forward);
    const message back = receive(*next, search_step::found);
    a = take_answer(back);
    a.forward += forward.size();
    a.back += back.payload.size();
    a.documents = intersection(a.documents, ours);
  }
  send(previous, search_step::found, put_answer(a));
}

}  // namespace

void inverted_index::add(std::string_view word, std::uint64_t document) {
  const auto at = lists_.find(word);
  list& documents = at != lists_.end() ? at->second : lists_[std::string(word)];
  if (documents.empty() || documents.back() < document) {
    documents.push_back(document);
    return;
  }
  const auto place = std::lower_bound(documents.begin(), documents.end(), document);
  if (*place != document) documents.insert(place, document);
}

std::span<const std::uint64_t> inverted_index::documents(std::string_view word) const {
  const auto at = lists_.find(word);
  if (at == lists_.end()) return {};
  return at->second;
}

search_result search_words(message_channel& first, std::span<const std::string> words,
                           const search_options& o) {
  if (words.empty() || words.size() > most_words) {
    detail::throw_bad_argument("the number of words", std::uint64_t{words.size()}, "1 to 64");
  }
  question q{.filters = o.filters, .words = {words.begin(), words.end()}, .counts = {}, .set = {}};
  send(first, search_step::count, put_question(q));
  const message counted = receive(first, search_step::counted);
  wire::reader in(counted.payload);
  for (std::size_t i = 0; i < words.size(); ++i) q.counts.push_back(in.number());
  in.expect_end();
  search_result result{.documents = {}, .counts = q.counts};
  if (std::find(q.counts.begin(), q.counts.end(), 0U) != q.counts.end()) return result;
  send(first, search_step::find, put_question(q));
  answer a = take_answer(receive(first, search_step::found));
  result.documents = std::move(a.documents);
  result.bytes_forward = a.forward;
  result.bytes_back = a.back;
  return result;
}

void end_search(message_channel& first) {
  send(first, search_step::end, {});
  first.finish();
}

void serve_words(const inverted_index& index, message_channel& previous, message_channel* next) {
  for (;;) {
    const message got = previous.receive(message_bytes);
    switch (static_cast<search_step>(got.type)) {
      case search_step::count: answer_count(index, got, previous, next); break;
      case search_step::find: answer_find(index, got, previous, next); break;
      case search_step::end:
        if (next != nullptr) end_search(*next);
        previous.finish();
        return;
      default: wire::reader::fail();
    }
  }
}

}  // namespace bloomery
