// The k most frequent keys of a stream, with their counts: HeavyKeeper (Gong et al. 2018).
//
//     d rows of w buckets, each (fingerprint, counter); a key has one bucket in each row
//     a list of the k keys with the largest counts, which holds the keys themselves
//
// A key that finds its own fingerprint in a bucket counts there. One that finds another's wears it
// down: the counter falls by one with probability decay^counter, and at zero the bucket changes
// hands. So small keys come and go, while large ones, once there, stay: decay^counter is soon next
// to nothing. The estimate of a key, its largest counter, is never too high unless fingerprints
// collide; a key is listed when its estimate is above the least count in the list.
//
// Beyond the paper: a listed key is counted exactly from then on, since the list knows it by name.
// Listed counts are too low by what came before the key was listed, and no more.
//
// The draws come from a state inside the sketch, which is part of its image, and are compared with
// a table made in integer arithmetic: the same stream makes the same sketch on every machine, also
// when it was saved and opened in between.
//
// Keys come with their hash (filter/keyed.hpp); keys with equal hashes are one key. docs/format.md
// lays out the image, whose size, the shape's bits, follows the lengths of the listed keys.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/core/sizing_sketch.hpp"
#include "bloomery/detail/filter/batch.hpp"
#include "bloomery/detail/filter/owned.hpp"
#include "bloomery/detail/sketch/slot_index.hpp"

namespace bloomery {

struct top_k_options {
  std::uint32_t k = 100;
  std::uint32_t depth = 2;
  std::uint64_t width = 0;  // buckets in a row; 0 for 8 * k, at least 65,536
  double decay = 1 / 1.08;  // from 2^-32 to 0.99
  std::uint64_t seed = 0;   // of the draws
};

struct top_k_entry {
  std::string_view key;  // as long as the sketch is not changed
  std::uint64_t hash = 0;
  std::uint64_t count = 0;
};

inline constexpr std::size_t top_k_longest_key = 65536;  // bytes

namespace detail {

// Word i, little-endian, holds a fingerprint in its low 32 bits and a counter in its high ones.
struct bucket_rows {
  std::uint32_t depth = 0;
  std::uint64_t width = 0;

  // The largest counter of the key, counters above `most` left out.
  [[nodiscard]] std::uint64_t estimate(const std::uint64_t* buckets, std::uint64_t hash,
                                       std::uint64_t most) const noexcept;
  [[nodiscard]] double fill(const std::uint64_t* buckets) const noexcept;
};

}  // namespace detail

// A sketch in its image: asked, not changed.
class top_k_view : public detail::batch_answers<top_k_view>, public detail::word_view {
 public:
  using hash_type = std::uint64_t;
  static constexpr filter_kind kind = filter_kind::top_k;
  static constexpr probe_scheme scheme = probe_scheme::multiply;

  // Checks the list completely and copies what finds a key in it. Throws errc::bad_argument for a
  // shape of another kind, errc::corrupt for words that contradict it or themselves.
  top_k_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys);

  // Whether a key with this hash is listed now.
  [[nodiscard]] bool contains(std::uint64_t hash) const noexcept { return find(hash) != nullptr; }
  void contains_bits(std::span<const std::uint64_t> hashes,
                     std::span<std::uint64_t> bitmap) const noexcept;
  // The listed count, or the estimate from the buckets; 0 for a key that neither knows.
  [[nodiscard]] std::uint64_t count(std::uint64_t hash) const noexcept;
  void count_batch(std::span<const std::uint64_t> hashes,
                   std::span<std::uint64_t> counts) const noexcept;
  // The largest count first, equal ones by key.
  [[nodiscard]] std::span<const top_k_entry> entries() const noexcept { return entries_; }

  [[nodiscard]] std::uint32_t k() const noexcept { return shape().variant; }
  [[nodiscard]] std::uint32_t depth() const noexcept { return rows_.depth; }
  [[nodiscard]] std::uint64_t width() const noexcept { return rows_.width; }
  [[nodiscard]] std::uint64_t random_state() const noexcept { return random_state_; }
  [[nodiscard]] std::uint32_t decay_ratio() const noexcept { return decay_ratio_; }
  // The sum of all counts added.
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }

  [[nodiscard]] std::span<const std::uint64_t> buckets() const noexcept;
  // The share of buckets in use; the chance that an unlisted key has the hash of a listed one.
  [[nodiscard]] double fill() const noexcept { return rows_.fill(buckets().data()); }
  [[nodiscard]] double fpr() const noexcept;

  [[nodiscard]] explanation explain(std::uint64_t hash) const;

 private:
  void read_list(std::span<const std::uint64_t> list, std::uint64_t entries,
                 std::uint64_t key_bytes);
  [[nodiscard]] const top_k_entry* find(std::uint64_t hash) const noexcept;

  detail::bucket_rows rows_;
  std::uint64_t random_state_ = 0;
  std::uint32_t decay_ratio_ = 0;
  std::uint64_t total_ = 0;
  std::vector<top_k_entry> entries_;
  std::vector<std::uint32_t> by_hash_;  // indexes of entries, the least hash first
};

class top_k : public detail::batch_answers<top_k> {
 public:
  using hash_type = std::uint64_t;
  using view = top_k_view;
  static constexpr filter_kind kind = filter_kind::top_k;
  static constexpr probe_scheme scheme = probe_scheme::multiply;

