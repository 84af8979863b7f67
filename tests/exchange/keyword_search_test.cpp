// Three index nodes as processes, connected by TCP, with the words of the descriptions of the
// Debian packages on this machine.
#include "bloomery/exchange/keyword_search.hpp"

#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bloomery/exchange/sent_filter.hpp"
#include "bloomery/exchange/server.hpp"
#include "bloomery/exchange/transport.hpp"
#include "bloomery/hash/hash.hpp"
#include "filter/samples.hpp"

namespace bloomery {
namespace {

using bloomery_test::throws;
using document_words = std::map<std::string, std::set<std::string>>;

// The packages of the system, with the words of their descriptions.
document_words packages() {
  std::ifstream in("/var/lib/dpkg/status");
  document_words all;
  std::string package;
  bool described = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("Package: ", 0) == 0) package = line.substr(9);
    described = line.rfind("Description: ", 0) == 0 || (described && line.rfind(' ', 0) == 0);
    if (!described) continue;
    std::string word;
    for (const char c : line + " ") {
      if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
        word.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
      } else if (!word.empty()) {
        all[package].insert(word);
        word.clear();
      }
    }
  }
  return all;
}

std::vector<std::string> expected(const document_words& all,
                                  const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const auto& [name, has] : all) {
    if (std::all_of(words.begin(), words.end(), [&](const auto& w) { return has.contains(w); })) {
      names.push_back(name);
    }
  }
  return names;
}

// Nodes as child processes, each listening at a port of its own. They live until the end.
class node_processes {
 public:
  explicit node_processes(std::size_t number, const keyword_limits& limits = {}) {
    std::vector<listener> doors;
    for (std::size_t i = 0; i < number; ++i) {
      doors.emplace_back("127.0.0.1:0");
      addresses_.push_back("127.0.0.1:" + std::to_string(doors.back().port()));
    }
    for (listener& door : doors) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // no node outlives a test that crashes
        listener own = std::move(door);
        doors.clear();  // else a node that is killed would still be listened for, here
        ::_exit(run(own, limits));
      }
      children_.push_back(child);
    }
  }
  node_processes(const node_processes&) = delete;
  node_processes& operator=(const node_processes&) = delete;
  ~node_processes() {
    for (std::size_t i = 0; i < children_.size(); ++i) kill(i);
  }

  [[nodiscard]] const std::vector<std::string>& addresses() const { return addresses_; }
  void kill(std::size_t i) {
    if (children_[i] == 0) return;
    ::kill(children_[i], SIGKILL);
    ::waitpid(std::exchange(children_[i], 0), nullptr, 0);
  }
  [[nodiscard]] bool lives(std::size_t i) const {
    return ::waitpid(children_[i], nullptr, WNOHANG) == 0;
  }

 private:
  static int run(listener& door, const keyword_limits& limits) {
    keyword_node node(limits);
    const std::atomic<bool> stop = false;
    serve_connections(
        door, {.connections = 8, .limits = limits.waiting},
        [&](channel connection) { node.serve(std::move(connection)); }, stop);
    return 0;
  }

  std::vector<std::string> addresses_;
  std::vector<pid_t> children_;
};

void publish(keyword_network& network, const document_words& all) {
  for (const auto& [name, words] : all) {
    const std::vector<std::string_view> views(words.begin(), words.end());
    network.publish(name, views);
  }
  network.flush();
}

TEST(keyword_search, over_three_processes_finds_exactly_the_documents_with_all_words) {
  const document_words all = packages();
  ASSERT_GT(all.size(), 100U);
  const node_processes nodes(3);
  keyword_network publisher = keyword_network::join(nodes.addresses());
  publish(publisher, all);
  keyword_network asker = keyword_network::find(std::vector{nodes.addresses()[1]});
  EXPECT_EQ(asker.nodes(), nodes.addresses());
  const std::vector<std::vector<std::string>> questions = {
      {"library", "development", "files"},
      {"for", "the", "of"},
      {"python", "library", "nosuchword"},
      {"the", "of", "and", "a", "to", "in", "for", "is", "this", "package"},
      {"compression", "library"},
      {"the"}};
  for (const auto& question : questions) {
    const keyword_answer found = asker.search(question);
    EXPECT_EQ(found.documents, expected(all, question)) << question[0];
    for (std::size_t i = 0; i < question.size(); ++i) {
      EXPECT_EQ(found.counts[i], expected(all, {question[i]}).size());
    }
    // The same question by sending lists.
    const keyword_answer plain = asker.search(question, {.filters = false});
    EXPECT_EQ(plain.documents, found.documents);
    EXPECT_LE(found.bytes_forward + found.bytes_back, plain.bytes_forward + plain.bytes_back + 32);
  }
}

