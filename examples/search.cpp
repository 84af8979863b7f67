// An index of texts: adds the words of three documents, finds the documents that have all words of
// a query, and adds one more document.
#include <bloomery/search/text_index.hpp>
#include <bloomery/search/text_index_builder.hpp>
#include <bloomery/text/word_scanner.hpp>
#include <cassert>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace {

std::vector<std::uint64_t> hashes_of(const std::string& text) {
  bloomery::distinct_hashes hashes;
  const auto each = [&](std::string_view word) { hashes.add(bloomery::term_hash(0, word)); };
  bloomery::word_scanner words;
  words.feed(text, each);  // may be called for any number of pieces
  words.finish(each);
  const auto all = hashes.all();
  return {all.begin(), all.end()};
}

std::vector<std::uint32_t> search(const bloomery::text_index& index, const std::string& question) {
  const std::vector<std::uint32_t> found = index->find(hashes_of(question));
  std::printf("%s:", question.c_str());
  for (const std::uint32_t number : found) {
    std::printf(" %s", std::string(index->document(number)->path).c_str());
  }
  std::printf("\n");
  return found;
}

}  // namespace

int main() {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const std::filesystem::path path = folder / "bloomery-example-search";
  {
    bloomery::text_index_builder builder({.fpr = 1e-4}, folder);
    builder.add(builder.add_file("apples"), 0, hashes_of("An apple a day keeps the doctor away."));
    builder.add(builder.add_file("pears"), 0, hashes_of("A pear is not an APPLE."));
    builder.add(builder.add_file("plums"), 0, hashes_of("Plums are better."));
    builder.save(path);
  }
  {
    const bloomery::text_index index(path);  // mapped
    assert((search(index, "apple") == std::vector<std::uint32_t>{0, 1}));
    assert((search(index, "Apple doctor") == std::vector<std::uint32_t>{0}));
    bloomery::text_index_builder more(*index, folder);
    more.add(more.add_file("pie"), 0, hashes_of("The doctor bakes apple pie."));
    more.save(path);  // beside the old one, then in its place
  }
  const bloomery::text_index index(path);
  const std::vector<std::uint32_t> found = search(index, "apple doctor");
  std::filesystem::remove(path);
  return found == std::vector<std::uint32_t>{0, 3} ? 0 : 1;
}
