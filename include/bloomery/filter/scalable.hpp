// The scalable filter: grows with its keys, whose number nobody knows, and keeps its rate.
//
// One table of fingerprints whose lines double when they are full (detail/bits/split_lines.hpp): a
// lookup reads one line, however often they have doubled. The cells have the width that the rate
// needs, from 12 bits at 10 % to 32 at 0.01 % and below; at 1 %, the default, 16, and the table
// takes 20 to 40 bits a key, 2 to 4 times the filter that knew its keys.
//
//     head    [ lines | keys stored | doublings | slots of the stash | 0 ... ]   64 bytes
//     lines   [ fingerprints ] [ fingerprints ] ...                              64 bytes each
//     stash   [ hash | hash | ... ]                                              8 bytes each
//
// Doubling takes time in proportion to the table. Where no call may take long, or the number of
// keys is known and only may be exceeded, filter/layered.hpp is better. Adding a key that the
// filter already contains changes nothing, nor makes it grow.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bloomery/core/shape.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/detail/bits/split_lines.hpp"
#include "bloomery/detail/bits/split_table.hpp"
#include "bloomery/detail/filter/batch.hpp"
#include "bloomery/detail/filter/bit_filter.hpp"
#include "bloomery/detail/filter/owned.hpp"
#include "bloomery/filter/explanation.hpp"
#include "bloomery/hash/probe.hpp"

namespace bloomery {

class scalable_view : public detail::batch_answers<scalable_view> {
 public:
  using hash_type = std::uint64_t;
  using view = scalable_view;
  static constexpr filter_kind kind = filter_kind::scalable;
  static constexpr probe_scheme scheme = probe_scheme::multiply;

  // Throws errc::bad_argument unless the shape is one of this kind, errc::corrupt unless the words
  // hold the lines and the stash that they speak of.
  scalable_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys);

  [[nodiscard]] bool contains(std::uint64_t hash) const noexcept { return lines_.contains(hash); }

  // The forms of answer are those of detail/filter/batch.hpp.
  void contains_bits(std::span<const std::uint64_t> hashes,
                     std::span<std::uint64_t> bitmap) const noexcept;
  // The same for integers that are hashed on the way (hash/hash.hpp).
  void contains_bits(const mixed_integers& keys, std::span<std::uint64_t> bitmap) const noexcept;

  [[nodiscard]] const plan& planned() const noexcept { return plan_; }
  [[nodiscard]] const bloomery::shape& shape() const noexcept { return plan_.shape; }
  // Calls of add so far, repetitions included, and the keys that were stored.
  [[nodiscard]] std::uint64_t keys() const noexcept { return keys_; }
  [[nodiscard]] std::uint64_t keys_stored() const noexcept { return stored_; }
  [[nodiscard]] std::uint64_t doublings() const noexcept { return doublings_; }
  [[nodiscard]] const detail::split_lines& lines() const noexcept { return lines_; }
  // Keys that go in before the lines double, and the bytes that come with it; 0 when they may not.
  [[nodiscard]] std::uint64_t room() const noexcept;
  [[nodiscard]] std::uint64_t growth_bytes() const noexcept;
  [[nodiscard]] std::vector<std::span<const std::uint64_t>> parts() const;
  [[nodiscard]] std::uint64_t bytes() const noexcept { return shape().bits / 8; }
  friend bool operator==(const scalable_view& a, const scalable_view& b) {
    return detail::same_parts(a, b);
  }
  [[nodiscard]] double fill() const noexcept;
  // The chance that a random hash fits a fingerprint of its line as they are now.
  [[nodiscard]] double fpr() const noexcept { return detail::split_rate(lines_); }
  // The same for the hashes that have the line of this one.
  [[nodiscard]] double fpr_at(std::uint64_t hash) const noexcept;

  // The blocked filter of the right size for all of the keys, which must come again.
  [[nodiscard]] plan compact_plan() const {
    return sizing::compact_plan(plan_, keys_stored(), fpr());
  }
  // What it looks at for a key, and its cells; filter/explanation.hpp.
  [[nodiscard]] explanation explain(std::uint64_t hash) const;
  [[nodiscard]] cell_array cells() const;

 protected:
  // What stands in the words of the head; the others are 0.
  enum head_word : std::uint8_t { lines_word, stored_word, doublings_word, slots_word, free_word };

