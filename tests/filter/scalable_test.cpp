// The scalable filter, for every width of its cells: its rate and memory while it doubles, its
// stash, unions, and what its image may say.
#include "bloomery/filter/scalable.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../src/kernel/scalable/scalable.hpp"
#include "bloomery/detail/bits/split_table.hpp"
#include "filter/samples.hpp"
#include "kernel/levels.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

// What docs/math.md says of a width, and a rate that has it.
struct width {
  std::uint32_t bits;
  std::uint32_t cells;
  std::uint32_t keys;
  double fpr;

  [[nodiscard]] double bound(std::uint64_t doublings) const {
    return (cells + keys * static_cast<double>(doublings) / 2) / std::ldexp(1.0, int(bits) - 1);
  }
};
std::ostream& operator<<(std::ostream& out, const width& w) { return out << w.bits; }

class scalable_cells : public testing::TestWithParam<width> {
 protected:
  // One that may double so often, whatever its rate.
  [[nodiscard]] static scalable_filter with_doublings(std::uint64_t lines,
                                                      std::uint32_t doublings) {
    return scalable_filter(plan{.shape = {.kind = filter_kind::scalable,
                                          .probes = 1,
                                          .block_bits = 512,
                                          .cell_bits = GetParam().bits,
                                          .variant = doublings,
                                          .bits = (1 + lines) * 512}});
  }
  [[nodiscard]] static scalable_filter grown(std::size_t keys, std::uint64_t first,
                                             std::uint64_t stream = 1) {
    scalable_filter f(options{.keys = first, .fpr = GetParam().fpr});
    f.add_batch(sample_hashes(keys, stream));
    return f;
  }
  [[nodiscard]] static detail::split_table table(std::uint64_t lines) {
    return {lines, GetParam().bits};
  }
};

INSTANTIATE_TEST_SUITE_P(widths, scalable_cells,
                         testing::Values(width{12, 40, 32, 0.1}, width{16, 32, 26, 0.01},
                                         width{21, 24, 19, 0.001}, width{32, 16, 12, 0.0001}),
                         testing::PrintToStringParamName());

