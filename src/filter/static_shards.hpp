// Building a static filter shard by shard: in memory with several threads, or in turn from a file.
//
// A `Solver` makes the arrays of one shard. It has
//
//     item                       what it takes of a key: the hash, or the hash and a value
//     entry                      std::array of the words of its entry in the directory
//     Solver(shape)
//     array_words(keys)          words of the arrays of a shard with so many different keys
//     solve(shard, items, out, entry)
//                                sorts and shortens `items` as it likes, fills the zeroed words
//                                `out` and all of the entry but word 0; returns how many
//                                different keys there were
//
// and writes the same words for the same set of keys, whatever their order and repetitions.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/error.hpp"
#include "bloomery/core/parallel.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/core/sizing_static.hpp"
#include "bloomery/detail/filter/static_filter.hpp"
#include "bloomery/detail/filter/static_layout.hpp"
#include "bloomery/filter/explanation.hpp"

namespace bloomery::detail {

[[nodiscard]] inline std::uint64_t hash_of(std::uint64_t item) noexcept { return item; }
[[nodiscard]] inline std::uint64_t hash_of(const valued_hash& item) noexcept { return item.hash; }

// Sorts the items by hash, leaves each once. Throws errc::bad_argument when a hash has two values.
[[nodiscard]] std::span<std::uint64_t> drop_repetitions(std::span<std::uint64_t> items);
[[nodiscard]] std::span<valued_hash> drop_repetitions(std::span<valued_hash> items);

// Tries before a shard is given up. Nine in ten succeed: so many failures mean non-random hashes.
inline constexpr std::uint32_t max_tries = 64;

[[nodiscard]] constexpr std::uint64_t shard_seed(std::uint64_t shard,
                                                 std::uint32_t attempt) noexcept {
  return splitmix64(shard * max_tries + attempt);
}

[[noreturn]] void throw_no_seed(filter_kind kind, std::uint64_t shard, std::uint64_t keys);
void check_shard_keys(std::uint64_t keys);
// The plan of a finished filter: as asked for, with the bits that it came to.
[[nodiscard]] plan finished_plan(const plan& p, std::uint64_t words);
const plan& checked_static_plan(const plan& p, filter_kind kind);

// What a view says of a key whose shard has no keys, and of its fingerprint, found or not.
[[nodiscard]] explanation no_keys_in_shard();
void compare_prints(explanation& e, std::uint64_t expected, std::uint64_t found);

// A copy of the items, shard after shard. `item_at(i)` for i below `count`.
template <class Item>
class shard_parts {
 public:
  template <class ItemAt>
  shard_parts(std::size_t count, std::uint64_t shards, unsigned threads, ItemAt item_at)
      : memory_(std::uint64_t{8} * sizeof(Item) * count),
        first_(static_cast<std::size_t>(shards) + 1) {
    const std::uint64_t pieces =
        std::max<std::uint64_t>(1, std::min<std::uint64_t>(threads, count >> 16U));
    const auto piece_begin = [&](std::uint64_t piece) {
      return static_cast<std::size_t>(piece * count / pieces);
    };
    // next[piece][shard]: how many first, then where the next one goes.
    std::vector<std::vector<std::size_t>> next(
        static_cast<std::size_t>(pieces),
        std::vector<std::size_t>(static_cast<std::size_t>(shards)));
    const auto for_pieces = [&](auto visit) {
      in_parallel({threads}, pieces, [&](std::uint64_t piece) {
        const std::span<std::size_t> slots(next[piece]);
        const std::size_t end = piece_begin(piece + 1);
        for (std::size_t i = piece_begin(piece); i < end; ++i) visit(slots, item_at(i));
      });
    };
    for_pieces([&](std::span<std::size_t> slots, const Item& item) {
      ++slots[multiply_high(hash_of(item), shards)];
    });
    std::size_t sum = 0;
    for (std::size_t s = 0; s < shards; ++s) {
      first_[s] = sum;
      for (auto& slots : next) sum += std::exchange(slots[s], sum);
    }
    first_.back() = sum;
    Item* const out = items();
    for_pieces([&](std::span<std::size_t> slots, const Item& item) {
      out[slots[multiply_high(hash_of(item), shards)]++] = item;
    });
  }

  [[nodiscard]] std::span<Item> operator[](std::uint64_t shard) noexcept {
    return {items() + first_[shard], first_[shard + 1] - first_[shard]};
  }

 private:
  [[nodiscard]] Item* items() noexcept { return reinterpret_cast<Item*>(memory_.words().data()); }

  bit_array memory_;
  std::vector<std::size_t> first_;
};

// The shards in order, some at a time, without keeping their arrays.
template <class Solver>
class shard_writer final : public shard_stream<typename Solver::item> {
 public:
  using item = typename Solver::item;

  explicit shard_writer(const plan& p) : plan_(p), shards_(sizing::static_shards(p.keys)) {}

  [[nodiscard]] std::uint64_t shards() const noexcept override { return shards_; }
  [[nodiscard]] std::uint64_t keys() const noexcept override { return keys_; }
  [[nodiscard]] const plan& planned() const noexcept override { return plan_; }

