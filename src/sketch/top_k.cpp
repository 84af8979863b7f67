#include "bloomery/sketch/top_k.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>

#include "bloomery/hash/probe.hpp"
#include "cells.hpp"
#include "kernel/batch.hpp"
#include "top_k_layout.hpp"

namespace bloomery {

using namespace top_k_layout;
using sketch_detail::saturating_sum;

namespace {

struct bucket_lines {
  using hash_type = std::uint64_t;
  detail::bucket_rows rows;
  template <class Touch>
  void lines(std::uint64_t hash, Touch touch) const noexcept {
    for_each_bucket(rows, hash, [&](std::uint64_t index) { touch(index * 64); });
  }
};

std::uint64_t checked_width(const shape& s) {
  check_top_k(s);
  const std::uint64_t width = sizing::top_k_row(s);
  if (width == 0) {
    detail::throw_bad_argument("the number of bits", s.bits,
                               "at least 512 and a bucket for each probe");
  }
  return width;
}

std::uint32_t checked_ratio(double decay) {
  const double ratio = std::floor(decay * 0x1p32);
  if (!(ratio >= 1 && ratio <= most_decay_ratio)) {
    detail::throw_bad_argument("the decay", decay, "from 2^-32 to 0.99");
  }
  return static_cast<std::uint32_t>(ratio);
}

// t[0] = 2^64 - 1, t[c + 1] = floor(t[c] * ratio / 2^32), up to the first zero: the chance that a
// counter c falls, times 2^64. Integers only, so that every machine has the same table.
std::vector<std::uint64_t> make_thresholds(std::uint32_t ratio) {
  std::vector<std::uint64_t> table;
  for (std::uint64_t t = ~std::uint64_t{0}; t != 0;) {
    table.push_back(t);
    t = static_cast<std::uint64_t>((static_cast<detail::uint128>(t) * ratio) >> 32U);
  }
  table.push_back(0);
  return table;
}

// The table takes five kilobytes for a usual decay, more than a small sketch.
std::shared_ptr<const std::vector<std::uint64_t>> thresholds_for(std::uint32_t ratio) {
  static std::mutex guard;
  static std::shared_ptr<const std::vector<std::uint64_t>> last;  // for who makes one after another
  static std::map<std::uint32_t, std::weak_ptr<const std::vector<std::uint64_t>>> tables;
  const std::scoped_lock lock(guard);
  std::weak_ptr<const std::vector<std::uint64_t>>& known = tables[ratio];
  auto table = known.lock();
  if (table == nullptr) {
    std::erase_if(tables, [&](const auto& t) { return t.first != ratio && t.second.expired(); });
    table = std::make_shared<const std::vector<std::uint64_t>>(make_thresholds(ratio));
    known = table;
  }
  last = table;
  return table;
}

constexpr std::uint64_t random_step = 0x9e3779b97f4a7c15U;

// How many of `count` draws fail before one succeeds with a chance of t / 2^64: the largest n with
// q^n > u for one uniform u, found bit by bit from powers of q. `count` when none succeeds.
std::uint64_t failures_before_success(std::uint64_t t, std::uint64_t u,
                                      std::uint64_t count) noexcept {
  std::array<std::uint64_t, 64> power{};  // q^(2^i)
  const auto top = static_cast<std::size_t>(std::bit_width(count)) - 1;
  power[0] = ~t;
  for (std::size_t i = 1; i <= top; ++i) {
    power[i] = detail::multiply_high(power[i - 1], power[i - 1]);
  }
  std::uint64_t n = 0;
  std::uint64_t chance = ~std::uint64_t{0};
  for (std::size_t i = top + 1; i-- > 0;) {
    const std::uint64_t next = detail::multiply_high(chance, power[i]);
    if (next <= u) continue;
    chance = next;
    n += std::uint64_t{1} << i;
  }
  return std::min(n, count);
}

// Asks the compiler for a choice rather than a branch: nobody can foresee what the buckets hold and
// which draws succeed. Of keys that all differ, a third make a processor guess wrong once; with
// branches each makes it do so 1.7 times (callgrind's model), which cost a third of all time.
[[gnu::always_inline]] inline bool even_odds(bool condition) noexcept {
  return __builtin_expect_with_probability(condition, 1, 0.5) != 0;
}

// Single arrivals. What they need is here by value: a store to a bucket may change any member of a
// sketch, for all that the compiler knows.
class single_arrivals {
 public:
  single_arrivals(const detail::bucket_rows& rows, std::span<std::uint64_t> buckets,
                  const std::vector<std::uint64_t>& thresholds, std::uint64_t state) noexcept
      : rows_(rows),
        buckets_(buckets.data()),
        thresholds_(thresholds.data()),
        never_(thresholds.size() - 1),
        state_(state) {}