// A word whose home is this node.
std::string word_at(const std::vector<std::string>& nodes, std::size_t home) {
  for (int i = 0;; ++i) {
    std::string word = "word" + std::to_string(i);
    if (keyword_home(nodes, word) == home) return word;
  }
}

// Lists of 20,000 with 200 documents in common, which is where filters pay: the list has 7 bytes a
// document, and the filter about one.
TEST(keyword_search, sends_a_fraction_of_the_lists) {
  const node_processes nodes(3);
  keyword_network network = keyword_network::join(nodes.addresses());
  std::vector<std::string> words;
  for (std::size_t i = 0; i < 3; ++i) words.push_back(word_at(nodes.addresses(), i));
  document_words all;
  for (int i = 0; i < 20'000; ++i) {
    all["a" + std::to_string(i)].insert(words[0]);
    all[(i < 200 ? "a" : "b") + std::to_string(i)].insert(words[1]);
    all[(i < 100 ? "a" : "c") + std::to_string(i)].insert(words[2]);
  }
  publish(network, all);
  const keyword_answer found = network.search(words);
  const keyword_answer plain = network.search(words, {.filters = false});
  EXPECT_EQ(found.nodes, 3U);
  EXPECT_EQ(found.documents, expected(all, words));
  EXPECT_EQ(found.documents.size(), 100U);
  EXPECT_EQ(plain.documents, found.documents);
  const double sent = static_cast<double>(found.bytes_forward + found.bytes_back);
  const double lists = static_cast<double>(plain.bytes_forward + plain.bytes_back);
  // The plan: the filter at its best rate, and what passes of it; then lists of a few hundred.
  const sent_choice best = choose_sent_filter(20'000, 20'000, 7);
  EXPECT_LT(sent, best.bytes() + 7 * (3 * 300 + 3 * best.stranger_bytes / 7) + 300);
  EXPECT_LT(sent, lists / 4);
  // Two whole lists of 20,000 documents of 7 to 8 bytes.
  EXPECT_GT(found.bytes_lists, 2U * 20'000 * 7);
  EXPECT_LT(found.bytes_lists, 2U * 20'000 * 8 + 20);
  RecordProperty("sent", static_cast<int>(sent));
  RecordProperty("plain", static_cast<int>(lists));
  RecordProperty("lists", static_cast<int>(found.bytes_lists));
}

TEST(keyword_search, of_a_node_that_dies_is_an_error_and_no_answer) {
  node_processes nodes(3);
  keyword_network network = keyword_network::join(nodes.addresses());
  std::vector<std::string> words;
  for (std::size_t i = 0; i < 3; ++i) words.push_back(word_at(nodes.addresses(), i));
  publish(network, {{"d", {words.begin(), words.end()}}});
  EXPECT_EQ(network.search(words).documents, std::vector<std::string>{"d"});
  nodes.kill(1);
  EXPECT_TRUE(
      throws(errc::io, nodes.addresses()[1], [&] { static_cast<void>(network.search(words)); }));
  // The list of nodes comes from any that lives.
  EXPECT_EQ(keyword_network::find(std::vector{nodes.addresses()[1], nodes.addresses()[2]}).nodes(),
            nodes.addresses());
}

TEST(keyword_search, replaces_a_document_that_is_published_again) {
  const node_processes nodes(2);
  keyword_network network = keyword_network::join(nodes.addresses());
  const std::string here = word_at(nodes.addresses(), 0);
  const std::string there = word_at(nodes.addresses(), 1);
  const auto found = [&](const std::string& word) {
    return network.search(std::vector{word}).documents;
  };
  publish(network, {{"d", {here, there}}, {"e", {here}}});
  EXPECT_EQ(found(here), (std::vector<std::string>{"d", "e"}));
  publish(network, {{"d", {there}}});
  EXPECT_EQ(found(here), std::vector<std::string>{"e"});
  EXPECT_EQ(found(there), std::vector<std::string>{"d"});
  publish(network, {{"d", {}}});
  EXPECT_TRUE(found(there).empty());
}

TEST(keyword_search, refuses_another_list_of_nodes_and_too_much) {
  const node_processes nodes(2, {.memory_bytes = 20'000});
  EXPECT_TRUE(throws(errc::mismatch, "no words yet",
                     [&] { static_cast<void>(keyword_network::find(nodes.addresses())); }));
  keyword_network network = keyword_network::join(nodes.addresses());
  keyword_network again = keyword_network::join(nodes.addresses());
  const std::vector<std::string> fewer = {nodes.addresses()[0]};
  const std::vector<std::string> turned = {nodes.addresses()[1], nodes.addresses()[0]};
  for (const auto& other : {fewer, turned}) {
    EXPECT_TRUE(throws(errc::mismatch, "another list of 2 nodes",
                       [&] { static_cast<void>(keyword_network::join(other)); }));
  }
  EXPECT_TRUE(throws(errc::bad_argument, "twice", [&] {
    static_cast<void>(keyword_network::join({"a:1", "a:1"}));
  }));
  EXPECT_TRUE(throws(errc::bad_argument, "words",
                     [&] { static_cast<void>(network.search(std::vector<std::string>{})); }));
  EXPECT_TRUE(throws(errc::bad_argument, "words", [&] {
    static_cast<void>(network.search(std::vector<std::string>(65, "w")));
  }));
  const std::string long_word(longest_keyword + 1, 'w');
  EXPECT_TRUE(throws(errc::bad_argument, "word",
                     [&] { network.publish("d", std::vector<std::string_view>{long_word}); }));
  document_words many;
  for (int i = 0; i < 200; ++i) many["d" + std::to_string(i)].insert("w" + std::to_string(i));
  EXPECT_TRUE(throws(errc::full, "no room", [&] { publish(network, many); }));
  // What is half published is found, or has no name and is not; published again it is whole.
  for (const auto& [name, words] : many) {
    const auto found = again.search(std::vector<std::string>(words.begin(), words.end()));
    EXPECT_TRUE(found.documents.empty() || found.documents == std::vector{name});
  }
}

// A node that has the words of a document but not its name does not answer with it: its publisher
// has gone in between. Here he is one who sends the words alone.
TEST(keyword_search, leaves_out_what_has_no_name_yet) {
  const node_processes nodes(1);
  keyword_network network = keyword_network::join(nodes.addresses());
  publish(network, {{"d", {"w"}}});
  std::vector<std::byte> half;
  const auto put = [&half](std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) half.push_back(static_cast<std::byte>(value | 0x80U));
    half.push_back(static_cast<std::byte>(value));
  };
  std::string list = std::string(1, '\1') + static_cast<char>(nodes.addresses()[0].size()) +
                     nodes.addresses()[0] + std::string(1, '\0');
  put(XXH3_64bits(list.data(), list.size()));
  for (const std::uint64_t value : {4711U, 0U, 1U, 1U}) put(value);  // no name, one word of a byte
  half.push_back(std::byte{'w'});
  message_channel publisher(connect(nodes.addresses()[0]));
  publisher.send(5, half);
  EXPECT_EQ(publisher.receive(1000).type, 4);
  // The same document with a name that has another number.
  half.resize(half.size() - 4);
  for (const std::uint64_t value : {1U, 0x65U, 1U, 1U, 0x77U}) put(value);
  message_channel liar(connect(nodes.addresses()[0]));
  liar.send(5, half);
  EXPECT_NE(liar.receive(1000).type, 4);
  const keyword_answer found = network.search(std::vector<std::string>{"w"});
  EXPECT_EQ(found.counts[0], 2U);
  EXPECT_EQ(found.documents, std::vector<std::string>{"d"});
}

// Strangers talk nonsense, claim messages of 4 GB, say nothing, and ask in circles. None of that
// keeps others from being answered, and the nodes live on.
TEST(keyword_search, survives_strangers) {
  const node_processes nodes(
      2, {.message_bytes = 1U << 20U,
          .waiting = {.idle = std::chrono::milliseconds(500), .total = std::chrono::seconds(5)}});
  keyword_network network = keyword_network::join(nodes.addresses());
  const std::string here = word_at(nodes.addresses(), 0);
  const std::string there = word_at(nodes.addresses(), 1);
  publish(network, {{"d", {here, there}}});
  std::mt19937_64 random(1);
  std::vector<channel> silent;  // as many as there are seats
  for (int i = 0; i < 8; ++i) silent.push_back(connect(nodes.addresses()[0]));
  for (int i = 0; i < 60; ++i) {
    try {
      channel stranger = connect(nodes.addresses()[static_cast<std::size_t>(i % 2)]);
      std::vector<std::byte> bytes(random() % 200);
      for (std::byte& b : bytes) b = static_cast<std::byte>(random());
      if (i % 3 == 0) bytes.assign(9, std::byte{0xff});  // a message of 4 GB is announced
      stranger.write(bytes);
    } catch (const error&) {
      // It was thrown out.
    }
  }
  for (std::uint8_t type = 0; type < 16; ++type) {  // whole messages, of nothing
    for (const std::size_t size : {0U, 1U, 9U, 40U}) {
      try {
        message_channel stranger(connect(nodes.addresses()[1]));
        stranger.send(type, std::vector<std::byte>(size, std::byte{0xff}));
        const message got = stranger.receive(1U << 20U);
        EXPECT_TRUE(got.type == 12 || (type == 1 && got.type == 2)) << int{type};
      } catch (const error&) {
        // It was thrown out.
      }
    }
  }
  const keyword_answer found = network.search(std::vector{here, there});
  EXPECT_EQ(found.documents, std::vector<std::string>{"d"});
  EXPECT_TRUE(nodes.lives(0) && nodes.lives(1));
}

TEST(keyword_search, moves_the_words_of_one_node_when_one_goes) {
  std::vector<std::string> nodes;
  for (int i = 0; i < 10; ++i) nodes.push_back("host" + std::to_string(i) + ":4711");
  const std::vector<std::string> fewer(nodes.begin(), nodes.end() - 1);
  std::vector<int> words(nodes.size());
  for (int i = 0; i < 10'000; ++i) {
    const std::string word = "word" + std::to_string(i);
    const std::size_t home = keyword_home(nodes, word);
    ++words[home];
    if (home < 9) {
      ASSERT_EQ(keyword_home(fewer, word), home);
    }
    ASSERT_LT(document_home(nodes, bloomery_test::sample_hash(static_cast<std::uint64_t>(i), 1)),
              10U);
  }
  for (const int number : words) EXPECT_NEAR(number, 1'000, 5 * 30);  // binomial, five deviations
}

TEST(inverted_index, keeps_lists_sorted_and_replaces_documents) {
  inverted_index index;
  const std::vector<std::string_view> both = {"w", "v", "w"};
  for (const std::uint64_t document : {5U, 3U, 9U, 3U, 9U, 1U, 5U}) index.set(document, both);
  EXPECT_EQ(index.documents("w"), (std::vector<std::uint64_t>{1, 3, 5, 9}));
  EXPECT_EQ(index.count("w"), 4U);
  EXPECT_EQ(index.documents(), 4U);
  EXPECT_EQ(index.words(), 2U);
  EXPECT_TRUE(index.documents("u").empty());
  const std::uint64_t bytes = index.bytes();
  for (const std::uint64_t document : {1U, 3U, 5U, 9U}) {
    index.set(document, std::vector<std::string_view>{"v"});
  }
  EXPECT_EQ(index.words(), 1U);
  EXPECT_LT(index.bytes(), bytes);
  for (const std::uint64_t document : {1U, 3U, 5U, 9U, 77U}) index.set(document, {});
  EXPECT_EQ(index.words() + index.documents() + index.bytes(), 0U);
}

// In one process, so that the thread sanitizer sees it: publishing and asking at the same time.
TEST(keyword_search, of_several_threads_at_once) {
  listener door("127.0.0.1:0");
  const std::vector<std::string> address = {"127.0.0.1:" + std::to_string(door.port())};
  keyword_node node;
  std::atomic<bool> stop = false;
  std::thread server([&] {
    serve_connections(
        door, {.connections = 4}, [&](channel c) { node.serve(std::move(c)); }, stop);
  });
  static_cast<void>(keyword_network::join(address));
  std::vector<std::thread> others;
  for (int t = 0; t < 3; ++t) {
    others.emplace_back([&, t] {
      keyword_network network = keyword_network::find(address);
      for (int i = 0; i < 20; ++i) {
        publish(network, {{"d" + std::to_string(t) + "-" + std::to_string(i), {"w"}}});
        EXPECT_GE(network.search(std::vector<std::string>{"w"}).documents.size(),
                  static_cast<std::size_t>(i + 1));
      }
    });
  }
  for (std::thread& t : others) t.join();
  EXPECT_EQ(keyword_network::find(address).search(std::vector<std::string>{"w"}).counts[0], 60U);
  stop = true;
  server.join();
}

}  // namespace
}  // namespace bloomery
