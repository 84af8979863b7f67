#include "cli/output/plan_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/format/any_filter.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

constexpr double least_rate = 1e-20;  // no filter of 64-bit hashes comes near it
constexpr int steps = 120;            // of a curve
constexpr int packed_steps = 48;      // of a curve whose every point takes a search

double between(double first, double last, int i, int of) {
  return first * std::pow(last / first, static_cast<double>(i) / of);
}

// The plan of this kind, or nothing when it cannot do what is asked.
std::optional<plan> plan_of(sizing::request r, filter_kind kind) {
  r.kind = kind;
  try {
    return sizing::make_plan(r);
  } catch (const error&) {
    return std::nullopt;
  }
}

double classic_rate(std::uint64_t keys, double bits_per_key, std::uint32_t probes) {
  const double bits =
      std::min(bits_per_key * static_cast<double>(keys), static_cast<double>(max_bits));
  const auto whole = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(bits));
  return std::max(least_rate, sizing::classic_fpr(keys, whole, probes));
}

// Sizes in bits per key for the first and third panel; the largest is enough for what was asked.
std::vector<double> sizes_for(const sizing::request& asked) {
  const std::optional<plan> p = plan_of(asked, filter_kind::classic);
  const double needed = p ? p->bits_per_key() : 32;
  const double largest = std::clamp(std::ceil(needed / 8) * 8, 32.0, 96.0);
  return {largest / 4, largest / 2, largest * 3 / 4, largest};
}

// A rate axis that begins at 100 % and ends with the decade of the least rate shown.
axis rates_down_from_one(std::string label, const panel& p) {
  double least = 0.1;
  for (const series& s : p.all) {
    for (const point& at : s.points) least = std::min(least, at.y);
  }
  for (const guide& g : p.guides) {
    if (!g.upright) least = std::min(least, g.at);
  }
  return rate_axis(std::move(label), std::pow(10, std::floor(std::log10(least))), 1);
}

std::string asked_text(const sizing::request& r) {
  if (r.fpr) return fmt::format("{} asked for", as_rate(*r.fpr));
  if (r.bits_per_key) return fmt::format("{:g} bits asked for", *r.bits_per_key);
  return as_bytes(static_cast<double>(*r.bytes)) + " asked for";
}

double asked_bits_per_key(const sizing::request& r) {
  if (r.bits_per_key) return *r.bits_per_key;
  return static_cast<double>(*r.bytes) * 8 / static_cast<double>(r.keys);
}

// What was asked for, as a line across the axis that shows it: a rate or a size.
guide asked_guide(const sizing::request& r, bool rate_is_x) {
  return {.upright = r.fpr.has_value() == rate_is_x,
          .at = r.fpr ? *r.fpr : asked_bits_per_key(r),
          .text = asked_text(r)};
}

series probes_series(const sizing::request& asked, double bits_per_key, std::uint32_t most_probes) {
  series s{.name = fmt::format("{:.3g} bits", bits_per_key)};
  for (std::uint32_t k = 1; k <= most_probes; ++k) {
    s.points.push_back({static_cast<double>(k), classic_rate(asked.keys, bits_per_key, k)});
  }
  s.dots = {*std::min_element(s.points.begin(), s.points.end(),
                              [](const point& a, const point& b) { return a.y < b.y; })};
  return s;
}

panel probes_panel(const sizing::request& asked) {
  const std::vector<double> sizes = sizes_for(asked);
  const auto most_probes = std::min(max_probes, static_cast<std::uint32_t>(sizes.back()));
  panel p{.title = "Rate by number of probes",
          .x = linear_axis("probes", 1, most_probes, most_probes > 32 ? 8 : 4)};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    p.all.push_back(probes_series(asked, sizes[i], most_probes));
    p.all.back().colour = series_hue(i);
  }
  if (asked.fpr) {
    p.guides.push_back(asked_guide(asked, false));
  } else {
    p.all.push_back(probes_series(asked, asked_bits_per_key(asked), most_probes));
    p.all.back().name = asked_text(asked);
  }
  p.y = rates_down_from_one("fpr of a classic filter, by bits per key; dots: the best", p);
  return p;
}

// The second figure of Ripeanu and Iamnitchi: what each number of probes needs for a rate.
panel bits_panel(const sizing::request& asked) {
  const double first = std::max(0.1, asked.fpr.value_or(0));
  const double last = std::min(1e-6, asked.fpr.value_or(1));
  const double needed =
      asked.fpr ? sizing::shortest_length(1, last).bits : asked_bits_per_key(asked);
  const double most = std::clamp(std::ceil(needed * 1.5 / 8) * 8, 64.0, 128.0);
  panel p{.title = "Size by rate, some numbers of probes",
          .x = rate_axis("fpr", first, last),
          .y = linear_axis("bits per key of a classic filter", 0, most, most > 96 ? 16 : 8)};
  std::vector<std::uint32_t> all = {1, 2, 4, 8, 16, 32};
  if (asked.probes && std::find(all.begin(), all.end(), *asked.probes) == all.end()) {
    all.insert(std::upper_bound(all.begin(), all.end(), *asked.probes), *asked.probes);
  }
  for (const std::uint32_t k : all) {
    series s{.name = fmt::format("k = {}", k), .colour = series_hue(p.all.size())};
    for (int i = 0; i <= steps; ++i) {
      const double rate = between(first, last, i, steps);
      const double bits = sizing::bits_per_key(k, rate);
      if (bits <= most) s.points.push_back({rate, bits});
    }
    p.all.push_back(std::move(s));
  }
  p.guides.push_back(asked_guide(asked, true));
  return p;
}

