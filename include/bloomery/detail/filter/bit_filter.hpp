// A set of hashes as bits: what classic, partitioned and blocked have in common, which is
// everything but the positions. `Probes` (hash/probe.hpp) supplies those.
//
// bit_filter owns its words and can be changed, bit_view borrows them (detail/filter/owned.hpp).
//
// Threads: any number may ask while nobody adds. To add and ask at the same time, give each thread
// its own handle from concurrent(). To add with all cores, keyed has calls that take a `parallel`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/error.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/detail/filter/batch.hpp"
#include "bloomery/detail/filter/block_stripes.hpp"
#include "bloomery/detail/filter/owned.hpp"
#include "bloomery/filter/concepts.hpp"
#include "bloomery/hash/probe.hpp"

namespace bloomery {

template <class Probes>
class bit_view : public detail::batch_answers<bit_view<Probes>, typename Probes::hash_type>,
                 public detail::word_view {
 public:
  using probes_type = Probes;
  using view = bit_view;
  using hash_type = typename Probes::hash_type;
  static constexpr filter_kind kind = Probes::kind;
  static constexpr probe_scheme scheme = Probes::scheme;

  // Throws errc::bad_argument unless the shape is of this kind and `words` holds its bits.
  bit_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys);

  [[gnu::always_inline]] [[nodiscard]] bool contains(const hash_type& hash) const noexcept {
    if constexpr (requires { probes_.contained_in(words_, hash); }) {
      return probes_.contained_in(words_, hash);
    } else {
      return probes_.all_of(
          hash, [this](std::uint64_t position) { return detail::test_bit(words_, position); });
    }
  }

  // Batch calls: the same answers, several times faster when the array is larger than the cache.
  // Bit i % 64 of bitmap[i / 64] is the answer for hashes[i]; needs (hashes.size() + 63) / 64
  // words. detail/filter/batch.hpp has the other forms of answer.
  void contains_bits(std::span<const hash_type> hashes,
                     std::span<std::uint64_t> bitmap) const noexcept;
  // The same for integers that are hashed on the way (hash/hash.hpp).
  void contains_bits(const mixed_integers& keys, std::span<std::uint64_t> bitmap) const noexcept
    requires in_blocks<Probes>;

  [[nodiscard]] const Probes& probes() const noexcept { return probes_; }

  [[nodiscard]] std::uint64_t bits_set() const noexcept { return count_bits(words()); }
  [[nodiscard]] double fill() const noexcept {
    return static_cast<double>(bits_set()) / static_cast<double>(shape().bits);
  }
  // The false-positive rate of the bits as they are now. Reads the whole array.
  [[nodiscard]] double fpr() const noexcept;
  // The same for the keys that have the block of this one.
  [[nodiscard]] double fpr_at(const hash_type& hash) const noexcept
    requires in_blocks<Probes>;

  [[nodiscard]] explanation explain(const hash_type& hash) const;
  [[nodiscard]] cell_array cells() const;

 private:
  Probes probes_;
};

template <class Probes>
class bit_filter : public detail::changeable<bit_view<Probes>> {
 public:
  using view = bit_view<Probes>;
  using hash_type = typename view::hash_type;

  using detail::changeable<view>::changeable;

  // True when the key was new. A shard passes over a key that is not its own.
  [[gnu::always_inline]] bool add(const hash_type& hash) noexcept {
    if constexpr (sharded<Probes>) {
      if (!this->probes().owns(hash)) return false;
    }
    std::uint64_t* words = this->mutable_words().data();
    ++this->key_count();
    if constexpr (requires { this->probes().add_to(words, hash); }) {
      return this->probes().add_to(words, hash);
    } else {
      bool is_new = false;
      this->probes().all_of(hash, [words, &is_new](std::uint64_t position) {
        is_new |= !detail::test_bit(words, position);
        detail::set_bit(words, position);
        return true;
      });
      return is_new;
    }
  }
  void add_batch(std::span<const hash_type> hashes) noexcept;
  void add_batch(const mixed_integers& keys) noexcept
    requires in_blocks<Probes>;

  // A handle for one thread among many: adds with atomic ORs, asks with atomic loads, takes no
  // locks. A key is found by whoever learnt, by any synchronisation, that its add has returned. The
  // filter must outlive the handles; its own keys() is right once they are gone.
  class concurrent_handle {
   public:
    using hash_type = typename view::hash_type;

    explicit concurrent_handle(bit_filter& filter) noexcept
        : filter_(&filter), words_(filter.mutable_words().data()) {}
    concurrent_handle(const concurrent_handle&) = delete;
    concurrent_handle& operator=(const concurrent_handle&) = delete;
    concurrent_handle(concurrent_handle&& other) noexcept
        : filter_(other.filter_), words_(other.words_), added_(std::exchange(other.added_, 0)) {}
    concurrent_handle& operator=(concurrent_handle&&) = delete;
    ~concurrent_handle() {
      if (added_ == 0) return;
      const std::atomic_ref<std::uint64_t> keys(filter_->key_count());
      keys.fetch_add(added_, std::memory_order_relaxed);
    }

    void add(const hash_type& hash) noexcept {
      if constexpr (sharded<Probes>) {
        if (!filter_->probes().owns(hash)) return;
      }
      filter_->probes().all_of(hash, [this](std::uint64_t position) {
        detail::set_bit_shared(words_, position);
        return true;
      });
      ++added_;
    }
    [[nodiscard]] bool contains(const hash_type& hash) const noexcept {
      if constexpr (in_blocks<Probes>) {
        if constexpr (sharded<Probes>) {
          if (!filter_->probes().owns(hash)) return false;
        }
        const auto mask = filter_->probes().mask_of(hash);
        std::uint64_t* const block = words_ + filter_->probes().block_of(hash) * mask.words.size();
        std::uint64_t missing = 0;
        for (std::size_t i = 0; i < mask.words.size(); ++i) {
          missing |= mask.words[i] & ~detail::load_shared(block[i]);
        }
        return missing == 0;
      } else {
        return filter_->probes().all_of(hash, [this](std::uint64_t position) {
          return detail::test_bit_shared(words_, position);
        });
      }
    }
    [[nodiscard]] const bloomery::shape& shape() const noexcept { return filter_->shape(); }
    void add_batch(std::span<const hash_type> hashes) noexcept;
    void contains_bits(std::span<const hash_type> hashes,
                       std::span<std::uint64_t> bitmap) const noexcept;

   private:
    bit_filter* filter_;
    std::uint64_t* words_;
    std::uint64_t added_ = 0;
  };

  [[nodiscard]] concurrent_handle concurrent() noexcept { return concurrent_handle(*this); }

  // Shared by threads that do nothing but add, many hashes at a time: faster than handles, since
  // blocks are locked instead of bits (detail/filter/block_stripes.hpp). Nothing else may touch the
  // filter meanwhile.
  class shared_adder {
   public:
    using hash_type = typename view::hash_type;

    explicit shared_adder(bit_filter& owner) noexcept
        : stripes_(number_of_blocks(owner.shape())), filter_(&owner) {}

    void add_batch(std::span<const hash_type> hashes) noexcept;

   private:
    struct nothing {
      explicit nothing(std::uint64_t) noexcept {}
    };
    static constexpr bool striped = in_blocks<Probes> && !sharded<Probes>;
    static std::uint64_t number_of_blocks(const bloomery::shape& s) noexcept {
      return s.block_bits == 0 ? 0 : s.bits / s.block_bits;
    }

    [[no_unique_address]] std::conditional_t<striped, detail::block_stripes, nothing> stripes_;
    bit_filter* filter_;
  };
};

}  // namespace bloomery
