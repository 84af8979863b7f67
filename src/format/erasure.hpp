// Puts any filter type behind filter_face. The face refuses calls that the type does not have.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/detail/core/scratch.hpp"
#include "bloomery/detail/filter/batch.hpp"
#include "bloomery/filter/concepts.hpp"
#include "bloomery/filter/explanation.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/format/filter_face.hpp"
#include "bloomery/format/loss_meter.hpp"
#include "bloomery/format/opening.hpp"
#include "bloomery/set/algebra.hpp"
#include "bloomery/set/counting.hpp"

namespace bloomery::detail {

// Calls work(first, hashes) for the keys, a piece at a time.
template <class Hash, std::size_t Piece = batch_keys, class Work>
void for_each_hashed(std::span<const std::string_view> keys, const any_hasher& hash, Work work) {
  detail::scratch<Hash, Piece> buffer;
  for (std::size_t first = 0; first < keys.size(); first += buffer.size()) {
    const auto piece = keys.subspan(first, std::min(buffer.size(), keys.size() - first));
    const std::span<Hash> hashes(buffer.data(), piece.size());
    hash.hash(piece, hashes);
    work(first, std::span<const Hash>(hashes));
  }
}

template <class Filter>
concept has_values = requires(const Filter& f, std::span<const typename Filter::hash_type> hashes,
                              std::span<std::uint64_t> out) { f.value_batch(hashes, out, out); };
template <class Filter>
concept has_clock = requires(Filter& f) { f.advance(std::uint64_t{}); };
// A shard: there are keys that are not its own.
template <class Filter>
concept has_others_keys = requires(const Filter& f) { f.probes().owns(std::uint64_t{}); };
template <class Filter>
concept has_adder = requires { typename Filter::shared_adder; };
// A union in place is |= of bits, += of counters, or a call.
template <class Filter>
concept merges_bits = requires(Filter& f, const typename Filter::view& v) { f |= v; };
template <class Filter>
concept merges_counters = requires(Filter& f, const typename Filter::view& v) { f += v; };
template <class Filter>
concept has_merge = merges_bits<Filter> || merges_counters<Filter> ||
                    requires(Filter& f, const typename Filter::view& v) { f.merge(v); };
// A sketch that needs keys and not only hashes, and whose words are made when they are asked for.
template <class Filter>
concept keeps_keys = requires(Filter& f, std::span<const std::string_view> keys,
                              std::span<const std::uint64_t> hashes) {
  f.add_batch(keys, hashes);
  f.serialise();
};

// The view of an owner, and a view itself.
template <class Filter>
struct viewed {
  using type = Filter;
};
template <class Filter>
  requires requires { typename Filter::view; }
struct viewed<Filter> {
  using type = typename Filter::view;
};

template <class Filter>
constexpr abilities abilities_of_owner() {
  abilities a;
  a.add = updatable<Filter> || keeps_keys<Filter>;
  a.add_concurrently = has_adder<Filter>;
  a.remove = removable<Filter>;
  a.count = countable<Filter>;
  a.value = has_values<Filter>;
  a.merge = has_merge<Filter>;
  if constexpr (requires { Filter::grows; }) a.grow = Filter::grows;
  a.forget = has_clock<Filter>;
  a.lists_top = keeps_keys<Filter>;
  return a;
}

// The words of a sketch that keeps keys, made when they are first asked for. Several threads may
// ask at once, but none while the sketch is changed.
class made_words {
 public:
  template <class Sketch>
  std::span<const std::uint64_t> of(const Sketch& sketch) {
    const std::scoped_lock lock(mutex_);
    if (words_.words().empty()) words_ = sketch.serialise();
    return std::as_const(words_).words();
  }
  void forget() { words_ = bit_array(); }

 private:
  std::mutex mutex_;
  bit_array words_;
};
struct no_words {
  static void forget() noexcept {}
};

// What owners and views share.
template <class Filter>
class reading_face : public filter_face {
 public:
  using hash_type = typename Filter::hash_type;

  explicit reading_face(Filter filter) : filter_(std::move(filter)) {}

