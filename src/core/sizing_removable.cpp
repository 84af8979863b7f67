// Counting and cuckoo: models and planners.
#include "bloomery/core/sizing_removable.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "binomial.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/detail/core/block_geometry.hpp"
#include "bloomery/detail/core/cuckoo_geometry.hpp"
#include "checks.hpp"
#include "kind_table.hpp"

namespace bloomery::sizing {

namespace {

constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

void check_kind(const shape& s, filter_kind kind) {
  check_shape(s);
  if (s.kind != kind) {
    detail::fail(errc::bad_argument, "a shape of kind " + std::string(kind_name(s.kind)) +
                                         " where one of kind " + std::string(kind_name(kind)) +
                                         " is needed");
  }
}

void check_no_variant(const request& r) {
  if (r.variant && *r.variant != 0) {
    detail::throw_bad_argument("the variant", std::uint64_t{*r.variant}, "0 for this kind");
  }
}

std::uint64_t bits_of(const request& r) {
  if (r.bytes) {
    if (*r.bytes > max_bits / 8) {
      detail::throw_bad_argument("the number of bytes", *r.bytes, "at most 2^45");
    }
    return *r.bytes * 8;
  }
  check_positive("bits per key", *r.bits_per_key);
  const double bits = std::ceil(static_cast<double>(r.keys) * *r.bits_per_key);
  if (bits > static_cast<double>(max_bits)) throw_too_large(r);
  return static_cast<std::uint64_t>(bits);
}

// ---- counting ---------------------------------------------------------------------------------

// Chosen before size and probes: the width of a counter, and 512 for counters in a block, else 0.
struct counting_layout {
  std::uint32_t width;
  std::uint32_t block_bits;

  [[nodiscard]] std::uint64_t unit_bits() const { return block_bits != 0 ? bits_per_block : 64; }
  [[nodiscard]] std::uint64_t most_units() const { return max_bits / unit_bits(); }
  [[nodiscard]] std::uint32_t most_probes() const {
    return block_bits != 0 ? max_blocked_probes : max_probes;
  }
  [[nodiscard]] shape shape_of(std::uint32_t probes, std::uint64_t units) const {
    return {.kind = filter_kind::counting,
            .probes = probes,
            .block_bits = block_bits,
            .cell_bits = width,
            .bits = units * unit_bits()};
  }
};

counting_layout layout_for(const request& r, bool lines_by_default) {
  check_no_variant(r);
  const counting_layout layout{
      .width = r.cell_bits.value_or(4),
      .block_bits = r.block_bits.value_or(lines_by_default ? bits_per_block : 0)};
  if (layout.block_bits != 0 && layout.block_bits != bits_per_block) {
    detail::throw_bad_argument("the number of bits in a block", std::uint64_t{layout.block_bits},
                               "512, or 0 for counters anywhere");
  }
  if (r.probes) {
    check_range("the number of probes", *r.probes, 1, layout.most_probes(),
                layout.block_bits != 0 ? "counting (in lines)" : "counting");
  }
  check_shape(layout.shape_of(1, 1));
  return layout;
}

// The fewest units that meet the target with these probes, to 1/8192; `none` beyond 2^48 bits.
std::uint64_t least_units(const request& r, const counting_layout& layout, std::uint32_t probes) {
  const double target = planned_share * *r.fpr;
  const double guess = static_cast<double>(r.keys) * bits_per_key(probes, target) * layout.width /
                       static_cast<double>(layout.unit_bits());
  if (!(guess < static_cast<double>(layout.most_units()))) return none;
  const auto meets = [&](std::uint64_t units) {
    return counting_fpr(layout.shape_of(probes, units), r.keys) <= target;
  };
  std::uint64_t low = 0;  // too few
  auto high = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(guess));
  while (!meets(high)) {
    if (high == layout.most_units()) return none;
    low = high;
    high = std::min(layout.most_units(), high + high / 8 + 1);
  }
  while (high - low > 1 + high / 8192) {
    const std::uint64_t middle = low + (high - low) / 2;
    (meets(middle) ? high : low) = middle;
  }
  return high;
}

// The size falls with the number of probes up to the best one, and grows from there.
shape smallest_counting(const request& r, const counting_layout& layout) {
  const std::uint32_t first = r.probes.value_or(1);
  const std::uint32_t last = r.probes.value_or(layout.most_probes());
  std::uint64_t best = none;
  std::uint32_t best_probes = 0;
  for (std::uint32_t probes = first; probes <= last; ++probes) {
    const std::uint64_t units = least_units(r, layout, probes);
    if (units < best) {
      best = units;
      best_probes = probes;
    } else if (best != none && units > best + best / 50) {
      break;  // well past the minimum: rounding makes the bottom of the valley uneven
    }
  }
  if (best == none) throw_too_large(r);
  // In steps of up to 0.1 %, so that what is projected from it can be folded.
  const std::uint64_t quantum = std::bit_floor(std::max<std::uint64_t>(1, best / 1024));
  const std::uint64_t rounded = (best + quantum - 1) / quantum * quantum;
  return layout.shape_of(best_probes, std::min(rounded, layout.most_units()));
}

shape counting_of_size(const request& r, const counting_layout& layout, std::uint64_t bits) {
  // Bytes are never exceeded; bits a key are at least those asked for.
  const std::uint64_t unit = layout.unit_bits();
  const std::uint64_t units = std::min((bits + (r.bytes ? 0 : unit - 1)) / unit, max_bits / unit);
  if (units == 0) {
    detail::throw_bad_argument("the number of bytes", bits / 8,
                               "at least " + detail::to_text(unit / 8) + " for a counting filter");
  }
  if (r.probes) return layout.shape_of(*r.probes, units);
  shape best = layout.shape_of(1, units);
  double best_fpr = counting_fpr(best, r.keys);
  for (std::uint32_t probes = 2; probes <= layout.most_probes(); ++probes) {
    const shape next = layout.shape_of(probes, units);
    const double fpr = counting_fpr(next, r.keys);
    if (fpr >= best_fpr) break;
    best = next;
    best_fpr = fpr;
  }
  return best;
}

}  // namespace

