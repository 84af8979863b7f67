// The count-min sketch: how often was a key added? Never too low, and too high by more than
// epsilon * total with a probability of at most delta (Cormode and Muthukrishnan 2005).
//
//     word 0    total: the sum of all counts added, little-endian, saturating
//     word 1    which functions of the family, in variants 2 and 3
//     words 2-7 zero, as word 1 is in the others
//     then      row 0: width counters | row 1 | ... | row d-1 | zeros up to the end
//
// A key has one counter in each row, like a bit in each slice of a partitioned filter, and the
// least of them is its count. Counters have 8, 16, 32 or 64 bits. A saturated counter keeps its
// value, which then means "at least that many".
//
// Variant 0 adds to all counters of a key; what was added can be removed again. Variant 1 is
// conservative (Estan and Varghese 2002): adding b raises counters to b above the least, and leaves
// larger ones. Much less error on skewed streams, but no removal. Variants 2 and 3 are these with
// rows by a pairwise independent family (hash/pairwise.hpp), which is what the proof of epsilon and
// delta asks for, whatever the hashes are: integers can be added as they are. The others take the
// positions of a partitioned filter, several times as fast, which behave alike on hashed keys.
//
// Variants 4 and 5 are 0 and 1 with all counters of a key in one line: behind the preamble stand
// lines of 64 bytes, each with a piece of row 0, of row 1, ... and zeros. An add touches one line
// instead of depth() lines. The rows are not independent then: the same guarantee, proved in
// another way (docs/math.md), takes more counters.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bloomery/core/shape.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/core/sizing_sketch.hpp"
#include "bloomery/detail/filter/batch.hpp"
#include "bloomery/detail/filter/owned.hpp"
#include "bloomery/hash/pairwise.hpp"

namespace bloomery {

struct count_min_lines;
class count_min_view : public detail::batch_answers<count_min_view>, public detail::word_view {
 public:
  using hash_type = std::uint64_t;
  static constexpr filter_kind kind = filter_kind::count_min;
  static constexpr probe_scheme scheme = probe_scheme::multiply;

  // Throws errc::bad_argument unless the plan's shape is one of this kind and `words` holds its
  // bits, errc::corrupt when words that must be zero are not.
  count_min_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys);

  // An upper bound on the counts added for this hash, unless a counter is saturated.
  [[nodiscard]] std::uint64_t count(std::uint64_t hash) const noexcept;
  void count_batch(std::span<const std::uint64_t> hashes,
                   std::span<std::uint64_t> counts) const noexcept;

  // Fetches the counters of a key that is about to come; and says where they are, depth() numbers,
  // for add_below_at.
  void prefetch(std::uint64_t hash) const noexcept;
  void locate(std::uint64_t hash, std::uint64_t* places) const noexcept;

  [[nodiscard]] bool contains(std::uint64_t hash) const noexcept { return count(hash) > 0; }
  void contains_bits(std::span<const std::uint64_t> hashes,
                     std::span<std::uint64_t> bitmap) const noexcept;

  // May this key have the share phi of the total? Never a wrong no; a wrong yes for a key with less
  // than (phi - epsilon) * total has a probability of at most delta.
  [[nodiscard]] bool heavy(std::uint64_t hash, double phi) const noexcept {
    return is_heavy(count(hash), phi);
  }
  [[nodiscard]] bool is_heavy(std::uint64_t counted, double phi) const noexcept {
    return total() > 0 && static_cast<double>(counted) >= phi * static_cast<double>(total());
  }

  [[nodiscard]] std::uint64_t total() const noexcept { return detail::little_endian(words_[0]); }
  [[nodiscard]] std::uint64_t width() const noexcept { return width_; }
  [[nodiscard]] std::uint32_t depth() const noexcept { return shape().probes; }
  [[nodiscard]] bool conservative() const noexcept { return (shape().variant & 1U) != 0; }
  [[nodiscard]] bool pairwise() const noexcept { return (shape().variant & 2U) != 0; }
  [[nodiscard]] bool one_line() const noexcept { return lines_ != 0; }
  // Chooses the functions of the family; 0 where none is.
  [[nodiscard]] std::uint64_t row_seed() const noexcept { return detail::little_endian(words_[1]); }
  // The guarantee of this shape: e / width and e^-depth; a larger epsilon with one_line().
  [[nodiscard]] double epsilon() const noexcept;
  [[nodiscard]] double delta() const noexcept;

  // What a counter holds at most: a count of this means "at least". And how many counters do.
  [[nodiscard]] std::uint64_t most_count() const noexcept {
    return ~std::uint64_t{0} >> (64 - shape().cell_bits);
  }
  [[nodiscard]] std::uint64_t saturated() const noexcept;

  // The sum over all keys of count here * count there, the size of the join of the two streams: the
  // least over the rows of the products of their counters. Never too low, and too high by more than
  // epsilon * total * total with a probability of at most delta. UINT64_MAX means "at least".
  // Throws errc::mismatch for another shape or other functions, errc::unsupported under
  // conservative update, whose counters are no sums, and with one_line(), where no delta is
  // proved.
  [[nodiscard]] std::uint64_t inner_product(const count_min_view& other) const;