  explicit top_k(const options& o)
      : top_k(sizing::make_plan({.kind = kind, .keys = o.keys, .fpr = o.fpr})) {}
  // Templates, so that top_k({.keys = ...}) can only mean options. A plan is that of an empty
  // sketch: all of its bits are preamble and buckets.
  template <std::same_as<top_k_options> Options>
  explicit top_k(const Options& o) : top_k(plan_of(o), o.decay, o.seed) {}
  template <std::same_as<plan> Plan>
  explicit top_k(const Plan& p) : top_k(p, top_k_options{}.decay, 0) {}
  explicit top_k(const view& other);

  // Returns the key that was dropped from the list for this one, if any. Zero changes nothing; a
  // count is distributed as so many single ones. Throws errc::bad_argument for a key above 64 KiB.
  std::optional<std::string> add(std::string_view key, std::uint64_t hash, std::uint64_t count = 1);
  // hashes[i] is that of keys[i]; the spans have one size. Throws before anything is added.
  void add_batch(std::span<const std::string_view> keys, std::span<const std::uint64_t> hashes);
  // Likewise with counts[i] for each key, and dropped[i] is what add returns for it.
  void add_batch(std::span<const std::string_view> keys, std::span<const std::uint64_t> hashes,
                 std::span<const std::uint64_t> counts,
                 std::span<std::optional<std::string>> dropped);
  // Counts nothing any more. The draws start again as they did when it was made or opened.
  void clear() noexcept;
  // Makes an unused sketch one with another decay. Throws errc::bad_argument when it was used.
  void set_decay(double decay);

  [[nodiscard]] bool contains(std::uint64_t hash) const noexcept {
    return slot_of(hash) != detail::slot_index::none;
  }
  void contains_bits(std::span<const std::uint64_t> hashes,
                     std::span<std::uint64_t> bitmap) const noexcept;
  [[nodiscard]] std::uint64_t count(std::uint64_t hash) const noexcept;
  void count_batch(std::span<const std::uint64_t> hashes,
                   std::span<std::uint64_t> counts) const noexcept;
  [[nodiscard]] std::vector<top_k_entry> entries() const;

  // The image of the sketch as it is now: shape().bits bits, which a view opens.
  [[nodiscard]] bit_array serialise() const;

  [[nodiscard]] std::uint32_t k() const noexcept { return plan_.shape.variant; }
  [[nodiscard]] std::uint32_t depth() const noexcept { return rows_.depth; }
  [[nodiscard]] std::uint64_t width() const noexcept { return rows_.width; }
  [[nodiscard]] std::uint32_t decay_ratio() const noexcept { return decay_ratio_; }
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  [[nodiscard]] const plan& planned() const noexcept { return plan_; }
  [[nodiscard]] const bloomery::shape& shape() const noexcept { return plan_.shape; }
  [[nodiscard]] std::uint64_t keys() const noexcept { return keys_; }
  void set_keys(std::uint64_t keys) noexcept { keys_ = keys; }
  [[nodiscard]] double fill() const noexcept { return rows_.fill(buckets_.words().data()); }
  [[nodiscard]] double fpr() const noexcept;

 private:
  struct slot {
    std::string key;
    std::uint64_t hash;
    std::uint64_t count;
    std::size_t place;  // in heap_
  };

  top_k(const plan& p, double decay, std::uint64_t seed);
  static plan plan_of(const top_k_options& o);

  [[nodiscard]] bool full() const noexcept { return heap_.size() == k(); }
  [[nodiscard]] std::uint32_t slot_of(std::uint64_t hash) const noexcept {
    return index_.find(hash, [this](std::uint32_t slot) { return slots_[slot].hash; });
  }
  // What the counter of a key can be at most: an unlisted key with more than the weakest listed one
  // has would have been listed, so a larger counter is another's with the same fingerprint.
  [[nodiscard]] inline std::uint64_t most_for(bool listed) const noexcept;
  // Returns the estimate of the key after so many arrivals, or after one.
  inline std::uint64_t update_buckets(std::uint64_t hash, std::uint64_t count,
                                      std::uint64_t most) noexcept;
  inline std::uint64_t update_buckets(std::uint64_t hash, std::uint64_t most) noexcept;
  [[nodiscard]] inline std::uint64_t wear_down(std::uint64_t bucket, std::uint64_t hash,
                                               std::uint64_t count) noexcept;
  [[nodiscard]] inline std::uint64_t next_random() noexcept;
  inline std::optional<std::string> add_checked(std::string_view key, std::uint64_t hash,
                                                std::uint64_t count);
  [[nodiscard]] std::size_t last_prefetched(std::size_t keys) const noexcept;
  std::size_t add_unlisted(std::span<const std::uint64_t> hashes, std::size_t first,
                           std::uint64_t& estimate) noexcept;
  std::string replace_weakest(std::string_view key, std::uint64_t hash, std::uint64_t estimate);
  std::uint32_t list(std::string_view key, std::uint64_t hash, std::uint64_t count);
  [[nodiscard]] bool weaker(std::uint32_t a, std::uint32_t b) const noexcept;
  void sift_down(std::size_t place) noexcept;
  void sift_up(std::size_t place) noexcept;
  void update_size() noexcept;

  plan plan_;
  detail::bucket_rows rows_;
  std::uint32_t decay_ratio_ = 0;
  // A counter c falls when a draw is below [c]. Sketches with the same decay share the table.
  std::shared_ptr<const std::vector<std::uint64_t>> thresholds_;
  std::uint64_t random_state_ = 0;
  std::uint64_t first_random_state_ = 0;
  std::uint64_t total_ = 0;
  std::uint64_t keys_ = 0;
  bit_array buckets_;
  std::vector<slot> slots_;
  std::vector<std::uint32_t> heap_;  // of slots, the weakest first
  detail::slot_index index_;
  std::uint64_t key_bytes_ = 0;
};

}  // namespace bloomery
