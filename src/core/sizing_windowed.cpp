// Sizes and rates of the windowed filter: how many generations share a line, and how large it is.
//
// The fewer bits a generation has in a line, the more the numbers of keys of the lines scatter, and
// the more bits a key it takes. So a line is shared while that costs little: a block has the fewest
// lines with which the filter takes at most half as much again as with a line for each generation.
#include <algorithm>
#include <cmath>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/detail/core/window_geometry.hpp"
#include "checks.hpp"
#include "kind_table.hpp"
#include "least_number.hpp"
#include "log_gamma.hpp"
#include "saturating.hpp"

namespace bloomery::sizing {

namespace {

using detail::window_geometry;

constexpr std::uint32_t default_generations = 4;
constexpr double most_memory = 1.5;  // times that of a line for each generation

// The share of one generation in a rate of all, which are alike.
double rate_of_one(double all, std::uint32_t slots) {
  return -std::expm1(std::log1p(-std::min(all, 1 - 1e-15)) / slots);
}
double rate_of_all(double one, std::uint32_t slots) {
  return -std::expm1(slots * std::log1p(-std::min(one, 1 - 1e-15)));
}

// A block's lanes in one generation. For choosing the geometry a key's k bits are any of the
// `positions` in all lanes; blocked_fpr, which knows the lanes apart, then says how many blocks.
class plane_model {
 public:
  explicit plane_model(std::uint32_t positions)
      : bits_(static_cast<double>(block_geometry::lanes) * positions) {}

  // The mean rate of blocks with a Poisson number of keys.
  [[nodiscard]] double rate(double load, std::uint32_t probes) const {
    const double first = std::max(1.0, std::floor(load - 12 * std::sqrt(load)));
    const double last = std::ceil(load + 12 * std::sqrt(load) + 30);
    const double stays = 1 - probes / bits_;
    double zero = std::pow(stays, first);
    double chance =
        std::exp(first * std::log(load) - load - static_cast<double>(log_gamma(first + 1)));
    double sum = 0;
    for (double keys = first; keys <= last; chance *= load / ++keys, zero *= stays) {
      sum += chance * std::pow(1 - zero, probes);
    }
    return sum;
  }
  // The keys with which a block has this rate, on average.
  [[nodiscard]] double load(double wanted, std::uint32_t probes) const {
    double low = 0;
    double high = bits_;
    while (rate(high, probes) < wanted) high *= 2;
    while (high - low > 1e-4 * high) {
      const double middle = (low + high) / 2;
      (rate(middle, probes) > wanted ? high : low) = middle;
    }
    return high;
  }