series kind_series(const sizing::request& asked, filter_kind kind, double first, double last) {
  series s{.name = std::string(kind_name(kind))};
  for (int i = 0; i <= steps; ++i) {
    const double rate = between(first, last, i, steps);
    const auto planned = plan_of({.keys = asked.keys, .fpr = rate}, kind);
    if (planned) s.points.push_back({rate, planned->bits_per_key()});
  }
  return s;
}

series bound_series(const sizing::request& asked, double first, double last) {
  series s{.name = "lower bound"};
  for (int i = 0; i <= steps; ++i) {
    const double rate = between(first, last, i, steps);
    const double bits = sizing::lower_bound_bits(asked.keys, rate);
    s.points.push_back({rate, bits / static_cast<double>(asked.keys)});
  }
  return s;
}

// From 4 to 64 bits per key, or further where a curve or a guide needs it.
axis sizes_of_all(const panel& p) {
  double least = p.guides.front().upright ? 4 : p.guides.front().at;
  double most = std::max(64.0, least);
  for (const series& s : p.all) {
    for (const point& at : s.points) {
      least = std::min(least, at.y);
      most = std::max(most, at.y);
    }
  }
  return size_axis("bits per key", std::exp2(std::floor(std::log2(least))),
                   std::exp2(std::ceil(std::log2(most))));
}

panel kinds_panel(const sizing::request& asked) {
  const double first = std::max(0.1, asked.fpr.value_or(0));
  const double last = std::min(1e-6, asked.fpr.value_or(1));
  panel p{.title = "Size by rate, every kind", .x = rate_axis("fpr", first, last)};
  for (const filter_kind kind : all_kinds()) {
    if (abilities_of(kind).lists_top) continue;  // the most frequent keys are not all keys
    series s = kind_series(asked, kind, first, last);
    s.colour = series_hue(p.all.size());
    // From the seventh kind on the colours repeat, and dashes tell the two apart. The line of
    // partitioned lies on that of classic, so it has the dashes and its partner by colour has not.
    const std::size_t i = p.all.size();
    if ((i >= 6) != (i % 6 == 2)) s.style = series_style::dashes;
    p.all.push_back(std::move(s));
  }
  p.all.push_back(bound_series(asked, first, last));
  p.guides.push_back(asked_guide(asked, true));
  p.y = sizes_of_all(p);
  return p;
}

panel packed_panel(const sizing::request& asked) {
  const std::vector<double> sizes = sizes_for(asked);
  const double most = sizes.back() * 4;
  panel p{.title = "Rate of a packed filter",
          .x = size_axis("bits per key in memory", sizes.front(), most)};
  series plain{.colour = hue::muted, .style = series_style::dashes};
  for (int i = 0; i <= packed_steps; ++i) {
    const double bits = between(sizes.front(), sizes.back(), i, packed_steps);
    const std::uint32_t probes = sizing::best_probes(filter_kind::classic, bits);
    plain.points.push_back({bits, classic_rate(asked.keys, bits, probes)});
  }
  p.all.push_back(std::move(plain));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    series s{.name = fmt::format("{:.3g} bits sent", sizes[i]), .colour = series_hue(i)};
    for (int step = 0; step <= packed_steps; ++step) {
      const double bits = between(sizes[i], most, step, packed_steps);
      s.points.push_back({bits, std::max(least_rate, sizing::best_packed(sizes[i], bits).fpr)});
    }
    p.all.push_back(std::move(s));
  }
  const guide wanted = asked_guide(asked, false);
  if (asked.fpr || (wanted.at >= sizes.front() && wanted.at <= most)) p.guides.push_back(wanted);
  p.y = rates_down_from_one("fpr of a classic filter, by bits per key sent; dashed: not packed", p);
  return p;
}

}  // namespace

figure plan_figure(const sizing::request& asked, const std::string& only) {
  figure f{.title = fmt::format("{}, {}", counted(asked.keys, "key"), asked_text(asked))};
  const auto add = [&](const char* name, panel (*make)(const sizing::request&)) {
    if (only.empty() || only == name) f.panels.push_back(make(asked));
  };
  add("probes", probes_panel);
  add("bits", bits_panel);
  add("kinds", kinds_panel);
  add("packed", packed_panel);
  return f;
}

}  // namespace bloomery::cli
