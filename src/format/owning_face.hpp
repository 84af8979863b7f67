// Puts an owner behind filter_face: what changes it, within a limit of memory where there is one.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "bloomery/core/error.hpp"
#include "bloomery/format/loss_meter.hpp"
#include "bloomery/format/opening.hpp"
#include "bloomery/set/counting.hpp"
#include "reading_face.hpp"

namespace bloomery::detail {

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
