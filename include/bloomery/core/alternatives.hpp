// What a filter replaces, and what that takes: the keys themselves, hash tables, sorted lists of
// hashes, a bit for every possible key. docs/math.md has the formulas; docs/when-to-use.md measures
// the first ones. Throws errc::bad_argument like core/sizing.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bloomery::sizing {

// What std::unordered_set<std::string> asks of the allocator, in bytes: a node of 48 for each key,
// its characters with a zero at the end when they are more than 15, and a pointer for each bucket.
// libstdc++ has 12,117,689 of them, times the power of 2.0307 that makes one for each key (a rule
// found by trying, within 2 % from 2,000 keys to four billion). What the allocator keeps for itself
// comes on top.
[[nodiscard]] double hash_table_bytes(std::uint64_t keys, std::uint64_t key_bytes);

// A list of n hashes of b bits takes an absent key for one of its own at 1 - (1 - 2^-b)^n, at most
// n/2^b; and the fewest bits with which that is at most this rate. 2 log2(n) bits give 1/n.
[[nodiscard]] double sorted_hashes_fpr(std::uint64_t keys, std::uint32_t hash_bits);
[[nodiscard]] std::uint32_t sorted_hashes_bits(std::uint64_t keys, double fpr);

// The least for a set of n of u possible keys without any error, log2 C(u, n) bits. A plain bitmap
// has u of them.
[[nodiscard]] double exact_set_bits(std::uint64_t keys, double universe);

struct alternative {
  std::string name;
  double bits = 0;  // of all
  double fpr = 0;
};

struct replaced_set {
  std::uint64_t keys = 0;
  double fpr = 0;  // that a filter would have
  std::uint64_t key_bytes = 20;
  std::optional<double> universe = std::nullopt;  // how many keys there could be
};

// Everything of the above that has the same rate as the filter or a lower one.
[[nodiscard]] std::vector<alternative> alternatives(const replaced_set& set);

}  // namespace bloomery::sizing
