#include "cli/output/plan_answers.hpp"

#include <fmt/format.h>

#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

std::string concentration_text(const nlohmann::json& c) {
  const double probability = c["probability"].get<double>();
  return fmt::format(
      "One classic filter is near the mean: {:.4g} of its bits are zeros, give or take {:.3g} but "
      "for "
      "a chance of {} (Azuma-Hoeffding), so that its rate is at most {}.",
      c["zeros"].get<double>(), c["deviation"].get<double>(),
      probability < 1 ? as_rate(probability) : "1", as_rate(c["fpr_highest"].get<double>()));
}

std::string packed_text(const nlohmann::json& p) {
  return fmt::format(
      "To be sent: a classic filter with {:.2f} bits per key ({}) and {} probe{} packs into {:.2f} "
      "({}), at {}.",
      p["bits_per_key"].get<double>(), as_bytes(p["bytes"].get<double>()), p["probes"].get<int>(),
      p["probes"] == 1 ? "" : "s", p["sent_bits_per_key"].get<double>(),
      as_bytes(p["sent_bytes"].get<double>()), as_rate(p["fpr"].get<double>()));
}

std::string lookup_text(const nlohmann::json& g) {
  const double times = g["times_faster"].get<double>();
  return fmt::format(
      "A lookup behind the filter takes {} in the mean instead of {}: {}.",
      as_time(g["mean_seconds"].get<double>()), as_time(g["lookup_seconds"].get<double>()),
      times >= 1 ? fmt::format("{:.3g} times as fast", times) : "the filter does not pay");
}

}  // namespace

std::string answers_text(const nlohmann::json& plan) {
  std::string text;
  const auto add = [&](const char* name, std::string (*write)(const nlohmann::json&)) {
    if (plan.contains(name)) text += "\n" + wrapped(write(plan[name]), 0, 0);
  };
  add("concentration", concentration_text);
  add("packed", packed_text);
  add("guarded_lookup", lookup_text);
  return text;
}

}  // namespace bloomery::cli
