#include "bloomery/filter/windowed.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "block_rate.hpp"
#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/scratch.hpp"
#include "bloomery/filter/explanation.hpp"
#include "core/saturating.hpp"
#include "kernel/blocked/blocked.hpp"
#include "kernel/blocked/layers.hpp"

namespace bloomery {

namespace {

// The first line of an image: the window, the clock and where the ring stands. Then come the
// numbers of the slots.
namespace at {
constexpr std::size_t window = 0;
constexpr std::size_t by_time = 1;
constexpr std::size_t now = 2;
constexpr std::size_t quota = 3;    // the keys that end a generation
constexpr std::size_t current = 4;  // its slot,
constexpr std::size_t begun = 5;    // and the time when it began
constexpr std::size_t gap = 6;      // keys added before this time may have been forgotten early
constexpr std::size_t reserved = 7;
}  // namespace at

constexpr std::size_t line = bits_per_block / 64;
[[noreturn]] void throw_corrupt(const std::string& what) {
  detail::fail(errc::corrupt, "the filter is damaged: " + what);
}

// The blocks; throws unless the shape has whole ones.
std::uint64_t checked_blocks(const shape& s) {
  detail::check_kind(s, filter_kind::windowed);
  const detail::window_geometry geometry(s);
  const std::uint64_t blocks = geometry.blocks(s);
  if (blocks == 0 || s.bits / bits_per_block != geometry.head_lines + blocks * geometry.lines) {
    detail::throw_bad_argument("the number of bits", s.bits, "that of a whole number of blocks");
  }
  return blocks;
}

const plan& checked(const plan& p) {  // before anything is divided by its numbers
  checked_blocks(p.shape);
  return p;
}

// The bits of planes in a word, which is two lanes, as it lies in memory.
std::uint64_t in_both_lanes(const detail::lane_planes& planes) {
  const std::uint64_t bits = planes.bits();
  return detail::little_endian(bits | bits << 32U);
}

template <class Word, class Visit>
void for_each_line(std::span<Word> lines, std::size_t stride, Visit visit) {
  for (std::size_t at = 0; at < lines.size(); at += stride) visit(&lines[at]);
}

}  // namespace

windowed_view::windowed_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t)
    : word_view(checked(p), words.data(), 0),
      probes_(p.shape),
      geometry_(p.shape),
      blocks_(geometry_.blocks(p.shape)) {
  if (words.size() != p.shape.bits / 64) throw_corrupt("it is cut off");
  const auto number = [&](std::size_t i) { return detail::little_endian(words[i]); };
  clock_ = {
      .window = number(at::window), .now = number(at::now), .by_time = number(at::by_time) != 0};
  bool sound = number(at::by_time) <= 1 && clock_.window >= p.shape.variant &&
               (clock_.by_time || clock_.now == 0) && number(at::quota) != 0 &&
               number(at::current) < slots() && number(at::begun) <= clock_.now &&
               (number(at::gap) == 0 || number(at::gap) - 1 <= clock_.now) &&
               number(at::reserved) == 0;
  for (std::size_t i = line; i < head_words(); ++i) {
    const std::size_t slot = (i - line) / slot_words;
    const std::uint64_t most = slot >= slots()                      ? 0
                               : i == place_of(slot, about::keys)   ? UINT64_MAX
                               : i == place_of(slot, about::stored) ? number(i - 1)
                               : i == place_of(slot, about::last)   ? clock_.now
                                                                    : 0;
    sound = sound && number(i) <= most;
  }
  if (!sound) throw_corrupt("its clock cannot be");
  ask(alive_now());
}

void windowed_view::ask(std::uint64_t alive) noexcept {
  alive_ = alive;
  alive_first_ = {};
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    if (!is_alive(slot)) continue;
    const slot_place place = place_in_block(slot);
    alive_first_[place.line] |= place.plane.first;
  }
}

std::uint64_t windowed_view::alive_now() const noexcept {
  std::uint64_t alive = 0;
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    if (slot_number(slot, about::keys) != 0 &&
        clock_.now - slot_number(slot, about::last) <= clock_.window) {
      alive |= std::uint64_t{1} << slot;
    }
  }
  return alive;
}