  [[nodiscard]] const Filter& inner() const noexcept { return filter_; }
  [[nodiscard]] const plan& planned() const noexcept override { return filter_.planned(); }
  [[nodiscard]] std::uint64_t keys() const noexcept override { return filter_.keys(); }
  [[nodiscard]] std::vector<std::span<const std::uint64_t>> parts() const override {
    if constexpr (keeps_keys<Filter>) {
      return {made_words_.of(filter_)};
    } else {
      return parts_of(filter_);
    }
  }
  [[nodiscard]] double fill() const noexcept override { return filter_.fill(); }
  [[nodiscard]] double fpr() const noexcept override { return filter_.fpr(); }
  [[nodiscard]] std::uint64_t most_count() const noexcept override {
    if constexpr (requires { filter_.most_count(); }) return filter_.most_count();
    return UINT64_MAX;
  }
  [[nodiscard]] abilities can() const noexcept override {
    return {.count = countable<Filter>, .value = has_values<Filter>};
  }
  [[nodiscard]] std::uint64_t room() const noexcept override {
    if constexpr (requires { filter_.room(); }) return filter_.room();
    return UINT64_MAX;
  }
  [[nodiscard]] std::uint64_t growth_bytes() const noexcept override {
    if constexpr (requires { filter_.growth_bytes(); }) return filter_.growth_bytes();
    return 0;
  }
  [[nodiscard]] std::optional<plan> compact_plan() const override {
    if constexpr (requires { filter_.compact_plan(); }) return filter_.compact_plan();
    return std::nullopt;
  }
  [[nodiscard]] std::optional<double> keys_estimated() const override {
    if constexpr (requires { filter_.bits_set(); }) {
      return sizing::estimate_keys(filter_.shape(), filter_.bits_set());
    } else if constexpr (requires { filter_.keys_stored(); }) {
      return static_cast<double>(filter_.keys_stored());
    } else if constexpr (requires { filter_.keys_estimated(); }) {
      return filter_.keys_estimated();
    } else {
      return std::nullopt;
    }
  }
  [[nodiscard]] std::vector<fact> facts() const override {
    std::vector<fact> all;
    const auto tell = [&]<class Value>(std::string_view name, Value value) {
      if constexpr (std::integral<Value>) {
        all.push_back({name, static_cast<std::uint64_t>(value)});
      } else {
        all.push_back({name, value});
      }
    };
    if constexpr (requires { filter_.layers(); }) tell("layers", filter_.layers());
    if constexpr (requires { filter_.doublings(); }) tell("doublings", filter_.doublings());
    if constexpr (requires { filter_.saturated(); }) tell("saturated", filter_.saturated());
    if constexpr (requires { filter_.overflow_bound(); }) {
      tell("overflow_bound", filter_.overflow_bound());
    }
    if constexpr (requires { filter_.total(); }) tell("total", filter_.total());
    if constexpr (requires { filter_.epsilon(); }) tell("epsilon", filter_.epsilon());
    if constexpr (requires { filter_.delta(); }) tell("delta", filter_.delta());
    if constexpr (requires { filter_.pairwise(); }) {
      if (filter_.pairwise()) tell("rows", std::string_view("pairwise"));
      if (filter_.one_line()) tell("rows", std::string_view("in one line"));
    }
    if constexpr (requires { filter_.window(); }) {
      tell("window", filter_.window());
      if (filter_.by_time()) tell("window_covered", filter_.covered());
    }
    return all;
  }
  [[nodiscard]] cell_array cells() const override {
    if constexpr (requires { filter_.cells(); }) return filter_.cells();
    return {};
  }
  void advance(std::uint64_t now) override {
    if constexpr (has_clock<Filter>) filter_.advance(now);
  }