  // The share of nonzero counters; the chance that an absent key has a count. Reads the array.
  [[nodiscard]] double fill() const noexcept;
  [[nodiscard]] double fpr() const noexcept;

  [[nodiscard]] explanation explain(std::uint64_t hash) const;
  [[nodiscard]] cell_array cells() const;

 private:
  [[nodiscard]] std::uint64_t used_in_row(std::uint32_t row) const noexcept;
  // All counters, those of lines that belong to no row included.
  [[nodiscard]] std::uint64_t counters() const noexcept;
  [[nodiscard]] std::uint64_t used_in_line(std::uint64_t line, std::uint32_t row) const noexcept;
  [[nodiscard]] double fill_of_lines() const noexcept;
  [[nodiscard]] double fpr_of_lines() const noexcept;

  // Calls visit(index of the counter) for row 0, 1, ...
  template <class Visit>
  void for_each_row(std::uint64_t hash, Visit visit) const noexcept;
  friend struct count_min_lines;
  friend class count_min;

  std::uint64_t width_;
  std::uint64_t lines_;                   // 0 unless one_line()
  std::uint64_t line_row_;                // counters of a row in a line
  std::vector<pairwise_hash> functions_;  // one for each row, or none
};

struct weighted_count_min {
  const count_min_view* sketch = nullptr;
  std::int64_t weight = 1;
};

class count_min : public detail::changeable<count_min_view> {
 public:
  // With options: o.keys different keys; absent ones have a count with probability fpr.
  using changeable::changeable;
  // The inherited one, which the next one hides in clang 14.
  template <std::same_as<plan> Plan>
  explicit count_min(const Plan& p) : changeable(p) {}
  // Sized for counts. A template, so that count_min({.keys = ...}) can only mean options.
  template <std::same_as<count_min_guarantee> Guarantee>
  explicit count_min(const Guarantee& g) : changeable(plan{.shape = sizing::count_min_shape(g)}) {}

  // Chooses the functions of an unused sketch with pairwise independent rows. Throws
  // errc::bad_argument for one that was used or has no such rows.
  void choose_rows(std::uint64_t seed);
  // Takes all counts out again. Size and rows stay.
  void clear() noexcept;

  // Adding zero changes nothing.
  void add(std::uint64_t hash, std::uint64_t count = 1) noexcept;
  void add_batch(std::span<const std::uint64_t> hashes) noexcept;
  // counts[i] for hashes[i]; the spans have one size.
  void add_batch(std::span<const std::uint64_t> hashes,
                 std::span<const std::uint64_t> counts) noexcept;

  // Adds counts[i] for hashes[i], one after the other; sums[i] is the count of that key then.
  void add_and_count(std::span<const std::uint64_t> hashes, std::span<const std::uint64_t> counts,
                     std::span<std::uint64_t> sums) noexcept;
  // The same for one key; returns its count. Goes through its counters once, not twice.
  std::uint64_t add_and_count(std::uint64_t hash, std::uint64_t count) noexcept;

  // For those who count what is below a limit only, as multistage filters do: returns what the
  // count of the key would be, and adds `count` to its counters unless that reaches the limit.
  std::uint64_t add_below(std::uint64_t hash, std::uint64_t count, std::uint64_t limit) noexcept;
  // The same for a key that was located.
  std::uint64_t add_below_at(const std::uint64_t* places, std::uint64_t count,
                             std::uint64_t limit) noexcept;
  // Raises the count of the key to at least this.
  void raise_to(std::uint64_t hash, std::uint64_t count) noexcept;

  // Takes `count` away again. False, and nothing changed, when the key surely has less, and always
  // under conservative update. Removing what was never added makes counts of other keys too low.
  bool remove(std::uint64_t hash, std::uint64_t count = 1) noexcept;
  std::size_t remove_batch(std::span<const std::uint64_t> hashes) noexcept;

  // As if all that went into `other` had been added here. With conservative update the counts are
  // still never too low nor above those of a plain sketch, but mostly above those of one
  // conservative sketch of both streams. Throws errc::mismatch for another shape.
  void merge(const view& other);
  // Becomes the weighted sum of these, of which this sketch may be one. False, and nothing changed,
  // when a counter would leave its range or the total 64 bits. errc::mismatch for another shape.
  [[nodiscard]] bool assign_sum(std::span<const weighted_count_min> terms);

 private:
  // Raises the counters of one key, and of many, by one each when `counts` is null. add_totals then
  // raises the number of keys and the total by what these calls of add come to.
  void raise(std::uint64_t hash, std::uint64_t count) noexcept;
  void add_run(std::span<const std::uint64_t> hashes, const std::uint64_t* counts) noexcept;
  void add_totals(std::uint64_t calls, std::uint64_t count) noexcept;
  template <class Cells, class Rows>
  std::uint64_t add_below_in(const Cells& cells, const Rows& rows, std::uint64_t count,
                             std::uint64_t limit) noexcept;
};

}  // namespace bloomery