std::vector<std::uint64_t> joined(const scalable_view& f) {
  std::vector<std::uint64_t> all;
  for (const auto part : f.parts()) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(scalable, models_its_concepts) {
  static_assert(updatable<scalable_filter> && storable<scalable_filter>);
  static_assert(queryable<scalable_view> && storable<scalable_view> && !updatable<scalable_view>);
  static_assert(std::is_nothrow_move_constructible_v<scalable_filter>);
}

TEST(scalable, has_the_cells_that_its_rate_needs) {
  for (const auto& [fpr, bits, doublings] :
       {std::tuple{0.1, 12U, 10U}, std::tuple{0.096, 16U, 63U}, std::tuple{0.05, 16U, 63U},
        std::tuple{0.02, 16U, 47U}, std::tuple{0.01, 16U, 22U}, std::tuple{0.009, 16U, 20U},
        std::tuple{0.008, 21U, 63U}, std::tuple{0.001, 21U, 63U}, std::tuple{0.00021, 21U, 20U},
        std::tuple{0.0001, 32U, 63U}, std::tuple{1e-5, 32U, 63U}, std::tuple{1e-7, 32U, 33U}}) {
    const scalable_filter f(options{.keys = 1000, .fpr = fpr});
    EXPECT_EQ(f.shape().cell_bits, bits) << fpr;
    EXPECT_EQ(f.shape().variant, doublings) << fpr;
    EXPECT_LE(f.planned().fpr, fpr);
  }
}

TEST(scalable, refuses_other_rates_and_names_the_alternative) {
  for (const double fpr : {0.11, 0.5, 0.9e-7, 1e-9}) {
    EXPECT_TRUE(throws(errc::unreachable, "from 1e-07 to 0.1", [&] {
      scalable_filter(options{.keys = 1000, .fpr = fpr});
    })) << fpr;
    EXPECT_TRUE(throws(errc::unreachable, "layered",
                       [&] { scalable_filter(options{.keys = 1000, .fpr = fpr}); }));
  }
  sizing::request r{.kind = filter_kind::scalable, .keys = 1000, .bytes = 10'000};
  EXPECT_TRUE(throws(errc::bad_argument, "alone", [&] { (void)sizing::make_plan(r); }));
  r = {.kind = filter_kind::scalable, .keys = 1000, .fpr = 0.01, .probes = 3};
  EXPECT_TRUE(throws(errc::bad_argument, "alone", [&] { (void)sizing::make_plan(r); }));
}

// Cells of all lengths, one by one: a line with so many in use, which fit when what stands above
// their lowest bit is how the new one begins.
TEST_P(scalable_cells, fit_as_their_definition_says) {
  const detail::word_cells cells(GetParam().bits);
  ASSERT_EQ(cells.in_line(), GetParam().cells);
  std::mt19937_64 random(1);
  int fitting = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::uint64_t> line(8);
    const std::uint64_t in_use = random() % (cells.in_line() + 1);
    // Few different bits, so that some fit.
    const auto some_cell = [&] {
      const std::uint64_t length = std::min<std::uint64_t>(cells.width - 1, random() % 40);
      const std::uint64_t bits = (random() & random() & random()) >> (64 - cells.width);
      return (bits & (0 - (std::uint64_t{2} << (cells.width - 1 - length)))) |
             std::uint64_t{1} << (cells.width - 1 - length);
    };
    for (std::uint64_t i = 0; i < in_use; ++i) {
      EXPECT_FALSE(cells.is_full(line.data()));
      cells.append(line.data(), some_cell());
    }
    EXPECT_EQ(cells.is_full(line.data()), in_use == cells.in_line());
    const detail::split_lines lines{.words = line.data(), .lines = 1, .cells = cells};
    const auto wanted = static_cast<std::uint32_t>(some_cell() | 1U);
    std::uint64_t seen = 0;
    bool fits = false;
    cells.each(line.data(), [&](std::uint32_t cell) {
      if (cell == 0) return;
      ++seen;
      const int shift = std::countr_zero(cell) + 1;
      fits |= std::uint64_t{cell} >> shift == std::uint64_t{wanted} >> shift;
    });
    ASSERT_EQ(seen, in_use);
    ASSERT_EQ(lines.fits(line.data(), wanted), fits) << round;
    fitting += fits ? 1 : 0;
  }
  EXPECT_GT(fitting, 1'000);
  EXPECT_LT(fitting, 19'000);
}

TEST_P(scalable_cells, find_every_key_and_keep_the_rate_while_lines_double) {
  scalable_filter f(options{.keys = 1, .fpr = GetParam().fpr});
  ASSERT_EQ(f.shape().cell_bits, GetParam().bits);
  const std::uint64_t first_lines = f.lines().lines;
  std::uint64_t keys = 0;
  for (const std::uint64_t more : {400U, 20U, 3'000U, 100'000U, 400'000U, 300'000U}) {
    std::vector<std::uint64_t> hashes;
    for (std::uint64_t i = 0; i < more; ++i) hashes.push_back(sample_hash(keys + i));
    f.add_batch(hashes);
    keys += more;
    EXPECT_EQ(f.contains_count(sample_hashes(keys)), keys);
    EXPECT_EQ(f.lines().lines, first_lines << f.doublings());
    if (f.doublings() < f.shape().variant) {
      EXPECT_GE(f.lines().lines * GetParam().keys, f.keys_stored());
    }
    EXPECT_LE(f.fpr(), GetParam().bound(f.doublings())) << keys;
    EXPECT_LE(f.fpr(), GetParam().fpr);
    // 4 standard deviations around the reported rate.
    constexpr double asked = 400'000;
    const auto passed = static_cast<double>(f.contains_count(sample_hashes(400'000, 9)));
    EXPECT_NEAR(passed, asked * f.fpr(), 4 * std::sqrt(asked * f.fpr()) + 4) << keys;
  }
}

// The lines double when a sixth of them are full. Of the keys, a share that docs/math.md gives is
// in the stash then; 5 standard deviations of the number of keys in it.
TEST_P(scalable_cells, are_full_in_a_sixth_of_the_lines_when_they_double) {
  const std::uint64_t lines = 4096;
  scalable_filter f = with_doublings(lines, 0);
  f.add_batch(sample_hashes(lines * GetParam().keys));
  std::uint64_t full = 0;
  for (std::uint64_t i = 0; i < lines; ++i) {
    full += f.lines().cells.is_full(f.lines().words + i * 8) ? 1U : 0U;
  }
  EXPECT_LE(static_cast<double>(full), 4096.0 / 6 + 5 * std::sqrt(4096.0 / 6));
  EXPECT_GE(static_cast<double>(full), 4096.0 * 0.09 - 5 * std::sqrt(4096.0 * 0.09));
}

TEST_P(scalable_cells, keep_keys_whose_fingerprints_have_no_bits_left) {
  // A fingerprint of one bit and one of none, in the first line of two.
  const detail::word_cells cells(GetParam().bits);
  std::vector<std::uint64_t> words(16);
  cells.append(words.data(), cells.no_bits());
  cells.append(words.data(), cells.no_bits() + cells.no_bits() / 2);
  detail::split_table t(detail::split_lines{.words = words.data(), .lines = 2, .cells = cells});
  for (const std::uint64_t entries : {2U, 3U, 6U, 12U}) {
    EXPECT_EQ(t.entries(), entries);
    // Half of all hashes, and never more.
    EXPECT_TRUE(t.view().contains(0));
    EXPECT_TRUE(t.view().contains(UINT64_MAX / 2));
    EXPECT_FALSE(t.view().contains(UINT64_MAX / 2 + 1));
    EXPECT_NEAR(detail::split_rate(t.view()), 0.5, 1e-9);
    t = t.doubled();
  }
}

// All bits of the keys go, one with each doubling.
TEST(scalable, keeps_keys_that_are_older_than_their_fingerprints) {
  detail::split_table table(1, 12);
  const std::vector<std::uint64_t> hashes = sample_hashes(20);
  for (const std::uint64_t hash : hashes) table.put(hash);
  for (int doublings = 1; doublings <= 14; ++doublings) {
    table = table.doubled();
    for (const std::uint64_t hash : hashes) ASSERT_TRUE(table.view().contains(hash)) << doublings;
  }
  // 20 keys of 11 bits, in 2^3 cells each.
  EXPECT_EQ(table.entries(), 160U);
  EXPECT_NEAR(detail::split_rate(table.view()), 160.0 / 16384, 1e-9);
}

TEST_P(scalable_cells, keep_every_key_when_they_may_not_double) {
  scalable_filter f = with_doublings(4, 2);
  f.add_batch(sample_hashes(5'000));
  EXPECT_EQ(f.parts()[1].size(), 16U * 8);
  EXPECT_EQ(f.growth_bytes(), 0U);
  EXPECT_EQ(f.contains_count(sample_hashes(5'000)), 5'000U);
  // More than the cells hold; the others are whole in the stash and match nothing else.
  const std::uint64_t cells = 16 * GetParam().cells;
  EXPECT_GE(f.parts().at(2).size(), 2 * (f.keys_stored() - cells));
  const double fingerprint = std::ldexp(1.0, 1 - int(GetParam().bits));
  EXPECT_GE(f.fpr(), GetParam().cells * fingerprint * 0.9);
  EXPECT_LE(f.fpr(), GetParam().cells * fingerprint * 2);
}

bool refuses_memory = false;

// Where there is no memory to double, or for a larger stash, the keys before the one that needs it
// are in.
TEST_P(scalable_cells, go_on_after_there_was_no_memory) {
  use_array_memory({.take = [](std::size_t bytes) -> void* {
                      if (refuses_memory) return nullptr;
                      void* const start = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
                      if (start != nullptr) std::memset(start, 0, bytes);
                      return start;
                    },
                    .give = [](void* start, std::size_t) { std::free(start); }});
  for (const auto& [lines, doublings] : {std::pair{4U, 3U}, std::pair{1U, 0U}}) {
    scalable_filter expected = with_doublings(lines, doublings);
    scalable_filter f = with_doublings(lines, doublings);
    const auto all = sample_hashes(700);
    expected.add_batch(all);
    int refusals = 0;
    while (f.keys() < all.size()) {
      const auto left = std::span(all).subspan(f.keys());
      refuses_memory = true;
      const bool refused = throws(errc::no_memory, "", [&] { f.add_batch(left); });
      refuses_memory = false;
      EXPECT_EQ(f.contains_count(std::span(all).first(f.keys())), f.keys());
      if (!refused) continue;
      ++refusals;
      f.add(all[f.keys()]);
    }
    EXPECT_GE(refusals, 3);
    EXPECT_EQ(joined(f), joined(expected));
    EXPECT_EQ(f.keys_stored(), expected.keys_stored());
  }
  use_array_memory({});
}

// Hash 0 is kept as 1 there.
TEST_P(scalable_cells, stash_any_hash) {
  detail::split_table t = table(1);
  for (const std::uint64_t hash : sample_hashes(60, 5)) t.put(hash);
  EXPECT_FALSE(t.view().stash.contains(0));
  for (const std::uint64_t hash : {std::uint64_t{0}, UINT64_MAX}) {
    t.put(hash);
    EXPECT_TRUE(t.view().stash.contains(hash));
  }
}

void check_levels(const detail::split_lines& lines) {
  for (const kernel::level level : kernel_tests::available_levels()) {
    for (const std::size_t count : {0U, 1U, 63U, 4'096U, 9'001U}) {
      std::vector<std::uint64_t> hashes = sample_hashes(count);
      for (std::size_t i = 0; i < count; i += 2) hashes[i] = sample_hash(i, 3);
      std::vector<std::uint64_t> bitmap((count + 63) / 64, ~std::uint64_t{0});
      const auto& kernels = kernel::scalable_kernels_of(level);
      const auto check = [&](auto hash_of) {
        for (std::size_t i = 0; i < bitmap.size() * 64; ++i) {
          const bool expected = i < count && lines.contains(hash_of(hashes[i]));
          ASSERT_EQ((bitmap[i / 64] >> (i % 64)) & 1U, expected ? 1U : 0U) << i;
        }
      };
      kernels.contains(lines, kernel::run_of(hashes), bitmap.data());
      check([](std::uint64_t hash) { return hash; });
      constexpr std::uint64_t seed = 99;
      kernels.contains(lines, kernel::run_of(mixed_integers{hashes, seed}), bitmap.data());
      check([](std::uint64_t hash) { return mix64(hash, seed); });
    }
  }
}

TEST_P(scalable_cells, are_the_same_to_every_instruction_set) {
  for (const std::uint64_t keys : {10U, 25'000U}) {
    scalable_filter f = with_doublings(7, 3);
    f.add_batch(sample_hashes(keys));
    check_levels(f.lines());
  }
  // Whatever stands in the words: cells with holes between them, bits above the last.
  std::mt19937_64 random(2);
  std::vector<std::uint64_t> words(5 * 8);
  for (int round = 0; round < 4; ++round) {
    for (std::uint64_t& word : words) word = random() & (round < 2 ? random() : ~0U);
    check_levels({.words = words.data(),
                  .lines = 5,
                  .cells = detail::word_cells(GetParam().bits),
                  .stash = {.slots = words.data(), .count = 32}});
  }
}

// What a kernel adds is what calls for one key add, but for keys of full lines, which it names.
void check_adding(const detail::split_lines& lines) {
  const std::size_t words = lines.lines * detail::split_lines::words_per_line;
  for (const kernel::level level : kernel_tests::available_levels()) {
    for (const std::size_t count : {0U, 1U, 7U, 64U, 4'099U}) {
      std::vector<std::uint64_t> hashes = sample_hashes(count, 4);
      for (std::size_t i = 0; i < count; i += 5) hashes[i] = hashes[i / 2];
      for (const bool mixed : {false, true}) {
        constexpr std::uint64_t seed = 99;
        std::vector<std::uint64_t> mine(lines.words, lines.words + words);
        std::vector<std::uint64_t> open((count + 63) / 64, ~std::uint64_t{0});
        std::vector<std::uint64_t> fresh(open);
        const auto run =
            mixed ? kernel::run_of(mixed_integers{hashes, seed}) : kernel::run_of(hashes);
        detail::split_lines table = lines;
        table.words = mine.data();
        const std::uint64_t appended = kernel::scalable_kernels_of(level).add(
            table, mine.data(), run, open.data(), fresh.data());

        std::vector<std::uint64_t> expected(lines.words, lines.words + words);
        detail::split_lines now = lines;
        now.words = expected.data();
        std::uint64_t put = 0;
        for (std::size_t i = 0; i < open.size() * 64; ++i) {
          bool full = false;
          const std::uint64_t before = put;
          if (i < count) {
            const std::uint64_t hash = mixed ? mix64(hashes[i], seed) : hashes[i];
            std::uint64_t* const line = expected.data() + (now.line_of(hash) - now.words);
            const bool fits = now.fits(line, now.cell_of(hash));
            full = !fits && now.cells.is_full(line);
            if (!fits && !full) {
              now.cells.append(line, now.cell_of(hash));
              ++put;
            }
          }
          ASSERT_EQ((open[i / 64] >> (i % 64)) & 1U, full ? 1U : 0U) << i;
          ASSERT_EQ((fresh[i / 64] >> (i % 64)) & 1U, put - before) << i;
        }
        EXPECT_EQ(appended, put);
        EXPECT_EQ(mine, expected);
      }
    }
  }
}

TEST_P(scalable_cells, take_keys_from_every_instruction_set) {
  for (const std::uint64_t lines : {1U, 7U, 300U}) {
    scalable_filter f = with_doublings(lines, 3);
    check_adding(f.lines());
    f.add_batch(sample_hashes(lines * 8));
    check_adding(f.lines());
  }
  // Cells with holes between them.
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> words(5 * 8);
  for (std::uint64_t& word : words) word = random() & random() & random();
  check_adding({.words = words.data(), .lines = 5, .cells = detail::word_cells(GetParam().bits)});
}

// Many at a time are new where they are one by one, while the lines become full and double.
TEST_P(scalable_cells, say_which_of_many_are_new) {
  for (const std::size_t count : {0U, 1U, 65U, 20'011U}) {
    std::vector<std::uint64_t> hashes = sample_hashes(count, 4);
    for (std::size_t i = 0; i < count; i += 5) hashes[i] = hashes[i / 2];
    scalable_filter many = with_doublings(7, 9);
    scalable_filter one = many;
    std::vector<std::uint64_t> is_new((count + 63) / 64, ~std::uint64_t{0});
    const std::uint64_t stored = many.add_new(hashes, is_new);
    for (std::size_t i = 0; i < is_new.size() * 64; ++i) {
      const bool fresh = i < count && one.add(hashes[i]);
      ASSERT_EQ((is_new[i / 64] >> (i % 64)) & 1U, fresh ? 1U : 0U) << i;
    }
    EXPECT_EQ(stored, one.keys_stored());
    EXPECT_EQ(many.keys_stored(), one.keys_stored());
    EXPECT_EQ(many.keys(), stored);  // those that are there already do not count
    EXPECT_EQ(many.doublings(), one.doublings());
  }
}

// Integers that are hashed on the way become the filter of their hashes, while it doubles.
TEST_P(scalable_cells, hash_integers_on_the_way) {
  for (const std::size_t count : {0U, 1U, 63U, 2'049U, 20'011U}) {
    const std::vector<std::uint64_t> integers = sample_hashes(count, 6);
    const mixed_integers mixed{.keys = integers, .spread_seed = 5};
    std::vector<std::uint64_t> hashes(count);
    mix64_batch(mixed, hashes);
    scalable_filter a = with_doublings(7, 9);
    scalable_filter b = a;
    a.add_batch(mixed);
    b.add_batch(hashes);
    EXPECT_EQ(a, b);
    EXPECT_EQ(a.keys(), count);
  }
}

TEST_P(scalable_cells, merge_when_they_are_of_different_age) {
  for (const auto& [mine, theirs] : {std::pair{100U, 60'000U}, std::pair{60'000U, 100U},
                                     std::pair{30'000U, 31'000U}, std::pair{0U, 500U}}) {
    scalable_filter a = grown(mine, 2000);
    const scalable_filter b = grown(theirs, 2000, 2);
    // The rates of both, and a little for fingerprints that became one.
    const double sum = (a.fpr() + b.fpr()) * 1.02 + GetParam().fpr / 8;
    a.merge(b);
    EXPECT_EQ(a.contains_count(sample_hashes(mine)), mine);
    EXPECT_EQ(a.contains_count(sample_hashes(theirs, 2)), theirs);
    EXPECT_EQ(a.keys(), mine + theirs);
    EXPECT_LE(a.fpr(), sum);
    // And goes on growing.
    a.add_batch(sample_hashes(100'000, 3));
    EXPECT_EQ(a.contains_count(sample_hashes(100'000, 3)), 100'000U);
    EXPECT_LE(a.fpr(), sum + GetParam().bound(a.doublings()));
  }
  // What both have is there once.
  scalable_filter same = grown(10'000, 500);
  const auto words = joined(same);
  same.merge(same);
  EXPECT_EQ(joined(same), words);
  scalable_filter more = grown(10'100, 500);
  EXPECT_EQ(more.lines().lines, same.lines().lines);
  same.merge(more);
  EXPECT_EQ(same.contains_count(sample_hashes(10'100)), 10'100U);
  EXPECT_EQ(same.lines().lines, more.lines().lines);
}

// Two tables of one key each, the one's older: the longer fingerprint goes, never the shorter.
TEST_P(scalable_cells, merge_to_the_shorter_fingerprint) {
  const std::uint64_t hash = sample_hash(1);
  detail::split_table old = table(1);
  old.put(hash);
  for (int i = 0; i < 4; ++i) old = old.doubled();
  detail::split_table fresh = table(16);
  fresh.put(hash);
  detail::split_table a = old;
  a.put_all(fresh.view());
  EXPECT_EQ(a.entries(), 1U);
  detail::split_table b = fresh;
  b.put_all(old.view());
  EXPECT_EQ(b.entries(), 2U);
  const double one = std::ldexp(1.0, 1 - int(GetParam().bits)) / 16;
  EXPECT_NEAR(detail::split_rate(a.view()), 16 * one, one / 1000);
  EXPECT_NEAR(detail::split_rate(b.view()), 17 * one, one / 10);
}

// A line that is full takes the keys of others in cells that fit both.
TEST_P(scalable_cells, merge_into_full_lines) {
  const std::uint64_t cells = GetParam().cells;
  detail::split_table a = table(1);
  detail::split_table b = table(1);
  for (const std::uint64_t hash : sample_hashes(cells)) a.put(hash);
  for (const std::uint64_t hash : sample_hashes(cells + 8, 2)) b.put(hash);
  a.put_all(b.view());
  for (const std::uint64_t hash : sample_hashes(cells)) EXPECT_TRUE(a.view().contains(hash));
  for (const std::uint64_t hash : sample_hashes(cells + 8, 2)) EXPECT_TRUE(a.view().contains(hash));
  // Twice as many fingerprints as cells: those that were joined have about 5 bits in common.
  EXPECT_LT(detail::split_rate(a.view()), 0.85);
  a = a.doubled();
  for (const std::uint64_t hash : sample_hashes(cells + 8, 2)) EXPECT_TRUE(a.view().contains(hash));
}

TEST_P(scalable_cells, refuse_to_merge_what_does_not_fit) {
  scalable_filter a = grown(5'000, 1000);
  const auto before = joined(a);
  EXPECT_TRUE(throws(errc::mismatch, "not planned alike", [&] { a.merge(grown(5'000, 1400)); }));
  const double other_rate = GetParam().bits == 16 ? 0.001 : 0.01;
  const scalable_filter others(options{.keys = 1000, .fpr = other_rate});
  EXPECT_TRUE(throws(errc::mismatch, "width of their cells", [&] { a.merge(others); }));
  scalable_filter once = with_doublings(16, 1);
  scalable_filter other = with_doublings(16, 1);
  const std::uint64_t many = std::uint64_t{31} * GetParam().keys;  // 32 lines
  once.add_batch(sample_hashes(many));
  other.add_batch(sample_hashes(many, 2));
  EXPECT_TRUE(throws(errc::full, "double", [&] { once.merge(other); }));
  EXPECT_EQ(joined(a), before);
  EXPECT_EQ(once.contains_count(sample_hashes(many)), many);
}

TEST_P(scalable_cells, refuse_hostile_words) {
  scalable_filter f = with_doublings(5, 3);
  f.add_batch(sample_hashes(2'000));
  const auto good = joined(f);
  ASSERT_EQ(f.parts().size(), 3U);
  const auto refused = [&](auto change) {
    std::vector<std::uint64_t> words = good;
    change(words);
    plan p = f.planned();
    p.shape.bits = words.size() * 64;
    return throws(errc::corrupt, "damaged", [&] { scalable_view(p, words, 1); });
  };
  EXPECT_FALSE(refused([](auto&) {}));
  EXPECT_TRUE(refused([](auto& words) { words[0] = 0; }));
  EXPECT_TRUE(refused([](auto& words) { words[0] += 1; }));
  EXPECT_TRUE(refused([](auto& words) { words[0] = UINT64_MAX; }));
  EXPECT_TRUE(refused([](auto& words) { words[2] = 64; }));
  EXPECT_TRUE(refused([](auto& words) { words[3] = 0; }));
  EXPECT_TRUE(refused([](auto& words) { words[3] = UINT64_MAX; }));
  EXPECT_TRUE(refused([](auto& words) { words[4] = 1; }));
  EXPECT_TRUE(refused([](auto& words) { words[7] = 1; }));
  EXPECT_TRUE(refused([](auto& words) { words.resize(words.size() - 8); }));
  EXPECT_TRUE(refused([](auto& words) { words.resize(16); }));
  // Slots that are no power of two.
  EXPECT_TRUE(refused([](auto& words) {
    words[3] = detail::little_endian(detail::little_endian(words[3]) - 8);
    words.resize(words.size() - 8);
  }));
  const auto shape_refused = [&](auto change) {
    plan p = f.planned();
    change(p.shape);
    return throws(errc::bad_argument, "", [&] { scalable_view(p, good, 1); });
  };
  EXPECT_TRUE(shape_refused([](auto& s) { s.probes = 2; }));
  for (const std::uint32_t bits : {0U, 8U, 13U, 24U, 64U}) {
    EXPECT_TRUE(shape_refused([&](auto& s) { s.cell_bits = bits; })) << bits;
  }
  EXPECT_TRUE(shape_refused([](auto& s) { s.variant = 64; }));
}

// A file that says it has many keys does not make its reader's memory double with every key that is
// added.
TEST_P(scalable_cells, do_not_believe_in_more_keys_than_there_are) {
  const scalable_filter f = grown(10, 100);
  auto words = joined(f);
  words[1] = UINT64_MAX;
  scalable_filter owner(scalable_view(f.planned(), words, 1));
  owner.add_batch(sample_hashes(150, 4));
  EXPECT_EQ(owner.contains_count(sample_hashes(150, 4)), 150U);
  EXPECT_EQ(owner.lines().lines, f.lines().lines);
}

// A stash without a free slot, and lines with holes.
TEST_P(scalable_cells, answer_whatever_they_say) {
  scalable_filter f = with_doublings(3, 5);
  f.add_batch(sample_hashes(20));
  auto words = joined(f);
  words.resize(8 + 3 * 8 + 16);
  words[3] = detail::little_endian(16);
  for (std::size_t i = 8; i < words.size(); ++i) words[i] = splitmix64(i) | 1U;
  for (std::size_t i = 8; i < 32; i += 3) words[i] = 0;
  plan p = f.planned();
  p.shape.bits = words.size() * 64;
  scalable_filter owner(scalable_view(p, words, 1));
  owner.add_batch(sample_hashes(3'000));
  EXPECT_EQ(owner.contains_count(sample_hashes(3'000)), 3'000U);
  EXPECT_LE(owner.fpr(), 1);
}

// Hashes can be chosen, for integers at once: a line and a slot of the stash for all of them must
// not make each add search through those before it.
TEST_P(scalable_cells, bound_the_search_for_keys_of_one_slot) {
  constexpr std::uint64_t lines = 1024;
  scalable_filter f = with_doublings(lines, 2);
  std::vector<std::uint64_t> aimed;
  for (std::uint64_t product = 1; aimed.size() < 3'000; ++product) {
    // The inverse of the stash's factor modulo 2^64: the product begins with zeros, whatever S is.
    const std::uint64_t hash = product * 0xf1de83e19937733dU;
    if (hash >> 54U == 17) aimed.push_back(hash);
  }
  f.add_batch(aimed);
  EXPECT_EQ(f.contains_count(aimed), aimed.size());
  const detail::hash_stash& stash = f.lines().stash;
  for (std::uint64_t at = 0; at < stash.count; ++at) {
    if (stash.slots[at] == 0) continue;
    const auto own =
        detail::hash_stash::slot_of(detail::little_endian(stash.slots[at]), stash.count);
    EXPECT_LT((at - own) & (stash.count - 1), detail::hash_stash::most_steps);
  }
  EXPECT_LE(f.fpr(), GetParam().bound(f.doublings()) + 1.0 / lines);
  const auto others = sample_hashes(10'000);
  f.add_batch(others);
  EXPECT_EQ(f.contains_count(others), others.size());
  EXPECT_EQ(f.contains_count(aimed), aimed.size());
}

// Against the filter that knew the number of keys, at any moment from a first size of 64 KiB on:
// what docs/math.md says, with the stash.
TEST(scalable, stays_within_its_memory) {
  struct memory {
    double fpr;
    double full;
    double doubled;
  };
  for (const memory& m : {memory{0.1, 3.7, 6.6}, memory{0.05, 3.7, 6.5}, memory{0.02, 2.8, 4.9},
                          memory{0.01, 2.5, 4.0}, memory{0.001, 2.1, 3.5}, memory{1e-4, 2.4, 4.0},
                          memory{1e-5, 2.0, 3.1}}) {
    scalable_filter f(options{.keys = 40'000, .fpr = m.fpr});
    ASSERT_GE(f.shape().bits, 64U * 1024 * 8);
    const auto presized = [&](std::uint64_t keys) {
      return static_cast<double>(sizing::make_plan({.keys = keys, .fpr = m.fpr}).shape.bits);
    };
    std::uint64_t doublings = 0;
    for (std::uint64_t i = 0; i < 700'000; ++i) {
      const std::uint64_t before = f.shape().bits;
      f.add(sample_hash(i));
      if (f.shape().bits == before || f.keys() < 40'000) continue;
      EXPECT_LE(static_cast<double>(f.shape().bits), m.doubled * presized(f.keys_stored()));
      if (f.doublings() == doublings) continue;  // the stash alone
      doublings = f.doublings();
      EXPECT_LE(static_cast<double>(before), m.full * presized(f.keys_stored() - 1)) << m.fpr;
    }
    EXPECT_EQ(doublings, 5U) << m.fpr;
  }
}

TEST(scalable, does_not_grow_by_repetitions) {
  scalable_filter f(options{.keys = 1000});
  for (int round = 0; round < 50; ++round) f.add_batch(sample_hashes(900));
  EXPECT_EQ(f.doublings(), 0U);
  EXPECT_EQ(f.keys(), 45'000U);
  EXPECT_LE(f.keys_stored(), 900U);
}

TEST(scalable, says_whether_a_key_was_new) {
  scalable_filter f(options{.keys = 1000, .fpr = 1e-6});
  EXPECT_TRUE(f.add(sample_hash(1)));
  EXPECT_FALSE(f.add(sample_hash(1)));
  EXPECT_TRUE(f.add(sample_hash(2)));
}

TEST_P(scalable_cells, take_many_keys_as_they_take_one) {
  // Repetitions inside a batch and across its borders, and growth in the middle of one.
  std::vector<std::uint64_t> hashes = sample_hashes(20'000);
  for (std::size_t i = 0; i < hashes.size(); i += 3) hashes[i] = hashes[i / 2];
  scalable_filter many(options{.keys = 500, .fpr = GetParam().fpr});
  many.add_batch(hashes);
  scalable_filter one(options{.keys = 500, .fpr = GetParam().fpr});
  for (const std::uint64_t hash : hashes) one.add(hash);
  EXPECT_EQ(joined(many), joined(one));
  EXPECT_EQ(many.keys(), one.keys());
}

TEST_P(scalable_cells, are_copied_moved_and_viewed) {
  scalable_filter f(options{.keys = 700, .fpr = GetParam().fpr});
  // Nearly full: some are in the stash.
  while (f.doublings() < 4) f.add(sample_hash(f.keys()));
  while (f.room() > 100) f.add(sample_hash(f.keys()));
  ASSERT_EQ(f.parts().size(), 3U);
  const auto words = joined(f);
  EXPECT_EQ(words.size() * 64, f.shape().bits);
  const scalable_view v(f.planned(), words, f.keys());
  EXPECT_EQ(joined(v), words);
  EXPECT_EQ(v.doublings(), f.doublings());
  EXPECT_EQ(v.contains_count(sample_hashes(40'000)), f.contains_count(sample_hashes(40'000)));
  scalable_filter copy(v);
  scalable_filter same = f;
  copy.add_batch(sample_hashes(50'000, 2));
  same.add_batch(sample_hashes(50'000, 2));
  f.add_batch(sample_hashes(50'000, 2));
  EXPECT_EQ(joined(copy), joined(f));
  EXPECT_EQ(joined(same), joined(f));
  const scalable_filter moved = std::move(f);
  EXPECT_EQ(joined(moved), joined(copy));
  same = moved;
  EXPECT_EQ(joined(same), joined(copy));
}

TEST(scalable, plans_the_filter_of_the_right_size_for_its_keys) {
  scalable_filter f(options{.keys = 100});
  f.add_batch(sample_hashes(100'000));
  blocked_filter one(sizing::compact_plan(f.planned(), f.keys_stored(), f.fpr()));
  one.add_batch(sample_hashes(100'000));
  EXPECT_EQ(one.contains_count(sample_hashes(100'000)), 100'000U);
  EXPECT_LE(one.fpr(), 0.01);
  EXPECT_LT(one.shape().bits * 18, f.shape().bits * 10);
}

}  // namespace
