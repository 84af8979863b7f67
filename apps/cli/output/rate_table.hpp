// The table of the literature: the rate of a classic filter by its bits per key and its probes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace bloomery::cli {

[[nodiscard]] nlohmann::json rate_table_json();
[[nodiscard]] std::string rate_table_text();  // in parts that fit into 80 columns

}  // namespace bloomery::cli
