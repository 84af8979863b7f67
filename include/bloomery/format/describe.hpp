// What a filter tells of itself, as JSON: for the tool, for C and for the languages on top of it.
//
// The text is one object without line breaks. Numbers are the shortest text that reads back as the
// same number; what does not exist (an estimate of a full filter) is null.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bloomery/format/any_filter.hpp"
#include "bloomery/hash/any_hasher.hpp"

namespace bloomery {

// Names the content of a filter: what deltas call this version of it.
[[nodiscard]] std::uint64_t content_name(const any_filter& f);

// The object of `bloomery info --json`. Reads all of the filter.
[[nodiscard]] std::string info_as_json(const any_filter& f, std::uint64_t file_bytes);

// The object of `bloomery explain --json` without the key itself, which may be any bytes.
[[nodiscard]] std::string explain_as_json(const any_filter& f, std::string_view key,
                                          const any_hasher& hash);

}  // namespace bloomery
