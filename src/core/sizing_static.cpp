#include "bloomery/core/sizing_static.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "bloomery/core/sizing.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "checks.hpp"
#include "kind_table.hpp"

namespace bloomery::sizing {

namespace {

// For 2^i keys: cells a key in units of 1/10,000, interpolated in between, and segments to begin
// in, from 2^i to 2^(i+1) keys. Found by trying: with these at least nine seeds in ten peel.
struct fuse_row {
  std::uint32_t cells_per_10000;
  std::uint32_t starts;
};
constexpr std::size_t fuse_rows = 22;
constexpr std::array<fuse_row, fuse_rows> fuse_three = {
    {{60000, 1},   {50000, 1},   {36000, 1},   {27000, 1},  {21000, 1},  {18000, 1},
     {16000, 1},   {14800, 1},   {14000, 1},   {13400, 1},  {13000, 1},  {12700, 1},
     {12550, 1},   {12480, 1},   {12400, 32},  {12000, 40}, {11800, 50}, {11650, 80},
     {11520, 100}, {11380, 120}, {11275, 150}, {11200, 180}}};
constexpr std::array<fuse_row, fuse_rows> fuse_four = {
    {{60000, 1},   {40000, 1},   {28000, 1},   {21000, 1},  {18000, 1},   {16200, 1},
     {15000, 1},   {14500, 1},   {14100, 1},   {13800, 1},  {13500, 20},  {13100, 25},
     {12650, 32},  {12200, 40},  {11850, 50},  {11550, 80}, {11280, 100}, {11100, 120},
     {10950, 140}, {10810, 160}, {10720, 180}, {10680, 200}}};

}  // namespace

std::uint64_t static_shards(std::uint64_t keys) noexcept {
  return std::clamp<std::uint64_t>(keys >> log2_shard_keys, 1, max_static_shards);
}

fuse_size fuse_size_for(std::uint64_t keys, std::uint32_t probes) noexcept {
  if (keys == 0) return {};
  const auto& rows = probes == 3 ? fuse_three : fuse_four;
  const auto log2 = static_cast<std::size_t>(std::bit_width(keys) - 1);
  const fuse_row& row = rows[std::min(log2, fuse_rows - 1)];
  const fuse_row& next = rows[std::min(log2 + 1, fuse_rows - 1)];
  const std::uint64_t above = keys - (std::uint64_t{1} << log2);
  const std::uint64_t less = (above * (row.cells_per_10000 - next.cells_per_10000)) >> log2;
  const std::uint64_t parts = std::uint64_t{10000} * (row.starts + probes - 1);
  return {.starts = row.starts,
          .segment = (keys * (row.cells_per_10000 - less) + parts - 1) / parts};
}

// A layer gets 4 % fewer slots than keys and bumps so many that all but about 50 slots and one in
// 6,000 are full, with a standard deviation of 25. Its overhead makes it worthwhile from 6,000 keys
// on. The last layer takes what is left, and 128 slots more for the scatter.
ribbon_size ribbon_size_for(std::uint64_t keys) noexcept {
  ribbon_size slots{};
  if (keys == 0) return slots;
  std::uint64_t left = keys;
  std::uint64_t margin = ribbon_width;
  for (std::uint32_t layer = 0; layer + 1 < ribbon_layers && left >= 6144; ++layer) {
    slots[layer] = left * 25 / 26 / 64 * 64;
    left = left - slots[layer] + 50 + slots[layer] / 6000;
    margin = ribbon_width + 128;
  }
  slots.back() = (left + left / 32 + margin + 63) / 64 * 64;
  return slots;
}

void check_bloomier(const shape& s) {
  if (s.cell_bits < s.variant || s.cell_bits - s.variant > max_check_bits) {
    detail::throw_bad_argument("the number of bits in a cell", std::uint64_t{s.cell_bits},
                               "those of the value and from 0 to 32 check bits");
  }
}

namespace {

std::uint64_t shard_words(const shape& s, std::uint64_t keys) {
  if (s.kind == filter_kind::ribbon) {
    return ribbon_array_words(ribbon_size_for(keys), s.cell_bits);
  }
  const fuse_size size = fuse_size_for(keys, s.probes);
  if (s.kind == filter_kind::fuse) return array_words(size.cells(s.probes) * s.cell_bits);
  return bloomier_tag_words(s, size) + bloomier_value_words(s, size);
}

std::uint32_t probes_of(const request& r) {
  const std::uint32_t probes = r.probes.value_or(3);
  if (probes != 3 && probes != 4) {
    detail::throw_bad_argument("the number of probes", std::uint64_t{probes},
                               "3 or 4 in a " + std::string(kind_name(r.kind)) + " filter");
  }
  return probes;
}

// The chance that an absent key matches by its fingerprint, or in a map by one of its cells' tags.
double print_fpr(const shape& s) {
  if (s.kind != filter_kind::bloomier) return std::ldexp(1.0, -static_cast<int>(s.cell_bits));
  return std::ldexp(s.probes, -static_cast<int>(bloomier_tag_bits(s)));
}

// The bits that a request allows, by its bits a key or by its bytes.
double room_in_bits(const request& r) {
  if (r.bytes) return static_cast<double>(*r.bytes) * 8;
  check_positive("bits per key", *r.bits_per_key);
  return static_cast<double>(r.keys) * *r.bits_per_key;
}

bool meets(const request& r, const shape& s) {
  return r.fpr ? print_fpr(s) <= *r.fpr : static_cast<double>(s.bits) <= room_in_bits(r);
}

[[noreturn]] void throw_unreachable(const request& r, const shape& s) {
  const std::string name(kind_name(r.kind));
  const std::string cell = detail::to_text(std::uint64_t{s.cell_bits}) + " bits in a cell";
  if (r.fpr) {
    detail::fail(errc::unreachable, "a " + name + " filter with " + cell +
                                        " cannot honour an fpr of " + detail::to_text(*r.fpr) +
                                        "; its own is " + detail::to_text(print_fpr(s)));
  }
  detail::fail(errc::unreachable, "a " + name + " filter of " + detail::to_text(r.keys) +
                                      " keys with " + cell + " takes " + detail::to_text(s.bits) +
                                      " bits, more than the " + detail::to_text(room_in_bits(r)) +
                                      " allowed");
}

// Among the cells of least, least + step(least), ... up to `most` bits: the first that meets a
// target, the last that fits into a size. A number of bits in the request leaves no choice.
template <class Next>
shape choose_cells(const request& r, shape s, std::uint32_t least, std::uint32_t most, Next next) {
  if (r.fpr) check_fpr(*r.fpr, r.keys);
  if (r.cell_bits) least = most = *r.cell_bits;
  std::optional<shape> best;
  for (std::uint32_t bits = least; bits <= most; bits = next(bits)) {
    s.cell_bits = bits;
    s.bits = static_bits(s, r.keys);
    if (meets(r, s)) best = s;
    if (best.has_value() == r.fpr.has_value()) break;  // the first good one, or the first bad one
  }
  if (!best) throw_unreachable(r, s);
  return *best;
}

}  // namespace

std::uint64_t static_bits(const shape& s, std::uint64_t keys) {
  shape checked = s;
  checked.bits = 64;
  check_shape(checked);
  if (keys > max_bits) {
    detail::throw_bad_argument("the number of keys", keys, "at most 2^48 in a static filter");
  }
  const std::uint64_t shards = static_shards(keys);
  const std::uint64_t entry = s.kind == filter_kind::ribbon ? ribbon_entry_words : fuse_entry_words;
  return 64 * (shards * (shard_words(s, (keys + shards / 2) / shards) + entry) + footer_words);
}

shape shape_for_fuse(const request& r) {
  const shape s{.kind = filter_kind::fuse, .probes = probes_of(r)};
  return choose_cells(r, s, 8, 32, [](std::uint32_t bits) { return 2 * bits; });
}

shape shape_for_ribbon(const request& r) {
  if (r.probes.value_or(1) != 1) {
    detail::throw_bad_argument("the number of probes", std::uint64_t{*r.probes},
                               "1 in a ribbon filter");
  }
  const shape s{.kind = filter_kind::ribbon, .probes = 1};
  return choose_cells(r, s, 1, 32, [](std::uint32_t bits) { return bits + 1; });
}

shape shape_for_bloomier(const request& r) {
  if (r.variant.value_or(8) == 0 || r.variant.value_or(8) > 64) {
    detail::throw_bad_argument("the number of bits in a value", std::uint64_t{*r.variant},
                               "from 1 to 64");
  }
  const shape s{
      .kind = filter_kind::bloomier, .probes = probes_of(r), .variant = r.variant.value_or(8)};
  return choose_cells(r, s, s.variant, s.variant + max_check_bits,
                      [](std::uint32_t bits) { return bits + 1; });
}

double fpr_of_static(const shape& s, std::uint64_t keys) {
  return std::min(1.0, print_fpr(s) + static_cast<double>(keys) * 0x1p-64);
}

}  // namespace bloomery::sizing
