// The windowed filter: "was this key here in the last T?"
//
// It is a ring of g + 1 generations of keys, each in a blocked filter of its own. New keys go to
// the current one until it has lasted for T/g, or has its share of the planned keys, n/g; then the
// oldest is wiped and becomes the current one. A generation is asked until T after a key was last
// added to it. So a key is remembered for at least T after it was last added, and for less than
// T (1 + 1/g) or so:
//
//     T = 4 generations
//     |  e-4  |  e-3  |  e-2  |  e-1  |   e   |    the next generation takes the place of e-4,
//                                         ^         whose keys are all older than T by then
//
// The rate holds however fast the keys come. When more than planned come, generations fill up
// before their time and the ring turns faster: the filter forgets sooner, after n/g keys for each
// T/g that is missing, and `covered` tells of how long it still knows all keys. (Letting a
// generation take more keys would keep T and break the rate: at ten times the keys planned for 1 %,
// nearly every answer would be yes. Growing would let anybody who sends keys take the memory.) Keys
// that a generation has already do not fill it.
//
// A key has one block, and in it the same positions in all generations. Where w generations share a
// line, each has 32/w bits of every lane of it, side by side, its plane:
//
//     block of one line, g = 4, w = 5          a lane, 32 bits
//     +--------+--------+-- ... --+---------+  +---+-------+-------+-------+-------+-------+
//     | lane 0 | lane 1 |         | lane 15 |  | 0 | gen 4 | gen 3 | gen 2 | gen 1 | gen 0 |
//     +--------+--------+-- ... --+---------+  +---+-------+-------+-------+-------+-------+
//
// So a lookup reads one line, and asks all generations at once: the lanes of the key, each shifted
// down by the key's place in a plane, ANDed. More generations, or rates below 0.3 % or so, have
// several such lines side by side, because small planes take more bits a key (docs/math.md).
//
// The clock is an argument: `advance(now)`, in any unit, the same as the window's. Without a window
// of time generations end by their keys alone, and the filter remembers the last n of them.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bloomery/core/shape.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/detail/core/window_geometry.hpp"
#include "bloomery/detail/filter/batch.hpp"
#include "bloomery/detail/filter/owned.hpp"
#include "bloomery/hash/probe.hpp"

namespace bloomery {

namespace kernel {
struct key_run;
}

class windowed_view : public detail::batch_answers<windowed_view>, public detail::word_view {
 public:
  using hash_type = std::uint64_t;
  using view = windowed_view;
  static constexpr filter_kind kind = filter_kind::windowed;
  static constexpr probe_scheme scheme = probe_scheme::multiply;

  // Throws errc::bad_argument for a shape of another kind, errc::corrupt for an impossible clock.
  windowed_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys);

  // As of the last advance.
  [[gnu::always_inline]] [[nodiscard]] bool contains(std::uint64_t hash) const noexcept {
    const std::uint64_t* const block = words_ + block_of(hash);
    bool found = probes_.lanes().covered_in(hash, block, alive_in(0));
    for (std::size_t line = 1; line < geometry_.lines; ++line) {
      found |= probes_.lanes().covered_in(hash, block + line * line_words, alive_in(line));
    }
    return found;
  }
  // Batch calls, of hashes or of integers to hash; detail/filter/batch.hpp has more forms.
  void contains_bits(std::span<const std::uint64_t> hashes,
                     std::span<std::uint64_t> bitmap) const noexcept;
  void contains_bits(const mixed_integers& keys, std::span<std::uint64_t> bitmap) const noexcept;

  // So that a mapped filter answers as of now. Never goes back, nor minds time if it has no window.
  void advance(std::uint64_t now) noexcept;

  // The calls of add whose keys are still remembered.
  [[nodiscard]] std::uint64_t keys() const noexcept;
  // In units of the clock, or the number of keys that are remembered at least.
  [[nodiscard]] std::uint64_t window() const noexcept { return clock_.window; }
  [[nodiscard]] bool by_time() const noexcept { return clock_.by_time; }
  [[nodiscard]] std::uint64_t now() const noexcept { return clock_.now; }
  // How far back all keys are remembered: the window, or less when keys came faster than planned.
  [[nodiscard]] std::uint64_t covered() const noexcept;
  [[nodiscard]] std::uint32_t generations() const noexcept { return shape().variant; }
  // The share of set bits; the chance that a random hash is in a generation of the window.
  [[nodiscard]] double fill() const noexcept;
  [[nodiscard]] double fpr() const noexcept;
  // The same for the hashes that have the block of this one.
  [[nodiscard]] double fpr_at(std::uint64_t hash) const noexcept;

  [[nodiscard]] explanation explain(std::uint64_t hash) const;
  [[nodiscard]] cell_array cells() const;