double counting_fpr(const shape& s, std::uint64_t keys) {
  check_kind(s, filter_kind::counting);
  if (keys == 0) return 0.0;
  if (s.block_bits != 0) {
    return blocked_fpr(keys, s.bits / s.block_bits, s.probes,
                       block_geometry::lane_bits / s.cell_bits);
  }
  const double same_hash = static_cast<double>(keys) * 0x1p-64;
  return std::min(1.0, classic_fpr_expected(keys, s.bits / s.cell_bits, s.probes) + same_hash);
}

double counting_overflow(const shape& s, std::uint64_t keys) {
  check_kind(s, filter_kind::counting);
  if (keys == 0) return 0.0;
  const std::uint64_t whole = s.bits / s.cell_bits;
  const auto counters = static_cast<long double>(whole);
  const long double p = s.block_bits != 0 ? s.probes / counters
                                          : -std::expm1(s.probes * std::log1p(-1.0L / counters));
  const std::uint32_t sticks = (1U << s.cell_bits) - 1;
  return static_cast<double>(counters) * binomial_tail(static_cast<long double>(keys), p, sticks);
}

double counting_overflow_bound(const shape& s, std::uint64_t keys) {
  return std::min(1.0, counting_overflow(s, keys));
}

double fpr_of_counting(const shape& s, std::uint64_t keys) { return counting_fpr(s, keys); }

