// What a filter looks at when it is asked for a key.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bloomery/format/any_filter.hpp"

namespace bloomery::cli {

// A place that belongs to the key, and what is there.
struct place {
  std::string where;
  std::uint64_t position = 0;  // of a bit, a counter or a cell
  std::uint64_t value = 0;
};

struct explanation {
  std::string unit{};  // what the places are
  std::vector<place> places{};
  std::vector<std::string> notes{};  // lines below the places
  std::string picture{};
  std::string why{};  // the verdict's reason; by the places where it is empty
  nlohmann::json details = nlohmann::json::object();
};

// Of the kinds whose answer is more than "are all of its places set"; nothing for the others.
std::optional<explanation> explain_mechanism(const any_filter& f, std::uint64_t hash);

}  // namespace bloomery::cli