  void contains_bits(keys_type keys, const any_hasher& hash,
                     std::span<std::uint64_t> bitmap) const override {
    for_each_hashed<hash_type>(keys, hash,
                               [&](std::size_t first, std::span<const hash_type> hashes) {
                                 filter_.contains_bits(hashes, bitmap.subspan(first / 64));
                               });
  }
  [[nodiscard]] bool contains(std::string_view key, const any_hasher& hash) const override {
    hash_type one;
    hash.hash({&key, 1}, std::span<hash_type>(&one, 1));
    return filter_.contains(one);
  }
  void check() const override {
    if constexpr (requires { filter_.check(); }) filter_.check();
  }
  [[nodiscard]] explanation explain(std::string_view key, const any_hasher& hash) const override {
    if constexpr (requires(const hash_type& one) { filter_.explain(one); }) {
      hash_type one;
      hash.hash({&key, 1}, std::span<hash_type>(&one, 1));
      return filter_.explain(one);
    } else if constexpr (keeps_keys<Filter>) {  // its view tells, of the words that it would save
      hash_type one;
      hash.hash({&key, 1}, std::span<hash_type>(&one, 1));
      return typename Filter::view(planned(), parts().front(), keys()).explain(one);
    } else {
      return {};
    }
  }
  void count(keys_type keys, const any_hasher& hash,
             std::span<std::uint64_t> counts) const override {
    if constexpr (countable<Filter>) {
      for_each_hashed<hash_type>(
          keys, hash, [&](std::size_t first, std::span<const hash_type> hashes) {
            filter_.count_batch(hashes, counts.subspan(first, hashes.size()));
          });
    } else {
      filter_face::count(keys, hash, counts);
    }
  }
  void value(keys_type keys, const any_hasher& hash, std::span<std::uint64_t> values,
             std::span<std::uint64_t> bitmap) const override {
    if constexpr (has_values<Filter>) {
      for_each_hashed<hash_type>(keys, hash,
                                 [&](std::size_t first, std::span<const hash_type> hashes) {
                                   filter_.value_batch(hashes, values.subspan(first, hashes.size()),
                                                       bitmap.subspan(first / 64));
                                 });
    } else {
      filter_face::value(keys, hash, values, bitmap);
    }
  }
  [[nodiscard]] std::optional<stream_product> inner_product(
      const filter_face& other) const override {
    if constexpr (requires { filter_.inner_product(filter_); }) {
      check_combinable(planned().shape, other.planned().shape);
      const typename viewed<Filter>::type there(other.planned(), other.parts().front(),
                                                other.keys());
      const double most = filter_.epsilon() * static_cast<double>(filter_.total()) *
                          static_cast<double>(there.total());
      return stream_product{.total = filter_.total(),
                            .other_total = there.total(),
                            .product = filter_.inner_product(there),
                            .error = most,
                            .delta = filter_.delta()};
    } else {
      return filter_face::inner_product(other);
    }
  }

 protected:
  Filter filter_;
  [[no_unique_address]] mutable std::conditional_t<keeps_keys<Filter>, made_words, no_words>
      made_words_;
};

template <class Filter>
class owning_face final : public reading_face<Filter> {
 public:
  using hash_type = typename Filter::hash_type;
  using keys_type = typename filter_face::keys_type;
  using base = reading_face<Filter>;
  using base::base;

  [[nodiscard]] abilities can() const noexcept override { return abilities_of_owner<Filter>(); }
  [[nodiscard]] std::unique_ptr<filter_face> clone() const override {
    auto copy = std::make_unique<owning_face>(Filter(static_cast<const Filter&>(this->filter_)));
    copy->limited_ = limited_;
    copy->memory_ = memory_;
    return copy;
  }
  void limit_memory(std::uint64_t bytes) override {
    limited_ = true;
    memory_ = bytes;
  }
  // Whoever may change the filter has no use for words of how it was.
  [[nodiscard]] void* owned() noexcept override {
    this->made_words_.forget();
    return &this->filter_;
  }
  [[nodiscard]] const void* owned() const noexcept override { return &this->filter_; }