shape shape_for_counting(const request& r) {
  const double line_limit = counting_line_limit(r.cell_bits.value_or(4));
  if (r.fpr) {
    check_fpr(*r.fpr, r.keys);
    const counting_layout layout = layout_for(r, *r.fpr >= line_limit);
    if (layout.block_bits != 0 && *r.fpr < blocked_fpr_limit) {
      detail::fail(errc::unreachable, "counters in one line cannot honour an fpr of " +
                                          detail::to_text(*r.fpr) +
                                          "; their limit is 1e-9, use unblocked ones below it");
    }
    return smallest_counting(r, layout);
  }
  const std::uint64_t bits = bits_of(r);
  if (r.block_bits) return counting_of_size(r, layout_for(r, false), bits);
  // Lines, unless the size is one for a target where unblocked counters are the default.
  const bool lines_fit = bits >= bits_per_block && r.probes.value_or(1) <= max_blocked_probes;
  if (lines_fit) {
    const shape lines = counting_of_size(r, layout_for(r, true), bits);
    if (counting_fpr(lines, r.keys) >= line_limit) return lines;
  }
  return counting_of_size(r, layout_for(r, false), bits);
}

// ---- cuckoo -----------------------------------------------------------------------------------

namespace {

using namespace cuckoo_geometry;

// ln of the chance that one fingerprint differs from that of the query. 1 stands for 0, too, and is
// twice as likely as each of the 2^f - 2 others: two are equal with (2^f - 2 + 2 * 2) / 2^2f.
double log_differs(std::uint32_t fingerprint_bits) {
  const double all = std::ldexp(1.0, static_cast<int>(fingerprint_bits));
  return std::log1p(-(all + 2) / (all * all));
}

void check_bucket(std::uint32_t cells) {
  if (cells == 0 || cells > max_bucket_cells) {
    detail::throw_bad_argument("the number of fingerprints in a bucket", std::uint64_t{cells},
                               "from 1 to 255");
  }
}

shape cuckoo_shape(std::uint32_t cell_bits, std::uint32_t cells, std::uint64_t buckets) {
  const std::uint32_t bucket_bits = cell_bits * cells;
  return {.kind = filter_kind::cuckoo,
          .probes = 2,
          .block_bits = bucket_bits,
          .cell_bits = cell_bits,
          .bits = 64 * (preamble_words(1) + layer_words(buckets, bucket_bits))};
}

std::uint32_t cells_for(const request& r) {
  check_no_variant(r);
  if (r.probes && *r.probes != 2) {
    detail::throw_bad_argument("the number of probes", std::uint64_t{*r.probes},
                               "2 in a cuckoo filter");
  }
  if (r.cell_bits && (*r.cell_bits < 4 || *r.cell_bits > 32)) {
    detail::throw_bad_argument("the number of bits in a cell", std::uint64_t{*r.cell_bits},
                               "from 4 to 32 in a cuckoo filter");
  }
  const std::uint32_t cells = r.bucket_cells.value_or(default_bucket_cells);
  check_bucket(cells);
  return cells;
}

// The fewest buckets that may be planned to hold the keys; `none` beyond the limit.
std::uint64_t buckets_for(std::uint64_t keys, std::uint32_t cells, std::uint64_t most) {
  if (planned_slots(most, cells) < keys) return none;
  std::uint64_t low = 0;  // too few
  std::uint64_t high = most;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (planned_slots(middle, cells) >= keys ? high : low) = middle;
  }
  return high;
}

std::uint64_t most_buckets(std::uint32_t bucket_bits) { return max_bits / 2 / bucket_bits; }

// The longest fingerprints that fit into so many bits of buckets.
shape cuckoo_of_size(const request& r, std::uint32_t cells, std::uint64_t bits) {
  const std::uint32_t longest = r.cell_bits.value_or(32);
  const std::uint32_t shortest = r.cell_bits.value_or(4);
  for (std::uint32_t cell_bits = longest; cell_bits >= shortest; --cell_bits) {
    const std::uint64_t buckets =
        buckets_in(std::min(bits, max_bits / 2), std::uint64_t{cell_bits} * cells);
    if (buckets != 0 && planned_slots(buckets, cells) >= r.keys) {
      return cuckoo_shape(cell_bits, cells, buckets);
    }
  }
  detail::fail(errc::bad_argument, detail::to_text(r.keys) + " keys do not fit into " +
                                       detail::to_text(bits) + " bits with fingerprints of " +
                                       detail::to_text(std::uint64_t{shortest}) + " bits");
}

}  // namespace

