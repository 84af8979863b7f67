// Where the entry of a hash is in a list: an index that most of the hashes asked for are not in.
//
//     | mark, slot | mark, slot | ...    at most a quarter full, searched in order from mark on
//
// A mark is 32 bits that a secret of the process makes of the hash, so that nobody can choose keys
// that all have one place; the list itself has the hashes. Mostly the first place is free, and the
// answer a branch that can be foreseen. std::unordered_map divides to find the bucket, and again
// for each node of a chain, to see whether that ends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bloomery/hash/hash.hpp"
#include "bloomery/hash/random_seed.hpp"

namespace bloomery::detail {

class slot_index {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  // The slot of this hash, or none. hash_at(slot) is the hash of the entry there.
  template <class HashAt>
  [[nodiscard]] std::uint32_t find(std::uint64_t hash, HashAt hash_at) const noexcept {
    if (places_.empty()) return none;
    const std::uint32_t mark = mark_of(hash);
    for (std::size_t at = mark & mask();; at = (at + 1) & mask()) {
      const place p = places_[at];
      if (p.number == 0) return none;
      if (p.mark == mark && hash_at(p.number - 1) == hash) return p.number - 1;
    }
  }

  // Room for one more. This may run out of memory, and changes nothing then.
  void make_room() {
    constexpr std::size_t least = 16;
    if (4 * (size_ + 1) <= places_.size()) return;
    std::vector<place> before(std::max(least, 2 * places_.size()));
    before.swap(places_);
    for (const place& p : before) {
      if (p.number != 0) put(p);
    }
  }
  // A hash that is not there, in a slot that no other has, after room was made.
  void insert(std::uint64_t hash, std::uint32_t slot) noexcept {
    put({.mark = mark_of(hash), .number = slot + 1});
    ++size_;
  }

  // The hash of this slot, which is there. What follows without a gap moves up when the free place
  // lies on its way, so that no search ends at a place where something was.
  void erase(std::uint64_t hash, std::uint32_t slot) noexcept {
    std::size_t free = mark_of(hash) & mask();
    while (places_[free].number != slot + 1) free = (free + 1) & mask();
    for (std::size_t at = (free + 1) & mask(); places_[at].number != 0; at = (at + 1) & mask()) {
      const std::size_t way = (at - places_[at].mark) & mask();  // from where its search begins
      if (way < ((at - free) & mask())) continue;
      places_[free] = places_[at];
      free = at;
    }
    places_[free] = {};
    --size_;
  }

  void clear() noexcept {
    std::fill(places_.begin(), places_.end(), place{});
    size_ = 0;
  }

 private:
  struct place {
    std::uint32_t mark = 0;
    std::uint32_t number = 0;  // of the slot, from 1 on; 0 is free
  };

  [[nodiscard]] std::size_t mask() const noexcept { return places_.size() - 1; }
  [[nodiscard]] std::uint32_t mark_of(std::uint64_t hash) const noexcept {
    return static_cast<std::uint32_t>(mix64(hash, seed_));
  }
  void put(const place& p) noexcept {
    std::size_t at = p.mark & mask();
    while (places_[at].number != 0) at = (at + 1) & mask();
    places_[at] = p;
  }

  std::vector<place> places_;  // a power of two of them, or none
  std::size_t size_ = 0;
  std::uint64_t seed_ = process_seed();
};

}  // namespace bloomery::detail
