#include "bloomery/format/describe_plan.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bloomery/core/alternatives.hpp"
#include "bloomery/core/error.hpp"
#include "bloomery/core/kinds.hpp"
#include "json_text.hpp"

namespace bloomery {

namespace {

using detail::json_object;

// What stands in an array, with commas between.
std::string array_text(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
  return "[" + text + "]";
}

json_object& add_bytes(json_object& object, std::string_view name, double bytes) {
  const double whole = std::ceil(bytes);  // an integer, as far as one can be
  return whole < 0x1p63 ? object.add(name, static_cast<std::uint64_t>(whole))
                        : object.add(name, whole);
}

double bound_of(const plan_questions& q, double fpr) {
  return q.universe ? sizing::lower_bound_bits(q.asked.keys, fpr, *q.universe)
                    : sizing::lower_bound_bits(q.asked.keys, fpr);
}

std::string row_text(const plan_questions& q, const plan& p) {
  const abilities can = abilities_of(p.shape.kind);
  return json_object()
      .add("kind", kind_name(p.shape.kind))
      .add("bits_per_key", p.bits_per_key())
      .add("bytes", (p.shape.bits + 63) / 64 * 8)
      .add("probes", std::uint64_t{p.shape.probes})
      .add("fpr", p.fpr)
      .add("times_lower_bound", static_cast<double>(p.shape.bits) / bound_of(q, p.fpr))
      .add("lines", std::uint64_t{sizing::lines_of_lookup(p.shape)})
      .add("add", can.add)
      .add("remove", can.remove)
      .add("count", can.count)
      .add("value", can.value)
      .add("merge", can.merge)
      .add("grow", can.grow)
      .add("forget", can.forget)
      .text();
}

// A plan for each kind that holds a set. Top-k holds only the most frequent keys, so it has no size
// for all.
template <class Take>
void for_each_plan(const sizing::request& asked, Take take) {
  for (const filter_kind kind : all_kinds()) {
    if (abilities_of(kind).lists_top) continue;
    sizing::request r = asked;
    r.kind = kind;
    take(r);
  }
}

struct planned_rows {
  std::vector<std::string> rows{};
  double least_fpr = 1;
};

#if defined(__cpp_exceptions)
planned_rows rows_of(const plan_questions& q) {
  planned_rows all;
  std::optional<error> reason;
  for_each_plan(q.asked, [&](const sizing::request& r) {
    try {
      const plan p = sizing::make_plan(r);
      all.rows.push_back(row_text(q, p));
      all.least_fpr = std::min(all.least_fpr, p.fpr);
    } catch (const error& e) {
      if (!reason) reason = e;  // such a kind has no row
    }
  });
  if (all.rows.empty()) throw error(*reason);
  return all;
}
#else
planned_rows rows_of(const plan_questions& q) {  // a kind that cannot ends the program
  planned_rows all;
  for_each_plan(q.asked, [&](const sizing::request& r) {
    const plan p = sizing::make_plan(r);
    all.rows.push_back(row_text(q, p));
    all.least_fpr = std::min(all.least_fpr, p.fpr);
  });
  return all;
}
#endif

std::string lower_bound_text(const plan_questions& q, double fpr) {
  const double bits = bound_of(q, fpr);
  json_object object;
  object.add("bits_per_key", bits / static_cast<double>(q.asked.keys));
  add_bytes(object, "bytes", bits / 8);
  if (q.universe) object.add("universe", *q.universe);
  return object.text();
}

std::string alternatives_text(const plan_questions& q, double fpr) {
  const auto keys = static_cast<double>(q.asked.keys);
  std::vector<std::string> all;
  for (const sizing::alternative& a : sizing::alternatives(
           {.keys = q.asked.keys, .fpr = fpr, .key_bytes = q.key_bytes, .universe = q.universe})) {
    json_object object;
    object.add("name", std::string_view(a.name));
    add_bytes(object, "bytes", a.bits / 8).add("bits_per_key", a.bits / keys).add("fpr", a.fpr);
    all.push_back(object.text());
  }
  return array_text(all);
}

// The share of zeros in one classic filter of this plan, by the inequality of Azuma and Hoeffding.
std::string concentration_text(const plan_questions& q) {
  constexpr double seldom = 0.01;
  sizing::request classic = q.asked;
  classic.kind = filter_kind::classic;
  const plan p = sizing::make_plan(classic);
  const std::uint64_t bits = p.shape.bits;
  const std::uint32_t probes = p.shape.probes;
  const double deviation =
      q.deviation ? *q.deviation : sizing::concentration_deviation(p.keys, bits, probes, seldom);
  const double fill = sizing::expected_fill(p.shape, p.keys);
  return json_object()
      .add("bits", bits)
      .add("probes", std::uint64_t{probes})
      .add("zeros", 1 - fill)
      .add("deviation", deviation)
      .add("probability", sizing::concentration_bound(p.keys, bits, probes, deviation))
      .add("fpr_highest", std::pow(std::min(1.0, fill + deviation), probes))
      .text();
}

void add_concentration(json_object& object, const plan_questions& q) {
#if defined(__cpp_exceptions)
  try {
    object.add_text("concentration", concentration_text(q));
  } catch (const error&) {
    if (q.deviation) throw;  // otherwise nobody asked: there is no such filter, and no row of it
  }
#else
  object.add_text("concentration", concentration_text(q));
#endif
}

std::string packed_text(const sizing::request& r, double most) {
  const auto n = static_cast<double>(r.keys);
  // A size that is asked for is that of what is sent.
  const double sent = r.bytes ? static_cast<double>(*r.bytes) * 8 / n : r.bits_per_key.value_or(0);
  const sizing::packed_choice c =
      r.fpr ? sizing::smallest_packed(*r.fpr, most) : sizing::best_packed(sent, most);
  json_object object;
  object.add("bits_per_key", c.bits_per_key);
  add_bytes(object, "bytes", c.bits_per_key * n / 8)
      .add("probes", std::uint64_t{c.probes})
      .add("sent_bits_per_key", c.sent_bits_per_key);
  add_bytes(object, "sent_bytes", c.sent_bits_per_key * n / 8).add("fpr", c.fpr);
  return object.text();
}

std::string lookup_text(sizing::guarded_lookup g, double fpr) {
  g.fpr = fpr;
  const double mean = sizing::mean_time(g);
  return json_object()
      .add("present", g.present)
      .add("absent", g.absent)
      .add("fpr", fpr)
      .add("filter_seconds", g.filter_time)
      .add("lookup_seconds", g.lookup_time)
      .add("mean_seconds", mean)
      .add("times_faster", g.lookup_time / mean)
      .text();
}

}  // namespace

std::string plan_as_json(const plan_questions& q) {
  const planned_rows all = rows_of(q);
  // If a size is given, rates differ by kind, and the lower bound is that for the best one.
  const double fpr = q.asked.fpr.value_or(all.least_fpr);
  json_object object;
  object.add("keys", q.asked.keys)
      .add("fpr", fpr)
      .add_text("rows", array_text(all.rows))
      .add_text("lower_bound", lower_bound_text(q, fpr))
      .add_text("alternatives", alternatives_text(q, fpr));
  add_concentration(object, q);
  if (q.packed) object.add_text("packed", packed_text(q.asked, *q.packed));
  if (q.lookup) object.add_text("guarded_lookup", lookup_text(*q.lookup, fpr));
  return object.text();
}

}  // namespace bloomery