 protected:
  struct clock {
    std::uint64_t window = 1;
    std::uint64_t now = 0;
    bool by_time = false;
  };
  // What the image says of a slot, which holds a generation: calls of add, how many of them brought
  // a key that it did not have, and the time of the last.
  enum class about : std::uint8_t { keys, stored, last };
  static constexpr std::size_t line_words = bits_per_block / 64;
  static constexpr std::size_t slot_words = 4;

  [[nodiscard]] std::uint32_t slots() const noexcept { return geometry_.slots; }
  static std::size_t place_of(std::size_t slot, about what) noexcept {
    return line_words + slot * slot_words + static_cast<std::size_t>(what);
  }
  [[nodiscard]] std::uint64_t slot_number(std::size_t slot, about what) const noexcept {
    return detail::little_endian(words_[place_of(slot, what)]);
  }
  [[nodiscard]] std::size_t head_words() const noexcept {
    return geometry_.head_lines * line_words;
  }
  [[nodiscard]] std::size_t block_words() const noexcept { return geometry_.lines * line_words; }
  // Where the block of a key begins.
  [[nodiscard]] std::size_t block_of(std::uint64_t hash) const noexcept {
    return head_words() +
           static_cast<std::size_t>(detail::multiply_high(hash, blocks_)) * block_words();
  }
  // Where a slot is: in which line of each block, and in which plane of its lanes.
  struct slot_place {
    std::uint32_t line = 0;
    detail::lane_planes plane;
  };
  [[nodiscard]] slot_place place_in_block(std::size_t slot) const noexcept {
    const auto number = static_cast<std::uint32_t>(slot);
    const std::uint32_t line = geometry_.line_of(number);
    const std::uint32_t in_line = number - line * geometry_.sharing;
    return {line,
            {.positions = geometry_.positions,
             .first = std::uint32_t{1} << in_line * geometry_.positions}};
  }
  [[nodiscard]] detail::lane_planes alive_in(std::size_t line) const noexcept {
    return {.positions = geometry_.positions, .first = alive_first_[line]};
  }
  // The same line of all blocks begins there, block_words() apart.
  [[nodiscard]] std::span<const std::uint64_t> lines_from(std::size_t line) const noexcept {
    return words().subspan(head_words() + line * line_words);
  }
  [[nodiscard]] bool is_alive(std::size_t slot) const noexcept {
    return ((alive_ >> slot) & 1U) != 0;
  }
  // Those with a bit in `alive` are asked from now on.
  void ask(std::uint64_t alive) noexcept;
  // The slots that hold keys of the window, now.
  [[nodiscard]] std::uint64_t alive_now() const noexcept;

  blocked_probes probes_;
  detail::window_geometry geometry_;
  std::uint64_t blocks_;
  clock clock_;
  std::uint64_t alive_ = 0;  // a bit for each slot that holds keys of the window
  std::array<std::uint32_t, 64> alive_first_{};  // the first bits of their planes in each line

 private:
  template <class Keys>
  void ask_lines(const Keys& keys, std::span<std::uint64_t> bitmap) const noexcept;
};

class windowed_filter : public detail::owned<windowed_view> {
 public:
  // Remembers the last o.keys keys.
  explicit windowed_filter(const options& o) : windowed_filter(plan_for(o)) {}
  // Remembers the keys of the last `window` units of time, while no g-th part of it brings more
  // than its share of o.keys.
  windowed_filter(const options& o, std::uint64_t window) : windowed_filter(plan_for(o)) {
    set_window(window);
  }
  template <std::same_as<plan> Plan>
  explicit windowed_filter(const Plan& p) : owned(started(p)) {}
  explicit windowed_filter(const view& other);

  // From now on the clock is the caller's. Throws errc::bad_argument when the filter was used
  // already, and unless the window has as many units as generations at least.
  void set_window(std::uint64_t window);

  void add(std::uint64_t hash) noexcept;
  void add_batch(std::span<const std::uint64_t> hashes) noexcept;
  void add_batch(const mixed_integers& keys) noexcept;
  // Moves the clock and wipes generations that left the window: a pass over the whole array.
  void advance(std::uint64_t now) noexcept;
  // Forgets all keys. The window stays, and the clock goes on.
  void clear() noexcept;

 private:
  static plan plan_for(const options& o) {
    return sizing::make_plan({.kind = kind, .keys = o.keys, .fpr = o.fpr});
  }
  static detail::payload started(const plan& p);

  void put(std::size_t at, std::uint64_t value) noexcept {
    mutable_words()[at] = detail::little_endian(value);
  }
  // Begins a new generation where it is time for one. Returns the slot of the current one.
  std::size_t make_room() noexcept;
  void add_run(kernel::key_run run) noexcept;
  void count_added(std::size_t slot, std::uint64_t keys, std::uint64_t stored) noexcept;
  // A bit for each slot; `wipe` leaves those alone that have no keys.
  void wipe(std::uint64_t which) noexcept;
  void clear_slots(std::uint64_t which) noexcept;
  void wipe_dead() noexcept;
};

}  // namespace bloomery
