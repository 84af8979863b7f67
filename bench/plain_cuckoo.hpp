// The plain form of a cuckoo filter (Fan, Andersen, Kaminsky and Mitzenmacher 2014), as a measure
// for filter/cuckoo.hpp. It stands in for the authors' own program, which is not built here:
// fingerprints of 12 bits, four in a bucket of six bytes, one table whose number of buckets is a
// power of two, the partner by xor, a random walk that moves what is in the way. Its rate is fixed,
// it does not grow, and when it is full a key that is added takes the place of another: this is
// what the speed of ours is to be compared with.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "bloomery/detail/core/arithmetic.hpp"

namespace bloomery::bench {

class plain_cuckoo {
 public:
  // The keys that fill 96 % of the least table in which so many fit, at most twice as many. It is
  // measured with these: half empty it would move hardly any fingerprint, in twice the memory of
  // what it is compared with.
  [[nodiscard]] static std::size_t full_with(std::size_t keys) {
    return static_cast<std::size_t>(static_cast<double>(buckets_for(keys) * 4) * most_load);
  }
  explicit plain_cuckoo(std::size_t keys)
      : mask_(buckets_for(keys) - 1), bytes_((mask_ + 1) * bucket_bytes + padding) {}

  [[nodiscard]] double bits_per_key(std::size_t keys) const {
    return static_cast<double>(bytes_.size()) * 8 / static_cast<double>(keys);
  }

  // False when the walk finds no place; then one key of those that were there is lost.
  bool add(std::uint64_t hash) {
    std::uint64_t print = print_of(hash);
    std::uint64_t bucket = hash & mask_;
    if (replace(bucket, 0, print)) return true;
    bucket = partner(bucket, print);
    for (unsigned moves = 0; moves < most_moves; ++moves) {
      if (replace(bucket, 0, print)) return true;
      dice_ = dice_ * 0xd1342543de82ef95U + 1;
      const std::uint64_t shift = (dice_ >> 62U) * cell_bits;
      const std::uint64_t cells = load(bucket);
      const std::uint64_t moved = (cells >> shift) & most;
      store(bucket, cells ^ ((moved ^ print) << shift));
      print = moved;
      bucket = partner(bucket, print);
    }
    return false;
  }
  [[nodiscard]] bool contains(std::uint64_t hash) const {
    const std::uint64_t print = print_of(hash);
    const std::uint64_t bucket = hash & mask_;
    const std::uint64_t wanted = print * ones;
    return (zeros(load(bucket) ^ wanted) | zeros(load(partner(bucket, print)) ^ wanted)) != 0;
  }
  bool remove(std::uint64_t hash) {
    const std::uint64_t print = print_of(hash);
    const std::uint64_t bucket = hash & mask_;
    return replace(bucket, print, 0) || replace(partner(bucket, print), print, 0);
  }

  // It has no batches.
  void add_batch(std::span<const std::uint64_t> hashes) {
    for (const std::uint64_t hash : hashes) add(hash);
  }
  [[nodiscard]] std::uint64_t contains_count(std::span<const std::uint64_t> hashes) const {
    std::uint64_t found = 0;
    for (const std::uint64_t hash : hashes) found += std::uint64_t{contains(hash)};
    return found;
  }
  std::uint64_t remove_batch(std::span<const std::uint64_t> hashes) {
    std::uint64_t removed = 0;
    for (const std::uint64_t hash : hashes) removed += std::uint64_t{remove(hash)};
    return removed;
  }

 private:
  static constexpr double most_load = 0.96;
  static std::uint64_t buckets_for(std::size_t keys) {
    return std::bit_ceil(static_cast<std::uint64_t>(static_cast<double>(keys) / most_load / 4));
  }
  static constexpr unsigned most_moves = 500;
  static constexpr std::uint64_t bucket_bytes = 6;
  static constexpr std::uint64_t padding = 2;  // so that eight bytes can be read from the last one
  static constexpr std::uint64_t cell_bits = 12;
  static constexpr std::uint64_t most = 0xfff;
  static constexpr std::uint64_t ones = 0x001001001001;
  static constexpr std::uint64_t tops = 0x800800800800;

  [[nodiscard]] static std::uint64_t print_of(std::uint64_t hash) {
    const std::uint64_t print = hash >> 52U;
    return print + std::uint64_t{print == 0};
  }
  [[nodiscard]] std::uint64_t partner(std::uint64_t bucket, std::uint64_t print) const {
    return (bucket ^ (print * 0x9e3779b1U)) & mask_;
  }
  // The highest bit of the lowest cell that is 0; above it some bits may be set too.
  [[nodiscard]] static std::uint64_t zeros(std::uint64_t cells) {
    return (cells - ones) & ~cells & tops;
  }
  bool replace(std::uint64_t bucket, std::uint64_t from, std::uint64_t to) {
    const std::uint64_t cells = load(bucket);
    const std::uint64_t found = zeros(cells ^ (from * ones));
    if (found == 0) return false;
    const auto shift = static_cast<std::uint64_t>(std::countr_zero(found)) + 1 - cell_bits;
    store(bucket, cells ^ ((from ^ to) << shift));
    return true;
  }
  [[nodiscard]] std::uint64_t load(std::uint64_t bucket) const {
    std::uint64_t eight = 0;
    std::memcpy(&eight, bytes_.data() + bucket * bucket_bytes, sizeof eight);
    return detail::little_endian(eight);
  }
  // All eight bytes, those of the neighbour unchanged.
  void store(std::uint64_t bucket, std::uint64_t cells) {
    const std::uint64_t eight = detail::little_endian(cells);
    std::memcpy(bytes_.data() + bucket * bucket_bytes, &eight, sizeof eight);
  }

  std::uint64_t mask_;
  std::vector<unsigned char> bytes_;
  std::uint64_t dice_ = 1;
};

}  // namespace bloomery::bench