  std::span<const std::uint64_t> add_shards(std::span<const std::span<item>> parts,
                                            unsigned threads) override {
    if (parts.empty()) return {};
    check(parts);
    while (solvers_.size() < std::min<std::size_t>(parallel{threads}.count(), parts.size())) {
      solvers_.emplace_back(plan_.shape);
    }
    std::vector<std::uint64_t> first(parts.size() + 1);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      first[i + 1] = first[i] + solvers_.front().array_words(parts[i].size());
    }
    out_.assign(static_cast<std::size_t>(first.back()), 0);
    std::vector<typename Solver::entry> entries(parts.size());
    std::vector<std::uint64_t> different(parts.size());
    std::atomic<std::size_t> next_solver{0};
    in_parallel(
        {threads}, parts.size(), [&] { return &solvers_[next_solver++]; },
        [&](Solver* solver, std::uint64_t i) {
          different[i] = solver->solve(done_ + i, parts[i], out_.data() + first[i], entries[i]);
        });
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      end = append(entries[i], different[i], first[i], end);
    }
    done_ += parts.size();
    return std::span<const std::uint64_t>(out_).first(static_cast<std::size_t>(end));
  }

  // The directory and the footer; the plan is that of the whole filter from here on.
  std::vector<std::uint64_t> finish() override {
    if (done_ != shards_) {
      throw_bad_argument("the number of shards added", done_, to_text(shards_));
    }
    plan_ = finished_plan(plan_, next_word_ + directory_.size() + sizing::footer_words);
    directory_.push_back(little_endian(shards_));
    directory_.push_back(little_endian(keys_));
    directory_.resize(directory_.size() + sizing::footer_words - 2);
    return std::move(directory_);
  }

 private:
  void check(std::span<const std::span<item>> parts) const {
    if (parts.size() > shards_ - done_) {
      detail::fail(errc::bad_argument, "all shards of the filter were added");
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (const item& one : parts[i]) {
        const std::uint64_t shard = multiply_high(hash_of(one), shards_);
        if (shard != done_ + i)
          throw_bad_argument("the shard of a hash", shard, to_text(done_ + i));
      }
      check_shard_keys(parts[i].size());
    }
  }

  // Moves the words of a shard to the end of those before it, and returns where they end.
  std::uint64_t append(typename Solver::entry& entry, std::uint64_t keys, std::uint64_t first,
                       std::uint64_t end) {
    const std::uint64_t words = solvers_.front().array_words(keys);
    if (first != end) std::copy_n(out_.data() + first, words, out_.data() + end);
    entry[0] = next_word_;
    for (const std::uint64_t word : entry) directory_.push_back(little_endian(word));
    next_word_ += words;
    keys_ += keys;
    return end + words;
  }

  plan plan_;
  std::vector<Solver> solvers_;  // one for each thread, kept for their memory
  std::uint64_t shards_;
  std::uint64_t done_ = 0;
  std::uint64_t keys_ = 0;
  std::uint64_t next_word_ = 0;
  std::vector<std::uint64_t> out_;
  std::vector<std::uint64_t> directory_;
};

// All shards in memory. Each has its place before it is solved; repeated keys make arrays move up.
template <class Solver>
payload build_shards(const plan& p, std::uint64_t shards, shard_parts<typename Solver::item>& parts,
                     unsigned threads) {
  const auto count = static_cast<std::size_t>(shards);
  const Solver sizes(p.shape);
  std::vector<std::uint64_t> first(count + 1);
  for (std::size_t s = 0; s < count; ++s) {
    check_shard_keys(parts[s].size());
    first[s + 1] = first[s] + sizes.array_words(parts[s].size());
  }
  std::vector<typename Solver::entry> entries(count);
  std::vector<std::uint64_t> keys(count);
  const std::uint64_t tail = count * typename Solver::entry().size() + sizing::footer_words;
  payload built{.planned = p, .array = bit_array(64 * (first.back() + tail))};
  std::uint64_t* words = built.array.words().data();
  in_parallel(
      {threads}, shards, [&] { return Solver(p.shape); },
      [&](Solver& solver, std::uint64_t s) {
        keys[s] = solver.solve(s, parts[s], words + first[s], entries[s]);
      });
  std::uint64_t end = 0;
  for (std::size_t s = 0; s < count; ++s) {
    const std::uint64_t used = sizes.array_words(keys[s]);
    if (end != first[s]) std::copy_n(words + first[s], used, words + end);
    entries[s][0] = end;
    end += used;
    built.keys += keys[s];
  }
  built.planned = finished_plan(p, end + tail);
  if (end != first.back()) {
    bit_array shorter(built.planned.shape.bits);
    std::copy_n(words, end, shorter.words().begin());
    built.array = std::move(shorter);
    words = built.array.words().data();
  }
  std::uint64_t* next = words + end;
  for (const auto& entry : entries)
    next = std::transform(entry.begin(), entry.end(), next, little_endian);
  next[0] = little_endian(shards);
  next[1] = little_endian(built.keys);
  return built;
}

template <class Solver>
payload build_set(const plan& p, std::span<const std::uint64_t> hashes, unsigned threads) {
  const std::uint64_t shards = sizing::static_shards(p.keys != 0 ? p.keys : hashes.size());
  shard_parts<std::uint64_t> parts(hashes.size(), shards, threads,
                                   [&](std::size_t i) { return hashes[i]; });
  return build_shards<Solver>(p, shards, parts, threads);
}

}  // namespace bloomery::detail
