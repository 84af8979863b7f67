// What verbs print: summaries to standard error, results and JSON to standard output.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "bloomery/format/any_filter.hpp"
#include "bloomery/search/text_index.hpp"

namespace bloomery::cli {

// "words.bloom: 104,334 keys, 129 kB, 9.94 bits a key, fpr 0.99 %", to standard error, and a
// warning when a filter of fixed size holds more keys than planned. The rate of a filter of bits
// follows from its header; others need the filter itself, and without it the rate is left out.
void print_summary(const std::string& path, const image_header& header);
void print_summary(const std::string& path, const any_filter& f);
// The object of `info --json`; `build --json` and `add --json` print the same.
nlohmann::json info_json(const any_filter& f, std::uint64_t file_bytes);
nlohmann::json info_json(const text_index_view& index);  // of `info --json` and `index --json`

void print_json(const nlohmann::json& object);
void write_output(std::string_view text);  // past stdio; throws errc::io with the reason

}  // namespace bloomery::cli
