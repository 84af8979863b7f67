// The counting filter: counters instead of bits, so that keys can be removed (Fan, Cao, Almeida and
// Broder 2000).
//
// Two layouts, told apart by shape().block_bits:
//
//   512  one line   The positions are those of the blocked filter. The bit that a key would have
//                   there belongs to a group of w bits, and the group is the counter:
//
//                     lane of 32 bits   +------+------+------+------+------+------+------+------+
//                     w = 4             |  c0  |  c1  |  c2  |  c3  |  c4  |  c5  |  c6  |  c7  |
//                                       +------+------+------+------+------+------+------+------+
//                   A key costs one cache miss, and 44 bits at 1 % or 77 at 0.1 %. This is the
//                   default down to 0.1 %.
//   0    unblocked  Counter j of a key is where bit j of a classic filter would be. A key costs k
//                   misses, and 38 bits at 1 % or 58 at 0.1 %. This is the layout of the survey's
//                   overflow bound, and the better one below 0.1 %.
//
// A key adds one to each of its different counters. When two of its unblocked probes meet, that
// counter is counted once: so remove undoes add exactly.
//
// A counter that reaches its maximum, 2^w - 1, sticks there for ever. It may then cause a false
// positive, never a false negative. saturated() says how many there are, and
// sizing::counting_overflow how many to expect: with 4 bits, 1e-14 for each counter at most.
//
// Remove only what was added. For a share fpr() of other keys all counters are above 0: remove then
// takes from counters that other keys need, which may be lost. The rest are refused.
//
// Threads: any number may ask while nobody changes the filter. There is no concurrent handle;
// keyed's calls with a `parallel` add with all cores.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "bloomery/bits/counter_array.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/detail/core/scratch.hpp"
#include "bloomery/detail/filter/batch.hpp"
#include "bloomery/detail/filter/block_stripes.hpp"
#include "bloomery/detail/filter/owned.hpp"
#include "bloomery/hash/probe.hpp"

namespace bloomery {

// Where the counters of a key are: in a line, or at the positions of their first bits.
class counting_probes {
 public:
  using hash_type = std::uint64_t;

  explicit counting_probes(const shape& s) noexcept;

  [[nodiscard]] std::uint32_t width() const noexcept { return cells_.width; }
  [[nodiscard]] const detail::counter_cells& cells() const noexcept { return cells_; }
  [[nodiscard]] std::uint64_t counters() const noexcept { return counters_; }
  [[nodiscard]] bool in_lines() const noexcept { return in_lines_; }

  // The layout in lines: the block of a key, and what is done with its lanes.
  [[nodiscard]] std::uint64_t line_of(std::uint64_t hash) const noexcept {
    return lines_.block_of(hash) * (bits_per_block / 64);
  }
  [[gnu::always_inline]] [[nodiscard]] detail::block_lanes lanes() const noexcept {
    return lines_.lanes();
  }

  // The unblocked layout: whether test(position) holds for every counter; may visit one twice.
  template <class Test>
  bool all_of(std::uint64_t hash, Test test) const noexcept {
    return scattered_.all_of(hash, [&](std::uint64_t i) { return test(i * cells_.width); });
  }
  // Calls visit(position) once for each different counter.
  template <class Visit>
  void each(std::uint64_t hash, Visit visit) const noexcept {
    detail::scratch<std::uint64_t, max_probes> seen;
    std::size_t count = 0;
    std::uint64_t marks = 0;  // bit i % 64 for each counter i that was seen: few need a search
    scattered_.all_of(hash, [&](std::uint64_t i) {
      const std::uint64_t mark = std::uint64_t{1} << (i & 63U);
      if ((marks & mark) != 0) {
        for (std::size_t j = 0; j < count; ++j) {
          if (seen[j] == i) return true;
        }
      }
      marks |= mark;
      seen[count++] = i;
      visit(i * cells_.width);
      return true;
    });
  }
  template <class Touch>
  void lines(std::uint64_t hash, Touch touch) const noexcept {
    all_of(hash, [&](std::uint64_t position) { return touch(position), true; });
  }

 private:
  detail::counter_cells cells_;
  bool in_lines_;
  std::uint64_t counters_;
  blocked_probes lines_;
  classic_probes scattered_;
};

class counting_view : public detail::batch_answers<counting_view>, public detail::word_view {
 public:
  using hash_type = std::uint64_t;
  static constexpr filter_kind kind = filter_kind::counting;
  static constexpr probe_scheme scheme = probe_scheme::multiply;

  // Throws errc::bad_argument unless the plan's shape is one of this kind and `words` holds its
  // counters. Any content of the words is a filter.
  counting_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys);

