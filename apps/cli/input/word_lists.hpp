// The sources of words for `bloomery spell`: filters, hunspell dictionaries, plain lists.
#pragma once

#include <string>
#include <vector>

#include "bloomery/lists/dictionary.hpp"
#include "cli/output/progress.hpp"

namespace bloomery::cli {

// Adds the words of a list, one in each line, or of NAME.dic with NAME.aff beside it. Errors name
// file and line.
void add_words(dictionary_builder& to, const std::string& path, progress& meter);

// Opens a filter file; any other file is read into a filter in memory.
dictionary_filter open_dictionary(const std::string& path, progress& meter);

// The hunspell dictionary for the language of the locale, or the system's list of words. Throws
// errc::io when there is neither.
std::string default_dictionary();

}  // namespace bloomery::cli