void windowed_view::advance(std::uint64_t now) noexcept {
  if (!clock_.by_time || now <= clock_.now) return;
  clock_.now = now;  // the words keep their own; only fewer generations are asked
  ask(alive_now());
}

std::uint64_t windowed_view::covered() const noexcept {
  const std::uint64_t gap = detail::little_endian(words_[at::gap]);
  return gap == 0 ? window() : std::min(window(), now() - std::min(now(), gap));
}

template <class Keys>
void windowed_view::ask_lines(const Keys& keys, std::span<std::uint64_t> bitmap) const noexcept {
  detail::scratch<kernel::const_blocks, 64> all;  // as many as there are slots at most
  const std::size_t count = geometry_.lines;
  for (std::size_t i = 0; i < count; ++i) {
    all[i] = {.words = lines_from(i).data(),
              .blocks = blocks_,
              .probes = shape().probes,
              .stride = block_words(),
              .planes = alive_in(i)};
  }
  kernel::contains_any(kernel::blocked_kernels_chosen().contains_in, std::span(all).first(count),
                       kernel::run_of(keys), bitmap);
}

void windowed_view::contains_bits(std::span<const std::uint64_t> hashes,
                                  std::span<std::uint64_t> bitmap) const noexcept {
  ask_lines(hashes, bitmap);
}

void windowed_view::contains_bits(const mixed_integers& keys,
                                  std::span<std::uint64_t> bitmap) const noexcept {
  ask_lines(keys, bitmap);
}

std::uint64_t windowed_view::keys() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    if (is_alive(slot)) sum = detail::saturating_sum(sum, slot_number(slot, about::keys));
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
    if (!is_alive(slot)) continue;
    const slot_place place = place_in_block(slot);
    none *=
        1 - detail::block_rate(lines_from(place.line), shape().probes, block_words(), place.plane);
  }
  return 1 - none;
}

double windowed_view::fpr_at(std::uint64_t hash) const noexcept {
  const auto block = words().subspan(block_of(hash), block_words());
  double none = 1;
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    if (!is_alive(slot)) continue;
    const slot_place place = place_in_block(slot);
    none *= 1 - detail::block_rate(block.subspan(place.line * line, line), shape().probes, line,
                                   place.plane);
  }
  return 1 - none;
}

// An empty filter without a window of time.
detail::payload windowed_filter::started(const plan& p) {
  checked_blocks(p.shape);
  bit_array array(p.shape.bits);
  const std::uint64_t window = std::max<std::uint64_t>(p.shape.variant, p.keys);
  array.words()[at::window] = detail::little_endian(window);
  array.words()[at::quota] = detail::little_endian(detail::divided_up(window, p.shape.variant));
  return {.planned = p, .array = std::move(array)};
}

windowed_filter::windowed_filter(const view& other) : owned(other) {
  put(at::now, now());   // the other may look at a later time than that of its words
  clear_slots(~alive_);  // a file may have bits in slots of which it says that they are empty
}

void windowed_filter::set_window(std::uint64_t window) {
  if (clock_.now != 0 || alive_ != 0) {
    detail::fail(errc::bad_argument, "the window of a filter that was used cannot be changed");
  }
  if (window < shape().variant) {
    const std::string steps = detail::to_text(std::uint64_t{shape().variant});
    detail::throw_bad_argument("the window", window,
                               "at least " + steps + " seconds, one for each of the " + steps +
                                   " steps in which the filter forgets");
  }
  clock_ = {.window = window, .now = 0, .by_time = true};
  put(at::window, window);
  put(at::by_time, 1);
}

void windowed_filter::wipe(std::uint64_t which) noexcept {
  std::uint64_t used = 0;
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    used |= std::uint64_t{slot_number(slot, about::keys) != 0} << slot;
  }
  clear_slots(which & used);
}

// All slots of a line together, in one pass.
void windowed_filter::clear_slots(std::uint64_t which) noexcept {
  std::array<std::uint32_t, 64> first{};
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    if (((which >> slot) & 1U) == 0) continue;
    std::fill_n(&mutable_words()[place_of(slot, about::keys)], slot_words, 0);
    const slot_place place = place_in_block(slot);
    first[place.line] |= place.plane.first;
  }
  for (std::size_t i = 0; i < geometry_.lines; ++i) {
    if (first[i] == 0) continue;
    const std::uint64_t keep =
        ~in_both_lanes({.positions = geometry_.positions, .first = first[i]});
    for_each_line(mutable_words().subspan(head_words() + i * line), block_words(),
                  [keep](std::uint64_t* at) {
                    for (std::size_t word = 0; word < line; ++word) at[word] &= keep;
                  });
  }
}