  [[nodiscard]] std::uint64_t state() const noexcept { return state_; }

  [[gnu::always_inline]] void prefetch(std::uint64_t hash) const noexcept {
    for_each_bucket(rows_, hash, [&](std::uint64_t index) {
      // To the first level: a megabyte of buckets often lies in the second one already.
      __builtin_prefetch(buckets_ + index, 1, 3);
      asm volatile("");  // GCC 12 would drop it, see pipeline.hpp
    });
  }

  // Returns the estimate of the key afterwards.
  [[gnu::always_inline]] std::uint64_t arrive(std::uint64_t hash, std::uint64_t most) noexcept {
    std::uint64_t best = 0;
    const auto visit = [&](std::uint64_t index) __attribute__((always_inline)) {
      best = std::max(best, arrive_at(index, hash, most));
    };
    if (rows_.depth == 2) {  // as usual, without the loop
      visit(detail::multiply_high(hash, rows_.width));
      visit(rows_.width + detail::multiply_high(hash * next_probe_multiplier, rows_.width));
    } else {
      for_each_bucket(rows_, hash, visit);
    }
    return best;
  }

 private:
  // Returns the counter of the key there afterwards, 0 if the bucket is not its own.
  [[gnu::always_inline]] std::uint64_t arrive_at(std::uint64_t index, std::uint64_t hash,
                                                 std::uint64_t most) noexcept {
    constexpr std::uint64_t one = std::uint64_t{1} << counter_bits;
    const std::uint64_t bucket = detail::little_endian(buckets_[index]);
    const std::uint64_t counter = counter_of(bucket);
    const bool same = even_odds(fingerprint_of(bucket) == fingerprint_of(hash));
    if (same && (counter > most || counter == UINT32_MAX)) {  // another's, or it is full
      return counter > most ? 0 : counter;
    }
    // Drawn in any case, and taken from the sequence only if it was needed.
    const bool lower = splitmix64(state_) < thresholds_[std::min(counter, never_)];
    const bool falls = even_odds(lower | (counter == 0));
    const std::uint64_t fallen = counter > 1 ? bucket - one : bucket_of(hash, 1);
    const std::uint64_t worn = falls ? fallen : bucket;
    const std::uint64_t now = same ? bucket + one : worn;
    state_ += (!same & (counter - 1 < never_ - 1)) ? random_step : 0;
    buckets_[index] = detail::little_endian(now);
    return fingerprint_of(now) == fingerprint_of(hash) ? counter_of(now) : 0;
  }

