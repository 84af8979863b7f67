#include "bloomery/filter/windowed.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "block_rate.hpp"
#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/scratch.hpp"
#include "bloomery/filter/explanation.hpp"
#include "kernel/blocked/blocked.hpp"
#include "kernel/blocked/layers.hpp"

namespace bloomery {

namespace {

// The first line of an image is the clock; then comes a word for each slot, the keys added to it.
namespace at {
constexpr std::size_t window = 0;
constexpr std::size_t by_time = 1;
constexpr std::size_t now = 2;
constexpr std::size_t reserved = 3;
}  // namespace at

constexpr std::size_t line = bits_per_block / 64;

std::size_t head_of(std::uint32_t generations) {
  return line + (generations + 1 + line - 1) / line * line;
}

[[noreturn]] void throw_corrupt(const std::string& what) {
  detail::fail(errc::corrupt, "the filter is damaged: " + what);
}

// The blocks of a generation; throws unless the shape has whole ones.
std::uint64_t checked_blocks(const shape& s) {
  detail::check_kind(s, filter_kind::windowed);
  const std::uint64_t lines = s.bits / bits_per_block;
  const std::uint64_t head = head_of(s.variant) / line;
  if (lines <= head || (lines - head) % (s.variant + 1) != 0) {
    detail::throw_bad_argument("the number of bits", s.bits,
                               "that of a whole number of blocks in each generation");
  }
  return (lines - head) / (s.variant + 1);
}

}  // namespace

windowed_view::windowed_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t)
    : word_view(p, words.data(), 0), probes_(p.shape), blocks_(checked_blocks(p.shape)) {
  if (words.size() != p.shape.bits / 64) throw_corrupt("it is cut off");
  const auto number = [&](std::size_t i) { return detail::little_endian(words[i]); };
  clock_ = {
      .window = number(at::window), .now = number(at::now), .by_time = number(at::by_time) != 0};
  const auto zero = [](std::uint64_t word) { return word == 0; };
  const bool sound = number(at::by_time) <= 1 && clock_.window >= p.shape.variant &&
                     std::all_of(&words[at::reserved], &words[line], zero) &&
                     std::all_of(words.data() + line + slots(), words.data() + head_words(), zero);
  if (!sound) throw_corrupt("its clock cannot be");
  alive_ = alive_at(clock_.now);
}

std::size_t windowed_view::head_words() const noexcept { return head_of(shape().variant); }

std::uint64_t windowed_view::alive_at(std::uint64_t now) const noexcept {
  const std::uint64_t current = generation_of(clock_.now);
  const std::uint64_t later = generation_of(now);
  std::uint64_t alive = 0;
  for (std::uint32_t age = 0; age < slots() && age <= current; ++age) {
    const std::uint64_t generation = current - age;
    const bool remembered = later - generation <= shape().variant;
    if (remembered) alive |= std::uint64_t{1} << slot_of(generation);
  }
  return alive;
}

void windowed_view::advance(std::uint64_t now) noexcept {
  // The words stay as they were at their own clock; only fewer generations are asked.
  if (clock_.by_time && now > clock_.now) alive_ &= alive_at(now);
}

void windowed_view::contains_bits(std::span<const std::uint64_t> hashes,
                                  std::span<std::uint64_t> bitmap) const noexcept {
  detail::scratch<kernel::const_blocks, 64> all;  // as many as `alive_` has bits
  std::size_t count = 0;
  for (std::uint64_t rest = alive_; rest != 0; rest &= rest - 1) {
    const auto slot = static_cast<std::size_t>(std::countr_zero(rest));
    all[count++] = {.words = lines_of_slot(slot).data(),
                    .blocks = blocks_,
                    .probes = shape().probes,
                    .stride = slots() * line};
  }
  kernel::contains_any(std::span(all).first(count), kernel::run_of(hashes), bitmap);
}

std::uint64_t windowed_view::keys() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    if (((alive_ >> slot) & 1U) != 0) sum += slot_keys(slot);
  }
  return sum;
}

double windowed_view::fill() const noexcept {
  const auto all = words().subspan(head_words());
  return static_cast<double>(count_bits(all)) / static_cast<double>(all.size() * 64);
}

double windowed_view::fpr() const noexcept {
  double none = 1;
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    if (((alive_ >> slot) & 1U) == 0) continue;
    none *= 1 - detail::block_rate(lines_of_slot(slot), shape().probes, slots() * line);
  }
  return 1 - none;
}

// An empty filter whose clock counts keys.
detail::payload windowed_filter::started(const plan& p) {
  checked_blocks(p.shape);
  bit_array array(p.shape.bits);
  const std::uint64_t window = std::max<std::uint64_t>(p.shape.variant, p.keys);
  array.words()[at::window] = detail::little_endian(window);
  return {.planned = p, .array = std::move(array)};
}

