// Three index nodes as processes, connected by TCP, with the words of the descriptions of the
// Debian packages on this machine.
#include "bloomery/exchange/keyword_search.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <functional>
#include <set>

#include "bloomery/exchange/sent_filter.hpp"
#include "bloomery/exchange/transport.hpp"
#include "filter/samples.hpp"

namespace bloomery {
namespace {

using bloomery_test::throws;
using document_sets = std::map<std::string, std::set<std::uint64_t>, std::less<>>;

// The packages of the system: the words of the description, and the hash of the name as the
// document.
document_sets words_of_packages() {
  std::ifstream in("/var/lib/dpkg/status");
  document_sets words;
  std::uint64_t package = 0;
  bool described = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("Package: ", 0) == 0) package = hash_key(xxh3_hasher(), line.substr(9));
    described = line.rfind("Description: ", 0) == 0 || (described && line.rfind(' ', 0) == 0);
    if (!described) continue;
    std::string word;
    for (const char c : line + " ") {
      if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
        word.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
      } else if (!word.empty()) {
        words[word].insert(package);
        word.clear();
      }
    }
  }
  return words;
}

// Nodes as child processes, each listening at a port of its own.
class chain {
 public:
  explicit chain(const std::vector<inverted_index>& indexes) {
    std::vector<listener> doors;
    for (std::size_t i = 0; i < indexes.size(); ++i) doors.emplace_back("127.0.0.1:0");
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      const pid_t child = ::fork();
      if (child == 0) ::_exit(run_node(indexes[i], doors, i));
      children_.push_back(child);
    }
    first_.emplace(connect("127.0.0.1:" + std::to_string(doors[0].port())));
  }
  chain(const chain&) = delete;
  chain& operator=(const chain&) = delete;
  ~chain() {
    first_.reset();
    static_cast<void>(statuses());
  }

  [[nodiscard]] message_channel& first() { return *first_; }
  [[nodiscard]] pid_t child(std::size_t i) const { return children_[i]; }
  // How the nodes ended.
  std::vector<int> statuses() {
    std::vector<int> all;
    for (const pid_t child : std::exchange(children_, {})) {
      int status = 0;
      ::waitpid(child, &status, 0);
      all.push_back(status);
    }
    return all;
  }

 private:
  static int run_node(const inverted_index& index, std::vector<listener>& doors, std::size_t i) {
    try {
      message_channel previous(doors[i].accept());
      std::optional<message_channel> next;
      if (i + 1 < doors.size()) {
        next.emplace(connect("127.0.0.1:" + std::to_string(doors[i + 1].port())));
      }
      serve_words(index, previous, next ? &*next : nullptr);
      return 0;
    } catch (const std::exception&) {
      return 1;
    }
  }

  std::vector<pid_t> children_;
  std::optional<message_channel> first_;
};

std::vector<inverted_index> indexes_of(const std::vector<const document_sets*>& sets) {
  std::vector<inverted_index> indexes(sets.size());
  for (std::size_t i = 0; i < sets.size(); ++i) {
    for (const auto& [word, documents] : *sets[i]) {
      for (const std::uint64_t document : documents) indexes[i].add(word, document);
    }
  }
  return indexes;
}

std::vector<std::uint64_t> expected(const document_sets& sets,
                                    const std::vector<std::string>& words) {
  std::vector<std::uint64_t> all;
  static const std::set<std::uint64_t> none;
  const auto of = [&](const std::string& word) -> const std::set<std::uint64_t>& {
    const auto at = sets.find(word);
    return at == sets.end() ? none : at->second;
  };
  for (const std::uint64_t document : of(words[0])) {
    if (std::all_of(words.begin(), words.end(),
                    [&](const std::string& word) { return of(word).contains(document); })) {
      all.push_back(document);
    }
  }
  return all;
}