  detail::bucket_rows rows_;
  std::uint64_t* buckets_;
  const std::uint64_t* thresholds_;
  std::uint64_t never_;  // from this counter on no draw succeeds
  std::uint64_t state_;
};

}  // namespace

std::uint64_t detail::bucket_rows::estimate(const std::uint64_t* buckets, std::uint64_t hash,
                                            std::uint64_t most) const noexcept {
  std::uint64_t best = 0;
  for_each_bucket(*this, hash, [&](std::uint64_t index) {
    const std::uint64_t bucket = little_endian(buckets[index]);
    if (fingerprint_of(bucket) != fingerprint_of(hash)) return;
    if (counter_of(bucket) <= most) best = std::max(best, counter_of(bucket));
  });
  return best;
}

double detail::bucket_rows::fill(const std::uint64_t* buckets) const noexcept {
  std::uint64_t used = 0;
  for (std::uint64_t i = 0; i < width * depth; ++i) {
    used += counter_of(little_endian(buckets[i])) != 0 ? 1U : 0U;
  }
  return static_cast<double>(used) / static_cast<double>(width * depth);
}

// ---- made -------------------------------------------------------------------------------------

plan top_k::plan_of(const top_k_options& o) {
  const std::uint64_t width = o.width == 0 ? sizing::top_k_usual_width(o.k) : o.width;
  return {.shape = sizing::top_k_shape(o.k, o.depth, width)};
}

top_k::top_k(const plan& p, double decay, std::uint64_t seed)
    : plan_(p),
      rows_{.depth = p.shape.probes, .width = checked_width(p.shape)},
      decay_ratio_(checked_ratio(decay)),
      thresholds_(thresholds_for(decay_ratio_)),
      random_state_(seed),
      first_random_state_(seed),
      buckets_(rows_.width * rows_.depth * 64) {
  update_size();
}

top_k::top_k(const view& other)
    : plan_(other.planned()),
      rows_{.depth = other.depth(), .width = other.width()},
      decay_ratio_(other.decay_ratio()),
      thresholds_(thresholds_for(decay_ratio_)),
      random_state_(other.random_state()),
      first_random_state_(other.random_state()),
      total_(other.total()),
      keys_(other.keys()),
      buckets_(rows_.width * rows_.depth * 64) {
  std::copy(other.buckets().begin(), other.buckets().end(), buckets_.words().begin());
  for (const top_k_entry& e : other.entries()) list(e.key, e.hash, e.count);
}

void top_k::clear() noexcept {
  std::ranges::fill(buckets_.words(), 0);
  slots_.clear();
  heap_.clear();
  index_.clear();
  random_state_ = first_random_state_;
  total_ = keys_ = key_bytes_ = 0;
  update_size();
}

// ---- buckets ----------------------------------------------------------------------------------

// Inline, like the next ones, and used in this file alone: code for a shared library calls other
// functions by a table, since a program may bring its own.
inline std::uint64_t top_k::next_random() noexcept {
  const std::uint64_t draw = splitmix64(random_state_);
  random_state_ += random_step;
  return draw;
}

inline std::uint64_t top_k::most_for(bool listed) const noexcept {
  return listed || !full() ? ~std::uint64_t{0} : slots_[heap_.front()].count;
}

// A bucket of another key after `count` arrivals of this one.
inline std::uint64_t top_k::wear_down(std::uint64_t bucket, std::uint64_t hash,
                                      std::uint64_t count) noexcept {
  std::uint64_t counter = counter_of(bucket);
  while (count > 0 && counter < thresholds_->size() - 1) {
    const std::uint64_t draw = next_random();
    const std::uint64_t threshold = (*thresholds_)[counter];
    const std::uint64_t failed =
        count == 1 ? (draw < threshold ? 0U : 1U) : failures_before_success(threshold, draw, count);
    if (failed == count) break;
    count -= failed + 1;
    if (--counter == 0) return bucket_of(hash, saturating_sum(count, 1));
  }
  return bucket_of(bucket, counter);
}

inline std::uint64_t top_k::update_buckets(std::uint64_t hash, std::uint64_t most) noexcept {
  single_arrivals arrivals(rows_, buckets_.words(), *thresholds_, random_state_);
  const std::uint64_t estimate = arrivals.arrive(hash, most);
  random_state_ = arrivals.state();
  return estimate;
}

inline std::uint64_t top_k::update_buckets(std::uint64_t hash, std::uint64_t count,
                                           std::uint64_t most) noexcept {
  const std::span<std::uint64_t> buckets = buckets_.words();
  std::uint64_t best = 0;
  for_each_bucket(rows_, hash, [&](std::uint64_t index) {
    std::uint64_t bucket = detail::little_endian(buckets[index]);
    const std::uint64_t counter = counter_of(bucket);
    if (counter == 0) {
      bucket = bucket_of(hash, count);
    } else if (fingerprint_of(bucket) != fingerprint_of(hash)) {
      bucket = wear_down(bucket, hash, count);
    } else if (counter <= most) {
      bucket = bucket_of(hash, saturating_sum(counter, count));
    } else {
      return;
    }
    buckets[index] = detail::little_endian(bucket);
    if (fingerprint_of(bucket) == fingerprint_of(hash)) best = std::max(best, counter_of(bucket));
  });
  return best;
}

// ---- the list ---------------------------------------------------------------------------------

// The order of entries() backwards: total, so that which key goes does not depend on the heap.
bool top_k::weaker(std::uint32_t a, std::uint32_t b) const noexcept {
  return before({.key = slots_[b].key, .hash = slots_[b].hash, .count = slots_[b].count},
                {.key = slots_[a].key, .hash = slots_[a].hash, .count = slots_[a].count});
}

void top_k::sift_down(std::size_t place) noexcept {
  const std::uint32_t moving = heap_[place];
  for (std::size_t child = 2 * place + 1; child < heap_.size(); child = 2 * place + 1) {
    if (child + 1 < heap_.size() && weaker(heap_[child + 1], heap_[child])) ++child;
    if (!weaker(heap_[child], moving)) break;
    heap_[place] = heap_[child];
    slots_[heap_[place]].place = place;
    place = child;
  }
  heap_[place] = moving;
  slots_[moving].place = place;
}

void top_k::sift_up(std::size_t place) noexcept {
  const std::uint32_t moving = heap_[place];
  while (place > 0 && weaker(moving, heap_[(place - 1) / 2])) {
    heap_[place] = heap_[(place - 1) / 2];
    slots_[heap_[place]].place = place;
    place = (place - 1) / 2;
  }
  heap_[place] = moving;
  slots_[moving].place = place;
}

void top_k::update_size() noexcept {
  const std::uint64_t words = sizing::top_k_preamble_words + rows_.width * rows_.depth +
                              entry_words * slots_.size() + (key_bytes_ + 7) / 8;
  plan_.shape.bits = words * 64;
}

// Returns the slot.
std::uint32_t top_k::list(std::string_view key, std::uint64_t hash, std::uint64_t count) {
  // Everything that can run out of memory is done first.
  const auto at = static_cast<std::uint32_t>(slots_.size());
  if (slots_.size() == slots_.capacity())
    slots_.reserve(std::max(std::size_t{16}, std::size_t{2} * at));
  if (heap_.size() == heap_.capacity())
    heap_.reserve(std::max(std::size_t{16}, std::size_t{2} * at));
  index_.make_room();
  std::string copy(key);
  index_.insert(hash, at);
  slots_.push_back({std::move(copy), hash, count, heap_.size()});
  heap_.push_back(at);
  sift_up(heap_.size() - 1);
  key_bytes_ += key.size();
  update_size();
  return at;
}

inline std::optional<std::string> top_k::add_checked(std::string_view key, std::uint64_t hash,
                                                     std::uint64_t count) {
  if (count == 0) return std::nullopt;
  std::uint32_t at = slot_of(hash);
  // Nobody was dropped so far, so this key has never come before: its count is exact.
  if (at == detail::slot_index::none && !full()) at = list(key, hash, 0);
  const bool listed = at != detail::slot_index::none;
  const std::uint64_t most = most_for(listed);
  const std::uint64_t estimate =
      count == 1 ? update_buckets(hash, most) : update_buckets(hash, count, most);
  keys_ = saturating_sum(keys_, 1);
  total_ = saturating_sum(total_, count);
  if (listed) {
    slot& s = slots_[at];
    s.count = saturating_sum(s.count, count);
    sift_down(s.place);
    return std::nullopt;
  }
  if (estimate <= slots_[heap_.front()].count) return std::nullopt;
  return replace_weakest(key, hash, estimate);
}

// Returns the key that was there.
std::string top_k::replace_weakest(std::string_view key, std::uint64_t hash,
                                   std::uint64_t estimate) {
  slot& weakest = slots_[heap_.front()];
  std::string entering(key);
  index_.erase(weakest.hash, heap_.front());
  index_.insert(hash, heap_.front());
  key_bytes_ = key_bytes_ - weakest.key.size() + key.size();
  std::swap(weakest.key, entering);
  weakest.hash = hash;
  weakest.count = estimate;
  sift_down(0);
  update_size();
  return entering;
}

std::optional<std::string> top_k::add(std::string_view key, std::uint64_t hash,
                                      std::uint64_t count) {
  check_key(key);
  return add_checked(key, hash, count);
}

// From which key of a call on no other is prefetched.
std::size_t top_k::last_prefetched(std::size_t keys) const noexcept {
  constexpr std::size_t near_buckets = (std::size_t{256} << 10U) / sizeof(std::uint64_t);
  const bool near = buckets_.words().size() <= near_buckets;
  return near || keys <= kernel::look_ahead ? 0 : keys - kernel::look_ahead;
}

// Most keys of a long stream are not listed and do not come to be: all that they change is buckets
// and totals. Counts those from hashes[first] on and returns where another key stands, or the end.
// `estimate` is then 0 if it is a listed key, or what got it into the list: its buckets have it.
std::size_t top_k::add_unlisted(std::span<const std::uint64_t> hashes, std::size_t first,
                                std::uint64_t& estimate) noexcept {
  estimate = 0;
  const std::size_t ahead = last_prefetched(hashes.size());
  const std::uint64_t least = most_for(false);
  single_arrivals arrivals(rows_, buckets_.words(), *thresholds_, random_state_);
  std::size_t i = first;
  std::size_t counted = first;
  for (; i < hashes.size(); ++i) {
    if (i < ahead) arrivals.prefetch(hashes[i + kernel::look_ahead]);
    if (slot_of(hashes[i]) != detail::slot_index::none) break;
    const std::uint64_t reached = arrivals.arrive(hashes[i], least);
    ++counted;
    if (reached > least) {
      estimate = reached;
      break;
    }
  }
  random_state_ = arrivals.state();
  keys_ = saturating_sum(keys_, counted - first);
  total_ = saturating_sum(total_, counted - first);
  return i;
}

void top_k::add_batch(std::span<const std::string_view> keys,
                      std::span<const std::uint64_t> hashes) {
  for (const std::string_view key : keys) check_key(key);
  const std::size_t ahead = last_prefetched(keys.size());
  const single_arrivals places(rows_, buckets_.words(), *thresholds_, random_state_);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::uint64_t estimate = 0;
    if (full()) {
      i = add_unlisted(hashes, i, estimate);
    } else if (i < ahead) {
      places.prefetch(hashes[i + kernel::look_ahead]);
    }
    if (i == keys.size()) break;
    if (estimate > 0) {
      replace_weakest(keys[i], hashes[i], estimate);
    } else {
      add_checked(keys[i], hashes[i], 1);
    }
  }
}

