#include "bloomery/core/alternatives.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "binomial.hpp"
#include "checks.hpp"
#include "log_gamma.hpp"

namespace bloomery::sizing {

namespace {

constexpr std::uint32_t widest_hash = 256;

void check_universe(std::uint64_t keys, double universe) {
  if (universe >= static_cast<double>(keys) && std::isfinite(universe)) return;
  detail::throw_bad_argument("the universe", universe, "at least the number of keys, and finite");
}

double buckets_of(double keys) {
  constexpr double anchor = 12'117'689;
  constexpr double growth = 2.0307;
  const double steps = std::ceil(std::log(keys / anchor) / std::log(growth));
  return anchor * std::pow(growth, steps);
}

alternative sorted_hashes(const replaced_set& set, std::uint32_t bits, const char* note) {
  return {.name = "sorted list of " + detail::to_text(std::uint64_t{bits}) + "-bit hashes" + note,
          .bits = static_cast<double>(set.keys) * bits,
          .fpr = sorted_hashes_fpr(set.keys, bits)};
}

}  // namespace

double hash_table_bytes(std::uint64_t keys, std::uint64_t key_bytes) {
  check_keys(keys);
  constexpr double node = 48;  // the next one, a string, its hash
  constexpr std::uint64_t inside = 15;
  const double characters = key_bytes > inside ? static_cast<double>(key_bytes) + 1 : 0;
  const auto n = static_cast<double>(keys);
  return n * (node + characters) + buckets_of(n) * 8;
}

double sorted_hashes_fpr(std::uint64_t keys, std::uint32_t hash_bits) {
  check_keys(keys);
  if (hash_bits == 0 || hash_bits > widest_hash) {
    detail::throw_bad_argument("the number of bits of a hash", std::uint64_t{hash_bits},
                               "from 1 to 256");
  }
  return -std::expm1(static_cast<double>(keys) *
                     std::log1p(-std::exp2(-static_cast<double>(hash_bits))));
}

std::uint32_t sorted_hashes_bits(std::uint64_t keys, double fpr) {
  check_keys(keys);
  check_fpr(fpr);
  std::uint32_t bits = 1;
  while (bits < widest_hash && sorted_hashes_fpr(keys, bits) > fpr) ++bits;
  return bits;
}

double exact_set_bits(std::uint64_t keys, double universe) {
  check_keys(keys);
  check_universe(keys, universe);
  const auto n = static_cast<long double>(keys);
  const long double sets = log_falling(universe, n) - log_gamma(n + 1);  // their logarithm
  return static_cast<double>(std::max(0.0L, sets) / std::numbers::ln2_v<long double>);
}

std::vector<alternative> alternatives(const replaced_set& set) {
  check_fpr(set.fpr);
  if (set.key_bytes == 0 || set.key_bytes > std::uint64_t{1} << 32U) {
    detail::throw_bad_argument("the number of bytes of a key", set.key_bytes, "from 1 to 2^32");
  }
  const auto n = static_cast<double>(set.keys);
  const std::string of_keys = detail::to_text(set.key_bytes) + "-byte keys";
  const std::uint32_t shortest = sorted_hashes_bits(set.keys, set.fpr);
  const auto twice_log =
      static_cast<std::uint32_t>(std::max(1.0, std::ceil(2 * std::log2(n) - 1e-9)));
  std::vector<alternative> all = {sorted_hashes(set, shortest, "")};
  if (twice_log > shortest && twice_log != 64) {
    all.push_back(sorted_hashes(set, twice_log, ", 2 log2 n"));
  }
  if (shortest < 64) {
    all.push_back(sorted_hashes(set, 64, ""));
    // A table with open addressing that is 7/8 full, with a byte of metadata for each slot.
    all.push_back({"hash table of 64-bit hashes", n / 0.875 * 72, sorted_hashes_fpr(set.keys, 64)});
  }
  all.push_back({"hash table of " + of_keys, hash_table_bytes(set.keys, set.key_bytes) * 8, 0});
  all.push_back({"list of " + of_keys, n * static_cast<double>(set.key_bytes) * 8, 0});
  if (set.universe) {
    all.push_back({"bitmap of the universe", *set.universe, 0});
    all.push_back({"least of an exact set", exact_set_bits(set.keys, *set.universe), 0});
  }
  return all;
}

}  // namespace bloomery::sizing
