// Keys instead of hashes: what most programs touch.
//
//     bloomery::filter f({.keys = 1'000'000, .fpr = 0.01});
//     f.add("apples");
//     f.contains("mango");    // false, or with probability 1 % true
//
//     bloomery::filter fruit{"apples", "pears"};   // or all keys of a range: filter f(keys, .001)
//
// Takes strings, views, spans of bytes, integers and your own types (hash/hash.hpp), hashes each
// key once and never allocates for it. Wraps owners, views and concurrent handles alike: a call
// exists when the wrapped type has it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bloomery/core/parallel.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/detail/core/scratch.hpp"
#include "bloomery/detail/filter/batch.hpp"
#include "bloomery/detail/filter/bit_filter.hpp"
#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/concepts.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/hash/probe.hpp"

namespace bloomery {

namespace detail {

// The concepts of <ranges>, which takes half as long to compile as all of this.
template <class Keys>
using iterator_of = decltype(std::ranges::begin(std::declval<const Keys&>()));
template <class Keys>
concept forward_keys = std::forward_iterator<iterator_of<Keys>>;
template <class Keys>
concept random_access_keys = std::random_access_iterator<iterator_of<Keys>>;

// A static filter is made of all hashes at once, any other from its options.
template <class Filter>
concept static_kind = std::constructible_from<Filter, const plan&, std::span<const std::uint64_t>>;
template <class Filter>
concept makeable = static_kind<Filter> || (updatable<Filter> && requires { Filter(options{}); });

}  // namespace detail

template <class Filter, hasher Hasher = xxh3_hasher>
class keyed {
 public:
  using filter_type = Filter;
  using hasher_type = Hasher;
  using hash_type = typename Filter::hash_type;

  explicit keyed(const options& o)
    requires seeded_hasher<Hasher>
      : filter_(o), hasher_(o.seed) {}
  // Exactly these keys, of a range or a list: the size follows from how many they are. The kinds
  // that are built from all keys at once are made this way too.
  template <detail::forward_keys Keys>
    requires detail::makeable<Filter> && seeded_hasher<Hasher> &&
             key_for<std::iter_value_t<detail::iterator_of<Keys>>, Hasher>
  explicit keyed(const Keys& keys, double fpr = 0.01, std::uint64_t seed = 0)
      : keyed(make(keys, fpr, Hasher(seed)), Hasher(seed)) {
    if constexpr (updatable<Filter>) add_batch(keys);
  }
  template <key_for<Hasher> Key>
    requires detail::makeable<Filter> && seeded_hasher<Hasher>
  keyed(std::initializer_list<Key> keys, double fpr = 0.01, std::uint64_t seed = 0)
      : keyed(std::span(keys.begin(), keys.size()), fpr, seed) {}
  // Throws errc::mismatch when the hash has fewer words than the filter has probes.
  explicit keyed(Filter inner, Hasher h = Hasher{}, const key_form& form = {})
      : filter_(std::move(inner)), hasher_(std::move(h)), form_(form) {
    if constexpr (requires { hasher_.probes(); }) {
      detail::check_words(hasher_.probes(), filter_.shape().probes);
    }
  }

  // ---- one key --------------------------------------------------------------------------------

  // Clang would make a call of each, which takes as long as the rest.
  template <class Key>
  [[gnu::always_inline]] decltype(auto) add(const Key& key) noexcept(never_grows) {
    return filter_.add(hash_key(hasher_, key));
  }
  template <class Key>
  [[gnu::always_inline]] [[nodiscard]] bool contains(const Key& key) const noexcept {
    return filter_.contains(hash_key(hasher_, key));
  }

  // As the kind allows: takes the key out again, false when it is surely not in the filter; how
  // often it was added, at most; its value.
  template <class Key>
  bool remove(const Key& key) noexcept
    requires removable<Filter>
  {
    return filter_.remove(hash_key(hasher_, key));
  }
  template <class Key>
  [[nodiscard]] std::uint64_t count(const Key& key) const noexcept
    requires countable<Filter>
  {
    return filter_.count(hash_key(hasher_, key));
  }
  template <class Key>
  [[nodiscard]] auto value(const Key& key) const noexcept
    requires requires(const Filter& f, const hash_type& hash) { f.value(hash); }
  {
    return filter_.value(hash_key(hasher_, key));
  }

  // ---- many keys: any range of keys, hashed a piece at a time ---------------------------------