void top_k::add_batch(std::span<const std::string_view> keys, std::span<const std::uint64_t> hashes,
                      std::span<const std::uint64_t> counts,
                      std::span<std::optional<std::string>> dropped) {
  for (const std::string_view key : keys) check_key(key);
  const std::size_t ahead = last_prefetched(keys.size());
  const single_arrivals places(rows_, buckets_.words(), *thresholds_, random_state_);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i < ahead) places.prefetch(hashes[i + kernel::look_ahead]);
    dropped[i] = add_checked(keys[i], hashes[i], counts[i]);
  }
}

void top_k::set_decay(double decay) {
  if (total_ != 0) detail::fail(errc::bad_argument, "the decay of a sketch that was used is fixed");
  decay_ratio_ = checked_ratio(decay);
  thresholds_ = thresholds_for(decay_ratio_);
}

// ---- asked ------------------------------------------------------------------------------------

void top_k::contains_bits(std::span<const std::uint64_t> hashes,
                          std::span<std::uint64_t> bitmap) const noexcept {
  std::fill_n(bitmap.begin(), (hashes.size() + 63) / 64, 0);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    bitmap[i / 64] |= std::uint64_t{contains(hashes[i])} << (i % 64);
  }
}

std::uint64_t top_k::count(std::uint64_t hash) const noexcept {
  const std::uint32_t found = slot_of(hash);
  if (found != detail::slot_index::none) return slots_[found].count;
  return rows_.estimate(buckets_.words().data(), hash, most_for(false));
}