  void add(keys_type keys, const any_hasher& hash) override {
    if constexpr (keeps_keys<Filter>) {
      for_each_hashed<hash_type>(keys, hash,
                                 [&](std::size_t first, std::span<const hash_type> hashes) {
                                   add_hashes(hashes, keys.subspan(first, hashes.size()));
                                 });
    } else if constexpr (updatable<Filter>) {
      for_each_hashed<hash_type>(
          keys, hash, [&](std::size_t, std::span<const hash_type> hashes) { add_all(hashes); });
    } else {
      base::add(keys, hash);
    }
  }
  void add_concurrent(keys_type keys, const any_hasher& hash) override {
    if constexpr (has_adder<Filter>) {
      constexpr bool small = sizeof(hash_type) == sizeof(std::uint64_t);  // digests are not
      std::call_once(made_adder_, [this] { adder_.emplace(this->filter_); });
      for_each_hashed<hash_type, small ? shared_keys : batch_keys>(
          keys, hash, [&](std::size_t, std::span<const hash_type> hashes) {
            check_own(hashes);
            adder_->add_batch(hashes);
          });
    } else {
      base::add_concurrent(keys, hash);
    }
  }
  void add_hashes_concurrent(std::span<const std::uint64_t> hashes) override {
    if constexpr (has_adder<Filter> && std::is_same_v<hash_type, std::uint64_t>) {
      std::call_once(made_adder_, [this] { adder_.emplace(this->filter_); });
      check_own(hashes);
      adder_->add_batch(hashes);
    } else {
      base::add_hashes_concurrent(hashes);
    }
  }
  void add_hashes(std::span<const std::uint64_t> hashes, keys_type keys) override {
    if constexpr (!std::is_same_v<hash_type, std::uint64_t>) {
      detail::fail(errc::unsupported, "this filter takes digests, not 64-bit hashes");
    } else if constexpr (keeps_keys<Filter>) {
      if (keys.size() != hashes.size()) {
        detail::fail(errc::bad_argument, "a " + std::string(kind_name(Filter::kind)) +
                                             " sketch needs the keys, not only their hashes");
      }
      this->made_words_.forget();
      this->filter_.add_batch(keys, hashes);
    } else if constexpr (updatable<Filter>) {
      add_all(hashes);
    } else {
      base::add_hashes(hashes, keys);
    }
  }
  std::size_t add_new(std::span<const std::uint64_t> hashes, std::span<std::uint64_t> is_new,
                      loss_meter* lost) override {
    std::size_t added = 0;
    if constexpr (updatable<Filter> && std::is_same_v<hash_type, std::uint64_t>) {
      for (std::size_t first = 0; first < hashes.size(); first += batch_keys) {
        const auto piece = hashes.subspan(first, std::min(batch_keys, hashes.size() - first));
        added += add_new_piece(piece, is_new.subspan(first / 64), lost);
      }
    } else {
      added = base::add_new(hashes, is_new, lost);
    }
    return added;
  }
  void clear() override {
    if constexpr (requires { this->filter_.clear(); }) {
      this->made_words_.forget();
      this->filter_.clear();
    } else {
      base::clear();
    }
  }
  void set_window(std::uint64_t window) override {
    if constexpr (has_clock<Filter>) {
      this->filter_.set_window(window);
    } else {
      base::set_window(window);
    }
  }
  std::size_t remove(keys_type keys, const any_hasher& hash) override {
    std::size_t removed = 0;
    if constexpr (removable<Filter>) {
      for_each_hashed<hash_type>(keys, hash, [&](std::size_t, std::span<const hash_type> hashes) {
        removed += this->filter_.remove_batch(hashes);
      });
    } else {
      removed = base::remove(keys, hash);
    }
    return removed;
  }
  std::size_t update_values(std::span<const std::uint64_t> hashes,
                            std::span<const std::uint64_t> values) override {
    std::size_t updated = 0;
    if constexpr (requires(Filter& f) { f.update(hashes[0], values[0]); }) {
      for (std::size_t i = 0; i < hashes.size(); ++i) {
        updated += this->filter_.update(hashes[i], values[i]) ? 1U : 0U;
      }
    } else {
      updated = base::update_values(hashes, values);
    }
    return updated;
  }
  void merge(const filter_face& other) override {
    using view = typename Filter::view;
    if constexpr (has_merge<Filter>) {
      const auto merge_with = [&](const view& v) {
        if constexpr (merges_bits<Filter>) {
          this->filter_ |= v;
        } else if constexpr (merges_counters<Filter>) {
          this->filter_ += v;
        } else if constexpr (requires { this->filter_.merge(v, std::uint64_t{}); }) {
          this->filter_.merge(v, most_bytes(v));
        } else {
          this->filter_.merge(v);
        }
      };
      if (const auto* owner = dynamic_cast<const owning_face*>(&other)) {
        merge_with(owner->inner());
      } else if (const auto* mapped = dynamic_cast<const reading_face<view>*>(&other)) {
        merge_with(mapped->inner());
      } else {
        check_combinable(this->planned().shape, other.planned().shape);
      }
    } else {
      base::merge(other);
    }
  }

 private:
  struct no_adder {};
  template <class F>
  struct adder_of {
    using type = no_adder;
  };
  template <has_adder F>
  struct adder_of<F> {
    using type = typename F::shared_adder;
  };

  void check_own(std::span<const hash_type> hashes) const {
    if constexpr (has_others_keys<Filter>) {
      const auto others = std::ranges::count_if(
          hashes, [&](const hash_type& hash) { return !this->filter_.probes().owns(hash); });
      if (others == 0) return;
      const shard_number& own = this->planned().shape.shard;
      detail::fail(errc::mismatch, to_text(static_cast<std::uint64_t>(others)) +
                                       " of the keys belong "
                                       "to other shards; this is shard " +
                                       to_text(std::uint64_t{own.index}) + " of " +
                                       to_text(std::uint64_t{own.count}));
    }
  }

  // The limit for a union with the other.
  [[nodiscard]] std::uint64_t most_bytes(const typename Filter::view& other) const {
    if (!limited_) return UINT64_MAX;
    const std::uint64_t now = std::max(this->planned().shape.bits, other.shape().bits) / 8;
    return memory_ != 0 ? memory_ : memory_limit(now);
  }
  // Throws when the next step of growth is over the limit, where there is one of either.
  void check_growth() const {
    const std::uint64_t now = this->planned().shape.bits / 8;
    const std::uint64_t more = limited_ ? this->growth_bytes() : 0;
    if (more != 0) check_memory(now + more, memory_, now);
  }
  void add_one(const hash_type& hash) {
    if constexpr (requires { this->filter_.room(); }) {
      if (limited_ && this->filter_.room() == 0 && !this->filter_.contains(hash)) check_growth();
    }
    this->filter_.add(hash);
  }