  template <detail::forward_keys Keys>
  void add_batch(const Keys& keys) noexcept(never_grows) {
    if constexpr (many_integers<detail::iterator_of<Keys>> &&
                  requires(Filter& f, const mixed_integers& many) { f.add_batch(many); }) {
      filter_.add_batch(hasher_.integers(integers_of(keys)));
      return;
    }
    auto next = std::ranges::begin(keys);
    detail::scratch<hash_type, detail::batch_keys> hashed;
    for (std::size_t left = size_of(keys); left > 0;) {
      const std::size_t count = std::min(left, detail::batch_keys);
      filter_.add_batch(hash_piece(next, count, hashed));
      left -= count;
    }
  }
  // The forms of answer are those of detail/filter/batch.hpp.
  template <detail::forward_keys Keys>
  void contains_bits(const Keys& keys, std::span<std::uint64_t> bitmap) const noexcept {
    if constexpr (hashed_inside<Keys>) {
      filter_.contains_bits(hasher_.integers(integers_of(keys)), bitmap);
      return;
    }
    detail::for_each_piece(
        size_of(keys), pieces(keys),
        [&](std::size_t first, std::size_t, std::span<const std::uint64_t> answers) {
          std::ranges::copy(answers, bitmap.begin() + static_cast<std::ptrdiff_t>(first / 64));
        });
  }
  template <detail::forward_keys Keys>
  void contains_bytes(const Keys& keys, std::span<std::uint8_t> out) const noexcept {
    detail::answer_bytes<piece_of<Keys>>(size_of(keys), out, pieces(keys));
  }
  template <detail::forward_keys Keys>
  [[nodiscard]] std::size_t contains_count(const Keys& keys) const noexcept {
    return detail::answer_count<piece_of<Keys>>(size_of(keys), pieces(keys));
  }
  template <detail::forward_keys Keys>
  std::size_t contains_indexes(const Keys& keys, std::span<std::uint32_t> out) const noexcept {
    return detail::answer_indexes<piece_of<Keys>>(size_of(keys), out, pieces(keys));
  }

  // ---- many keys, several threads (core/parallel.hpp) -----------------------------------------

  // The bits of add_batch. For the filters whose bits do not depend on the order of the keys.
  template <detail::random_access_keys Keys>
    requires requires { typename Filter::shared_adder; }
  void add_batch(const Keys& keys, parallel p) {
    typename Filter::shared_adder adder(filter_);
    in_parts(keys, p, [&](auto part, std::size_t) {
      detail::scratch<hash_type, shared_piece> hashed;
      auto next = std::ranges::begin(part);
      for (std::size_t left = size_of(part); left > 0;) {
        const std::size_t count = std::min(left, shared_piece);
        adder.add_batch(hash_piece(next, count, hashed));
        left -= count;
      }
    });
  }
  template <detail::random_access_keys Keys>
  void contains_bits(const Keys& keys, std::span<std::uint64_t> bitmap, parallel p) const {
    in_parts(keys, p, [&](auto part, std::size_t first) {
      contains_bits(part, bitmap.subspan(first / 64, (size_of(part) + 63) / 64));
    });
  }
  template <detail::random_access_keys Keys>
  [[nodiscard]] std::size_t contains_count(const Keys& keys, parallel p) const {
    std::atomic<std::size_t> found{0};
    in_parts(keys, p, [&](auto part, std::size_t) { found += contains_count(part); });
    return found;
  }

  // ---- the rest -------------------------------------------------------------------------------

