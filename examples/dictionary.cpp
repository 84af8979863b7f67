// A dictionary in a filter: the forms of its words, what is wrong in a text, and what was meant.
// Then the other use of filters for words: hyphens by simple rules, and a list for the words that
// the rules get wrong.
#include <bloomery/lists/dictionary.hpp>
#include <bloomery/text/hyphenator.hpp>
#include <cassert>
#include <iostream>
#include <map>
#include <string>

int main() {
  // Stems with flags, and what the flags mean, in the form of hunspell's files.
  const bloomery::affix_rules rules(
      "SFX D Y 2\n"
      "SFX D 0 ed [^y]\n"
      "SFX D y ied y\n",
      "example.aff");
  bloomery::dictionary_builder builder({.fpr = 1e-6});
  rules.expand("2\ncarry/D\nblock/D\n", "example.dic",
               [&](std::string_view form, const bloomery::word_traits& traits) {
                 builder.add(form, traits);
               });
  assert(builder.words() == 4);

  bloomery::dictionary_filter words(builder.build());
  assert(words.contains("carried") && words.contains("blocked"));
  assert(!words.contains("carryed"));
  for (const bloomery::suggestion& s : words.near("blokced")) {
    std::cout << "blokced: perhaps " << s.word << '\n';
    assert(s.word == "blocked");
  }

  // A rule that breaks after "pro", and a list on a slow disk.
  const std::map<std::string, std::string, std::less<>> disk = {{"prodigy", "prod-igy"}};
  bloomery::hyphenator hyphens(
      disk.size(), 1e-6, [](std::string_view word) { return "pro-" + std::string(word.substr(3)); },
      [&](std::string_view word) -> std::optional<std::string> {
        const auto entry = disk.find(word);
        if (entry == disk.end()) return std::nullopt;
        return entry->second;
      });
  hyphens.add_exception("prodigy");
  assert(hyphens.hyphenate("produce") == "pro-duce");
  assert(hyphens.hyphenate("promote") == "pro-mote");
  assert(hyphens.hyphenate("prodigy") == "prod-igy");
  assert(hyphens.counts().lookups == 1);  // for three words
  std::cout << "the list was read " << hyphens.counts().lookups << " time\n";
}
