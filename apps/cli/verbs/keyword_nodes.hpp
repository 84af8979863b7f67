// What index and search do with the nodes of a keyword search (exchange/keyword_search.hpp).
#pragma once

#include <string>
#include <vector>

namespace bloomery::cli {

struct keyword_options {
  std::string serve;
  std::string memory;
  std::vector<std::string> at;
  std::vector<std::string> inputs;  // documents, or words
  bool skip_binary = false;
  bool count = false;
  bool null = false;
  bool quiet = false;
  bool json = false;
};

// The addresses of "--at A,B --at C".
std::vector<std::string> node_addresses(const std::vector<std::string>& given);

void run_keyword_node(const keyword_options& o);  // for ever
int publish_documents(const keyword_options& o);
int search_nodes(const keyword_options& o);

}  // namespace bloomery::cli
