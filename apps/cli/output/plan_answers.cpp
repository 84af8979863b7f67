#include "cli/output/plan_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bloomery/core/error.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

// The share of zeros in one classic filter of this plan, by the inequality of Azuma and Hoeffding.
nlohmann::json concentration_json(const plan& p, std::optional<double> asked) {
  constexpr double seldom = 0.01;
  const std::uint64_t bits = p.shape.bits;
  const std::uint32_t probes = p.shape.probes;
  const double deviation =
      asked.value_or(sizing::concentration_deviation(p.keys, bits, probes, seldom));
  const double fill = sizing::expected_fill(p.shape, p.keys);
  return {{"bits", bits},
          {"probes", probes},
          {"zeros", 1 - fill},
          {"deviation", deviation},
          {"probability", sizing::concentration_bound(p.keys, bits, probes, deviation)},
          {"fpr_highest", std::pow(std::min(1.0, fill + deviation), probes)}};
}

nlohmann::json packed_json(const sizing::request& r, double most) {
  const auto n = static_cast<double>(r.keys);
  // A size that is asked for is that of what is sent.
  const double sent = r.bytes ? static_cast<double>(*r.bytes) * 8 / n : r.bits_per_key.value_or(0);
  const sizing::packed_choice c =
      r.fpr ? sizing::smallest_packed(*r.fpr, most) : sizing::best_packed(sent, most);
  return {{"bits_per_key", c.bits_per_key},
          {"bytes", bytes_json(c.bits_per_key * n / 8)},
          {"probes", c.probes},
          {"sent_bits_per_key", c.sent_bits_per_key},
          {"sent_bytes", bytes_json(c.sent_bits_per_key * n / 8)},
          {"fpr", c.fpr}};
}

nlohmann::json lookup_json(sizing::guarded_lookup g, double fpr) {
  g.fpr = fpr;
  const double mean = sizing::mean_time(g);
  return {{"present", g.present},
          {"absent", g.absent},
          {"fpr", fpr},
          {"filter_seconds", g.filter_time},
          {"lookup_seconds", g.lookup_time},
          {"mean_seconds", mean},
          {"times_faster", g.lookup_time / mean}};
}

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

nlohmann::json bytes_json(double bytes) {
  const double whole = std::ceil(bytes);
  if (whole < 0x1p63) return static_cast<std::uint64_t>(whole);
  return whole;
}

nlohmann::json bound_json(const plan_questions& q, double fpr) {
  const std::uint64_t keys = q.asked.keys;
  const double bits = q.universe ? sizing::lower_bound_bits(keys, fpr, *q.universe)
                                 : sizing::lower_bound_bits(keys, fpr);
  nlohmann::json bound = {{"bits_per_key", bits / static_cast<double>(keys)},
                          {"bytes", bytes_json(bits / 8)}};
  if (q.universe) bound["universe"] = *q.universe;
  return bound;
}

nlohmann::json alternatives_json(const plan_questions& q, double fpr) {
  const auto keys = static_cast<double>(q.asked.keys);
  nlohmann::json all = nlohmann::json::array();
  for (const sizing::alternative& a : sizing::alternatives(
           {.keys = q.asked.keys, .fpr = fpr, .key_bytes = q.key_bytes, .universe = q.universe})) {
    all.push_back({{"name", a.name},
                   {"bytes", bytes_json(a.bits / 8)},
                   {"bits_per_key", a.bits / keys},
                   {"fpr", a.fpr}});
  }
  return all;
}

void add_answers(nlohmann::json& plan, const plan_questions& q) {
  sizing::request classic = q.asked;
  classic.kind = filter_kind::classic;
  try {
    plan["concentration"] = concentration_json(sizing::make_plan(classic), q.deviation);
  } catch (const error&) {
    if (q.deviation) throw;  // otherwise nobody asked: there is no such filter, and no row of it
  }
  if (q.packed) plan["packed"] = packed_json(q.asked, *q.packed);
  if (q.lookup) plan["guarded_lookup"] = lookup_json(*q.lookup, plan["fpr"].get<double>());
}

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
