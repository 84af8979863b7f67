// The sources of words for `spell` and `hyphenate`: filters, hunspell's files, plain lists.
#pragma once

#include <string>
#include <vector>

#include "bloomery/lists/dictionary.hpp"
#include "cli/output/progress.hpp"

namespace bloomery::cli {

// Adds a list, one word a line, or NAME.dic with NAME.aff beside it. Errors name file and line.
void add_words(dictionary_builder& to, const std::string& path, progress& meter);

// Opens a filter file; any other file is read into a filter in memory.
dictionary_filter open_dictionary(const std::string& path, progress& meter);

// The locale's hunspell dictionary, or the system's word list. Throws errc::io without either.
std::string default_dictionary();
// The locale's patterns of hyphens, or those of American English. Throws errc::io without either.
std::string default_patterns();

}  // namespace bloomery::cli
