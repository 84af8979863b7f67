// The loops of cuckoo.hpp: places are found for as many keys at a time as a Number has, then eight
// bytes are read for each bucket and their cells compared, again many at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuckoo.hpp"
#include "kernel/pipeline.hpp"

namespace bloomery::kernel {

// As in fuse/loop.hpp: groups ahead out of the cache and in it.
inline constexpr std::size_t cuckoo_ring_groups = 16;
inline constexpr std::size_t cuckoo_far_groups = 12;
inline constexpr std::size_t cuckoo_close_groups = 2;

// cuckoo_table::place_of for some keys.
template <class Number>
class cuckoo_finder {
 public:
  explicit cuckoo_finder(const detail::cuckoo_array& table) noexcept
      : buckets_(table.buckets), base_(table.base), most_(table.most), scale_(table.scale) {}

  struct place {
    Number first;
    Number second;
    Number fingerprint;
  };
  [[gnu::always_inline]] [[nodiscard]] place of(const Number& hash) const noexcept {
    const Number last = hash & Number::all(most_);
    const Number fingerprint = last + ((last - Number::all(1)) >> 63U);
    const Number first = multiply_high_short(hash, Number::all(buckets_));
    return {first, partner(first, fingerprint), fingerprint};
  }

 private:
  [[gnu::always_inline]] [[nodiscard]] Number partner(const Number& bucket,
                                                      const Number& fingerprint) const noexcept {
    const Number product = fingerprint * Number::all(detail::cuckoo_array::multiplier);
    const Number mixed = product ^ (product << 32U);
    const Number base = Number::all(base_);
    const Number apart = multiply_high_short(mixed, base) - (bucket >> scale_);
    // Modulo the base. Below zero is a large number, and the sum the smaller one.
    const Number reflected = least_of(apart, apart + base);
    if (scale_ == 0) return reflected;
    const Number flip = (mixed & Number::all(UINT32_MAX)) >> (32U - scale_);
    const Number lower = bucket & Number::all((std::uint64_t{1} << scale_) - 1);
    return (reflected << scale_) | (lower ^ flip);
  }

  std::uint64_t buckets_;
  std::uint64_t base_;
  std::uint64_t most_;
  std::uint32_t scale_;
};

// The bytes where the loads of a key begin, what they are shifted by, and its fingerprint in each
// cell of a bucket.
struct cuckoo_ring {
  alignas(64) std::uint64_t byte[2][cuckoo_ring_groups * group];
  alignas(64) std::uint64_t shift[2][cuckoo_ring_groups * group];
  alignas(64) std::uint64_t wanted[cuckoo_ring_groups * group];
};

template <class Number>
class cuckoo_asking {
 public:
  explicit cuckoo_asking(const detail::cuckoo_array& table) noexcept
      : finder_(table),
        words_(table.words),
        ones_(table.group_ones),
        tops_(table.group_tops),
        rest_(table.group_rest),
        bucket_bits_(table.bucket_bits) {}

  template <bool Cached>
  [[gnu::always_inline]] void roll(const hash_run& run, std::uint64_t* bitmap) const noexcept {
    cuckoo_ring ring;
    const auto stage_group = [&](const std::uint64_t* keys, std::size_t g, std::size_t)
        __attribute__((always_inline)) {
      stage(keys, ring, g % cuckoo_ring_groups);
    };
    const auto visit_group = [&](std::size_t g, std::size_t next) __attribute__((always_inline)) {
      if constexpr (!Cached) fetch(ring, next % cuckoo_ring_groups);
      return visit(ring, g % cuckoo_ring_groups);
    };
    constexpr std::size_t ahead = Cached ? cuckoo_close_groups : cuckoo_far_groups;
    roll_answers(run.hashes, run.count, bitmap, ahead, stage_group, visit_group);
  }

