#include "bloomery/format/compact.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/core/sizing_static.hpp"
#include "bloomery/detail/hash/static_probe.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/hash/probe.hpp"
#include "filter/ribbon_band.hpp"

namespace bloomery {

namespace {

// Two cache lines: bytes that are not aligned lie across two of them anyway, and by the model
// blocks of 64 bytes take 2.4 % more at 1 % and 3.4 % more at 0.1 %.
constexpr std::size_t most_block_bytes = 128;
constexpr std::size_t check_bytes = 2;
constexpr std::uint32_t most_cell_bits = 31;
constexpr double most_bits_per_key = 64;
constexpr double aim =
    0.98;  // of the target, as the planner does: a filter is one draw from the model
constexpr std::uint32_t seeds = 256;
constexpr std::uint32_t seeds_before_more_slots = 16;

// The upper three bits of the tag; the lower five are probes or cell bits.
enum class form : std::uint8_t { blocked = 1, ribbon = 2 };

constexpr form form_of(std::uint8_t tag) noexcept { return static_cast<form>(tag >> 5U); }

constexpr char tag_of(form f, std::uint32_t number) noexcept {
  return static_cast<char>(static_cast<std::uint32_t>(f) << 5U | number);
}

std::uint16_t check_of(std::string_view bytes) noexcept {
  return static_cast<std::uint16_t>(XXH3_64bits(bytes.data(), bytes.size()));
}

void finish(std::string& bytes, form f, std::uint32_t number) {
  bytes.push_back(tag_of(f, number));
  const std::uint16_t check = check_of(bytes);
  bytes.push_back(static_cast<char>(check & 0xffU));
  bytes.push_back(static_cast<char>(check >> 8U));
}

// ---- blocked ------------------------------------------------------------------------------------

constexpr std::size_t blocks_of(std::size_t bytes) noexcept {
  return (bytes + most_block_bytes - 1) / most_block_bytes;
}

classic_probes probes_in_block(std::size_t block_bytes, std::uint32_t probes) noexcept {
  return classic_probes(shape{.probes = probes, .bits = std::uint64_t{8} * block_bytes});
}

// The block is the upper half of the product; the lower half is as good as a new hash.
struct block_place {
  std::size_t block;
  std::uint64_t rest;

  block_place(std::uint64_t hash, std::size_t blocks) noexcept
      : block(static_cast<std::size_t>(detail::multiply_high(hash, blocks))), rest(hash * blocks) {}
};

bool blocked_contains(std::string_view bits, std::uint32_t probes, std::uint64_t hash) noexcept {
  const std::size_t blocks = blocks_of(bits.size());
  if (blocks == 0 || bits.size() % blocks != 0 || probes == 0) return true;
  const std::size_t block_bytes = bits.size() / blocks;
  const block_place place(hash, blocks);
  const char* const block = bits.data() + place.block * block_bytes;
  return probes_in_block(block_bytes, probes).all_of(place.rest, [block](std::uint64_t position) {
    return ((static_cast<unsigned char>(block[position / 8]) >> (position % 8)) & 1U) != 0;
  });
}

// ---- ribbon -------------------------------------------------------------------------------------

struct ribbon_bits {  // slot i of column j is bit j * slots + i
  std::string_view bytes;

  // 64 bits from this one on; zeros beyond the end.
  [[nodiscard]] std::uint64_t get(std::uint64_t bit) const noexcept {
    const auto first = static_cast<std::size_t>(bit / 8);
    const std::uint32_t shift = bit % 8;
    return word(first) >> shift | (word(first + 8) << 1U) << (63U - shift);
  }

