// Documents that have all of several words, where each word's list of documents is on one of many
// hosts (Reynolds and Vahdat 2003; Broder and Mitzenmacher 2004, 5.3).
//
//     asker -> node 1 -----> node 2 -----> node 3     forward: what may still be in the answer
//     asker <- node 1 <----- node 2 <----- node 3     back: the documents, without those that are
//                                                     not in the node's own lists
//
// Node 1 sends a filter of its list. Node 2 sends on a filter of its own documents that pass, or
// these themselves where that takes fewer bytes, and so on. What the last node keeps goes back
// along the chain, and each node takes out what is not in its list: so the answer is exact. Filters
// are sized for the list that they meet (sent_filter.hpp), so the lengths of the lists are asked
// for first, and the shortest list begins.
//
//     keyword_node node;                                              // each host:
//     serve_connections(door, {}, [&](channel c) { node.serve(std::move(c)); }, stop);
//
//     auto network = keyword_network::join({"one:4711", "two:4711"});  // whoever publishes
//     network.publish("notes/a.txt", words);
//     network.flush();
//     keyword_network::find({"two:4711"}).search(words).documents;     // whoever asks
//
// A word belongs to the node with the greatest hash of node and word (Thaler and Ravishankar 1998):
// everybody who has the list of nodes knows where a word is, and a node more or less moves the
// words of one node only. Nodes keep the list, and refuse who works with another one.
//
// A document is the 64-bit hash of its name, because names are too long to send about: names are
// kept by the node that the hash belongs to. "Exact" is up to two documents with one hash, which
// among a million occur with probability 3e-8.
//
// Nothing is encrypted or authenticated: whoever reaches a node can publish and ask. He cannot make
// it read, keep or connect to more than its limits and its list allow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/exchange/transport.hpp"

namespace bloomery {

inline constexpr std::size_t longest_keyword = 4096;   // bytes
inline constexpr std::size_t longest_document = 4096;  // bytes of its name
inline constexpr std::size_t most_keywords = 64;       // of a question
inline constexpr std::size_t most_keyword_nodes = 1024;

// Words and the documents that have them, on one host.
class inverted_index {
 public:
  // Makes these the words of the document, in place of those that it had; no words remove it.
  void set(std::uint64_t document, std::span<const std::string_view> words);
  // The documents of a word, sorted, each once; none for a word that is not here.
  [[nodiscard]] std::vector<std::uint64_t> documents(std::string_view word) const;
  [[nodiscard]] std::uint64_t count(std::string_view word) const;

  [[nodiscard]] std::uint64_t words() const noexcept { return lists_.size(); }
  [[nodiscard]] std::uint64_t documents() const noexcept { return words_of_.size(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }  // of memory
  // The most that a document with these words takes.
  [[nodiscard]] static std::uint64_t bytes_of(std::span<const std::string_view> words) noexcept;

 private:
  // Trees, not arrays or hash tables: whoever publishes chooses the numbers of his documents, and
  // must not be able to make a step take long.
  using list_map = std::map<std::string, std::set<std::uint64_t>, std::less<>>;

  void remove(std::uint64_t document);

  list_map lists_;
  std::map<std::uint64_t, std::vector<list_map::iterator>> words_of_;
  std::uint64_t bytes_ = 0;
};

// The number of the node that a word, or the hash of a document, belongs to. There must be a node.
[[nodiscard]] std::size_t keyword_home(std::span<const std::string> nodes, std::string_view word);
[[nodiscard]] std::size_t document_home(std::span<const std::string> nodes, std::uint64_t document);

struct keyword_limits {
  std::uint64_t memory_bytes = std::uint64_t{1} << 30U;  // for words and names
  std::size_t message_bytes = std::size_t{8} << 20U;     // of one message
  patience waiting{.idle = std::chrono::seconds(30), .total = std::chrono::minutes(10)};
};

// A host with its words. Any number of threads may serve connections.
class keyword_node {
 public:
  explicit keyword_node(const keyword_limits& limits = {}) : limits_(limits) {}

  // The list of all nodes, and which of them this is. Without it the first who publishes says it:
  // call this before serving where strangers may come. Another list is errc::mismatch after that.
  void join(std::vector<std::string> nodes, std::size_t self);

  // Answers until the peer ends the connection, of which the first question comes within ten
  // seconds. What is refused is told to the peer. Throws errc::corrupt when it does not keep to the
  // protocol.
  void serve(channel connection);

 private:
  message answer(const message& got);
  message answer_publish(const message& got);
  message answer_count(const message& got);
  message answer_find(const message& got);
  message answer_names(const message& got);
  [[nodiscard]] std::vector<std::uint64_t> common(std::span<const std::string> words);
  void check_list(std::uint64_t id) const;

  keyword_limits limits_;
  mutable std::mutex mutex_;  // for all below; not held while a peer is waited for
  std::vector<std::string> nodes_;
  std::uint64_t nodes_id_ = 0;
  std::size_t self_ = 0;
  inverted_index index_;
  std::map<std::uint64_t, std::string> names_;
  std::uint64_t name_bytes_ = 0;
};

struct search_options {
  bool filters = true;  // false sends the documents themselves at every step, for comparison
};

struct keyword_answer {
  std::vector<std::string> documents;  // by name; exactly those that have all words
  std::vector<std::uint64_t> counts;   // the number of documents of each word
  std::size_t nodes = 0;               // in the chain
  std::uint64_t bytes_forward = 0;     // in the payloads of messages from node to node
  std::uint64_t bytes_back = 0;        // in those of the way back
  std::uint64_t bytes_lists = 0;       // what whole lists would take, of all nodes but the last
};

// All nodes, for who publishes or asks. Errors name the node.
class keyword_network {
 public:
  // Tells each node the list of all, which are addresses as connect() has them, and as the nodes
  // themselves reach each other. Throws errc::mismatch when one has another list, errc::io when one
  // does not answer.
  [[nodiscard]] static keyword_network join(std::vector<std::string> nodes,
                                            const keyword_limits& limits = {});
  // Asks for the list: of the addresses the first that answers. errc::mismatch when it has none.
  [[nodiscard]] static keyword_network find(std::span<const std::string> addresses,
                                            const keyword_limits& limits = {});

  // Makes these the words of a document, in place of those that it had. They arrive with flush() or
  // before. Throws errc::bad_argument for names and words that are too long, errc::full when a node
  // has no room. A document that has reached some of its nodes only (one was full, or the publisher
  // has gone) is found by fewer words, or not at all without its name, until it is published again.
  void publish(std::string_view name, std::span<const std::string_view> words);
  void flush();

  // Throws errc::bad_argument without words or with more than most_keywords.
  [[nodiscard]] keyword_answer search(std::span<const std::string> words,
                                      const search_options& o = {});

  [[nodiscard]] const std::vector<std::string>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] std::uint64_t bytes_sent() const noexcept { return sent_; }
  [[nodiscard]] std::uint64_t bytes_received() const noexcept { return received_; }

 private:
  keyword_network(std::vector<std::string> nodes, const keyword_limits& limits);
  message ask(std::size_t node, std::uint8_t type, std::span<const std::byte> payload,
              std::uint8_t wanted);
  void send_batch(std::size_t node);
  std::vector<std::string> names_of(std::span<const std::uint64_t> documents);

  std::vector<std::string> nodes_;
  std::uint64_t nodes_id_;
  keyword_limits limits_;
  std::vector<std::vector<std::byte>> batches_;  // documents for each node
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace bloomery
