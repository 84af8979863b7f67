// The windowed filter: "was this key here in the last T?"
//
// Time is cut into g generations a window, and the filter is a ring of g + 1 blocked filters. New
// keys go to the current one; when the time moves on, the oldest is wiped and becomes the current
// one. So a key is remembered for at least T after it was last added, and for at most T (1 + 1/g):
//
//     T = 4 generations
//     |  e-4  |  e-3  |  e-2  |  e-1  |   e   |    a key added in generation e is wiped
//                                         ^         when e + 5 begins
//
// This holds however many keys come: more than planned raise the rate but push no others out.
//
// Blocks of the generations lie side by side, so a key's lines are neighbours in memory:
//
//     block 0: | gen 0 | gen 1 | ... | gen g |   block 1: | gen 0 | ...
//
// The clock is an argument: `advance(now)`, in any unit, the same as the window's. Without a window
// of time, the clock is the number of calls of add, and the filter remembers the last T keys.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bloomery/core/shape.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/detail/filter/batch.hpp"
#include "bloomery/detail/filter/owned.hpp"
#include "bloomery/hash/probe.hpp"

namespace bloomery {

class windowed_view : public detail::batch_answers<windowed_view>, public detail::word_view {
 public:
  using hash_type = std::uint64_t;
  using view = windowed_view;
  static constexpr filter_kind kind = filter_kind::windowed;
  static constexpr probe_scheme scheme = probe_scheme::multiply;

  // Throws errc::bad_argument for a shape of another kind, errc::corrupt for an impossible clock.
  windowed_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys);

  // As of the last advance.
  [[nodiscard]] bool contains(std::uint64_t hash) const noexcept {
    return found_in(hash, line_of(hash));
  }
  // The forms of answer are those of detail/filter/batch.hpp.
  void contains_bits(std::span<const std::uint64_t> hashes,
                     std::span<std::uint64_t> bitmap) const noexcept;

  // So that a mapped filter answers as of now. Never goes back, nor moves a clock that counts keys.
  void advance(std::uint64_t now) noexcept;

  // The calls of add whose keys are still remembered.
  [[nodiscard]] std::uint64_t keys() const noexcept;
  [[nodiscard]] std::uint64_t window() const noexcept { return clock_.window; }
  [[nodiscard]] bool by_time() const noexcept { return clock_.by_time; }
  [[nodiscard]] std::uint64_t now() const noexcept { return clock_.now; }
  [[nodiscard]] std::uint32_t generations() const noexcept { return shape().variant; }
  // The share of set bits; the chance that a random hash is in a generation of the window.
  [[nodiscard]] double fill() const noexcept;
  [[nodiscard]] double fpr() const noexcept;

  [[nodiscard]] explanation explain(std::uint64_t hash) const;
  [[nodiscard]] cell_array cells() const;

 protected:
  struct clock {
    std::uint64_t window = 1;
    std::uint64_t now = 0;
    bool by_time = false;
  };
  static constexpr std::size_t line_words = bits_per_block / 64;

  [[nodiscard]] std::uint32_t slots() const noexcept { return shape().variant + 1; }
  // Generations are numbered from the beginning of time, in units of window / g.
  [[nodiscard]] std::uint64_t generation_of(std::uint64_t time) const noexcept {
    return static_cast<std::uint64_t>(static_cast<detail::uint128>(time) * shape().variant /
                                      clock_.window);
  }
  [[nodiscard]] std::size_t slot_of(std::uint64_t generation) const noexcept {
    return static_cast<std::size_t>(generation % (std::uint64_t{shape().variant} + 1));
  }
  [[nodiscard]] std::uint64_t slot_keys(std::size_t slot) const noexcept {
    return detail::little_endian(words_[line_words + slot]);
  }
  [[nodiscard]] std::size_t head_words() const noexcept;
  // Where the lines of a key begin, one for each slot.
  [[nodiscard]] std::size_t line_of(std::uint64_t hash) const noexcept {
    return head_words() +
           static_cast<std::size_t>(detail::multiply_high(hash, blocks_)) * slots() * line_words;
  }
  [[nodiscard]] bool found_in(std::uint64_t hash, std::size_t line) const noexcept {
    bool found = false;
    for (std::uint64_t rest = alive_; rest != 0; rest &= rest - 1) {
      const auto slot = static_cast<std::size_t>(std::countr_zero(rest));
      found |= probes_.lanes().covered(hash, words_ + line + slot * line_words);
    }
    return found;
  }
  [[nodiscard]] std::span<const std::uint64_t> lines_of_slot(std::size_t slot) const noexcept {
    return words().subspan(head_words() + slot * line_words);
  }
  // The slots that hold keys of the window at time `now`.
  [[nodiscard]] std::uint64_t alive_at(std::uint64_t now) const noexcept;

  blocked_probes probes_;
  std::uint64_t blocks_;  // of a generation
  clock clock_;
  std::uint64_t alive_ = 0;  // a bit for each slot that holds keys of the window
};

class windowed_filter : public detail::owned<windowed_view> {
 public:
  // Remembers the last o.keys keys.
  explicit windowed_filter(const options& o) : windowed_filter(plan_for(o)) {}
  // Remembers the keys of the last `window` units of time; o.keys of them are expected.
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
  // Moves the clock and wipes generations that left the window, in the time of writing those.
  void advance(std::uint64_t now) noexcept;

 private:
  static plan plan_for(const options& o) {
    return sizing::make_plan({.kind = kind, .keys = o.keys, .fpr = o.fpr});
  }
  static detail::payload started(const plan& p);

  void move_clock(std::uint64_t now) noexcept;
  void wipe(std::size_t slot) noexcept;
};

}  // namespace bloomery
