#include "bloomery/filter/scalable.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/scratch.hpp"
#include "bloomery/hash/hash.hpp"
#include "core/doubling.hpp"
#include "kernel/scalable/scalable.hpp"

namespace bloomery {

namespace {

constexpr std::size_t words_per_line = detail::split_lines::words_per_line;
constexpr std::size_t head_words = doubling::head_lines * words_per_line;
constexpr std::size_t piece_keys = 2048;  // that a kernel adds at a time
constexpr std::size_t least_keys = 64;    // that it is called for

[[noreturn]] void throw_corrupt(const std::string& what) {
  detail::fail(errc::corrupt, "the filter is damaged: " + what);
}

// Keys in the lines before they double.
std::uint64_t capacity_of(const detail::split_lines& lines) noexcept {
  return lines.lines * doubling::load_of(lines.cells.width).keys;
}

const plan& checked(const plan& p) {
  detail::check_kind(p.shape, filter_kind::scalable);
  return p;
}

}  // namespace

scalable_view::scalable_view(const plan& p, std::uint64_t keys) : plan_(checked(p)), keys_(keys) {
  lines_.cells = detail::word_cells(p.shape.cell_bits);
}

scalable_view::scalable_view(const plan& p, std::span<const std::uint64_t> words,
                             std::uint64_t keys)
    : scalable_view(p, keys) {
  if (words.size() != p.shape.bits / 64 || words.size() <= head_words) {
    throw_corrupt("its lines are cut off");
  }
  const auto number = [&](std::size_t i) { return detail::little_endian(words[i]); };
  const std::uint64_t left = words.size() - head_words;
  const std::uint64_t slots = number(slots_word);
  lines_.lines = number(lines_word);
  stored_ = number(stored_word);
  doublings_ = number(doublings_word);
  if (lines_.lines == 0 || lines_.lines > left / words_per_line ||
      slots != left - lines_.lines * words_per_line) {
    throw_corrupt("its lines and its stash do not fill it");
  }
  const bool sound =
      doublings_ <= doubling::most_doublings &&
      (slots == 0 || (slots >= 16 && std::has_single_bit(slots))) &&
      std::all_of(&words[free_word], &words[head_words], [](auto word) { return word == 0; });
  if (!sound) throw_corrupt("its head contradicts itself");
  head_ = words.first(head_words);
  lines_.words = words.data() + head_words;
  lines_.stash = {.slots = lines_.words + lines_.lines * words_per_line, .count = slots};
}

void scalable_view::contains_bits(std::span<const std::uint64_t> hashes,
                                  std::span<std::uint64_t> bitmap) const noexcept {
  kernel::scalable_kernels_chosen().contains(lines_, kernel::run_of(hashes), bitmap.data());
}

void scalable_view::contains_bits(const mixed_integers& keys,
                                  std::span<std::uint64_t> bitmap) const noexcept {
  kernel::scalable_kernels_chosen().contains(lines_, kernel::run_of(keys), bitmap.data());
}

std::uint64_t scalable_view::capacity() const noexcept { return capacity_of(lines_); }

std::uint64_t scalable_view::room() const noexcept {
  return capacity() - std::min(capacity(), stored_);
}

std::uint64_t scalable_view::growth_bytes() const noexcept {
  const bool possible = doublings_ < shape().variant &&
                        2 * lines_.lines + doubling::head_lines < max_bits / bits_per_block;
  return possible ? lines_.lines * (bits_per_block / 8) : 0;
}

std::vector<std::span<const std::uint64_t>> scalable_view::parts() const {
  std::vector<std::span<const std::uint64_t>> all{
      head_, {lines_.words, static_cast<std::size_t>(lines_.lines * words_per_line)}};
  if (lines_.stash.count != 0) all.emplace_back(lines_.stash.slots, lines_.stash.count);
  return all;
}

double scalable_view::fill() const noexcept {
  return static_cast<double>(detail::cells_used(lines_)) /
         (static_cast<double>(lines_.lines) * lines_.cells.in_line());
}

double scalable_view::fpr_at(std::uint64_t hash) const noexcept {
  detail::split_lines one = lines_;
  one.words = lines_.line_of(hash);
  one.lines = 1;
  return detail::split_rate(one);
}

scalable_filter::scalable_filter(made_tag, const plan& p) : view(p), own_head_(head_words) {
  const std::uint64_t lines = p.shape.bits / bits_per_block - doubling::head_lines;
  adopt(detail::split_table(lines, p.shape.cell_bits));
}

scalable_filter::scalable_filter(const view& other) : view(other), own_head_(head_words) {
  adopt(detail::split_table(lines_));
}

void scalable_filter::adopt(detail::split_table&& table) {
  table_ = std::move(table);
  lines_ = table_.view();
  short_limit_ = lines_.cells.width == 16 ? capacity() : 0;
  write_head();
}

void scalable_filter::write_head() {
  own_head_[lines_word] = detail::little_endian(lines_.lines);
  own_head_[stored_word] = detail::little_endian(stored_);
  own_head_[doublings_word] = detail::little_endian(doublings_);
  own_head_[slots_word] = detail::little_endian(lines_.stash.count);
  head_ = own_head_;
  plan_.shape.bits = (head_words + lines_.lines * words_per_line + lines_.stash.count) * 64;
}

void scalable_filter::double_lines() {
  detail::split_table larger = table_.doubled();
  ++doublings_;
  adopt(std::move(larger));
}

// A file may say that it has more keys than there are: the table would double with every new one.
std::uint64_t scalable_filter::table_room() const noexcept {
  return capacity() - std::min(capacity(), std::min(stored_, table_.entries()));
}

struct scalable_filter::key_list : kernel::key_run {
  explicit key_list(const kernel::key_run& run) noexcept : key_run(run) {}

