#include "bloomery/core/shape.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "bloomery/core/error.hpp"
#include "growth.hpp"

namespace bloomery {

namespace {

// What a kind allows. Every row is a promise of docs/format.md.
struct kind_limits {
  filter_kind kind;
  std::string_view name;
  std::uint64_t unit_bits;  // the array is a multiple of this
  std::uint32_t least_probes;
  std::uint32_t most_probes;
  std::uint32_t least_cell;
  std::uint32_t most_cell;
  bool cell_is_power;  // 2, 4, 8, ... only: counters never straddle words
  std::uint32_t least_variant;
  std::uint32_t most_variant;
};

constexpr std::array<kind_limits, 13> limits = {{
    {filter_kind::classic, "classic", 1, 1, max_probes, 0, 0, false, 0, 0},
    {filter_kind::partitioned, "partitioned", 1, 1, max_probes, 0, 0, false, 0, 0},
    {filter_kind::blocked, "blocked", 512, 1, max_blocked_probes, 0, 0, false, 0, 0},
    {filter_kind::counting, "counting", 64, 1, max_probes, 2, 16, true, 0, 0},
    {filter_kind::scalable, "scalable", 512, 1, max_blocked_probes, 0, 0, false, 2, 16},
    {filter_kind::windowed, "windowed", 512, 1, max_blocked_probes, 0, 0, false, 1, 63},
    {filter_kind::cuckoo, "cuckoo", 64, 2, 2, 4, 32, false, 0, 0},
    {filter_kind::fuse, "fuse", 64, 3, 4, 8, 32, true, 0, 0},
    {filter_kind::ribbon, "ribbon", 64, 1, 1, 1, 32, false, 0, 0},
    {filter_kind::bloomier, "bloomier", 64, 3, 4, 1, 96, false, 1, 64},
    {filter_kind::count_min, "count-min", 64, 1, max_probes, 8, 64, true, 0, 1},
    {filter_kind::spectral, "spectral", 64, 1, max_probes, 8, 64, true, 0, 2},
    {filter_kind::top_k, "top-k", 64, 1, max_probes, 32, 32, true, 1, 1U << 20U},
}};

const kind_limits* limits_of(filter_kind kind) noexcept {
  const auto* const row =
      std::find_if(limits.begin(), limits.end(), [&](const auto& l) { return l.kind == kind; });
  return row == limits.end() ? nullptr : row;
}

void check_range(std::string_view name, std::uint32_t value, std::uint32_t least,
                 std::uint32_t most, std::string_view kind) {
  if (value >= least && value <= most) return;
  const std::string range = least == most ? detail::to_text(std::uint64_t{least})
                                          : "from " + detail::to_text(std::uint64_t{least}) +
                                                " to " + detail::to_text(std::uint64_t{most});
  detail::throw_bad_argument(name, std::uint64_t{value},
                             range + " in a " + std::string(kind) + " filter");
}

bool in_lines(const shape& s) {
  return s.kind == filter_kind::blocked || s.kind == filter_kind::scalable ||
         s.kind == filter_kind::windowed || (s.kind == filter_kind::counting && s.block_bits != 0);
}

void check_blocks(const shape& s) {
  if (s.kind == filter_kind::cuckoo) {
    if (s.block_bits == 0 || s.block_bits % s.cell_bits != 0 || s.block_bits / s.cell_bits > 255) {
      detail::throw_bad_argument("the number of bits in a bucket", std::uint64_t{s.block_bits},
                                 "from 1 to 255 fingerprints");
    }
    return;
  }
  const bool lines = in_lines(s);
  if (s.block_bits != (lines ? bits_per_block : 0)) {
    detail::throw_bad_argument("the number of bits in a block", std::uint64_t{s.block_bits},
                               lines ? "512" : "0 in a filter without blocks");
  }
  if (lines && s.bits % bits_per_block != 0) {
    detail::throw_bad_argument("the number of bits", s.bits, "a multiple of 512");
  }
}

void check_digests(const shape& s) {
  if (s.kind != filter_kind::classic) {
    throw error(errc::bad_argument,
                "digests modulo the size are positions of classic filters only");
  }
  // A word of a digest has 32 bits; it would never reach the rest of a longer array.
  if (s.bits > std::uint64_t{1} << 32U) {
    detail::throw_bad_argument("the number of bits", s.bits,
                               "at most 2^32 in a filter of foreign digests");
  }
}

void check_shard(const shape& s) {
  if (s.shard.count < 1 || s.shard.count > max_shards) {
    detail::throw_bad_argument("the number of shards", std::uint64_t{s.shard.count},
                               "from 1 to 65536");
  }
  if (s.shard.index >= s.shard.count) {
    detail::throw_bad_argument("the number of a shard", std::uint64_t{s.shard.index},
                               "below the number of shards");
  }
  if (s.shard.whole()) return;
  if (s.kind != filter_kind::blocked) {
    throw error(errc::bad_argument, "only a blocked filter has shards");
  }
  if (s.bits > max_bits / s.shard.count) {
    detail::throw_bad_argument("the number of bits", s.bits, "at most 2^48 in all shards together");
  }
}

bool is_split(const shape& s) {
  return s.kind == filter_kind::scalable && growth::rule_of(s.variant).split;
}

// The rule by which a scalable filter grows stands above the factor; the steep one has a spread
// too.
void check_variant(const shape& s, const kind_limits& row) {
  const bool scalable = s.kind == filter_kind::scalable;
  if (scalable && s.variant >> 8U == 1U << 10U) {
    check_range("the number of doublings", s.variant & 0xffU, 0, growth::most_doublings, row.name);
    return;
  }
  if (scalable && s.variant >> 8U == 1U << 9U) {
    check_range("the growth", s.variant & 0xffU, growth::least_factor, growth::most_factor,
                row.name);
    return;
  }
  const bool ruled = scalable && s.variant >> 17U == 0 &&
                     ((s.variant >> 16U) == 0 || ((s.variant >> 8U) & 0xffU) != 0);
  check_range("the variant", ruled ? s.variant & 0xffU : s.variant, row.least_variant,
              row.most_variant, row.name);
}

}  // namespace

std::string_view kind_name(filter_kind kind) noexcept {
  const kind_limits* const row = limits_of(kind);
  return row == nullptr ? "unknown" : row->name;
}

void check_shape(const shape& s) {
  const kind_limits* const row = limits_of(s.kind);
  if (row == nullptr) throw error(errc::bad_argument, "unknown kind of filter");
  if (s.bits == 0 || s.bits > max_bits) {
    detail::throw_bad_argument("the number of bits", s.bits, "from 1 to 2^48");
  }
  const bool split = is_split(s);
  const std::uint32_t most = split ? 1 : (in_lines(s) ? max_blocked_probes : row->most_probes);
  check_range("the number of probes", s.probes, row->least_probes, most, row->name);
  check_range("the number of bits in a cell", s.cell_bits,
              split ? growth::split_cell_bits : row->least_cell,
              split ? growth::split_cell_bits : row->most_cell, row->name);
  if (row->cell_is_power && (s.cell_bits & (s.cell_bits - 1)) != 0) {
    detail::throw_bad_argument("the number of bits in a cell", std::uint64_t{s.cell_bits},
                               "a power of two in a " + std::string(row->name) + " filter");
  }
  check_variant(s, *row);
  check_blocks(s);
  if (s.bits % row->unit_bits != 0) {
    detail::throw_bad_argument("the number of bits", s.bits,
                               "a multiple of " + detail::to_text(row->unit_bits));
  }
  if (s.kind == filter_kind::partitioned && s.bits % s.probes != 0) {
    detail::throw_bad_argument("the number of bits", s.bits,
                               "a multiple of the number of probes in a partitioned filter");
  }
  constexpr std::uint32_t most_check_bits = 32;
  if (s.kind == filter_kind::bloomier &&
      (s.variant > s.cell_bits || s.cell_bits - s.variant > most_check_bits)) {
    detail::throw_bad_argument("the number of bits in a cell", std::uint64_t{s.cell_bits},
                               "those of the value and 0 to 32 check bits");
  }
  if (s.scheme == probe_scheme::modulo) check_digests(s);
  check_shard(s);
}

}  // namespace bloomery