 private:
  [[nodiscard]] std::uint64_t word(std::size_t first) const noexcept {
    std::uint64_t value = 0;
    if (first + 8 <= bytes.size()) {
      std::memcpy(&value, bytes.data() + first, 8);
    } else if (first < bytes.size()) {
      std::memcpy(&value, bytes.data() + first, bytes.size() - first);
    }
    return detail::little_endian(value);
  }
};

std::uint64_t mixed_by(std::uint64_t hash, std::uint32_t seed) noexcept {
  return mix64(hash, splitmix64(seed));
}

bool ribbon_contains(std::string_view columns, std::uint32_t cell_bits, std::uint32_t seed,
                     std::uint64_t hash) noexcept {
  if (cell_bits == 0) return true;
  const std::uint64_t slots = std::uint64_t{8} * columns.size() / cell_bits;
  if (slots == 0) return true;
  const std::uint64_t mixed = mixed_by(hash, seed);
  const detail::uint128 coefficients = detail::ribbon_equation(mixed).within(slots);
  const auto low = static_cast<std::uint64_t>(coefficients);
  const auto high = static_cast<std::uint64_t>(coefficients >> 64U);
  const std::uint64_t print = detail::ribbon_print(mixed, cell_bits);
  const ribbon_bits bits{columns};
  std::uint64_t at = detail::multiply_high(mixed, sizing::ribbon_starts(slots));
  for (std::uint32_t j = 0; j < cell_bits; ++j, at += slots) {
    const std::uint64_t chosen = (bits.get(at) & low) ^ (bits.get(at + 64) & high);
    if (static_cast<std::uint64_t>(__builtin_parityll(chosen)) != ((print >> j) & 1U)) return false;
  }
  return true;
}

std::size_t bytes_for(std::uint64_t slots, std::uint32_t cell_bits) noexcept {
  return static_cast<std::size_t>((slots * cell_bits + 7) / 8);
}

// From the columns of filter/ribbon.hpp, 64 slots of all columns after 64 slots.
std::string packed_columns(std::span<const std::uint64_t> words, std::uint64_t slots,
                           std::uint32_t cell_bits) {
  std::string bytes(bytes_for(slots, cell_bits), '\0');
  for (std::uint64_t j = 0; j < cell_bits; ++j) {
    for (std::uint64_t i = 0; i < slots; ++i) {
      const std::uint64_t word = detail::little_endian(words[i / 64 * cell_bits + j]);
      const std::uint64_t bit = j * slots + i;
      bytes[bit / 8] = static_cast<char>(static_cast<unsigned char>(bytes[bit / 8]) |
                                         ((word >> (i % 64)) & 1U) << (bit % 8));
    }
  }
  return bytes;
}

// More slots than keys, as few as leave every second or third seed a solution.
constexpr std::uint64_t spare_slots(std::uint64_t keys) noexcept { return keys / 64 + 1; }

}  // namespace

compact_builder::compact_builder(const compact_options& o) : options_(o) {
  if (o.kind != filter_kind::blocked && o.kind != filter_kind::ribbon) {
    detail::fail(errc::bad_argument, "a compact filter is of kind blocked or ribbon, not " +
                                         std::string(kind_name(o.kind)));
  }
  if (o.fpr && o.bits_per_key) {
    detail::fail(errc::bad_argument,
                 "a compact filter has a target for its fpr or for its bits per key, not both");
  }
  if (o.bits_per_key && !(*o.bits_per_key >= 1 && *o.bits_per_key <= most_bits_per_key)) {
    detail::throw_bad_argument("bits per key", *o.bits_per_key, "from 1 to 64");
  }
  if (!o.bits_per_key && !o.fpr) options_.fpr = 0.01;
  if (options_.fpr && !(*options_.fpr >= sizing::blocked_fpr_limit && *options_.fpr < 1)) {
    detail::throw_bad_argument("fpr", *options_.fpr, "at least 1e-9 and below 1");
  }
}

std::string compact_builder::build(std::vector<std::uint64_t> hashes) const {
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  if (options_.kind == filter_kind::ribbon && !hashes.empty()) {
    if (std::optional<std::string> ribbon = build_ribbon(hashes)) return *std::move(ribbon);
  }
  return build_blocked(hashes);
}

std::string compact_builder::build_blocked(std::span<const std::uint64_t> hashes) const {
  const blocked_size size =
      hashes.empty() ? blocked_size{1, 1, 1} : size_for(std::uint64_t{hashes.size()});
  std::string bytes(size.blocks * size.block_bytes, '\0');
  const classic_probes probes = probes_in_block(size.block_bytes, size.probes);
  for (const std::uint64_t hash : hashes) {
    const block_place place(hash, size.blocks);
    char* const block = bytes.data() + place.block * size.block_bytes;
    probes.all_of(place.rest, [block](std::uint64_t position) {
      block[position / 8] =
          static_cast<char>(static_cast<unsigned char>(block[position / 8]) | 1U << (position % 8));
      return true;
    });
  }
  finish(bytes, form::blocked, size.probes);
  return bytes;
}

compact_builder::blocked_size compact_builder::size_for(std::uint64_t keys) const {
  const std::lock_guard lock(mutex_);
  const auto at = sizes_.find(keys);
  if (at != sizes_.end()) return at->second;
  return sizes_[keys] = searched_size(keys);
}

// The fewest bytes that meet the target by the model, or those asked for; the best probe count.
compact_builder::blocked_size compact_builder::searched_size(std::uint64_t keys) const {
  const double bound =
      options_.bits_per_key.value_or(options_.fpr ? std::log2(1 / *options_.fpr) : 0.0);
  auto bytes = static_cast<std::size_t>(std::ceil(static_cast<double>(keys) * bound / 8));
  for (bytes = std::max<std::size_t>(bytes, 1);; bytes += 1 + bytes / 128) {
    blocked_size best{.blocks = blocks_of(bytes), .block_bytes = 0, .probes = 1};
    best.block_bytes = (bytes + best.blocks - 1) / best.blocks;
    double least = 2;
    for (std::uint32_t probes = 1; probes <= max_blocked_probes; ++probes) {
      const double fpr =
          sizing::small_blocks_fpr(keys, best.blocks, std::uint64_t{8} * best.block_bytes, probes);
      if (fpr >= least) break;
      least = fpr;
      best.probes = probes;
    }
    if (!options_.fpr || least <= aim * *options_.fpr) return best;
  }
}

std::uint32_t compact_builder::cell_bits(std::uint64_t keys) const {
  if (options_.fpr) {
    return static_cast<std::uint32_t>(
        std::clamp(std::ceil(std::log2(1 / *options_.fpr)), 1.0, double{most_cell_bits}));
  }
  const double slots = static_cast<double>(keys + spare_slots(keys));
  return static_cast<std::uint32_t>(
      std::clamp(std::floor(static_cast<double>(keys) * *options_.bits_per_key / slots), 1.0,
                 double{most_cell_bits}));
}

// Empty when no seed gives a solution, which does not happen with random hashes.
std::optional<std::string> compact_builder::build_ribbon(
    std::span<const std::uint64_t> hashes) const {
  const std::uint64_t keys = hashes.size();
  const std::uint32_t cells = cell_bits(keys);
  detail::ribbon_band band;
  std::vector<std::uint64_t> mixed(hashes.size());
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    const std::uint64_t wanted = keys + spare_slots(keys) * (1 + seed / seeds_before_more_slots);
    const std::uint64_t slots = std::uint64_t{8} * bytes_for(wanted, cells) / cells;
    std::transform(hashes.begin(), hashes.end(), mixed.begin(),
                   [seed](std::uint64_t hash) { return mixed_by(hash, seed); });
    if (!band.insert_all(mixed, slots, cells)) continue;
    std::vector<std::uint64_t> columns((slots + 63) / 64 * cells);
    band.solve(columns.data());
    std::string bytes = packed_columns(columns, slots, cells);
    bytes.push_back(static_cast<char>(seed));
    finish(bytes, form::ribbon, cells);
    return bytes;
  }
  return std::nullopt;
}

std::optional<compact_view> compact_view::open(std::string_view bytes) noexcept {
  if (bytes.size() < check_bytes + 2) return std::nullopt;
  const auto at = [&bytes](std::size_t from_end) {
    return static_cast<std::uint8_t>(bytes[bytes.size() - from_end]);
  };
  const std::string_view checked = bytes.substr(0, bytes.size() - check_bytes);
  if ((at(2) | at(1) << 8U) != check_of(checked)) return std::nullopt;
  const bool seeded = form_of(at(3)) == form::ribbon;
  if (!seeded && form_of(at(3)) != form::blocked) return std::nullopt;
  return compact_view(bytes.substr(0, bytes.size() - (seeded ? 4 : 3)), at(3), at(4));
}

bool compact_view::contains(std::uint64_t hash) const noexcept {
  const std::uint32_t number = tag_ & 31U;
  return form_of(tag_) == form::ribbon ? ribbon_contains(bits_, number, seed_, hash)
                                       : blocked_contains(bits_, number, hash);
}

}  // namespace bloomery
