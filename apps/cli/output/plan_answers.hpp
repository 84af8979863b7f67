// What plan answers beside the sizes of the kinds: what else there is, how far one filter may be
// from its mean, the best filter to send, and the mean time of a lookup behind the filter.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "bloomery/core/alternatives.hpp"
#include "bloomery/core/sizing.hpp"

namespace bloomery::cli {

struct plan_questions {
  sizing::request asked{};
  std::uint64_t key_bytes = 20;
  std::optional<double> universe{};                // how many keys there could be
  std::optional<double> deviation{};               // of the share of zeros
  std::optional<double> packed{};                  // bits per key in memory at most
  std::optional<sizing::guarded_lookup> lookup{};  // in seconds; the rate is that of the plan
};

[[nodiscard]] nlohmann::json bytes_json(double bytes);  // whole, as far as a number can be
[[nodiscard]] nlohmann::json bound_json(const plan_questions& q, double fpr);
[[nodiscard]] nlohmann::json alternatives_json(const plan_questions& q, double fpr);

// "concentration", "packed" and "guarded_lookup", as far as they are asked for.
void add_answers(nlohmann::json& plan, const plan_questions& q);
[[nodiscard]] std::string answers_text(const nlohmann::json& plan);  // a paragraph each

}  // namespace bloomery::cli
