// What verbs print: summaries to standard error, results and JSON to standard output.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "bloomery/format/any_filter.hpp"
#include "bloomery/format/string_map.hpp"
#include "bloomery/search/text_index.hpp"

namespace bloomery::cli {

// What a filter holds now, by its bits. Every verb that tells a rate or a number of keys has it
// from here: what the header says was added may have come twice, or have been taken out again.
struct contents {
  double fpr = 0;
  std::uint64_t keys = 0;  // different ones; as many as were added, unless the bits say otherwise
  bool repeated = false;   // they do: fewer different ones than were added
  bool shared = false;     // or more bits than that: filters of more keys had them in common
};
contents contents_of(const any_filter& f);

// "words.bloom: blocked filter of 104,334 keys, 129 kB, 9.94 bits a key, fpr 0.99 %", to standard
// error, and a warning when the rate of a filter of fixed size is above what was asked for.
// Who knows better than the bits how many of the keys are different says so.
void print_summary(const std::string& path, const any_filter& f, std::string different = "");
// The object of `info --json`; `build --json` and `add --json` print the same.
nlohmann::json info_json(const any_filter& f, std::uint64_t file_bytes);
nlohmann::json info_json(const string_map_view& map, std::uint64_t file_bytes);
nlohmann::json info_json(const text_index_view& index);  // of `info --json` and `index --json`

void print_json(const nlohmann::json& object);
void write_output(std::string_view text);  // past stdio; throws errc::io with the reason

}  // namespace bloomery::cli