 private:
  double bits_;
};

struct choice {
  std::uint32_t sharing = 1;
  std::uint32_t probes = 1;
  double value = 0;  // what is to be small: blocks, or the rate of one generation
};

// The probes for which value(probes) is least. It falls to there, and then it grows.
template <class Value>
choice best_probes_of(const request& r, std::uint32_t sharing, Value value) {
  if (r.probes) return {sharing, *r.probes, value(*r.probes)};
  choice best{sharing, 1, value(1)};
  for (std::uint32_t k = 2; k <= max_blocked_probes; ++k) {
    const double next = value(k);
    if (next >= best.value) break;
    best = {sharing, k, next};
  }
  return best;
}

// The fewest lines of which acceptable(choice) is true, where choose(sharing) makes one; those of
// the request, if it has them. A line for each generation always is.
template <class Choose, class Acceptable>
choice fewest_lines(const request& r, std::uint32_t slots, Choose choose, Acceptable acceptable) {
  if (r.cell_bits) return choose(*r.cell_bits);
  const auto most = std::min(slots, detail::most_sharing);
  for (std::uint32_t lines = (slots + most - 1) / most; lines < slots; ++lines) {
    const choice c = choose((slots + lines - 1) / lines);
    if (acceptable(c)) return c;
  }
  return choose(1);
}

shape shape_of(std::uint32_t generations, const choice& c, std::uint64_t blocks) {
  const window_geometry geometry(generations, c.sharing);
  return {.kind = filter_kind::windowed,
          .probes = c.probes,
          .block_bits = bits_per_block,
          .cell_bits = c.sharing,
          .variant = generations,
          .bits = (geometry.head_lines + blocks * geometry.lines) * bits_per_block};
}

std::uint64_t most_blocks_of(const window_geometry& geometry) {
  return (max_bits / bits_per_block - geometry.head_lines) / geometry.lines;
}

shape shape_for_rate(const request& r, std::uint32_t g, std::uint64_t keys) {
  const std::uint32_t slots = g + 1;
  check_part(r, keys, 1.0 / slots);
  const double target = planned_share * *r.fpr;
  const double one = rate_of_one(target, slots);
  const auto blocks_with = [&](std::uint32_t sharing) {
    const plane_model model(window_geometry(g, sharing).positions);
    return best_probes_of(r, sharing, [&](std::uint32_t probes) {
      return static_cast<double>(keys) / model.load(one, probes);
    });
  };
  const auto lines_of = [&](const choice& c) {
    return std::ceil(c.value) * window_geometry(g, c.sharing).lines;
  };
  const double most_lines = most_memory * lines_of(blocks_with(1));
  const choice best = fewest_lines(r, slots, blocks_with,
                                   [&](const choice& c) { return lines_of(c) <= most_lines; });
  const std::uint64_t blocks = least_number(
      best.value, most_blocks_of(window_geometry(g, best.sharing)), -std::log(target),
      [&](std::uint64_t some) {
        return std::log(fpr_of_windowed(shape_of(g, best, some), r.keys)) - std::log(target);
      });
  if (blocks == 0) throw_too_large(r);
  return shape_of(g, best, blocks);
}

std::uint32_t fewest_of_a_block(const request& r, std::uint32_t g) {
  const std::uint32_t sharing = r.cell_bits.value_or(std::min(g + 1, detail::most_sharing));
  return window_geometry(g, sharing).lines;
}

// For so many lines without the head: the same rule, by the rate instead of the memory.
choice choice_for_lines(const request& r, std::uint32_t g, std::uint64_t keys, double lines) {
  const auto rate_with = [&](std::uint32_t sharing, double in) {
    const window_geometry geometry(g, sharing);
    const double load = static_cast<double>(keys) * geometry.lines / in;
    constexpr double hopeless = 16.0 * bits_per_block;  // every bit is set
    return best_probes_of(r, sharing, [&](std::uint32_t probes) {
      return load > hopeless ? 1.0 : plane_model(geometry.positions).rate(load, probes);
    });
  };
  const double most_rate = rate_with(1, lines / most_memory).value;
  return fewest_lines(
      r, g + 1, [&](std::uint32_t sharing) { return rate_with(sharing, lines); },
      [&](const choice& c) { return c.value <= most_rate || lines <= g; });
}

shape shape_for_bits_per_key(const request& r, std::uint32_t g, std::uint64_t keys) {
  check_positive("bits per key", *r.bits_per_key);
  const double lines =
      std::max(static_cast<double>(fewest_of_a_block(r, g)),
               std::ceil(static_cast<double>(r.keys) * *r.bits_per_key / bits_per_block));
  const choice best = choice_for_lines(r, g, keys, lines);
  const window_geometry geometry(g, best.sharing);
  const double blocks = std::ceil(lines / geometry.lines);
  if (blocks > static_cast<double>(most_blocks_of(geometry))) throw_too_large(r);
  return shape_of(g, best, static_cast<std::uint64_t>(blocks));
}

shape shape_for_bytes(const request& r, std::uint32_t g, std::uint64_t keys) {
  if (*r.bytes > max_bits / 8) {
    detail::throw_bad_argument("the number of bytes", *r.bytes, "at most 2^45");
  }
  constexpr std::uint64_t line_bytes = bits_per_block / 8;
  const std::uint64_t lines = *r.bytes / line_bytes;
  const std::uint64_t head = window_geometry(g, 1).head_lines;
  const std::uint64_t least = head + fewest_of_a_block(r, g);
  if (lines < least) {
    detail::throw_bad_argument("the number of bytes", *r.bytes,
                               "at least " + detail::to_text(least * line_bytes) +
                                   " for a windowed filter of as many generations");
  }
  const choice best = choice_for_lines(r, g, keys, static_cast<double>(lines - head));
  return shape_of(g, best, (lines - head) / window_geometry(g, best.sharing).lines);
}

}  // namespace

shape shape_for_windowed(const request& r) {
  const std::uint32_t g = r.variant.value_or(default_generations);
  const kind_row& row = row_of(filter_kind::windowed);
  check_range("the variant", g, row.variant.least, row.variant.most, row.name);
  if (r.cell_bits) {
    check_range("the number of bits in a cell", *r.cell_bits, 1,
                std::min(g + 1, detail::most_sharing), row.name);
  }
  const std::uint64_t keys = detail::divided_up(r.keys, g);
  if (r.fpr) return shape_for_rate(r, g, keys);
  return r.bits_per_key ? shape_for_bits_per_key(r, g, keys) : shape_for_bytes(r, g, keys);
}

double fpr_of_windowed(const shape& s, std::uint64_t keys) {
  const window_geometry geometry(s);
  return rate_of_all(blocked_fpr(detail::divided_up(keys, s.variant), geometry.blocks(s), s.probes,
                                 geometry.positions),
                     geometry.slots);
}

void check_windowed(const shape& s) {
  if (s.cell_bits > s.variant + 1) {
    detail::throw_bad_argument(
        "the number of bits in a cell", std::uint64_t{s.cell_bits},
        "at most " + detail::to_text(std::uint64_t{s.variant} + 1) + ", one for each generation");
  }
}

}  // namespace bloomery::sizing