  [[nodiscard]] std::uint64_t hash_of(std::size_t i) const noexcept {
    return mixed ? mix64(keys[i], spread_seed) : keys[i];
  }
  [[nodiscard]] key_list from(std::size_t at, std::size_t some) const noexcept {
    key_list result = *this;
    result.keys += at;
    result.count = some;
    return result;
  }
};

void scalable_filter::add_batch(std::span<const std::uint64_t> hashes) {
  add_all(key_list(kernel::run_of(hashes)));
}

void scalable_filter::add_batch(const mixed_integers& keys) {
  add_all(key_list(kernel::run_of(keys)));
}

std::uint64_t scalable_filter::add_new(std::span<const std::uint64_t> hashes,
                                       std::span<std::uint64_t> is_new) {
  const key_list keys(kernel::run_of(hashes));
  std::uint64_t stored = 0;
  for (std::size_t done = 0; done < keys.count;) {
    const std::uint64_t most = growth_bytes() != 0 ? table_room() : UINT64_MAX;
    const auto answers = is_new.subspan(done / 64);
    std::size_t some = std::min(keys.count - done, piece_keys);
    if (some > most) some = static_cast<std::size_t>(most) / 64 * 64;  // whole words of answers
    if (some >= least_keys) {
      stored += add_piece(keys.from(done, some), answers, counted::stored);
    } else {
      some = std::min(keys.count - done, least_keys);
      answers[0] = 0;
      for (std::size_t i = 0; i < some; ++i) {
        const bool fresh = add(hashes[done + i]);
        if (!fresh) --keys_;
        answers[0] |= std::uint64_t{fresh} << i;
        stored += std::uint64_t{fresh};
      }
    }
    done += some;
  }
  return stored;
}

std::uint64_t scalable_filter::add_all(key_list keys) {
  std::uint64_t stored = 0;
  while (keys.count != 0) {
    const bool may_double = growth_bytes() != 0;
    const std::uint64_t most = may_double ? table_room() : UINT64_MAX;
    const std::size_t some = std::min<std::uint64_t>({keys.count, piece_keys, most});
    if (some >= least_keys) {
      detail::scratch<std::uint64_t, piece_keys / 64> is_new;
      stored += add_piece(keys.from(0, some), is_new, counted::all);
      keys = keys.from(some, keys.count - some);
      continue;
    }
    detail::scratch<std::uint64_t, least_keys> hashes;
    const std::size_t few = std::min(keys.count, least_keys);
    for (std::size_t i = 0; i < few; ++i) hashes[i] = keys.hash_of(i);
    auto left = std::span<const std::uint64_t>(hashes).first(few);
    stored += add_in_turn(left, most);
    keys_ += few - left.size();
    keys = keys.from(few - left.size(), keys.count - (few - left.size()));
    if (keys.count != 0 && may_double && table_room() == 0) double_lines();
  }
  return stored;
}

// As many as there is room for. Those of full lines come after the others: what they add to is the
// stash, and to cells of full lines, and the others neither look there nor are found there.
std::uint64_t scalable_filter::add_piece(const key_list& keys, std::span<std::uint64_t> is_new,
                                         counted what) {
  detail::scratch<std::uint64_t, piece_keys / 64> full;
  std::uint64_t stored = table_.put_in_lines([&](std::uint64_t* words) {
    return kernel::scalable_kernels_chosen().add(lines_, words, keys, full.data(), is_new.data());
  });
  count_stored(stored);
  detail::scratch<std::uint64_t, piece_keys> open;
  detail::scratch<std::uint16_t, piece_keys> numbers;
  std::size_t count = 0;
  for (std::size_t w = 0; w < (keys.count + 63) / 64; ++w) {
    for (std::uint64_t left = full[w]; left != 0; left &= left - 1) {
      const std::size_t number = w * 64 + static_cast<std::size_t>(std::countr_zero(left));
      numbers[count] = static_cast<std::uint16_t>(number);
      open[count] = keys.hash_of(number);
      if (lines_.stash.count != 0) lines_.stash.fetch(open[count]);
      ++count;
    }
  }
  const std::uint64_t before = keys_;
  for (std::size_t i = 0; i < count; ++i) {
    if (contains(open[i])) continue;
    keys_ = before + (what == counted::all ? numbers[i] : stored);  // if it throws
    put(open[i]);
    is_new[numbers[i] / 64] |= std::uint64_t{1} << (numbers[i] % 64);
    ++stored;
  }
  keys_ = before + (what == counted::all ? keys.count : stored);
  return stored;
}

// Takes those away that are done with.
std::uint64_t scalable_filter::add_in_turn(std::span<const std::uint64_t>& hashes,
                                           std::uint64_t most) {
  const std::uint64_t slots = lines_.stash.count;
  const detail::split_table::added some = table_.add(hashes, most);
  hashes = hashes.subspan(some.done);
  lines_ = table_.view();
  if (lines_.stash.count != slots) write_head();
  count_stored(some.stored);
  return some.stored;
}

bool scalable_filter::add_slowly(std::uint64_t hash) {
  if (contains(hash)) {
    ++keys_;
    return false;
  }
  if (stored_ >= capacity()) return add_all(key_list(kernel::run_of({&hash, 1}))) != 0;
  put(hash);
  ++keys_;
  return true;
}

// A key that is not contained.
void scalable_filter::put(std::uint64_t hash) {
  const std::uint64_t slots = lines_.stash.count;
  table_.put(hash);
  lines_ = table_.view();
  if (lines_.stash.count != slots) write_head();
  count_stored(1);
}

void scalable_filter::clear() {
  // A file may say that its lines doubled more often than they can have.
  const std::uint64_t first = std::max<std::uint64_t>(1, lines_.lines >> doublings_);
  detail::split_table empty(first, shape().cell_bits);
  keys_ = stored_ = doublings_ = 0;
  adopt(std::move(empty));
}

// Both double until they have as many lines, at unchanged rates, and so many that few become full:
// the other's keys are not known and cannot go into the stash, and joined cells fit many more.
void scalable_filter::merge(const view& other, std::uint64_t most_bytes) {
  if (other.shape().cell_bits != shape().cell_bits) {
    detail::fail(errc::mismatch, "the filters differ in the width of their cells: " +
                                     detail::to_text(std::uint64_t{shape().cell_bits}) + " and " +
                                     detail::to_text(std::uint64_t{other.shape().cell_bits}) +
                                     " bits");
  }
  scalable_filter grown(other);  // a copy: it may be this one
  scalable_filter result(static_cast<const view&>(*this));
  const auto twice = [&](scalable_filter& f) {
    if (f.growth_bytes() == 0) detail::fail(errc::full, "the union would double too often");
    if (const std::uint64_t bytes = f.shape().bits / 8 + f.growth_bytes(); bytes > most_bytes) {
      detail::fail(errc::no_memory, "the union would take " + detail::to_text(bytes) +
                                        " bytes of memory, more than the limit of " +
                                        detail::to_text(most_bytes));
    }
    f.double_lines();
  };
  while (result.lines_.lines < grown.lines_.lines) twice(result);
  while (grown.lines_.lines < result.lines_.lines) twice(grown);
  if (result.lines_.lines != grown.lines_.lines) {
    detail::fail(errc::mismatch, "the filters were not planned alike: they have " +
                                     detail::to_text(lines_.lines) + " and " +
                                     detail::to_text(other.lines().lines) + " lines");
  }
  const double most = (result.fpr() + grown.fpr()) * 1.02 + plan_.fpr_target / 8;
  for (;;) {
    detail::split_table both(result.lines_);
    both.put_all(grown.lines_);
    const std::uint64_t before = result.table_.entries();
    if (both.entries() == before ||
        (both.entries() <= result.capacity() && detail::split_rate(both.view()) <= most)) {
      result.stored_ += both.entries() - before;
      result.adopt(std::move(both));
      break;
    }
    twice(result);
    twice(grown);
  }
  result.keys_ += grown.keys_;
  *this = std::move(result);
}

explanation scalable_view::explain(std::uint64_t hash) const {
  const std::uint64_t* const line = lines_.line_of(hash);
  const auto number = static_cast<std::uint64_t>(line - lines_.words) / words_per_line;
  const std::uint32_t wanted = lines_.cell_of(hash);
  std::uint64_t at = 0;
  std::uint64_t used = 0;
  std::uint64_t fitting = 0;
  finding fits{.text = "cell {cell} has the first {bits} bits of {rest:x}"};
  lines_.cells.each(line, [&](std::uint32_t cell) {
    used += cell != 0 ? 1U : 0U;
    const auto zeros = static_cast<std::uint32_t>(std::countr_zero(cell));
    if (cell != 0 && std::uint64_t{cell ^ wanted} >> (zeros + 1) == 0) {
      ++fitting;
      fits.numbers = {{"cell", at},
                      {"bits", std::uint64_t{lines_.cells.width - 1 - zeros}},
                      {"rest", std::uint64_t{wanted}}};
    }
    ++at;
  });
  const bool stashed = lines_.cells.is_full(line) && lines_.stash.contains(hash);
  explanation e;
  e.findings.push_back(
      {.text = "line {line} of {lines}: {cells_used} of {cells} cells are in use",
       .numbers = {
           {"line", number}, {"lines", lines_.lines}, {"cells_used", used}, {"cells", at}}});
  if (fitting != 0) e.findings.push_back(std::move(fits));
  e.why = {.text = fitting != 0 ? "a fingerprint in its line fits"
                   : stashed    ? "its line is full, and the stash has its hash"
                                : "no fingerprint in its line fits",
           .numbers = {{"cells_fitting", fitting}, {"stashed", stashed}}};
  return e;
}

cell_array scalable_view::cells() const {
  return {.unit = "cells", .parts = {parts()[1]}, .cell_bits = shape().cell_bits, .in_words = true};
}

}  // namespace bloomery