 private:
  [[gnu::always_inline]] void stage(const std::uint64_t* hashes, cuckoo_ring& ring,
                                    std::size_t slot) const noexcept {
    for (std::size_t i = 0; i < group; i += Number::width) {
      const std::size_t at = slot * group + i;
      const auto place = finder_.of(Number::load(hashes + i));
      stage_bucket(place.first, ring.byte[0] + at, ring.shift[0] + at);
      stage_bucket(place.second, ring.byte[1] + at, ring.shift[1] + at);
      (place.fingerprint * Number::all(ones_)).store(ring.wanted + at);
    }
  }
  [[gnu::always_inline]] void stage_bucket(const Number& bucket, std::uint64_t* bytes,
                                           std::uint64_t* shifts) const noexcept {
    const Number position = bucket * Number::all(bucket_bits_);
    (position >> 3U).store(bytes);
    (position & Number::all(7)).store(shifts);
  }

  [[gnu::always_inline]] [[nodiscard]] unsigned visit(const cuckoo_ring& ring,
                                                      std::size_t slot) const noexcept {
    unsigned found = 0;
    for (std::size_t i = 0; i < group; i += Number::width) {
      const std::size_t at = slot * group + i;
      const Number other = differing(ring, 0, at) & differing(ring, 1, at);
      found |= meet(other ^ Number::all(tops_), Number::all(tops_)) << i;
    }
    return found;
  }
  // The highest bit of each cell of a bucket that is not the fingerprint; see cuckoo_table.hpp.
  [[gnu::always_inline]] [[nodiscard]] Number differing(const cuckoo_ring& ring, std::size_t which,
                                                        std::size_t at) const noexcept {
    const Number there = Number::gather_bytes(words_, ring.byte[which] + at);
    const Number x =
        (there >> Number::load(ring.shift[which] + at)) ^ Number::load(ring.wanted + at);
    const Number rest = Number::all(rest_);
    return ((x & rest) + rest) | x;
  }

  // A bucket may reach into a second line.
  [[gnu::always_inline]] void fetch(const cuckoo_ring& ring, std::size_t slot) const noexcept {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(words_);
    for (const auto& byte : ring.byte) {
      for (std::size_t i = slot * group; i < (slot + 1) * group; ++i) {
        __builtin_prefetch(bytes + byte[i], 0, 2);
        __builtin_prefetch(bytes + byte[i] + 7, 0, 2);
      }
    }
    asm volatile("");  // GCC 12 would drop it, see pipeline.hpp
  }

  cuckoo_finder<Number> finder_;
  const std::uint64_t* words_;
  std::uint64_t ones_;
  std::uint64_t tops_;
  std::uint64_t rest_;
  std::uint64_t bucket_bits_;
};

template <class Number>
struct cuckoo_loop {
  // Larger tables are prefetched.
  static constexpr std::uint64_t cached_bytes = std::uint64_t{2} << 20U;

  static void contains(const detail::cuckoo_array& table, const hash_run& run,
                       std::uint64_t* bitmap) noexcept {
    const cuckoo_asking<Number> asking(table);
    if (table.bytes <= cached_bytes) {
      asking.template roll<true>(run, bitmap);
    } else {
      asking.template roll<false>(run, bitmap);
    }
  }

  static void places(const detail::cuckoo_array& table, const hash_run& run,
                     cuckoo_places& places) noexcept {
    const cuckoo_finder<Number> finder(table);
    const auto find = [&](const std::uint64_t* hashes, std::size_t g, std::size_t)
        __attribute__((always_inline)) {
      for (std::size_t i = 0; i < group; i += Number::width) {
        const auto place = finder.of(Number::load(hashes + i));
        place.first.store(places.first + g * group + i);
        place.second.store(places.second + g * group + i);
        place.fingerprint.store(places.fingerprint + g * group + i);
      }
    };
    roll_groups(run.hashes, run.count, 0, find,
                [](std::size_t, std::size_t) __attribute__((always_inline)){});
  }
};

template <class Number>
inline constexpr cuckoo_kernels cuckoo_kernels_with = {.contains = cuckoo_loop<Number>::contains,
                                                       .places = cuckoo_loop<Number>::places};

}  // namespace bloomery::kernel
