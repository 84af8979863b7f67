// A plan as JSON: what every kind would take, and what plan answers beside that. The text is like
// those of format/describe.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bloomery/core/sizing.hpp"

namespace bloomery {

struct plan_questions {
  sizing::request asked{};  // its kind is not looked at
  std::uint64_t key_bytes = 20;
  std::optional<double> universe{};                // how many keys there could be
  std::optional<double> deviation{};               // of the share of zeros
  std::optional<double> packed{};                  // bits per key in memory at most
  std::optional<sizing::guarded_lookup> lookup{};  // in seconds; the rate is that of the plan
};

// The object of `bloomery plan --json`. A kind that cannot have such a filter has no row; when none
// can, its first reason is thrown.
[[nodiscard]] std::string plan_as_json(const plan_questions& q);

}  // namespace bloomery
