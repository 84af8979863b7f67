// The index of a list against std::map: the same finds after any sequence of changes.
#include "bloomery/detail/sketch/slot_index.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace {

using bloomery::detail::slot_index;

// A list of `size` slots, which are overwritten in random order, as those of top-k are.
class listed {
 public:
  explicit listed(std::size_t size) : hashes_(size) {
    for (std::uint32_t slot = 0; slot < size; ++slot) enter(slot, slot);
  }
  void replace(std::uint32_t slot, std::uint64_t hash) {
    index_.erase(hashes_[slot], slot);
    slots_.erase(hashes_[slot]);
    enter(slot, hash);
  }
  [[nodiscard]] std::uint32_t find(std::uint64_t hash) const {
    return index_.find(hash, [this](std::uint32_t slot) { return hashes_[slot]; });
  }
  [[nodiscard]] bool finds_all() const {
    for (const auto& [hash, slot] : slots_) {
      if (find(hash) != slot) return false;
    }
    return true;
  }
  void clear() {
    index_.clear();
    slots_.clear();
  }

 private:
  void enter(std::uint32_t slot, std::uint64_t hash) {
    index_.make_room();
    index_.insert(hash, slot);
    slots_[hash] = slot;
    hashes_[slot] = hash;
  }

  slot_index index_;
  std::vector<std::uint64_t> hashes_;
  std::map<std::uint64_t, std::uint32_t> slots_;
};

TEST(slot_index, finds_nothing_before_something_was_inserted) {
  const slot_index index;
  EXPECT_EQ(index.find(0, [](std::uint32_t) { return std::uint64_t{0}; }), slot_index::none);
}

TEST(slot_index, finds_what_is_listed_and_nothing_else) {
  std::mt19937_64 random(28);
  for (const std::size_t size : {1U, 2U, 3U, 4U, 5U, 16U, 100U, 1000U}) {
    listed list(size);
    for (std::size_t change = 0; change < 20 * size; ++change) {
      const std::uint64_t hash = random();
      EXPECT_EQ(list.find(hash), slot_index::none);
      list.replace(static_cast<std::uint32_t>(random() % size), hash);
      if (size > 100 && change % 100 != 0) continue;
      ASSERT_TRUE(list.finds_all()) << size << ' ' << change;
    }
    EXPECT_TRUE(list.finds_all());
    list.clear();
    EXPECT_EQ(list.find(0), slot_index::none);
  }
}

// Marks are made with a secret, so that the clusters of each run differ; this many of them wrap
// around the end and close gaps in every way.
TEST(slot_index, keeps_clusters_together) {
  for (std::uint64_t round = 0; round < 2000; ++round) {
    listed list(4);  // of 16 places
    for (std::uint64_t i = 0; i < 16; ++i) {
      list.replace(static_cast<std::uint32_t>(i % 4), 100 + round * 16 + i);
      ASSERT_TRUE(list.finds_all()) << round;
    }
  }
}

}  // namespace
