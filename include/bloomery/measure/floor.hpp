// The floor: the least time that a filter of a given size can take. To answer for a key it must
// hash it and read one cache line, whose address depends on the hash; to add it, also write the
// line. This does that and nothing else, for many keys at once, with the widest instructions and
// the best prefetching known. What a filter takes above it is its own work.
//
// Which order of loads and prefetches is best depends on the machine and on whether the array fits
// into a cache, so there are several pipelines, and the fastest is found by trying them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "bloomery/hash/hash.hpp"

namespace bloomery {

class floor_pipeline {
 public:
  using read_loop = std::uint64_t (*)(const std::uint64_t* words, std::uint64_t lines,
                                      const std::uint64_t* keys, std::size_t count,
                                      std::uint64_t spread_seed) noexcept;
  using write_loop = void (*)(std::uint64_t* words, std::uint64_t lines, const std::uint64_t* keys,
                              std::size_t count, std::uint64_t spread_seed) noexcept;

  constexpr floor_pipeline(const char* label, read_loop reading, write_loop writing) noexcept
      : name_(label), read_(reading), write_(writing) {}

  // "avx512 14/1": lines are prefetched 14 groups of eight keys ahead, and again 1 group ahead;
  // "0/1": only 1 ahead; "8": addresses are computed 8 groups ahead, and nothing is prefetched.
  [[nodiscard]] std::string_view name() const noexcept { return name_; }

  // There is at least one line, of eight words; that of a key is number high64(mix64(key) * lines).
  // Returns how many of the keys have a line with a set bit.
  [[nodiscard]] std::uint64_t read(std::span<const std::uint64_t> lines,
                                   const mixed_integers& keys) const noexcept {
    return read_(lines.data(), lines.size() / 8, keys.keys.data(), keys.keys.size(),
                 keys.spread_seed);
  }
  // Inverts the line of each key.
  void write(std::span<std::uint64_t> lines, const mixed_integers& keys) const noexcept {
    write_(lines.data(), lines.size() / 8, keys.keys.data(), keys.keys.size(), keys.spread_seed);
  }

 private:
  const char* name_;
  read_loop read_;
  write_loop write_;
};

// All pipelines of this machine. BLOOMERY_KERNEL does not apply: the machine sets the floor.
[[nodiscard]] std::span<const floor_pipeline> floor_pipelines();

// The fastest pipeline for this array, by running each several times (half a second for a million
// keys, which should differ, or their lines stay in the cache). fastest_write changes the lines.
[[nodiscard]] const floor_pipeline& fastest_read(std::span<const std::uint64_t> lines,
                                                 const mixed_integers& keys);
[[nodiscard]] const floor_pipeline& fastest_write(std::span<std::uint64_t> lines,
                                                  const mixed_integers& keys);

// The instruction set that the batch calls of this process use: "portable", "avx2", "avx512" or
// "neon". The environment variable BLOOMERY_KERNEL can choose another than the best.
[[nodiscard]] std::string_view kernel_in_use() noexcept;

}  // namespace bloomery
