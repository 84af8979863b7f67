// The layered filter: blocked filters one after the other, each opened when the one before it is
// full (Almeida, Baquero, Preguica and Hutchison 2007).
//
//     directory  [ how many | 0 ... ] [ blocks | capacity | keys | 0 ] for each layer, whole lines
//     layer 0    [ n keys ]
//     layer 1    [ n keys ]                         a key is in the filter when a layer has it;
//     layer 2    [ 2 n keys             ]           new keys go to the last layer
//
// It is for two cases in which the scalable filter (filter/scalable.hpp), which reads one line
// where this one reads a line of every layer, is not as good. The number of keys is known and only
// may be exceeded: by the reserved rule it then takes 10 to 11 bits a key at 1 %, not 20 to 40. And
// no call may take long: a new layer is empty memory, while a table that doubles is rewritten. By
// the steep rule, which starts small, ten million keys are in five layers.
//
// The usual design tightens the rate of every layer by a constant factor, which costs 39 bits a key
// in the thirteenth layer at 1 %. Here the rate is dealt out to as many layers as may come
// (src/core/growth.hpp).
//
// All layers have the same number of probes, so one hash serves all, and asking a layer reads one
// line of it. Adding a key that the filter already contains changes nothing, nor makes it grow.
//
// A layer before the last one does not change any more. So a copy shares those with the filter that
// it was made from, and has only the last one of its own.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/detail/filter/batch.hpp"
#include "bloomery/detail/filter/bit_filter.hpp"
#include "bloomery/detail/filter/owned.hpp"
#include "bloomery/filter/explanation.hpp"
#include "bloomery/hash/probe.hpp"

namespace bloomery {

class layered_view : public detail::batch_answers<layered_view> {
 public:
  using hash_type = std::uint64_t;
  using view = layered_view;
  static constexpr filter_kind kind = filter_kind::layered;
  static constexpr probe_scheme scheme = probe_scheme::multiply;

  // Throws errc::bad_argument unless the shape is one of this kind, errc::corrupt unless the words
  // hold the layers that they speak of.
  layered_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys);

  // Asks all layers, without a branch on the outcome: mispredicted ones cost more (15 against 9 ns
  // with one layer).
  [[nodiscard]] bool contains(std::uint64_t hash) const noexcept {
    bool found = false;
    for (const layer& l : layers_) found |= probes_.lanes().covered(hash, l.block_of(hash));
    return found;
  }

  // The forms of answer are those of detail/filter/batch.hpp.
  void contains_bits(std::span<const std::uint64_t> hashes,
                     std::span<std::uint64_t> bitmap) const noexcept;
  // The same for integers that are hashed on the way (hash/hash.hpp).
  void contains_bits(const mixed_integers& keys, std::span<std::uint64_t> bitmap) const noexcept;

  [[nodiscard]] const plan& planned() const noexcept { return plan_; }
  [[nodiscard]] const bloomery::shape& shape() const noexcept { return plan_.shape; }
  // Calls of add so far, repetitions included, and the keys that went into a layer.
  [[nodiscard]] std::uint64_t keys() const noexcept { return keys_; }
  [[nodiscard]] std::uint64_t keys_stored() const noexcept;
  [[nodiscard]] std::size_t layers() const noexcept { return layers_.size(); }
  // Keys that go in without growth, and the bytes that come with it; 0 when there will be none.
  [[nodiscard]] std::uint64_t room() const noexcept;
  [[nodiscard]] std::uint64_t growth_bytes() const noexcept;
  [[nodiscard]] std::vector<std::span<const std::uint64_t>> parts() const;
  [[nodiscard]] std::uint64_t bytes() const noexcept { return shape().bits / 8; }
  friend bool operator==(const layered_view& a, const layered_view& b) {
    return detail::same_parts(a, b);
  }
  [[nodiscard]] double fill() const noexcept;
  // The chance that a random hash is in one of the layers as they are now.
  [[nodiscard]] double fpr() const noexcept;
  // The same for the hashes that have the blocks of this one.
  [[nodiscard]] double fpr_at(std::uint64_t hash) const noexcept;
  // The blocked filter of the right size for all of the keys, which must come again.
  [[nodiscard]] plan compact_plan() const {
    return sizing::compact_plan(plan_, keys_stored(), fpr());
  }
  [[nodiscard]] explanation explain(std::uint64_t hash) const;
  [[nodiscard]] cell_array cells() const;

