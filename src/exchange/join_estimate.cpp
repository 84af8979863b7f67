// How large a join will be. The keys of the table with fewer are sent in classes, each as a filter:
// those that occur once, twice, three, four, five to eight, nine to sixteen times and so on. A key
// is in one class, so all are hardly larger than one filter, and tell how often a key occurs.
#include <algorithm>
#include <bit>
#include <cmath>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/join.hpp"
#include "bloomery/exchange/sent_filter.hpp"
#include "join_protocol.hpp"
#include "wire.hpp"

namespace bloomery {

using namespace join_protocol;

namespace {

constexpr std::size_t most_classes = 68;

double as_double(std::uint64_t value) { return static_cast<double>(value); }
// Sums of squares are whole numbers; above 2^63 nobody needs them exactly.
std::uint64_t whole(double value) { return static_cast<std::uint64_t>(std::min(value, 0x1p63)); }

struct occurrence {  // rows of a key: the mean, and the variance among the keys of the table
  double mean = 0;
  double variance = 0;

  explicit occurrence(const table_counts& t) {
    if (t.keys == 0) return;
    const double keys = as_double(t.keys);
    mean = as_double(t.rows) / keys;
    variance = std::max(0.0, t.squares / keys - mean * mean);
  }
  [[nodiscard]] double second_moment() const { return variance + mean * mean; }
};

// How much of what passed is no false positive, when a share f of all strangers passes.
double without_strangers(double passed, double all, double fpr) {
  return std::clamp((passed - fpr * all) / (1 - fpr), 0.0, all);
}

// ---- classes ----------------------------------------------------------------------------------

struct sent_class {
  table_counts counts;
  std::uint32_t bits = 0;
  sent_filter keys;
};

std::size_t class_of(std::uint64_t rows) {
  if (rows <= 4) return static_cast<std::size_t>(rows) - 1;
  return static_cast<std::size_t>(std::bit_width(rows - 1)) + 1;  // 4 for 5 to 8, 5 for 9 to 16
}

// Each stranger that passes adds the mean number of rows of the class to the estimate. The variance
// of all this is kept at that of a 128th of the keys: an error of 3 for 1,000 keys, 90 for 10^6.
std::uint32_t bits_of(double mean, double keys, double other_rows) {
  const double bits = std::ceil(std::log2(128 * std::max(1.0, other_rows / keys) * mean * mean));
  return static_cast<std::uint32_t>(std::clamp(bits, 7.0, double{most_fpr_bits}));
}

std::vector<sent_class> classes_of(const join_side& side, std::uint64_t other_rows) {
  std::vector<std::vector<std::uint64_t>> hashes(most_classes);
  std::vector<table_counts> counts(most_classes);
  for_each_key(side.hashes(), [&](std::uint64_t hash, std::uint64_t rows) {
    const std::size_t c = class_of(rows);
    hashes[c].push_back(hash);
    ++counts[c].keys;
    counts[c].rows += rows;
    counts[c].squares += as_double(rows) * as_double(rows);
  });
  std::vector<sent_class> classes;
  for (std::size_t c = 0; c < most_classes; ++c) {
    if (counts[c].keys == 0) continue;
    const std::uint32_t bits =
        bits_of(occurrence(counts[c]).mean, as_double(side.counts().keys), as_double(other_rows));
    classes.push_back(
        {.counts = counts[c], .bits = bits, .keys = sent_filter(std::move(hashes[c]), bits)});
  }
  return classes;
}

// Returns how many bytes of it are filters.
std::uint64_t put_classes(wire::buffer& out, const std::vector<sent_class>& classes) {
  std::uint64_t filter_bytes = 0;
  wire::put(out, classes.size());
  for (const sent_class& c : classes) {
    wire::put(out, c.counts.keys);
    wire::put(out, c.counts.rows);
    wire::put(out, whole(c.counts.squares));
    wire::put(out, c.bits);
    wire::put_bytes(out, c.keys.message());
    filter_bytes += c.keys.message().size();
  }
  return filter_bytes;
}

std::vector<sent_class> take_classes(wire::reader& in, memory_budget& memory,
                                     std::uint64_t& filter_bytes) {
  std::vector<sent_class> classes;
  for (std::uint64_t i = in.number(most_classes); i > 0; --i) {
    table_counts counts;
    counts.keys = in.number();
    counts.rows = in.number();
    counts.squares = static_cast<double>(in.number());
    const auto bits = static_cast<std::uint32_t>(in.number(most_fpr_bits));
    if (counts.keys == 0 || bits == 0) wire::reader::fail();
    const std::span<const std::byte> filter = in.bytes();
    memory.hold_filter(filter);
    classes.push_back({.counts = counts, .bits = bits, .keys = sent_filter(filter)});
    filter_bytes += classes.back().keys.message().size();
  }
  return classes;
}

// What of a table passes each of the filters.
std::vector<passed_class> count_passing(const join_side& side,
                                        const std::vector<sent_class>& classes) {
  std::vector<passed_class> passed;
  for (const sent_class& c : classes) {
    passed_class p{.counts = c.counts, .fpr = std::ldexp(1.0, -static_cast<int>(c.bits))};
    for_each_key(side.hashes(), [&](std::uint64_t hash, std::uint64_t rows) {
      if (!c.keys.contains(hash)) return;
      p.rows += as_double(rows);
      p.squares += as_double(rows) * as_double(rows);
    });
    passed.push_back(p);
  }
  return passed;
}

}  // namespace

// ---- the mathematics --------------------------------------------------------------------------

// Each stranger passes with probability f on its own, so the rows that pass by mistake have the
// variance f (1 - f) times the sum of the strangers' squares. And when d keys of the one table meet
// d of the K keys of a class at random, the sum of the products of their numbers of rows has the
// variance S^2 (sum a^2 - (sum a)^2 / K), with S^2 the variance in the class with K - 1 below.
estimate estimate_join(std::span<const passed_class> classes, const table_counts& asking) {
  double value = 0;
  double variance = 0;
  for (const passed_class& c : classes) {
    if (!(c.fpr >= 0 && c.fpr < 1)) detail::throw_bad_argument("fpr", c.fpr, "from 0 to below 1");
    if (c.counts.keys == 0) continue;
    const occurrence in_class(c.counts);
    const double rows = without_strangers(c.rows, as_double(asking.rows), c.fpr);
    const double squares = without_strangers(c.squares, asking.squares, c.fpr);
    const double keys = as_double(c.counts.keys);
    const double spread = c.counts.keys < 2 ? 0 : in_class.variance * keys / (keys - 1);
    value += in_class.mean * rows;
    variance += in_class.mean * in_class.mean * c.fpr / (1 - c.fpr) * (asking.squares - squares) +
                spread * std::max(0.0, squares - rows * rows / keys);
  }
  return {.value = value, .standard_error = std::sqrt(variance)};
}

estimate estimate_join(const estimate& shared_keys, const table_counts& a, const table_counts& b) {
  const occurrence in_a(a);
  const occurrence in_b(b);
  const double mean = in_a.mean * in_b.mean;
  const double variance = in_a.second_moment() * in_b.second_moment() - mean * mean;
  const double error = mean * shared_keys.standard_error;
  return {.value = mean * shared_keys.value,
          .standard_error = std::sqrt(error * error + shared_keys.value * std::max(0.0, variance))};
}

// ---- the two sides ----------------------------------------------------------------------------

// A: its numbers, and its classes if it has fewer keys; then it counts what passes B's, if any.
void join_protocol::send_estimate(message_channel& peer, const join_side& a, const greeting& g,
                                  const join_limits& limits, join_report& report) {
  wire::buffer numbers;
  for (const std::uint64_t value : {a.counts().rows, a.counts().keys, a.counts().bytes}) {
    wire::put(numbers, value);
  }
  wire::put(numbers, whole(a.counts().squares));
  const bool ours = a.counts().keys < g.keys;
  const std::uint64_t offered =
      put_classes(numbers, ours ? classes_of(a, g.rows) : std::vector<sent_class>());
  send(peer, step::offer, numbers);
  const message asked = receive(peer, step::ask, limits.message_bytes());
  memory_budget memory(limits);
  memory.hold(asked.payload.size());
  wire::reader in(asked.payload);
  std::uint64_t filter_bytes = 0;
  const std::vector<sent_class> theirs = take_classes(in, memory, filter_bytes);
  in.expect_end();
  wire::buffer counts;
  for (const passed_class& p : count_passing(a, theirs)) {
    wire::put(counts, whole(p.rows));
    wire::put(counts, whole(p.squares));
  }
  send(peer, step::counts, counts);
  report.filter_bytes += offered + filter_bytes;
  report.other_bytes += framed(numbers.size() - offered) +
                        framed(asked.payload.size() - filter_bytes) + framed(counts.size());
  peer.finish();
}

join_size receive_estimate(message_channel& peer, const row_scan& rows, const join_limits& limits) {
  join_size size;
  join_report& report = size.report;
  const join_side b = say_hello(peer, wish::estimate, rows, report);
  const message offered = receive(peer, step::offer, limits.message_bytes());
  memory_budget memory(limits);
  memory.hold(offered.payload.size());
  wire::reader in(offered.payload);
  report.a.rows = in.number();
  report.a.keys = in.number(report.a.rows);
  report.a.bytes = in.number();
  report.a.squares = static_cast<double>(in.number());
  report.plain_bytes = report.a.bytes;
  std::uint64_t offered_filters = 0;
  const std::vector<sent_class> theirs = take_classes(in, memory, offered_filters);
  in.expect_end();
  std::vector<sent_class> ours;
  if (theirs.empty()) ours = classes_of(b, report.a.rows);
  wire::buffer asked;
  const std::uint64_t asked_filters = put_classes(asked, ours);
  send(peer, step::ask, asked);
  const message counted = receive(peer, step::counts, most_classes * 20);
  wire::reader counts(counted.payload);
  std::vector<passed_class> passed = count_passing(b, theirs);
  for (const sent_class& c : ours) {
    passed_class& p = passed.emplace_back();
    p = {.counts = c.counts, .fpr = std::ldexp(1.0, -static_cast<int>(c.bits))};
    p.rows = static_cast<double>(counts.number());
    p.squares = static_cast<double>(counts.number());
  }
  counts.expect_end();
  peer.finish();
  report.filter_bytes += offered_filters + asked_filters;
  report.other_bytes += framed(offered.payload.size() - offered_filters) +
                        framed(asked.size() - asked_filters) + framed(counted.payload.size());
  size.rows = estimate_join(passed, theirs.empty() ? report.a : b.counts());
  return size;
}

}  // namespace bloomery
