#include "cli/input/word_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "bloomery/core/error.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/format/image.hpp"
#include "bloomery/text/speller.hpp"
#include "cli/input/filters.hpp"
#include "cli/input/text_blocks.hpp"

namespace bloomery::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* system_words = "/usr/share/dict/words";

std::string_view word_file_text(const mapped_file& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

void add_dictionary(dictionary_builder& to, const fs::path& dic) {
  const fs::path aff = fs::path(dic).replace_extension(".aff");
  const mapped_file words(dic);
  const mapped_file rules(aff);
  add_hunspell(to, {word_file_text(rules), aff.string()}, {word_file_text(words), dic.string()});
}

std::string_view trimmed(std::string_view line) {  // without blanks at its ends
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = line.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(blanks) - begin + 1);
}

void add_lines(dictionary_builder& to, const text_block& block) {
  std::uint64_t number = block.first_line;
  for (std::string_view rest = block.text; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view word = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (word.empty()) continue;
    try {
      add_word(to, word);
    } catch (const error& e) {
      throw error(errc::corrupt, fmt::format("{}:{}: {}", block.file, number, e.what()));
    }
  }
}

bool is_filter(const std::string& path) {  // regular files only: what a pipe gives is gone
  std::error_code none;
  if (!fs::is_regular_file(path, none)) return false;
  std::array<char, 8> start{};
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  return begins_like_ours(std::as_bytes(std::span(start)));
}

std::string value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

// The locale's language, such as "de_CH", if any: letters and _ only, since it names a file.
std::string language() {
  for (const char* variable : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const std::string value = value_of(variable);
    if (value.empty()) continue;
    const std::string name = value.substr(0, value.find_first_of(".@"));
    const bool letters = std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    });
    return !letters || name == "C" || name == "POSIX" ? "" : name;
  }
  return "";
}

std::vector<fs::path> folders() {
  std::vector<fs::path> all;
  std::string given = value_of("DICPATH");
  while (!given.empty()) {
    const std::size_t end = std::min(given.find(':'), given.size());
    if (end > 0) all.emplace_back(given.substr(0, end));
    given.erase(0, end + 1);
  }
  all.insert(all.end(), {"/usr/share/hunspell", "/usr/share/myspell", "/usr/share/myspell/dicts"});
  return all;
}

// The path of NAME.dic, or else of the first dictionary of the same language.
std::string dictionary_in(const fs::path& folder, const std::string& name) {
  std::error_code none;
  const fs::path exact = folder / (name + ".dic");
  if (fs::is_regular_file(exact, none)) return exact.string();
  const std::string language = name.substr(0, name.find('_'));
  std::string first;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    const std::string file = entry.path().filename().string();
    const bool fits =
        file == language + ".dic" || (file.starts_with(language + "_") && file.ends_with(".dic"));
    if (fits && (first.empty() || entry.path().string() < first)) first = entry.path().string();
  }
  return first;
}

}  // namespace

void add_words(dictionary_builder& to, const std::string& path, progress& meter) {
  if (path.ends_with(".dic")) return add_dictionary(to, path);
  text_blocks blocks({path}, meter);
  for (text_block block; blocks.next(block);) add_lines(to, block);
}

dictionary_filter open_dictionary(const std::string& path, progress& meter) {
  if (is_filter(path)) {
    return within_limit([&] { return dictionary_filter::open(path, opening_asked()); });
  }
  dictionary_builder builder;
  add_words(builder, path, meter);
  return dictionary_filter(builder.build());
}

std::string default_patterns() {
  const fs::path folder = "/usr/share/hyphen";
  std::error_code none;
  for (const std::string& name : {language(), std::string("en_US")}) {
    const fs::path path = folder / ("hyph_" + name + ".dic");
    if (!name.empty() && fs::is_regular_file(path, none)) return path.string();
  }
  throw error(errc::io, fmt::format("there are no patterns for the locale's language in {}; "
                                    "name a file with --patterns",
                                    folder.string()));
}

std::string default_dictionary() {
  if (const std::string name = language(); !name.empty()) {
    for (const fs::path& folder : folders()) {
      if (std::string found = dictionary_in(folder, name); !found.empty()) return found;
    }
  }
  std::error_code none;
  if (fs::exists(system_words, none)) return system_words;
  throw error(errc::io, fmt::format("there is no dictionary for the locale's language and no {}; "
                                    "name one with --dictionary",
                                    system_words));
}

}  // namespace bloomery::cli