 protected:
  struct layer {
    const std::uint64_t* words = nullptr;
    std::uint64_t blocks = 0;
    std::uint64_t capacity = 0;
    std::uint64_t keys = 0;

    [[nodiscard]] const std::uint64_t* block_of(std::uint64_t hash) const noexcept {
      return words + detail::multiply_high(hash, blocks) * (bits_per_block / 64);
    }
    [[nodiscard]] std::span<const std::uint64_t> all() const noexcept {
      return {words, static_cast<std::size_t>(blocks * (bits_per_block / 64))};
    }
  };

  explicit layered_view(const plan& p) : plan_(p), probes_(p.shape) {}

  void read_layers(std::span<const std::uint64_t> words, std::size_t count);
  [[nodiscard]] static std::span<const layer> layers_of(const layered_view& f) noexcept {
    return f.layers_;
  }

  // The layer that comes when the last is full; one of no blocks when none may come.
  [[nodiscard]] layer next_layer() const noexcept;

  template <class Keys>
  void ask_layers(const Keys& keys, std::span<std::uint64_t> bitmap) const noexcept;

  plan plan_;
  blocked_probes probes_;
  std::uint64_t keys_ = 0;
  std::vector<layer> layers_;
  std::span<const std::uint64_t> directory_;  // what stands before the layers in an image
};

class layered_filter : public layered_view {
 public:
  using view = layered_view;
  static constexpr bool grows = true;

  // For o.keys keys in the first layer.
  explicit layered_filter(const options& o)
      : layered_filter(sizing::make_plan({.kind = kind, .keys = o.keys, .fpr = o.fpr})) {}
  template <std::same_as<plan> Plan>
  explicit layered_filter(const Plan& p) : layered_filter(made, p) {}
  explicit layered_filter(const view& other);

  layered_filter(const layered_filter& other);
  layered_filter(layered_filter&& other) noexcept = default;
  layered_filter& operator=(layered_filter other) noexcept {
    view::operator=(std::move(static_cast<view&>(other)));
    std::swap(arrays_, other.arrays_);
    std::swap(own_directory_, other.own_directory_);
    return *this;
  }
  ~layered_filter() = default;

  // True when the key was new. Throws errc::no_memory, nothing changed, if no layer can be had.
  bool add(std::uint64_t hash) {
    const bool is_new = add_new(hash);
    if (!is_new) ++keys_;
    return is_new;
  }
  // The same, but a known key is not counted in keys() either.
  bool add_new(std::uint64_t hash);
  void add_batch(std::span<const std::uint64_t> hashes);

  // Adds what the other has: its layers are joined with equally large ones that have room, and the
  // others become layers here; the two rates add up. Throws errc::mismatch unless the probes are as
  // many, and errc::full, with nothing changed, when there would be more than 32 layers.
  void merge(const view& other);

  // Takes all keys out again: an empty first layer is left. Throws errc::no_memory, nothing
  // changed, if there are more and it cannot be had: copies may share the one that was full.
  void clear();

 private:
  enum made_tag : std::uint8_t { made };
  layered_filter(made_tag, const plan& p);

  void append_layer(std::shared_ptr<bit_array> array, std::uint64_t capacity);
  // Puts an array with the same words, or more of them set, in the place of a layer's.
  void replace_array(std::size_t i, std::shared_ptr<bit_array> by) noexcept;
  // The layer that one of another filter can be joined with, or the number of layers.
  [[nodiscard]] std::size_t place_for(const layer& other) const noexcept;
  void write_directory();
  // How many more keys the last layer takes; appends one that takes some if it is full.
  std::uint64_t make_room();
  void count_stored(std::uint64_t keys) noexcept;
  // Adds the first few that are in no layer to the last one. Returns how many keys are done with.
  std::size_t add_piece(std::span<const std::uint64_t> hashes);

  std::vector<std::shared_ptr<bit_array>> arrays_;  // the last one is nobody else's
  std::vector<std::uint64_t> own_directory_;
};

}  // namespace bloomery
