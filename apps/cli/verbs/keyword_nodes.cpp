#include "cli/verbs/keyword_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/keyword_search.hpp"
#include "bloomery/exchange/server.hpp"
#include "cli/args/stopping.hpp"
#include "cli/input/documents.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

class word_collector final : public document_sink {
 public:
  void term(std::string_view term) override { words_.emplace(term); }
  void end(std::uint32_t /*line*/) override {}
  [[nodiscard]] std::vector<std::string_view> words() const {
    return {words_.begin(), words_.end()};
  }

 private:
  std::set<std::string, std::less<>> words_;
};

struct published_totals {
  std::uint64_t documents = 0;
  std::uint64_t words = 0;
  std::uint64_t binary = 0;
};

published_totals publish_files(const keyword_options& o, const std::vector<std::string>& paths,
                               keyword_network& network, std::vector<complaint>& complaints) {
  published_totals totals;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    word_collector collected;
    try {
      const reading done = read_documents(paths[i], {}, o.skip_binary, collected);
      if (done.binary) {
        ++totals.binary;
        continue;
      }
    } catch (const error& e) {
      complaints.push_back({.place = i, .text = e.what()});
      continue;
    }
    const std::vector<std::string_view> words = collected.words();
    network.publish(paths[i], words);
    ++totals.documents;
    totals.words += words.size();
  }
  network.flush();
  return totals;
}

void print_found(const keyword_options& o, const keyword_answer& found,
                 const std::vector<std::string>& words) {
  const std::uint64_t sent = found.bytes_forward + found.bytes_back;
  if (o.json) {
    nlohmann::json counts = nlohmann::json::object();
    for (std::size_t i = 0; i < words.size(); ++i) counts[words[i]] = found.counts[i];
    nlohmann::json object = {{"terms", words.size()},
                             {"found", found.documents.size()},
                             {"counts", std::move(counts)},
                             {"nodes", found.nodes},
                             {"bytes_forward", found.bytes_forward},
                             {"bytes_back", found.bytes_back},
                             {"bytes_lists", found.bytes_lists}};
    if (!o.count) object["documents"] = found.documents;
    return print_json(object);
  }
  std::string text;
  if (o.count) {
    text = fmt::format("{}\n", found.documents.size());
  } else {
    for (const std::string& name : found.documents) text.append(name) += o.null ? '\0' : '\n';
  }
  write_output(text);
  if (!o.quiet && found.nodes > 1 && found.bytes_lists != 0) {
    tell("{} between {} nodes; whole lists would be {}\n", as_bytes(static_cast<double>(sent)),
         found.nodes, as_bytes(static_cast<double>(found.bytes_lists)));
  }
}

}  // namespace

std::vector<std::string> node_addresses(const std::vector<std::string>& given) {
  std::vector<std::string> all;
  for (std::string_view rest : given) {
    for (;;) {
      const std::size_t comma = rest.find(',');
      if (comma != 0 && !rest.empty()) all.emplace_back(rest.substr(0, comma));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return all;
}

void run_keyword_node(const keyword_options& o) {
  keyword_limits limits;
  if (!o.memory.empty()) limits.memory_bytes = parse_bytes(o.memory);
  keyword_node node(limits);
  std::vector<std::string> nodes = node_addresses(o.at);
  // The list comes from here and not from the first who connects: it says whom the node trusts.
  const auto self = std::ranges::find(nodes, o.serve);
  if (self == nodes.end()) {
    throw error(
        errc::bad_argument,
        fmt::format("{} is not one of the nodes that --at names; name all of them", o.serve));
  }
  const auto place = static_cast<std::size_t>(self - nodes.begin());
  node.join(std::move(nodes), place);
  stop_by_signals();
  listener door(o.serve);
  if (!o.quiet) tell("bloomery: listening on port {}\n", door.port());
  const auto serve = [&](channel connection) {
    try {
      node.serve(std::move(connection));
    } catch (const error& e) {
      if (!o.quiet) tell("bloomery: dropped a peer and listen on: {}\n", e.what());
    }
  };
  serve_connections(door, {.limits = {.idle = std::chrono::seconds(10)}}, serve,
                    stopped_by_signal());
}

int publish_documents(const keyword_options& o) {
  std::vector<complaint> complaints;
  const std::vector<std::string> paths = find_files(o.inputs, "", complaints);
  keyword_network network = keyword_network::join(node_addresses(o.at));
  const published_totals totals = publish_files(o, paths, network, complaints);
  tell_complaints(complaints);
  if (!o.quiet) {
    tell("{} documents, {} words, each counted once a document, {} sent to {} nodes\n",
         with_commas(totals.documents), with_commas(totals.words),
         as_bytes(static_cast<double>(network.bytes_sent())), network.nodes().size());
    if (totals.binary != 0) tell("left out: {} binary files\n", with_commas(totals.binary));
  }
  if (o.json) {
    print_json({{"documents", totals.documents},
                {"words", totals.words},
                {"nodes", network.nodes().size()},
                {"bytes_sent", network.bytes_sent()},
                {"binary", totals.binary},
                {"unreadable", complaints.size()}});
  }
  return complaints.empty() ? exit_success : exit_error;
}

int search_nodes(const keyword_options& o) {
  std::vector<std::string> words;
  for (const std::string& argument : o.inputs) {
    for (std::string& term : terms_of(argument, {})) words.push_back(std::move(term));
  }
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  keyword_network network = keyword_network::find(node_addresses(o.at));
  const keyword_answer found = network.search(words);
  // Whoever publishes chooses the names; one with a line end would come out as two.
  const char end = o.null ? '\0' : '\n';
  for (const std::string& name : found.documents) {
    if (!o.json && name.find(end) != std::string::npos) {
      throw error(errc::corrupt, fmt::format("the name '{}' of a document would come out as two{}",
                                             escaped(name), o.null ? "" : "; -0 keeps it one"));
    }
  }
  if (!o.quiet || o.json) print_found(o, found, words);
  return found.documents.empty() ? exit_no_match : exit_success;
}

}  // namespace bloomery::cli