void top_k::count_batch(std::span<const std::uint64_t> hashes,
                        std::span<std::uint64_t> counts) const noexcept {
  kernel::look_ahead_loop(bucket_lines{rows_}, buckets_.words(), hashes,
                          [&](std::size_t i) { counts[i] = count(hashes[i]); });
}

std::vector<top_k_entry> top_k::entries() const {
  std::vector<top_k_entry> all;
  all.reserve(slots_.size());
  for (const slot& s : slots_) all.push_back({.key = s.key, .hash = s.hash, .count = s.count});
  std::sort(all.begin(), all.end(), before);
  return all;
}

double top_k::fpr() const noexcept { return static_cast<double>(slots_.size()) * 0x1p-64; }

bit_array top_k::serialise() const {
  bit_array image(shape().bits);
  const std::span<std::uint64_t> words = image.words();
  const auto put = [&](std::size_t at, std::uint64_t value) {
    words[at] = detail::little_endian(value);
  };
  put(width_word, rows_.width);
  put(random_word, random_state_);
  put(decay_word, decay_ratio_);
  put(total_word, total_);
  put(entries_word, slots_.size());
  put(key_bytes_word, key_bytes_);
  std::size_t at = sizing::top_k_preamble_words;
  std::copy(buckets_.words().begin(), buckets_.words().end(), words.data() + at);
  at += buckets_.words().size();
  const std::vector<top_k_entry> sorted = entries();
  auto* bytes = reinterpret_cast<char*>(words.data() + at + entry_words * sorted.size());
  for (const top_k_entry& e : sorted) {
    put(at, e.hash);
    put(at + 1, e.count);
    put(at + 2, e.key.size());
    at += entry_words;
    if (!e.key.empty()) std::memcpy(bytes, e.key.data(), e.key.size());
    bytes += e.key.size();
  }
  return image;
}

}  // namespace bloomery
