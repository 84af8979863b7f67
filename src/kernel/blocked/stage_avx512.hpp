// How AVX-512 kernels stage eight keys. Included after the instruction set has been switched on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/wide/eight_avx512.hpp"
#include "loop.hpp"

namespace bloomery::kernel {

namespace {

// Eight keys to their hashes. Isa::place puts them into the ring.
template <class Isa>
class avx512_hashes {
 public:
  explicit avx512_hashes(std::uint64_t spread_seed) noexcept : seed_(eight::all(spread_seed)) {}

  template <bool Mixed>
  [[gnu::always_inline]] void stage(const std::uint64_t* keys, key_ring& ring,
                                    std::size_t slot) const noexcept {
    const eight given = eight::load(keys);
    static_cast<const Isa&>(*this).place(Mixed ? mix64(given, seed_) : given, ring, slot);
  }
  [[gnu::always_inline]] [[nodiscard]] eight::half_mixed half_mixed(
      const std::uint64_t* keys) const noexcept {
    return {eight::load(keys), seed_};
  }

 private:
  eight seed_;
};

}  // namespace

// One group is placed while the next is mixed and the one after half mixed. In one piece these are
// a long chain that fills the scheduler's queue: 1.25 against 1.17 ns a key in the second level.
template <class Isa>
  requires requires(const Isa& isa, const std::uint64_t* keys) { isa.half_mixed(keys); }
class stager<Isa, true> {
 public:
  static constexpr std::size_t delay = 2;

  [[gnu::always_inline]] explicit stager(const Isa& isa) noexcept : isa_(isa) {}
  [[gnu::always_inline]] void operator()(const std::uint64_t* keys, key_ring& ring,
                                         std::size_t slot) noexcept {
    isa_.place(mixed_, ring, slot);
    mixed_ = half_.mixed();
    half_ = isa_.half_mixed(keys);
  }

 private:
  const Isa& isa_;
  eight::half_mixed half_{eight{}, eight{}};
  eight mixed_{};
};

}  // namespace bloomery::kernel
