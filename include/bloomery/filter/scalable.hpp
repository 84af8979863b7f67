// The scalable filter: grows with its keys and keeps its rate, for users who cannot say how many
// keys will come (Almeida, Baquero, Preguica and Hutchison 2007).
//
// There are two ways to grow. At rates about 1 %, the default, the filter is one table of
// fingerprints whose lines double when they are full (detail/bits/split_lines.hpp): a lookup reads
// one line, and the table takes 20 to 40 bits a key, 2 to 4 times the filter that knew its keys. At
// other rates, and where a factor is asked for, it is made of layers:
//
//     layer 0   [ n keys ]
//     layer 1   [ 1.9 n keys ]                   a key is in the filter when a layer has it;
//     layer 2   [ 5.4 n keys         ]           new keys go to the last layer
//     layer 3   [ 15 n keys                                      ]
//
// When the last layer is full, the next one makes the whole 2.9 times as large (at 0.1 %). The
// usual design tightens the rate of every layer by a constant factor, which costs 39 bits a key in
// the thirteenth layer at 1 %. Here most of the rate is dealt out to the first seven layers, and
// the rest to 25 more that together stay below what was asked for: 21.7 bits a key at 0.1 % and ten
// million keys. That is 1.4 times the filter that knew its keys when the last layer is full, and at
// most 4 times at the moment when it is new.
//
// All layers are blocked and have the same number of probes. So one hash serves all of them, and
// asking a layer is reading one line of it.
//
// Adding a key that the filter already contains changes nothing, so repetitions do not make it
// grow.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/detail/bits/split_lines.hpp"
#include "bloomery/detail/bits/split_table.hpp"
#include "bloomery/detail/filter/batch.hpp"
#include "bloomery/detail/filter/bit_filter.hpp"
#include "bloomery/hash/probe.hpp"

namespace bloomery {

class scalable_view : public detail::batch_answers<scalable_view> {
 public:
  using hash_type = std::uint64_t;
  using view = scalable_view;
  static constexpr filter_kind kind = filter_kind::scalable;
  static constexpr probe_scheme scheme = probe_scheme::multiply;

  // Throws errc::bad_argument unless the shape is one of this kind, errc::corrupt unless the words
  // hold the layers that they speak of.
  scalable_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys);

  // Asks all layers, without a branch on the outcome: mispredicted ones cost more (15 against 9 ns
  // with one layer).
  [[nodiscard]] bool contains(std::uint64_t hash) const noexcept {
    if (is_split()) return split_.contains(hash);
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
  // One where the lines split.
  [[nodiscard]] std::size_t layers() const noexcept { return layers_.size(); }
  [[nodiscard]] bool is_split() const noexcept { return split_.lines != 0; }
  [[nodiscard]] std::uint64_t doublings() const noexcept { return doublings_; }
  // Keys that still go in without growth, and the bytes that come with it; 0 bytes when there will
  // be none.
  [[nodiscard]] std::uint64_t room() const noexcept;
  [[nodiscard]] std::uint64_t next_layer_bytes() const noexcept;
  [[nodiscard]] std::vector<std::span<const std::uint64_t>> parts() const;
  // The blocked filter of the right size for all of the keys. Keys cannot be read out of a filter:
  // whoever can replay them makes a filter of this plan, about half as large and one line a key.
  [[nodiscard]] plan compact_plan() const;
  // The share of set bits, or of cells in use.
  [[nodiscard]] double fill() const noexcept;
  // The chance that a random hash is in one of the layers as they are now.
  [[nodiscard]] double fpr() const noexcept;

  // What it looks at for a key, and its cells; filter/explanation.hpp.
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

  explicit scalable_view(const plan& p) : plan_(p), probes_(p.shape) {}

  void read_layers(std::span<const std::uint64_t> words, std::size_t count);
  void read_split(std::span<const std::uint64_t> words);

  // The layer that comes when the last is full; one of no blocks when none may come.
  [[nodiscard]] layer next_layer() const noexcept;

  template <class Keys>
  void ask_layers(const Keys& keys, std::span<std::uint64_t> bitmap) const noexcept;

  plan plan_;
  blocked_probes probes_;
  std::uint64_t keys_ = 0;
  std::vector<layer> layers_;
  detail::split_lines split_;  // and the one layer is its lines
  std::uint64_t doublings_ = 0;
  std::span<const std::uint64_t> directory_;  // what stands before the layers in an image
};

class scalable_filter : public scalable_view {
 public:
  using view = scalable_view;
  static constexpr bool grows = true;

  // For o.keys keys in the first layer.
  explicit scalable_filter(const options& o)
      : scalable_filter(sizing::make_plan({.kind = kind, .keys = o.keys, .fpr = o.fpr})) {}
  template <std::same_as<plan> Plan>
  explicit scalable_filter(const Plan& p) : scalable_filter(made, p) {}
  explicit scalable_filter(const view& other);

  scalable_filter(const scalable_filter& other)
      : scalable_filter(static_cast<const view&>(other)) {}
  scalable_filter(scalable_filter&& other) noexcept = default;
  scalable_filter& operator=(scalable_filter other) noexcept {
    view::operator=(std::move(static_cast<view&>(other)));
    std::swap(arrays_, other.arrays_);
    std::swap(table_, other.table_);
    std::swap(own_directory_, other.own_directory_);
    return *this;
  }
  ~scalable_filter() = default;

  // True when the key was new. Throws errc::no_memory, with nothing changed, when a layer is needed
  // and there is no memory for it.
  bool add(std::uint64_t hash);
  void add_batch(std::span<const std::uint64_t> hashes);

  // Adds what the other has: its layers are joined with those that are as large and have room for
  // their keys, and the others become layers here. So nothing is overfilled, and the rates of the
  // two add up. Throws errc::mismatch unless the probes are as many, and errc::full, with nothing
  // changed, when there would be more than 32 layers. Two tables whose lines split become one,
  // which has as many lines as it needs; one must have been made with 2^i times the lines of the
  // other, as happens when both were planned alike.
  void merge(const view& other);

 private:
  enum made_tag : std::uint8_t { made };
  scalable_filter(made_tag, const plan& p);

  void append_layer(std::uint64_t blocks, std::uint64_t capacity);
  // The layer that one of another filter can be joined with; the number of layers when there is
  // none.
  [[nodiscard]] std::size_t place_for(const layer& other) const noexcept;
  void write_directory();
  // How many more keys the last layer takes; appends one that takes some if it is full.
  std::uint64_t make_room();
  void count_stored(std::uint64_t keys) noexcept;
  // Of those that are in no layer, adds the first few to the last one. Returns how many keys are
  // done with.
  std::size_t add_piece(std::span<const std::uint64_t> hashes);
  void merge_layers(const view& other);
  void merge_split(const view& other);

  // Of the table: adopts one, with as many stored keys.
  void take_table(detail::split_table&& table, std::uint64_t keys);
  [[nodiscard]] std::uint64_t table_room() const noexcept;
  std::uint64_t add_split(std::span<const std::uint64_t> hashes);  // how many were new

  std::vector<bit_array> arrays_;
  detail::split_table table_;
  std::vector<std::uint64_t> own_directory_;
};

}  // namespace bloomery