windowed_filter::windowed_filter(const view& other) : owned(other) {
  // The other may have looked at a later time than that of its words.
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    if (((alive_ >> slot) & 1U) == 0) wipe(slot);
  }
}

void windowed_filter::set_window(std::uint64_t window) {
  if (clock_.now != 0) {
    detail::fail(errc::bad_argument, "the window of a filter that was used cannot be changed");
  }
  if (window < shape().variant) {
    detail::throw_bad_argument(
        "the window", window,
        "at least the number of generations, " + detail::to_text(std::uint64_t{shape().variant}));
  }
  clock_ = {.window = window, .now = 0, .by_time = true};
  mutable_words()[at::window] = detail::little_endian(window);
  mutable_words()[at::by_time] = detail::little_endian(1);
}

void windowed_filter::wipe(std::size_t slot) noexcept {
  std::uint64_t& keys = mutable_words()[line + slot];
  if (keys == 0) return;
  keys = 0;
  for (std::uint64_t* at = mutable_words().data() + head_words() + slot * line;
       at < mutable_words().data() + mutable_words().size(); at += slots() * line) {
    std::fill_n(at, line, 0);
  }
}

void windowed_filter::move_clock(std::uint64_t now) noexcept {
  const std::uint64_t from = generation_of(clock_.now);
  const std::uint64_t to = generation_of(now);
  for (std::uint64_t age = 0; age < std::min<std::uint64_t>(to - from, slots()); ++age) {
    wipe(slot_of(to - age));
  }
  clock_.now = now;
  mutable_words()[at::now] = detail::little_endian(now);
  alive_ = alive_at(now);
}

void windowed_filter::advance(std::uint64_t now) noexcept {
  if (clock_.by_time && now > clock_.now) move_clock(now);
}

void windowed_filter::add(std::uint64_t hash) noexcept {
  const std::size_t slot = slot_of(generation_of(clock_.now));
  probes_.lanes().set(hash, mutable_words().data() + line_of(hash) + slot * line);
  std::uint64_t& keys = mutable_words()[line + slot];
  keys = detail::little_endian(detail::little_endian(keys) + 1);
  if (!clock_.by_time) move_clock(clock_.now + 1);
}

void windowed_filter::add_batch(std::span<const std::uint64_t> hashes) noexcept {
  while (!hashes.empty()) {
    // As many as belong to the current generation.
    const std::uint64_t generation = generation_of(clock_.now);
    std::uint64_t count = hashes.size();
    if (!clock_.by_time) {
      const detail::uint128 generations = shape().variant;
      const detail::uint128 next =
          (static_cast<detail::uint128>(generation + 1) * clock_.window + generations - 1) /
          generations;
      count = static_cast<std::uint64_t>(std::min<detail::uint128>(count, next - clock_.now));
    }
    const auto now = hashes.first(static_cast<std::size_t>(count));
    const std::size_t slot = slot_of(generation);
    std::uint64_t* const words = mutable_words().data();
    kernel::blocked_kernels_chosen().add({.words = words + head_words() + slot * line,
                                          .blocks = blocks_,
                                          .probes = shape().probes,
                                          .stride = slots() * line},
                                         kernel::run_of(now));
    std::uint64_t& keys = words[line + slot];
    keys = detail::little_endian(detail::little_endian(keys) + count);
    if (!clock_.by_time) move_clock(clock_.now + count);
    hashes = hashes.subspan(now.size());
  }
}

explanation windowed_view::explain(std::uint64_t hash) const {
  const block_mask mask = probes_.mask_of(hash);
  const std::uint64_t newest = generation_of(now());
  explanation e{.why = {.text = "no generation that is remembered has all of its bits"}};
  for (std::uint64_t age = 0; age <= std::min<std::uint64_t>(generations(), newest); ++age) {
    const std::size_t slot = slot_of(newest - age);
    if (((alive_ >> slot) & 1U) == 0) continue;
    const std::uint64_t set = mask.bits_set(words_ + line_of(hash) + slot * line_words);
    const bool all = set == shape().probes;
    const bool first = e.why.numbers.empty();
    if (all && first) {
      e.why = {.text = age == 0 ? "the current generation has all of its bits"
                                : "the generation {generation} before has all of its bits",
               .numbers = {{"generation", age}}};
    }
    e.findings.push_back(
        {.text = age == 0
                     ? "the current generation, {keys} keys: {bits_set} of {probes} bits are set"
                     : "the generation {age} before, {keys} keys: {bits_set} of {probes} bits are "
                       "set",
         .numbers = {{"age", age},
                     {"keys", slot_keys(slot)},
                     {"bits_set", set},
                     {"probes", std::uint64_t{shape().probes}},
                     {"contains", all}},
         .list = "generations"});
  }
  return e;
}

cell_array windowed_view::cells() const {  // what follows the clock: the lines of all generations
  return {.unit = "bits of all generations", .parts = {words().subspan(head_words())}};
}

}  // namespace bloomery
