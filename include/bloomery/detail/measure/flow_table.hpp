// A small exact memory of flows: entries beside each other, found through an index with tags.
//
//     index   | tag, place | tag, place | ...    at most half full, probed in order
//     entries | hash, counts | ...               as many as fit, never more; two of them a line
//     flows   | key | ...                        of these entries: read when they are listed
//
// Most lookups are for flows that are not here, and end with one line of the index. Flows are told
// apart by their 64-bit hashes, whose seed nobody knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bloomery/measure/flow_key.hpp"

namespace bloomery::detail {

struct flow_entry {
  std::uint64_t hash = 0;
  std::uint64_t bytes = 0;  // an upper bound
  std::uint64_t error = 0;  // how far above the truth it may be
  std::uint64_t packets = 0;
};

class flow_table {
 public:
  // What an entry costs with its part of the index.
  static constexpr std::size_t bytes_of_entry =
      sizeof(flow_entry) + sizeof(flow_key) + 4 * sizeof(std::uint64_t);

  explicit flow_table(std::size_t capacity);

  [[nodiscard]] flow_entry* find(std::uint64_t hash) noexcept {
    for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const slot s = index_[at];
      if (s.place == 0) return nullptr;
      if (s.tag != tag_of(hash)) continue;
      flow_entry& e = entries_[s.place - 1];
      if (e.hash == hash) return &e;
    }
  }
  // The place of what is probably its entry, from 1 on, or 0: by its tag, which one hash in
  // four billion shares. Nearly always the first slot decides, and arithmetic says how: which of
  // both cannot be foreseen, and compilers make a branch of a comparison.
  [[nodiscard]] std::uint32_t place_of(std::uint64_t hash) const noexcept {
    for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const slot s = index_[at];
      const std::uint64_t differing = s.tag ^ tag_of(hash);
      if (differing * s.place != 0) continue;
      const std::uint64_t same = (differing - 1) >> 63U;  // 1 where nothing differs
      return s.place & static_cast<std::uint32_t>(0 - same);
    }
  }
  [[nodiscard]] flow_entry& at_place(std::uint32_t place) noexcept { return entries_[place - 1]; }
  void prefetch_place(std::uint32_t place) const noexcept {  // 0 is as good as any
    __builtin_prefetch(entries_.data() + (place == 0 ? 0 : place - 1), 1);
  }
  // Grows with each change of what is here, but not of counts.
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }
  [[nodiscard]] bool full() const noexcept { return entries_.size() == capacity_; }
  void insert(const flow_key& flow,
              const flow_entry& e);  // which is not there; the table is not full
  // Calls drop(entry) for each, and takes those out for which it returns true.
  template <class Drop>
  void remove_if(Drop drop) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (drop(entries_[i])) continue;
      entries_[kept] = entries_[i];
      flows_[kept++] = flows_[i];
    }
    entries_.resize(kept);
    flows_.resize(kept);
    ++changes_;
    rebuild();
  }
  void prefetch(std::uint64_t hash) const noexcept { __builtin_prefetch(&index_[hash & mask_]); }

  [[nodiscard]] std::span<const flow_entry> entries() const noexcept { return entries_; }
  [[nodiscard]] std::span<const flow_key> flows() const noexcept { return flows_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept {
    return capacity_ * (sizeof(flow_entry) + sizeof(flow_key)) + index_.size() * sizeof(slot);
  }

 private:
  struct slot {
    std::uint32_t tag = 0;
    std::uint32_t place = 0;  // of the entry, from 1 on
  };
  [[nodiscard]] static std::uint32_t tag_of(std::uint64_t hash) noexcept {
    return static_cast<std::uint32_t>(hash >> 32U);
  }
  void rebuild();
  void index(std::size_t place);

  std::size_t capacity_;
  std::uint64_t mask_ = 0;
  std::uint64_t changes_ = 0;
  std::vector<flow_entry> entries_;
  std::vector<flow_key> flows_;
  std::vector<slot> index_;
};

}  // namespace bloomery::detail
