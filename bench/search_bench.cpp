// Text search: the bit-sliced index against an inverted index of the same documents, in bytes, time
// and precision. Prints the table of docs/search.md.
//
//     bloomery_search_bench FOLDER                every file is a document
//     bloomery_search_bench --paragraphs FILE     every paragraph is
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bloomery/search/text_index.hpp"
#include "bloomery/search/text_index_builder.hpp"
#include "bloomery/text/word_scanner.hpp"

namespace {

using clock_type = std::chrono::steady_clock;
using documents = std::vector<std::vector<std::uint64_t>>;

double us_since(clock_type::time_point start) {
  return std::chrono::duration<double, std::micro>(clock_type::now() - start).count();
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The smallest inverted index: each word once, and the gaps between the numbers of its documents as
// varints.
class inverted_index {
 public:
  void add(std::uint64_t hash, std::uint32_t document) {
    list& l = lists_[hash];
    std::uint32_t gap = document - l.last;
    l.last = document;
    ++l.number;
    for (; gap >= 128; gap >>= 7U) l.bytes.push_back(static_cast<char>(gap | 128U));
    l.bytes.push_back(static_cast<char>(gap));
  }
  void add_name(std::string_view word) { word_bytes_ += word.size() + 1; }

  [[nodiscard]] std::vector<std::uint32_t> find(std::uint64_t hash) const {
    std::vector<std::uint32_t> all;
    const auto at = lists_.find(hash);
    if (at == lists_.end()) return all;
    std::uint32_t document = 0;
    std::uint32_t gap = 0;
    unsigned shift = 0;
    for (const char c : at->second.bytes) {
      gap |= (static_cast<std::uint32_t>(c) & 127U) << shift;
      shift += 7;
      if ((c & '\x80') != 0) continue;
      all.push_back(document += gap);
      gap = shift = 0;
    }
    return all;
  }
  // The postings, the words, and 4 bytes for each word for the offset of its list.
  [[nodiscard]] std::size_t bytes() const {
    std::size_t total = word_bytes_ + 4 * lists_.size();
    for (const auto& [hash, l] : lists_) total += l.bytes.size();
    return total;
  }
  [[nodiscard]] std::vector<std::uint64_t> words() const {
    std::vector<std::uint64_t> all;
    for (const auto& [hash, l] : lists_) all.push_back(hash);
    std::sort(all.begin(), all.end());
    return all;
  }
  [[nodiscard]] bool has(std::uint64_t hash) const { return lists_.contains(hash); }

 private:
  struct list {
    std::string bytes;
    std::uint32_t last = 0;
    std::uint32_t number = 0;
  };
  std::unordered_map<std::uint64_t, list> lists_;
  std::size_t word_bytes_ = 0;
};

struct corpus {
  documents all;
  inverted_index inverted;
  std::uint64_t text_bytes = 0;

  void add(std::string_view text) {
    text_bytes += text.size();
    bloomery::distinct_hashes hashes;
    const auto each = [&](std::string_view word) {
      const std::uint64_t hash = bloomery::term_hash(0, word);
      if (!inverted.has(hash)) inverted.add_name(word);
      const std::size_t before = hashes.size();
      hashes.add(hash);
      if (hashes.size() != before) inverted.add(hash, static_cast<std::uint32_t>(all.size()));
    };
    bloomery::word_scanner scanner;
    scanner.feed(text, each);
    scanner.finish(each);
    const auto listed = hashes.all();
    all.emplace_back(listed.begin(), listed.end());
    std::sort(all.back().begin(), all.back().end());
  }
};

corpus read_corpus(int argc, char** argv) {
  corpus c;
  if (argc == 3) {
    const std::string text = contents(argv[2]);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find("\n\n", at), text.size());
      if (end > at) c.add(std::string_view(text).substr(at, end - at));
      at = end + 1;
    }
    return c;
  }
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[1])) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) c.add(contents(path));
  return c;
}

// Three sorts of queries: a word from the list of all words, most of which are rare; a word from a
// random document, most of which are common; two words from one document.
enum class sort_of { rare, common, pair };

