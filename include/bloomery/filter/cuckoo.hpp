// The cuckoo filter: fingerprints in buckets (Fan, Andersen, Kaminsky and Mitzenmacher 2014).
// Removal in 10.4 bits a key at 1 % and 13.5 at 0.1 %, where a counting filter takes 44 and 77.
//
// A key is a fingerprint of f bits in one of two buckets of b cells (detail/bits/cuckoo_table.hpp).
// The second bucket follows from the first and the fingerprint alone, so a fingerprint can be moved
// to its other bucket without knowing its key.
//
// A key goes to the less loaded of its buckets. When both are full, insertion searches for the
// nearest free cell, breadth-first, and moves fingerprints only then: a failure leaves the table as
// it was, and no key is ever homeless. Buckets of four fill to 97 % with keys that differ.
//
// Growth by chaining: when no layer takes a key, another is added. All layers have B0 2^t buckets,
// and that makes removal safe. Keys that share fingerprint and buckets in one layer share them in
// every layer with the same t or a smaller one, where bucket numbers are prefixes of those here.
// remove takes the copy from the matching layer with the largest t; if that was another key's, this
// other key finds the copy that stays. With unrelated layers it would be lost.
//
// The rate is planned for one layer; each further one adds about as much; fpr() says what it is.
//
// A key may be added again: each time is one more fingerprint, up to 2b in a layer, then in a new
// one. Remove only what was added: for a share fpr() of other keys a fingerprint matches, and the
// key that it belongs to is lost; the rest are refused.
//
// Threads: any number may ask while nobody changes the filter.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/detail/bits/cuckoo_table.hpp"
#include "bloomery/detail/core/cuckoo_geometry.hpp"
#include "bloomery/detail/filter/batch.hpp"
#include "bloomery/detail/filter/owned.hpp"

namespace bloomery {

class cuckoo_view : public detail::batch_answers<cuckoo_view> {
 public:
  using hash_type = std::uint64_t;
  static constexpr filter_kind kind = filter_kind::cuckoo;
  static constexpr probe_scheme scheme = probe_scheme::multiply;

  // Throws errc::bad_argument unless the plan's shape is one of this kind and `words` holds its
  // bits, and errc::corrupt when the preamble contradicts them or itself.
  cuckoo_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys);

  [[nodiscard]] bool contains(std::uint64_t hash) const noexcept {
    if (is_plain_) [[likely]] {
      return layers_.front().plain_contains(hash);
    }
    return any_contains(hash);
  }
  // Matching fingerprints: never fewer than the times that the key was added and not removed.
  [[nodiscard]] std::uint64_t count(std::uint64_t hash) const noexcept {
    std::uint64_t found = 0;
    for (const cuckoo_table& layer : layers_) found += layer.count(hash);
    return found;
  }

  // Batch calls; detail/filter/batch.hpp has the other forms of answer.
  void contains_bits(std::span<const std::uint64_t> hashes,
                     std::span<std::uint64_t> bitmap) const noexcept;
  void count_batch(std::span<const std::uint64_t> hashes,
                   std::span<std::uint64_t> counts) const noexcept;

  // The bits grow with the layers.
  [[nodiscard]] const bloomery::shape& shape() const noexcept { return plan_.shape; }
  [[nodiscard]] const plan& planned() const noexcept { return plan_; }
  // Calls of add that returned true, less those of remove that did.
  [[nodiscard]] std::uint64_t keys() const noexcept { return keys_; }
  // The payload: the preamble, then each layer.
  [[nodiscard]] std::vector<std::span<const std::uint64_t>> parts() const;
  [[nodiscard]] std::uint64_t bytes() const noexcept { return shape().bits / 8; }
  friend bool operator==(const cuckoo_view& a, const cuckoo_view& b) {
    return detail::same_parts(a, b);
  }

  [[nodiscard]] std::uint32_t layers() const noexcept {
    return static_cast<std::uint32_t>(layers_.size());
  }
  [[nodiscard]] std::uint32_t bucket_cells() const noexcept { return layers_.front().cells(); }
  [[nodiscard]] std::uint64_t slots() const noexcept;
  // The bytes of the layer that is added when the others take no more; 0 when none may be added.
  [[nodiscard]] std::uint64_t growth_bytes() const noexcept;
  [[nodiscard]] std::uint32_t max_layers() const noexcept;
  [[nodiscard]] std::uint32_t expansion() const noexcept;
  // The share of the cells in use, and the rate that follows from the used cells of each layer.
  [[nodiscard]] double fill() const noexcept;
  [[nodiscard]] double fpr() const noexcept;
  [[nodiscard]] double keys_estimated() const noexcept { return static_cast<double>(keys_); }

  // Throws errc::corrupt unless as many cells are in use as the preamble says: what grows or is
  // written again relies on it. Reads all of the filter; owners of a copy have done it.
  void check() const;
  [[nodiscard]] explanation explain(std::uint64_t hash) const;
  [[nodiscard]] cell_array cells() const;

 protected:
  cuckoo_view(const plan& p, std::uint64_t keys) : plan_(p), keys_(keys) {}
  [[nodiscard]] std::uint64_t used(std::size_t layer) const noexcept {
    return detail::little_endian(preamble_[cuckoo_geometry::used_word(layer)]);
  }
  [[nodiscard]] std::optional<std::uint32_t> next_scale() const noexcept;
  [[nodiscard]] bool any_contains(std::uint64_t hash) const noexcept;
  // To be called when layers came or went.
  void layers_changed() noexcept { is_plain_ = layers_.size() == 1 && layers_[0].is_plain(); }

  plan plan_;
  std::uint64_t keys_ = 0;
  std::span<const std::uint64_t> preamble_;
  std::vector<cuckoo_table> layers_;
  bool is_plain_ = false;  // one layer, and that is plain
};