  void add_all(std::span<const hash_type> hashes) {
    check_own(hashes);
    if constexpr (requires { this->filter_.try_add_batch(hashes); }) {
      // What it grows by is known when a key finds no place.
      while (limited_ && !hashes.empty()) {
        hashes = hashes.subspan(this->filter_.try_add_batch(hashes));
        if (hashes.empty()) return;
        check_growth();
        take(hashes.first(1));
        hashes = hashes.subspan(1);
      }
    } else if constexpr (requires { this->filter_.room(); }) {
      if (limited_ && this->filter_.room() < hashes.size() && this->growth_bytes() != 0) {
        for (const hash_type& hash : hashes) add_one(hash);
        return;
      }
    }
    take(hashes);
  }

  // A filter that may refuse keys says how many it took.
  void take(std::span<const hash_type> hashes) {
    if constexpr (std::is_void_v<decltype(this->filter_.add_batch(hashes))>) {
      this->filter_.add_batch(hashes);
    } else if (const std::size_t taken = this->filter_.add_batch(hashes); taken != hashes.size()) {
      const std::uint64_t refused = hashes.size() - taken;
      detail::fail(errc::full, "the filter refused " + to_text(refused) +
                                   (refused == 1 ? " key: " : " keys: ") + why_full(hashes));
    }
  }

  // The copies of a key have 2 buckets in each layer. One that fills half of these is refused for
  // its copies, and not because the filter is full.
  std::string why_full(std::span<const hash_type> hashes) {
    std::uint64_t most = 0;
    for (const hash_type& hash : hashes) most = std::max(most, this->filter_.count(hash));
    const shape& s = this->planned().shape;
    if (most < this->filter_.layers() * (s.block_bits / s.cell_bits)) {
      return "it has all the layers that it may have; plan it for more keys";
    }
    return "it holds " + to_text(most) +
           " copies of one key already; add each key once, or take a counting filter, which takes "
           "any number of copies";
  }

  // Most are answered together, which also brings their lines into the cache; those that look new
  // are asked again in their turn, since one of the piece may have been the same.
  std::size_t add_new_piece(std::span<const std::uint64_t> hashes, std::span<std::uint64_t> is_new,
                            loss_meter* lost) {
    if constexpr (requires { this->filter_.add_new(hashes, is_new); }) {
      constexpr std::size_t many = 64;
      const bool over_limit =
          limited_ && this->filter_.room() < hashes.size() && this->filter_.growth_bytes() != 0;
      if (hashes.size() >= many && !over_limit) {
        const std::size_t added = this->filter_.add_new(hashes, is_new);
        for (std::size_t i = 0; lost != nullptr && i < added; ++i) lost->note_new(this->filter_);
        return added;
      }
    }
    constexpr std::size_t few = 4;
    detail::scratch<std::uint64_t, batch_keys / 64> there;
    if (hashes.size() < few) {
      there[0] = 0;
    } else {
      this->filter_.contains_bits(hashes, there);
    }
    std::size_t added = 0;
    for (std::size_t w = 0; w * 64 < hashes.size(); ++w) {
      const std::size_t count = std::min<std::size_t>(64, hashes.size() - w * 64);
      std::uint64_t left = ~std::uint64_t{0} >> (64 - count);
      // What forgets may forget while the piece is added, so there all are asked again.
      if constexpr (!has_clock<Filter>) left &= ~there[w];
      std::uint64_t fresh = 0;
      for (; left != 0; left &= left - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(left));
        const std::uint64_t& hash = hashes[w * 64 + i];
        if (this->filter_.contains(hash)) continue;
        if (lost != nullptr) lost->note_new(this->filter_);
        if constexpr (abilities_of_owner<Filter>().grow) {
          add_one(hash);
        } else {
          add_all({&hash, 1});
        }
        fresh |= std::uint64_t{1} << i;
        ++added;
      }
      is_new[w] = fresh;
    }
    return added;
  }

  bool limited_ = false;       // by limit_memory
  std::uint64_t memory_ = 0;   // its argument
  std::once_flag made_adder_;  // made by the first of the threads
  std::optional<typename adder_of<Filter>::type> adder_;
};

}  // namespace bloomery::detail