  [[gnu::always_inline]] [[nodiscard]] bool contains(std::uint64_t hash) const noexcept {
    if (probes_.in_lines()) {
      return probes_.lanes().counted(hash, words_ + probes_.line_of(hash), probes_.cells());
    }
    return contains_scattered(hash);
  }
  // The least of the key's counters: never below the number of times that it was added and not
  // removed, except that the greatest value, 2^w - 1, means "at least".
  [[gnu::always_inline]] [[nodiscard]] std::uint64_t count(std::uint64_t hash) const noexcept {
    if (probes_.in_lines()) {
      return probes_.lanes().least(hash, words_ + probes_.line_of(hash), probes_.cells());
    }
    std::uint64_t least = detail::low_mask(probes_.width());
    probes_.all_of(hash, [&](std::uint64_t position) {
      const std::uint32_t value = detail::get_counter(words_, position, probes_.width());
      least = value < least ? value : least;
      return true;
    });
    return least;
  }

  // Batch calls, of hashes or of integers to hash; detail/filter/batch.hpp has more forms.
  void contains_bits(std::span<const std::uint64_t> hashes,
                     std::span<std::uint64_t> bitmap) const noexcept;
  void contains_bits(const mixed_integers& keys, std::span<std::uint64_t> bitmap) const noexcept;
  // counts[i] = count(hashes[i]).
  void count_batch(std::span<const std::uint64_t> hashes,
                   std::span<std::uint64_t> counts) const noexcept;

  [[nodiscard]] const counting_probes& probes() const noexcept { return probes_; }
  [[nodiscard]] std::uint64_t counters() const noexcept { return probes_.counters(); }

  // The share of the counters that are not 0; the number of saturated ones; the chance that a
  // random hash finds all of its counters above 0. Each reads the whole array.
  [[nodiscard]] double fill() const noexcept;
  [[nodiscard]] std::uint64_t saturated() const noexcept;
  [[nodiscard]] std::uint64_t most_count() const noexcept {
    return detail::low_mask(probes_.width());
  }
  // What the chance was at most that a counter saturates, for as many different keys as it holds;
  // t times that for a filter that has held t different sets.
  [[nodiscard]] double overflow_bound() const;
  [[nodiscard]] double fpr() const noexcept;
  [[nodiscard]] double keys_estimated() const;  // different ones, by the counters that are not 0

  [[nodiscard]] explanation explain(std::uint64_t hash) const;
  [[nodiscard]] cell_array cells() const;

 private:
  // No part of the caller, whose registers it would take; pure, so that it may keep what it has in
  // them.
  [[gnu::pure]] [[nodiscard]] bool contains_scattered(std::uint64_t hash) const noexcept;

  counting_probes probes_;
};

class counting_filter : public detail::changeable<counting_view> {
 public:
  using changeable::changeable;

  // True when the key was new.
  [[gnu::always_inline]] bool add(std::uint64_t hash) noexcept {
    ++key_count();
    return increment(probes(), mutable_words().data(), hash);
  }
  void add_batch(std::span<const std::uint64_t> hashes) noexcept;
  void add_batch(const mixed_integers& keys) noexcept;
  // False, and nothing changed, when the key is surely not there.
  [[gnu::always_inline]] bool remove(std::uint64_t hash) noexcept {
    if (!decrement(probes(), mutable_words().data(), hash)) return false;
    if (key_count() != 0) --key_count();  // a file may claim 0 keys
    return true;
  }
  // How many were removed.
  std::size_t remove_batch(std::span<const std::uint64_t> hashes) noexcept;
  std::size_t remove_batch(const mixed_integers& keys) noexcept;

  // Shared by threads that do nothing but add, as in detail/filter/bit_filter.hpp. Counters that
  // are anywhere have one lock for all, so that only the hashing runs at the same time.
  class shared_adder {
   public:
    using hash_type = std::uint64_t;

    explicit shared_adder(counting_filter& owner) noexcept
        : stripes_(owner.shape().bits / bits_per_block), filter_(&owner) {}

    void add_batch(std::span<const std::uint64_t> hashes) noexcept;

   private:
    detail::block_stripes stripes_;
    counting_filter* filter_;
    std::mutex all_;
  };

 private:
  [[gnu::always_inline]] static bool increment(const counting_probes& probes, std::uint64_t* words,
                                               std::uint64_t hash) noexcept {
    if (probes.in_lines()) {
      return probes.lanes().increment(hash, words + probes.line_of(hash), probes.cells());
    }
    return increment_scattered(probes, words, hash);
  }
  [[gnu::always_inline]] static bool decrement(const counting_probes& probes, std::uint64_t* words,
                                               std::uint64_t hash) noexcept {
    if (probes.in_lines()) {
      return probes.lanes().decrement(hash, words + probes.line_of(hash), probes.cells());
    }
    return decrement_scattered(probes, words, hash);
  }
  // No part of the caller: what it keeps in memory would be stored for lines, too.
  static bool increment_scattered(const counting_probes& probes, std::uint64_t* words,
                                  std::uint64_t hash) noexcept;
  static bool decrement_scattered(const counting_probes& probes, std::uint64_t* words,
                                  std::uint64_t hash) noexcept;
};

}  // namespace bloomery
