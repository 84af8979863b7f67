// What the static kinds (fuse, ribbon, bloomier) have in common as types: a view that borrows a
// payload, an owner that builds one from all keys, and a builder that makes the same payload a
// shard at a time. None of them has an add: a key more is another filter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/detail/filter/batch.hpp"
#include "bloomery/detail/filter/owned.hpp"
#include "bloomery/detail/filter/static_layout.hpp"

namespace bloomery {

// A key of a map: its hash and what belongs to it.
struct valued_hash {
  std::uint64_t hash;
  std::uint64_t value;
};

// `Kind` derives from this and has contains and contains_bits. Lookups follow a copy of the
// directory, an entry for a million keys: the words of a mapped file may change after they were
// checked, and where a shard lies must not.
template <class Kind>
class static_view : public detail::batch_answers<Kind>, public detail::word_view {
 public:
  using hash_type = std::uint64_t;
  static constexpr probe_scheme scheme = probe_scheme::multiply;

  [[nodiscard]] double keys_estimated() const noexcept { return static_cast<double>(this->keys()); }
  // The share of the payload that its cells need at the least; above 0.99 in a large ribbon.
  [[nodiscard]] double fill() const noexcept {
    return std::min(
        1.0, static_cast<double>(keys()) * shape().cell_bits / static_cast<double>(shape().bits));
  }

 protected:
  static_view(const plan& p, const detail::static_directory& d)
      : word_view(p, d.words, d.keys),
        entries_(std::make_shared<const std::vector<std::uint64_t>>(
            d.entries, this->words().data() + this->words().size() - sizing::footer_words)),
        directory_(d) {
    directory_.entries = entries_->data();
  }

  [[nodiscard]] const detail::static_directory& directory() const noexcept { return directory_; }
  void borrow(const std::uint64_t* words) noexcept {
    directory_.words = words;
    word_view::borrow(words);
  }

 private:
  std::shared_ptr<const std::vector<std::uint64_t>> entries_;
  detail::static_directory directory_;
};

namespace detail {

template <class Item>
class shard_stream {
 public:
  shard_stream() = default;
  shard_stream(const shard_stream&) = delete;
  shard_stream& operator=(const shard_stream&) = delete;
  virtual ~shard_stream() = default;
  [[nodiscard]] virtual std::uint64_t shards() const noexcept = 0;
  virtual std::span<const std::uint64_t> add_shards(std::span<const std::span<Item>> shards,
                                                    unsigned threads) = 0;
  virtual std::vector<std::uint64_t> finish() = 0;
  [[nodiscard]] virtual const plan& planned() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t keys() const noexcept = 0;
};

}  // namespace detail

// The payload a shard at a time, for sets that are larger than memory; the words of the owner that
// is built from the same plan and keys. An Item is a hash, or a valued_hash.
//
//     fuse_builder b(plan);       plan.keys decides how many shards there are
//     for each shard in order     write(b.add_shard(those whose high64(hash * b.shards()) it is))
//     write(b.finish())
template <class Item>
class static_builder {
 public:
  [[nodiscard]] std::uint64_t shards() const noexcept { return stream_->shards(); }
  // The words of the next shard, until the next call. Sorts its items and drops repetitions.
  std::span<const std::uint64_t> add_shard(std::span<Item> items) {
    return stream_->add_shards({&items, 1}, 1);
  }
  // The words of the next shards, one after the other, from the items of each. Threads (0: one for
  // each core) take a shard at a time: the words do not depend on how many there are.
  std::span<const std::uint64_t> add_shards(std::span<const std::span<Item>> shards,
                                            unsigned threads) {
    return stream_->add_shards(shards, threads);
  }
  // The words after the last shard.
  std::vector<std::uint64_t> finish() { return stream_->finish(); }
  // After finish: the plan with the bits of the payload.
  [[nodiscard]] const plan& planned() const noexcept { return stream_->planned(); }
  // Different keys so far.
  [[nodiscard]] std::uint64_t keys() const noexcept { return stream_->keys(); }

 protected:
  explicit static_builder(std::unique_ptr<detail::shard_stream<Item>> stream) noexcept
      : stream_(std::move(stream)) {}

 private:
  std::unique_ptr<detail::shard_stream<Item>> stream_;
};

}  // namespace bloomery