  explicit scalable_view(const plan& p, std::uint64_t keys = 0);

  [[nodiscard]] std::uint64_t capacity() const noexcept;

  plan plan_;
  std::uint64_t keys_ = 0;
  std::uint64_t stored_ = 0;
  std::uint64_t doublings_ = 0;
  detail::split_lines lines_;
  std::span<const std::uint64_t> head_;
};

class scalable_filter : public scalable_view {
 public:
  using view = scalable_view;
  static constexpr bool grows = true;

  // For o.keys keys before the lines double for the first time.
  explicit scalable_filter(const options& o)
      : scalable_filter(sizing::make_plan({.kind = kind, .keys = o.keys, .fpr = o.fpr})) {}
  template <std::same_as<plan> Plan>
  explicit scalable_filter(const Plan& p) : scalable_filter(made, p) {}
  explicit scalable_filter(const view& other);

  scalable_filter(const scalable_filter& other)
      : scalable_filter(static_cast<const view&>(other)) {}
  scalable_filter(scalable_filter&& other) noexcept = default;
  scalable_filter& operator=(scalable_filter other) noexcept {
    view::operator=(other);
    std::swap(table_, other.table_);
    std::swap(own_head_, other.own_head_);
    short_limit_ = other.short_limit_;
    return *this;
  }
  ~scalable_filter() = default;

  // True when the key was new. Throws errc::no_memory, with nothing changed, when the lines must
  // double and there is no memory for it.
  [[gnu::always_inline]] bool add(std::uint64_t hash) {
    // The short way, without a call, so that several additions overlap.
    if (stored_ >= short_limit_) [[unlikely]]
      return add_slowly(hash);
    const detail::split_lines::place_16 place(lines_, hash);
    if (place.is_open()) [[unlikely]]
      return add_slowly(hash);
    ++keys_;
    if (place.fits) return false;
    table_.put_in_lines([&](std::uint64_t * words) __attribute__((always_inline)) {
      detail::word_cells::append_16(words + place.line, place.cell);
      return std::uint64_t{1};
    });
    count_stored(1);
    return true;
  }
  // The same for many; when it throws, the keys before the one that needed memory are in.
  void add_batch(std::span<const std::uint64_t> hashes);
  void add_batch(const mixed_integers& keys);  // hashed on the way
  // Adds those that are not there, so that keys() counts no others; bit i % 64 of is_new[i / 64]
  // becomes whether hash i was new. Returns how many were.
  std::uint64_t add_new(std::span<const std::uint64_t> hashes, std::span<std::uint64_t> is_new);

  // Adds what the other has. The two tables become one, which has as many lines as it needs, and
  // their rates add up. Throws errc::mismatch unless the cells are as wide, and one was made with
  // 2^i times the lines of the other, as happens when both were planned alike; errc::full, with
  // nothing changed, when the lines would have to double more often than they may, and
  // errc::no_memory when the union would take more bytes than `most`: fingerprints that nobody
  // made from keys may differ so late that the lines double again and again.
  void merge(const view& other, std::uint64_t most = UINT64_MAX);

  // Takes all keys out again, and gives the lines back that it has grown by. Throws
  // errc::no_memory, with nothing changed, when the first ones cannot be had beside them.
  void clear();

 private:
  enum made_tag : std::uint8_t { made };
  scalable_filter(made_tag, const plan& p);

  void adopt(detail::split_table&& table);
  void double_lines();
  void write_head();
  void count_stored(std::uint64_t keys) noexcept {
    stored_ += keys;
    own_head_[stored_word] = detail::little_endian(stored_);
  }
  bool add_slowly(std::uint64_t hash);
  void put(std::uint64_t hash);
  [[nodiscard]] std::uint64_t table_room() const noexcept;
  struct key_list;  // hashes, or integers to hash
  // Each returns how many were new.
  std::uint64_t add_all(key_list keys);
  enum class counted : std::uint8_t { all, stored };  // what keys() counts
  std::uint64_t add_piece(const key_list& keys, std::span<std::uint64_t> is_new, counted what);
  std::uint64_t add_in_turn(std::span<const std::uint64_t>& hashes, std::uint64_t most);

  detail::split_table table_;
  std::vector<std::uint64_t> own_head_;
  std::uint64_t short_limit_ = 0;  // capacity(), where cells have 16 bits; else 0
};

}  // namespace bloomery