std::vector<std::vector<std::uint64_t>> questions(const corpus& c, sort_of sort) {
  std::mt19937_64 random(1 + static_cast<std::uint64_t>(sort));
  const std::vector<std::uint64_t> list = c.inverted.words();
  std::vector<std::vector<std::uint64_t>> all(1000);
  for (auto& question : all) {
    if (sort == sort_of::rare) {
      question = {list[random() % list.size()]};
      continue;
    }
    const auto* d = &c.all[random() % c.all.size()];
    while (d->size() < 2) d = &c.all[random() % c.all.size()];
    question = {(*d)[random() % d->size()]};
    if (sort == sort_of::pair) question.push_back((*d)[random() % d->size()]);
  }
  return all;
}

struct outcome {
  double us = 0;
  double wrong = 0;
  double right = 0;
};

std::vector<std::uint32_t> ask_inverted(const corpus& c, const std::vector<std::uint64_t>& q) {
  std::vector<std::uint32_t> right = c.inverted.find(q[0]);
  for (std::size_t w = 1; w < q.size(); ++w) {
    const auto other = c.inverted.find(q[w]);
    std::vector<std::uint32_t> both;
    std::set_intersection(right.begin(), right.end(), other.begin(), other.end(),
                          std::back_inserter(both));
    right = both;
  }
  return right;
}

// Without `index`, the inverted index is asked.
outcome ask(const corpus& c, const bloomery::text_index* index, sort_of sort) {
  outcome o;
  const auto asked = questions(c, sort);
  for (const auto& q : asked) {
    const auto start = clock_type::now();
    const auto found = index != nullptr ? (*index)->find(q) : ask_inverted(c, q);
    o.us += us_since(start);
    const auto right = ask_inverted(c, q);
    if (!std::includes(found.begin(), found.end(), right.begin(), right.end())) std::abort();
    o.wrong += static_cast<double>(found.size() - right.size());
    o.right += static_cast<double>(right.size());
  }
  const auto number = static_cast<double>(asked.size());
  return {o.us / number, o.wrong / number, o.right / number};
}

void print_row(const corpus& c, const std::string& name, double bytes,
               const bloomery::text_index* index) {
  std::printf("| %s | %.1f MB | %.1f %% |", name.c_str(), bytes / 1e6,
              100 * bytes / static_cast<double>(c.text_bytes));
  for (const sort_of sort : {sort_of::rare, sort_of::common, sort_of::pair}) {
    const outcome o = ask(c, index, sort);
    std::printf(" %.0f us, %.1f |", o.us, o.wrong);
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || (argc == 3) != (std::strcmp(argv[1], "--paragraphs") == 0)) {
    std::fprintf(stderr, "usage: %s FOLDER | --paragraphs FILE\n", argv[0]);
    return 2;
  }
  const corpus c = read_corpus(argc, argv);
  std::uint64_t words = 0;
  for (const auto& d : c.all) words += d.size();
  std::printf("%zu documents, %.1f MB, %.1f different words in each, %zu in all\n\n", c.all.size(),
              static_cast<double>(c.text_bytes) / 1e6,
              static_cast<double>(words) / static_cast<double>(c.all.size()),
              c.inverted.words().size());
  std::printf("Right answers: %.1f, %.0f, %.1f\n\n", ask(c, nullptr, sort_of::rare).right,
              ask(c, nullptr, sort_of::common).right, ask(c, nullptr, sort_of::pair).right);
  std::printf("| index | size | of the text | a rare word | a common word | two words |\n");
  std::printf("|---|---|---|---|---|---|\n");
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const std::filesystem::path path = folder / "bloomery-search-bench";
  for (const double fpr : {0.03, 0.01, 0.001, 0.0001}) {
    bloomery::text_index_builder builder({.fpr = fpr}, folder);
    for (const auto& d : c.all) builder.add(builder.add_file(""), 0, d);
    builder.save(path);
    const bloomery::text_index index(path);
    ask(c, &index, sort_of::rare);  // warms the caches
    char name[64];
    std::snprintf(name, sizeof name, "bits, %g %%, %u rows", 100 * fpr, index->options().probes);
    print_row(c, name, static_cast<double>(index->bits()) / 8, &index);
  }
  std::filesystem::remove(path);
  print_row(c, "inverted", static_cast<double>(c.inverted.bytes()), nullptr);
}
