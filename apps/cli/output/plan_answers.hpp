// What plan answers beside the sizes of the kinds, in words: how far one filter may be from its
// mean, the best filter to send, and the mean time of a lookup behind the filter.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace bloomery::cli {

// A paragraph for each of "concentration", "packed" and "guarded_lookup" that the plan has.
[[nodiscard]] std::string answers_text(const nlohmann::json& plan);

}  // namespace bloomery::cli