class cuckoo_filter : public cuckoo_view {
 public:
  using view = cuckoo_view;

  explicit cuckoo_filter(const options& o);
  // One empty layer that fills the plan's bits, or whole lines of them. A template, so that
  // cuckoo_filter({.keys = ...}) can only mean options.
  template <std::same_as<plan> Plan>
  explicit cuckoo_filter(const Plan& p) : cuckoo_filter(p, one_layer{}) {}
  explicit cuckoo_filter(const view& other);

  cuckoo_filter(const cuckoo_filter& other);
  cuckoo_filter(cuckoo_filter&& other) noexcept = default;
  cuckoo_filter& operator=(cuckoo_filter other) noexcept;
  ~cuckoo_filter() = default;

  // False, and nothing changed, when no layer takes the key and there may be no more of them.
  // Throws errc::no_memory, and nothing changed, when a new layer cannot be had.
  bool add(std::uint64_t hash) { return put_into_free_cell(hash) || add_by_moving(hash); }
  // How many were added.
  std::size_t add_batch(std::span<const std::uint64_t> hashes);
  // Like add, but adds no layer: for whoever must ask before the filter grows. A batch ends at the
  // first key that finds no place; returns how many came before it.
  bool try_add(std::uint64_t hash) noexcept {
    return put_into_free_cell(hash) || try_add_by_moving(hash);
  }
  std::size_t try_add_batch(std::span<const std::uint64_t> hashes) noexcept;
  // False, and nothing changed, when the key is surely not there.
  bool remove(std::uint64_t hash) noexcept {
    if (!is_plain_) [[unlikely]] {
      return remove_from_largest(hash);
    }
    const cuckoo_table& layer = layers_.front();
    const cuckoo_table::place p = layer.plain_place_of(hash);
    const cuckoo_table::spot s = layer.loaded_in_either(p);
    if (s.bit == cuckoo_table::nowhere) return false;
    layer.toggle_loaded(words_of(0), s, p.fingerprint);
    count_removed(0);
    return true;
  }
  std::size_t remove_batch(std::span<const std::uint64_t> hashes) noexcept;

  // Growth, part of the payload: at most 1 to 32 layers (32); a new one has 1, 2, 4, ... 32768
  // times (2) the buckets of the last.
  void set_max_layers(std::uint32_t layers);
  void set_expansion(std::uint32_t times);
  // The most fingerprints that may move for a key; unlimited at first. Not in the payload.
  void set_longest_path(std::uint32_t moves) noexcept { longest_path_ = moves; }

  // Moves fingerprints of newer layers into free cells of older ones and drops empty layers. Takes
  // as long as reading the filter. Throws errc::no_memory, with every key in its place.
  void compact();

  // Takes all keys out again: the first layer is left, empty. The rules of growth stay. Throws
  // errc::no_memory, with nothing changed.
  void clear();

 private:
  struct one_layer {};
  cuckoo_filter(const plan& p, one_layer);

  [[nodiscard]] std::uint64_t* words_of(std::size_t layer) noexcept {
    return arrays_[layer + 1].words().data();
  }
  void put(std::size_t layer, std::uint64_t bucket, std::uint32_t index,
           std::uint64_t fingerprint) noexcept;
  void set_used(std::size_t layer, std::uint64_t used) noexcept {
    arrays_[0].words()[cuckoo_geometry::used_word(layer)] = detail::little_endian(used);
  }
  void count_removed(std::size_t layer) noexcept {
    if (used(layer) != 0) set_used(layer, used(layer) - 1);  // a file may claim 0 used cells
    if (keys_ != 0) --keys_;
  }
  // What most keys need; false for all others, and for all where there are more layers. Inline, and
  // without the calls that the others take: see cuckoo_table::is_plain.
  bool put_into_free_cell(std::uint64_t hash) noexcept {
    if (!is_plain_) [[unlikely]] {
      return false;
    }
    const cuckoo_table& layer = layers_.front();
    const cuckoo_table::place p = layer.plain_place_of(hash);
    const cuckoo_table::spot s = layer.loaded_empty(p);
    if (s.bit == cuckoo_table::nowhere) [[unlikely]] {
      return false;
    }
    layer.toggle_loaded(words_of(0), s, p.fingerprint);
    set_used(0, used(0) + 1);
    ++keys_;
    return true;
  }
  bool add_by_moving(std::uint64_t hash);
  bool try_add_by_moving(std::uint64_t hash) noexcept;
  bool try_add(std::uint64_t hash, const cuckoo_table::place& newest) noexcept;
  bool remove_from_largest(std::uint64_t hash) noexcept;
  bool remove_at(std::size_t layer, const cuckoo_table::spot& s,
                 std::uint64_t fingerprint) noexcept;
  bool put_in_free_cell(std::size_t layer, const cuckoo_table::place& p) noexcept {
    const cuckoo_table::spot s = layers_[layer].find_empty(p);
    if (s.bit == cuckoo_table::nowhere) return false;
    layers_[layer].toggle(words_of(layer), s, p.fingerprint);
    return true;
  }
  bool put_by_moving(std::size_t layer, const cuckoo_table::place& p) noexcept;
  bool grow();
  void append_layer(std::uint64_t base, std::uint32_t scale);
  std::uint64_t move_into_older(std::size_t layer) noexcept;
  bool put_into_older(std::size_t layer, std::uint64_t bucket, std::uint64_t fingerprint) noexcept;
  void drop_layer(std::size_t layer);
  void update_size() noexcept;
  void rebind();

  std::vector<bit_array> arrays_;  // the preamble, then the layers
  std::uint32_t longest_path_ = UINT32_MAX;
};

}  // namespace bloomery