void windowed_filter::wipe_dead() noexcept { wipe(~alive_); }

void windowed_filter::clear() noexcept {
  ask(0);
  wipe_dead();
  for (const std::size_t word : {at::current, at::begun, at::gap}) put(word, 0);
}

void windowed_filter::advance(std::uint64_t now) noexcept {
  if (!clock_.by_time || now <= clock_.now) return;
  view::advance(now);
  put(at::now, now);
  wipe_dead();
}

std::size_t windowed_filter::make_room() noexcept {
  const auto number = [&](std::size_t i) { return detail::little_endian(words_[i]); };
  auto slot = static_cast<std::size_t>(number(at::current));
  const bool full = slot_number(slot, about::stored) >= number(at::quota);
  const bool over = clock_.by_time && clock_.now - number(at::begun) >=
                                          detail::divided_up(clock_.window, shape().variant);
  if (is_alive(slot) && !full && !over) return slot;
  if (is_alive(slot)) slot = (slot + 1) % slots();
  if (is_alive(slot) && clock_.by_time) put(at::gap, slot_number(slot, about::last) + 1);
  wipe(std::uint64_t{1} << slot);
  put(at::current, slot);
  put(at::begun, clock_.now);
  return slot;
}

void windowed_filter::count_added(std::size_t slot, std::uint64_t keys,
                                  std::uint64_t stored) noexcept {
  put(place_of(slot, about::keys), detail::saturating_sum(slot_number(slot, about::keys), keys));
  put(place_of(slot, about::stored),
      detail::saturating_sum(slot_number(slot, about::stored), stored));
  put(place_of(slot, about::last), clock_.now);
  if (!is_alive(slot)) ask(alive_ | std::uint64_t{1} << slot);
}

void windowed_filter::add(std::uint64_t hash) noexcept {
  const std::size_t slot = make_room();
  const slot_place place = place_in_block(slot);
  std::uint64_t* const block = mutable_words().data() + block_of(hash);
  const bool is_new = probes_.lanes().set_in(hash, block + place.line * line_words, place.plane);
  count_added(slot, 1, is_new ? 1 : 0);
}

void windowed_filter::add_run(kernel::key_run run) noexcept {
  while (run.count != 0) {
    // As many as the current generation takes if all are new to it.
    const std::size_t slot = make_room();
    const std::uint64_t room =
        detail::little_endian(words_[at::quota]) - slot_number(slot, about::stored);
    const slot_place place = place_in_block(slot);
    kernel::key_run some = run;
    some.count = static_cast<std::size_t>(std::min<std::uint64_t>(room, run.count));
    const std::size_t stored = kernel::blocked_kernels_chosen().add_new_in(
        {.words = mutable_words().data() + head_words() + place.line * line_words,
         .blocks = blocks_,
         .probes = shape().probes,
         .stride = block_words(),
         .planes = place.plane},
        some);
    count_added(slot, some.count, stored);
    run.keys += some.count;
    run.count -= some.count;
  }
}

void windowed_filter::add_batch(std::span<const std::uint64_t> hashes) noexcept {
  add_run(kernel::run_of(hashes));
}

void windowed_filter::add_batch(const mixed_integers& keys) noexcept {
  add_run(kernel::run_of(keys));
}

explanation windowed_view::explain(std::uint64_t hash) const {
  const std::uint64_t newest = detail::little_endian(words_[at::current]);
  explanation e{.why = {.text = "no generation that is remembered has all of its bits"}};
  for (std::uint64_t age = 0; age < slots(); ++age) {
    const auto slot = static_cast<std::size_t>((newest + slots() - age) % slots());
    if (!is_alive(slot)) continue;
    const slot_place place = place_in_block(slot);
    block_mask mask;
    probes_.lanes().set_in(hash, mask.words.data(), place.plane);
    const std::uint64_t set = mask.bits_set(words_ + block_of(hash) + place.line * line_words);
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
                     {"keys", slot_number(slot, about::keys)},
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