TEST(keyword_search, over_three_processes_finds_exactly_the_packages_with_all_words) {
  const document_sets words = words_of_packages();
  ASSERT_GT(words.size(), 500U);
  chain nodes(indexes_of({&words, &words, &words}));
  const std::vector<std::vector<std::string>> questions = {
      {"library", "development", "files"}, {"for", "the", "of"},
      {"python", "library", "nosuchword"}, {"nosuchword", "the", "of"},
      {"compression", "library"},          {"the"}};
  for (const auto& question : questions) {
    const search_result found = search_words(nodes.first(), question);
    EXPECT_EQ(found.documents, expected(words, question)) << question[0];
    for (std::size_t i = 0; i < question.size(); ++i) {
      EXPECT_EQ(found.counts[i], expected(words, {question[i]}).size());
    }
    // The same question by sending lists.
    const search_result plain = search_words(nodes.first(), question, {.filters = false});
    EXPECT_EQ(plain.documents, found.documents);
    EXPECT_LE(found.bytes_forward + found.bytes_back, plain.bytes_forward + plain.bytes_back + 32);
  }
  end_search(nodes.first());
  EXPECT_EQ(nodes.statuses(), std::vector<int>(3, 0));
}

// Two lists of 20,000 with 200 documents in common, which is where filters pay: the list has 7
// bytes a document, and the filter about one.
TEST(keyword_search, sends_a_fraction_of_the_lists) {
  document_sets words;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    words["first"].insert(bloomery_test::sample_hash(i, 1));
    words["second"].insert(bloomery_test::sample_hash(i, i < 200 ? 1 : 2));
    words["third"].insert(bloomery_test::sample_hash(i, i < 100 ? 1 : 3));
  }
  chain nodes(indexes_of({&words, &words, &words}));
  const std::vector<std::string> question = {"first", "second", "third"};
  const search_result found = search_words(nodes.first(), question);
  const search_result plain = search_words(nodes.first(), question, {.filters = false});
  EXPECT_EQ(found.documents.size(), 100U);
  EXPECT_EQ(found.documents, expected(words, question));
  EXPECT_EQ(plain.documents, found.documents);
  const double sent = static_cast<double>(found.bytes_forward + found.bytes_back);
  const double all = static_cast<double>(plain.bytes_forward + plain.bytes_back);
  // The plan: the filter at its best rate, and what passes of it; then lists of a few hundred.
  const sent_choice best = choose_sent_filter(20'000, 20'000, 7);
  EXPECT_LT(sent, best.bytes() + 7 * (3 * 300 + 3 * best.stranger_bytes / 7) + 200);
  EXPECT_LT(sent, all / 4);
  RecordProperty("sent", static_cast<int>(sent));
  RecordProperty("plain", static_cast<int>(all));
  end_search(nodes.first());
  EXPECT_EQ(nodes.statuses(), std::vector<int>(3, 0));
}

TEST(keyword_search, of_a_node_that_dies_is_an_error_and_no_answer) {
  document_sets words;
  words["a"] = words["b"] = words["c"] = {1, 2, 3};
  chain nodes(indexes_of({&words, &words, &words}));
  const std::vector<std::string> question = {"a", "b", "c"};
  EXPECT_EQ(search_words(nodes.first(), question).documents.size(), 3U);
  ::kill(nodes.child(1), SIGKILL);
  EXPECT_THROW(search_words(nodes.first(), question), error);
}

TEST(keyword_search, refuses_what_makes_no_sense) {
  auto [here, there] = pipe_pair();
  message_channel asker(std::move(here));
  message_channel node(std::move(there));
  EXPECT_TRUE(throws(errc::bad_argument, "words", [&] { search_words(asker, {}); }));
  const inverted_index index;
  // Bytes that no asker sends, for each of the messages.
  for (std::uint8_t type = 0; type < 8; ++type) {
    if (type == 5) continue;  // the end
    for (const std::size_t size : {0U, 1U, 9U, 40U}) {
      asker.send(type, std::vector<std::byte>(size, std::byte{0xff}));
      EXPECT_TRUE(throws(errc::corrupt, "damaged", [&] { serve_words(index, node, nullptr); }));
    }
  }
}

TEST(inverted_index, keeps_lists_sorted_and_without_repetitions) {
  inverted_index index;
  for (const std::uint64_t document : {5U, 3U, 9U, 3U, 9U, 1U, 5U}) index.add("w", document);
  const auto list = index.documents("w");
  EXPECT_EQ(std::vector<std::uint64_t>(list.begin(), list.end()),
            (std::vector<std::uint64_t>{1, 3, 5, 9}));
  EXPECT_TRUE(index.documents("v").empty());
}

}  // namespace
}  // namespace bloomery
