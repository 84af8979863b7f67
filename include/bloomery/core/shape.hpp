// The vocabulary that every layer shares: kind, shape and plan.
#pragma once

#include <cstdint>
#include <string_view>

namespace bloomery {

// The numbers are part of the file format and never change their meaning. What else is known of
// each kind is in core/kinds.hpp.
enum class filter_kind : std::uint16_t {
  classic = 1,       // probes anywhere in one array (Bloom 1970)
  partitioned = 2,   // one slice of the array for each probe
  blocked = 3,       // all probes of a key in one 64-byte block
  counting = 4,      // counters instead of bits: keys can be removed
  scalable = 5,      // fingerprints in lines that double: grows with the keys
  windowed = 6,      // a ring of generations in one line: forgets with time
  cuckoo = 7,        // fingerprints in buckets: removal in little space
  fuse = 8,          // static: three or four cells that XOR to a fingerprint
  ribbon = 9,        // static: a linear system, within 1 % of the lower bound
  bloomier = 10,     // static: a value for each key
  count_min = 11,    // sketch: counts that are never too low
  spectral = 12,     // a counting filter that answers with counts
  top_k = 13,        // sketch: the most frequent keys
  layered = 14,      // blocked filters one after the other: grows without a pause
  split_block = 15,  // all probes of a key in one 32-byte block: eight, the fastest single call
};

[[nodiscard]] std::string_view kind_name(filter_kind kind) noexcept;

// How a hash becomes positions (hash/probe.hpp has the arithmetic). Frozen like the kinds.
enum class probe_scheme : std::uint16_t {
  multiply = 1,  // from one 64-bit hash by multiply-high: every filter of our own
  modulo = 2,  // from one 32-bit word of a digest for each probe, modulo the size: foreign formats
};

// Which slice of one large filter a filter is: a shard has the blocks index * B to (index + 1) * B
// - 1 of one with count * B blocks. Blocked and split-block filters only; all others are whole.
struct shard_number {
  std::uint32_t index = 0;
  std::uint32_t count = 1;

  [[nodiscard]] constexpr bool whole() const noexcept { return count == 1; }
  friend bool operator==(const shard_number&, const shard_number&) = default;
};

inline constexpr std::uint32_t max_shards = 65536;

// Everything that decides which bits a hash sets. Two filters with equal shapes, hash and seed can
// be combined; nothing else can.
struct shape {
  filter_kind kind = filter_kind::blocked;
  probe_scheme scheme = probe_scheme::multiply;
  std::uint32_t probes = 0;
  std::uint32_t block_bits = 0;  // 512 in cache lines, 256 in halves of them, a bucket in cuckoo
  // Of a counter, fingerprint or value; how many generations share a line of a windowed filter; 0
  // for arrays of bits.
  std::uint32_t cell_bits = 0;
  std::uint32_t variant = 0;  // one more number, by kind; see below
  std::uint64_t bits = 0;     // all that the filter occupies
  shard_number shard = {};    // of which filter it is a part

  friend bool operator==(const shape&, const shape&) = default;
};

// What `variant` means:
//   scalable   how many times its lines may double
//   layered    how many times larger the whole becomes with a new layer; in bits 8 to 16 the rule,
//              see growth_rule
//   windowed   generations g of a window; the ring has one more
//   bloomier   bits of a value; the rest of a cell are check bits
//   count_min  0; plus 1 for conservative update, plus 2 for rows by pairwise independent functions
//              or plus 4 for the counters of a key in one line
//   spectral   0 minimum selection, 1 minimal increase, 2 recurring minimum
//   top_k      k
// 0 for all others.

// How a layered filter deals out its rate (docs/math.md).
enum class growth_rule : std::uint8_t {
  reserved,  // most of it to the first layer: the keys are known, and more may come all the same
  steep,     // alike, to few layers that start small and grow fast
};

inline constexpr std::uint32_t bits_per_block = 512;
inline constexpr std::uint32_t bits_per_split_block = 256;
inline constexpr std::uint64_t max_bits = std::uint64_t{1} << 48U;  // 32 TiB of array
inline constexpr std::uint32_t max_probes = 64;
inline constexpr std::uint32_t max_blocked_probes = 16;  // one for each lane of a block
inline constexpr std::uint32_t split_probes = 8;         // likewise, and all are used

// Throws errc::bad_argument unless the shape is one that a filter can have.
void check_shape(const shape& s);

// A shape together with what it was made for.
struct plan {
  bloomery::shape shape;
  std::uint64_t keys = 0;   // planned number of keys; 0 when nobody said
  double fpr_target = 0.0;  // what was asked for; 0 when only a size was
  double fpr = 0.0;         // what the exact model expects at `keys` keys, at most fpr_target

  [[nodiscard]] double bits_per_key() const noexcept {
    return static_cast<double>(shape.bits) / static_cast<double>(keys);
  }
};

}  // namespace bloomery