double cuckoo_fpr(std::uint32_t fingerprint_bits, std::uint32_t bucket_cells, double load) {
  if (fingerprint_bits < 4 || fingerprint_bits > 32) {
    detail::throw_bad_argument("the number of bits in a fingerprint",
                               std::uint64_t{fingerprint_bits}, "from 4 to 32");
  }
  check_bucket(bucket_cells);
  if (!(load >= 0.0 && load <= 1.0)) detail::throw_bad_argument("the load", load, "from 0 to 1");
  return -std::expm1(2.0 * bucket_cells * load * log_differs(fingerprint_bits));
}

double cuckoo_fpr(const shape& s, std::uint64_t keys) {
  check_kind(s, filter_kind::cuckoo);
  const std::uint32_t cells = s.block_bits / s.cell_bits;
  const std::uint64_t least = 64 * preamble_words(1) + last_bucket_bits(s.block_bits);
  if (s.bits < least) {
    detail::throw_bad_argument("the number of bits", s.bits,
                               "at least " + detail::to_text(least) + " with such a bucket");
  }
  std::uint64_t buckets = buckets_in(s.bits - 64 * preamble_words(1), s.block_bits);
  double fingerprints = 0;  // that a query is compared with
  for (std::uint32_t layer = 0; keys != 0 && layer < max_layers; ++layer) {
    const std::uint64_t room = std::max<std::uint64_t>(1, planned_slots(buckets, cells));
    const std::uint64_t held = std::min(keys, room);
    fingerprints += 2.0 * static_cast<double>(held) / static_cast<double>(buckets);
    keys -= held;
    if (buckets > max_bits / s.block_bits / 2) break;
    buckets *= 2;
  }
  return -std::expm1(fingerprints * log_differs(s.cell_bits));
}

std::uint32_t cuckoo_fingerprint_bits(std::uint32_t bucket_cells, double fpr) {
  check_bucket(bucket_cells);
  check_fpr(fpr);
  constexpr std::uint64_t many = 1'000'000;
  const double load = static_cast<double>(planned_slots(many, bucket_cells)) /
                      static_cast<double>(many * bucket_cells);
  for (std::uint32_t bits = 4; bits <= 32; ++bits) {
    if (cuckoo_fpr(bits, bucket_cells, load) <= planned_share * fpr) return bits;
  }
  detail::fail(errc::unreachable,
               "a cuckoo filter cannot honour an fpr of " + detail::to_text(fpr) +
                   "; with fingerprints of 32 bits in buckets of " +
                   detail::to_text(std::uint64_t{bucket_cells}) + " its limit is " +
                   detail::to_text(cuckoo_fpr(32, bucket_cells, load)));
}

double fpr_of_cuckoo(const shape& s, std::uint64_t keys) { return cuckoo_fpr(s, keys); }

shape shape_for_cuckoo(const request& r) {
  const std::uint32_t cells = cells_for(r);
  if (r.fpr) {
    const std::uint32_t needed = cuckoo_fingerprint_bits(cells, *r.fpr);
    const std::uint32_t cell_bits = r.cell_bits.value_or(needed);
    if (cell_bits < needed) {
      detail::fail(errc::unreachable,
                   "fingerprints of " + detail::to_text(std::uint64_t{cell_bits}) +
                       " bits cannot honour an fpr of " + detail::to_text(*r.fpr) +
                       ", which needs " + detail::to_text(std::uint64_t{needed}));
    }
    const std::uint64_t buckets = buckets_for(r.keys, cells, most_buckets(cell_bits * cells));
    if (buckets == none) throw_too_large(r);
    return cuckoo_shape(cell_bits, cells, buckets);
  }
  const std::uint64_t bits = bits_of(r);
  if (!r.bytes) return cuckoo_of_size(r, cells, bits);  // the preamble comes on top
  const std::uint64_t words = bits / 64 / line_words * line_words;
  const std::uint64_t preamble = preamble_words(1);
  return cuckoo_of_size(r, cells, words > preamble ? (words - preamble) * 64 : 0);
}

}  // namespace bloomery::sizing