  [[nodiscard]] double fpr() const noexcept { return filter_.fpr(); }
  [[nodiscard]] std::uint64_t keys() const noexcept { return filter_.keys(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return bit_array::words_for(filter_.shape().bits) * sizeof(std::uint64_t);
  }
  // Takes all keys out again: the filter is as new. One that has grown gives the memory back.
  void clear() noexcept(noexcept(std::declval<Filter&>().clear()))
    requires requires(Filter& f) { f.clear(); }
  {
    filter_.clear();
  }
  // Whether two filters give the same answers: hash function, shape and content are the same.
  friend bool operator==(const keyed& a, const keyed& b)
    requires std::equality_comparable<Filter>
  {
    return a.hasher_.spec() == b.hasher_.spec() && a.filter_ == b.filter_;
  }
  // The filter of hashes inside, for what takes hashes instead of keys.
  [[nodiscard]] const Filter& filter() const noexcept { return filter_; }
  [[nodiscard]] Filter& filter() noexcept { return filter_; }
  [[nodiscard]] const Hasher& hash_function() const noexcept { return hasher_; }

  // What the keys are, for files and for what combines filters: unknown unless the program says it.
  [[nodiscard]] const key_form& form() const noexcept { return form_; }
  void set_form(const key_form& form) noexcept { form_ = form; }
  [[nodiscard]] hash_spec hash() const noexcept {  // what a file stores of hash function and keys
    hash_spec spec = hasher_.spec();
    spec.form = form_;
    return spec;
  }

  // A handle for one thread among many; see bit_filter::concurrent.
  [[nodiscard]] auto concurrent() noexcept {
    return keyed<typename Filter::concurrent_handle, Hasher>(filter_.concurrent(), hasher_, form_);
  }

 private:
  static constexpr bool never_grows = requires(Filter& f, const hash_type& hash) {
    { f.add(hash) } noexcept;
  };

  template <class Keys>
  static std::size_t size_of(const Keys& keys) noexcept {
    return static_cast<std::size_t>(std::ranges::distance(keys));
  }

  // 64-bit integers that lie side by side, and a hash that takes many of them at once.
  template <class Iterator>
  static constexpr bool many_integers = [] {
    if constexpr (std::contiguous_iterator<Iterator>) {
      using key = std::iter_value_t<Iterator>;
      return std::same_as<Hasher, xxh3_hasher> && detail::integer_key<key> &&
             (std::same_as<key, std::uint64_t> || std::same_as<key, std::int64_t>);
    }
    return false;
  }();
  // And a filter that hashes them on the way.
  template <class Keys>
  static constexpr bool hashed_inside =
      many_integers<detail::iterator_of<Keys>> &&
      requires(const Filter& f, const mixed_integers& keys, std::span<std::uint64_t> bitmap) {
        f.contains_bits(keys, bitmap);
      };

  // Keys that the filter hashes need no room for their hashes, so that pieces may be longer.
  template <class Keys>
  static constexpr std::size_t piece_of =
      hashed_inside<Keys> ? detail::batch_hashes : detail::batch_keys;

  template <class Iterator>
  static std::span<const std::uint64_t> integers_at(Iterator first, std::size_t count) noexcept {
    // A signed type may be read as its unsigned one.
    return {reinterpret_cast<const std::uint64_t*>(std::to_address(first)), count};
  }
  template <class Keys>
  static std::span<const std::uint64_t> integers_of(const Keys& keys) noexcept {
    return integers_at(std::ranges::begin(keys), size_of(keys));
  }

  // A filter for this many keys; the static kinds have them already.
  template <class Keys>
  static Filter make(const Keys& keys, double fpr, const Hasher& h) {
    const std::uint64_t count = std::max<std::uint64_t>(1, size_of(keys));
    if constexpr (detail::static_kind<Filter>) {
      std::vector<std::uint64_t> hashes;
      hashes.reserve(size_of(keys));
      for (const auto& key : keys) hashes.push_back(hash_key(h, key));
      return Filter(sizing::make_plan({.kind = Filter::kind, .keys = count, .fpr = fpr}), hashes);
    } else {
      return Filter(options{.keys = count, .fpr = fpr});
    }
  }

  // Hashes the next `count` keys and moves the iterator past them.
  template <class Iterator>
  std::span<const hash_type> hash_piece(Iterator& next, std::size_t count,
                                        std::span<hash_type> out) const noexcept {
    if constexpr (many_integers<Iterator>) {
      mix64_batch(hasher_.integers(integers_at(next, count)), out);
      next += static_cast<std::ptrdiff_t>(count);
    } else {
      for (std::size_t i = 0; i < count; ++i, ++next) out[i] = hash_key(hasher_, *next);
    }
    return {out.data(), count};
  }

  // Digests are large, and their filters have no blocks to lock.
  static constexpr std::size_t shared_piece =
      sizeof(hash_type) == sizeof(std::uint64_t) ? detail::shared_keys : detail::batch_keys;

  // std::ranges::subrange, which clang 14 does not compile.
  template <class Iterator>
  struct part_of {
    Iterator from;
    Iterator to;
    [[nodiscard]] Iterator begin() const { return from; }
    [[nodiscard]] Iterator end() const { return to; }
  };

  // Calls work(part, index of its first key) for parts of the keys, in several threads.
  template <class Keys, class Work>
  static void in_parts(const Keys& keys, parallel p, Work work) {
    constexpr std::size_t part = std::size_t{1}
                                 << 16U;  // a multiple of 64: no word of a bitmap is shared
    const std::size_t count = size_of(keys);
    detail::in_parallel(p, (count + part - 1) / part, [&](std::uint64_t i) {
      const auto first = static_cast<std::size_t>(i) * part;
      const auto at = [&](std::size_t index) {
        return std::ranges::begin(keys) +
               static_cast<std::iter_difference_t<detail::iterator_of<Keys>>>(
                   std::min(index, count));
      };
      work(part_of<decltype(at(first))>{at(first), at(first + part)}, first);
    });
  }

  // Pieces are asked for in order, so an iterator that is carried along is enough.
  template <class Keys>
  auto pieces(const Keys& keys) const noexcept {
    return [this, next = std::ranges::begin(keys)](std::size_t, std::size_t count,
                                                   std::span<std::uint64_t> bitmap) mutable {
      if constexpr (hashed_inside<Keys>) {
        filter_.contains_bits(hasher_.integers(integers_at(next, count)), bitmap);
        next += static_cast<std::ptrdiff_t>(count);
      } else {
        detail::scratch<hash_type, detail::batch_keys> hashed;
        filter_.contains_bits(hash_piece(next, count, hashed), bitmap);
      }
    };
  }

  Filter filter_;
  Hasher hasher_;
  key_form form_;
};

// The default: blocked, XXH3.
using filter = keyed<blocked_filter>;
using filter_view = keyed<blocked_view>;

}  // namespace bloomery
