// Documents that have all of several words, where each word's list of documents is on another host
// (Reynolds and Vahdat 2003; Broder and Mitzenmacher 2004, 5.3).
//
//     asker -> node 1 -----> node 2 -----> node 3     forward: what may still be in the answer
//     asker <- node 1 <----- node 2 <----- node 3     back: the documents, without those that are
//                                                     not in the node's own list
//
// Node 1 sends a filter of its list. Node 2 sends on a filter of its own documents that pass, or
// these themselves where that takes fewer bytes, and so on. What the last node keeps goes back
// along the chain, and each node takes out what is not in its list: so the answer is exact.
//
// Filters are sized for the list that they meet (sent_filter.hpp), so the lengths of the lists go
// around first. Asking for the rarest word first takes the fewest bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/exchange/transport.hpp"

namespace bloomery {

// The part of the index that a node holds: words and the documents that have them. A document is a
// number, because names are too long to send; a hash of the name will do.
class inverted_index {
 public:
  void add(std::string_view word, std::uint64_t document);
  // The documents of a word, sorted, each once; none for a word that this node does not hold.
  [[nodiscard]] std::span<const std::uint64_t> documents(std::string_view word) const;

 private:
  std::map<std::string, std::vector<std::uint64_t>, std::less<>> lists_;
};

struct search_options {
  bool filters = true;  // false sends the documents themselves at every step, for comparison
};

struct search_result {
  std::vector<std::uint64_t> documents;  // sorted; exactly those that have all words
  std::vector<std::uint64_t> counts;     // the number of documents of each word
  std::uint64_t bytes_forward = 0;       // in the payloads of messages from node to node
  std::uint64_t bytes_back = 0;          // in those of the way back
};

// The asker: word i is asked of node i of the chain that begins with `first`. Throws
// errc::bad_argument without words or with more than 64, errc::io when a node is gone,
// errc::corrupt when one does not keep to the protocol.
search_result search_words(message_channel& first, std::span<const std::string> words,
                           const search_options& o = {});
// Lets the nodes go, each after it has told the next.
void end_search(message_channel& first);

// A node, `next` null in the last. It answers until the asker ends it or is gone (errc::io).
void serve_words(const inverted_index& index, message_channel& previous, message_channel* next);

}  // namespace bloomery
