// The text index: its tables against filters made by hand, no document missed, others at the
// promised rate, adding the same as building at once, and hostile bytes.
#include "bloomery/search/text_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/core/parallel.hpp"
#include "bloomery/hash/probe.hpp"
#include "bloomery/search/text_index_builder.hpp"
#include "format/files.hpp"

namespace bloomery {
namespace {

using bloomery_test::byte_vector;
using bloomery_test::read_bytes;
using bloomery_test::temporary_directory;

using words = std::vector<std::uint64_t>;

std::uint64_t word(std::uint64_t number) { return mix64(number, splitmix64(7)); }

// Documents of 0 to some thousand words, most of them short, from a vocabulary of 50,000.
std::vector<words> sample_documents(std::size_t number, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<words> all(number);
  for (words& document : all) {
    const auto length =
        static_cast<std::size_t>(std::exp2(static_cast<double>(random() % 1100) / 100.0) - 1.0);
    std::set<std::uint64_t> different;
    for (std::size_t i = 0; i < length; ++i) different.insert(word(random() % 50'000));
    document.assign(different.begin(), different.end());
  }
  return all;
}

void add_all(text_index_builder& builder, const std::vector<words>& documents, std::size_t from,
             std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    builder.add(builder.add_file("d" + std::to_string(i)), 0, documents[i]);
  }
}

void build(const std::filesystem::path& path, const std::vector<words>& documents,
           const text_index_options& o = {}) {
  text_index_builder builder(o, path.parent_path());
  add_all(builder, documents, 0, documents.size());
  builder.save(path);
}

template <class Work>
errc code_of(Work work) {
  try {
    work();
  } catch (const error& e) {
    return e.code();
  }
  return errc{};
}

TEST(TextIndex, tables_are_the_filters_of_the_documents) {
  const temporary_directory folder;
  const std::vector<words> documents = sample_documents(300, 1);
  build(folder / "i", documents, {.fpr = 0.02, .probes = 3, .seed = 5});
  const text_index index(folder / "i");
  index.verify();
  EXPECT_EQ(index->documents(), documents.size());
  EXPECT_EQ(index->options().seed, 5U);
  std::size_t seen = 0;
  for (const auto& g : index->groups()) {
    const classic_probes probes(shape{.kind = filter_kind::classic, .probes = 3, .bits = g.rows});
    for (std::uint64_t column = 0; column < g.documents; ++column) {
      std::vector<bool> expected(g.rows);
      for (const std::uint64_t hash : documents[index->member(g, column)]) {
        probes.all_of(hash, [&](std::uint64_t row) { return expected[row] = true; });
      }
      for (std::uint64_t row = 0; row < g.rows; ++row) {
        const std::uint64_t bit = row * g.documents + column;
        const bool set = ((detail::little_endian(g.bits[bit / 64]) >> (bit % 64)) & 1U) != 0;
        ASSERT_EQ(set, expected[row]) << g.rows << ' ' << column << ' ' << row;
      }
      ++seen;
    }
  }
  EXPECT_EQ(seen, documents.size());
}

TEST(TextIndex, groups_are_of_about_one_length_and_hold_nothing_else) {
  const temporary_directory folder;
  const std::vector<words> documents = sample_documents(500, 2);
  build(folder / "i", documents, {.fpr = 0.01});
  const text_index index(folder / "i");
  std::uint64_t bits = 0;
  for (const auto& g : index->groups()) {
    std::size_t least = SIZE_MAX;
    std::size_t most = 0;
    for (std::uint64_t column = 0; column < g.documents; ++column) {
      const std::size_t size = documents[index->member(g, column)].size();
      least = std::min(least, size);
      most = std::max(most, size);
    }
    // Steps of a quarter at most; the first group is all that is shorter than five words.
    EXPECT_TRUE(most <= 4 || 4 * most <= 5 * least + 4) << least << ' ' << most;
    bits += g.rows * g.documents;
  }
  EXPECT_EQ(bits, index->bits());
  // 10.5 bits for each word of full groups, which are full to 80 % at least but for the shortest
  // documents.
  EXPECT_LT(static_cast<double>(bits),
            10.6 / 0.8 * static_cast<double>(index->words()) + 45.0 * 500);
}

TEST(TextIndex, misses_nothing_and_keeps_its_rate) {
  const temporary_directory folder;
  const std::vector<words> documents = sample_documents(3000, 3);
  build(folder / "i", documents, {.fpr = 0.01});
  const text_index index(folder / "i");
  std::mt19937_64 random(4);
  std::uint64_t found = 0;
  std::uint64_t wrong = 0;
  double wrong_pairs = 0;
  constexpr std::uint64_t questions = 400;
  for (std::uint64_t q = 0; q < questions; ++q) {
    const std::uint64_t asked = word(random() % 50'000);
    const std::vector<std::uint32_t> got = index->find(std::vector{asked});
    ASSERT_TRUE(std::ranges::is_sorted(got));
    std::size_t next = 0;
    for (std::uint32_t d = 0; d < documents.size(); ++d) {
      const bool has = std::ranges::binary_search(documents[d], asked);
      const bool reported = next < got.size() && got[next] == d;
      next += reported ? 1U : 0U;
      ASSERT_TRUE(!has || reported);
      found += has ? 1U : 0U;
      wrong += !has && reported ? 1U : 0U;
    }
    // A word that no document has, and one more: the rates multiply.
    wrong_pairs +=
        static_cast<double>(index->find(std::vector{word(100'000 + q), word(200'000 + q)}).size());
  }
  EXPECT_GT(found, questions);
  // Bernoulli trials with different rates, the mean of which fpr() tells: the standard deviation of
  // their sum is at most that with one rate. The rate of each document varies by the draw of its
  // bits, by 10 % or so in documents of ten words, which 3,000 documents average out. Five standard
  // deviations.
  const auto trials = static_cast<double>(questions * documents.size() - found);
  const double expected = trials * index->fpr();
  EXPECT_NEAR(static_cast<double>(wrong), expected, 5 * std::sqrt(expected) + 0.02 * expected);
  EXPECT_LE(index->fpr(), 0.01);
  const double pairs = static_cast<double>(questions) * index->expected_false(2);
  EXPECT_NEAR(wrong_pairs, pairs, 5 * std::sqrt(pairs) + 0.1 * pairs);
}

TEST(TextIndex, adding_is_the_same_as_building_at_once) {
  const temporary_directory folder;
  const std::vector<words> documents = sample_documents(700, 5);
  build(folder / "at once", documents);
  std::size_t done = 0;
  for (const std::size_t to : {1U, 130U, 131U, 700U}) {
    const auto name = folder / std::to_string(to);
    if (done == 0) {
      text_index_builder builder({}, folder.path());
      add_all(builder, documents, 0, to);
      builder.save(name);
    } else {
      const text_index old(folder / std::to_string(done));
      text_index_builder builder(*old, folder.path());
      add_all(builder, documents, done, to);
      builder.save(name);
    }
    done = to;
  }
  EXPECT_EQ(read_bytes(folder / "700"), read_bytes(folder / "at once"));
}

TEST(TextIndex, a_file_that_is_added_again_replaces_itself) {
  const temporary_directory folder;
  {
    text_index_builder builder({.unit = document_unit::paragraph}, folder.path());
    const auto a = builder.add_file("a");
    const auto b = builder.add_file("b");
    builder.add(a, 7, words{word(2)});
    builder.add(b, 1, words{word(1)});
    builder.add(a, 1, words{word(1)});
    builder.save(folder / "i");
  }
  const text_index first(folder / "i");
  EXPECT_EQ(first->find(words{word(1)}), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(first->document(1)->path, "a");
  EXPECT_EQ(first->document(1)->line, 7U);
  text_index_builder builder(*first, folder.path());
  builder.add(builder.add_file("a"), 1, words{word(3)});
  const auto broken = builder.add_file("b");
  builder.add(broken, 1, words{word(3)});
  builder.drop(broken);
  builder.save(folder / "i");
  const text_index second(folder / "i");
  second.verify();
  EXPECT_EQ(second->find(words{word(1)}), std::vector<std::uint32_t>{2});
  EXPECT_EQ(second->document(2)->path, "b");
  EXPECT_FALSE(second->document(0).has_value());
  EXPECT_EQ(second->find(words{word(2)}), std::vector<std::uint32_t>{});
  EXPECT_EQ(second->find(words{word(3)}), std::vector<std::uint32_t>{3});
}

TEST(TextIndex, a_share_of_the_terms) {
  const temporary_directory folder;
  build(folder / "i", {{word(1), word(2), word(3), word(4)}, {word(1), word(2)}, {}},
        {.fpr = 1e-6});
  const text_index index(folder / "i");
  const words all{word(1), word(2), word(3), word(4), word(1)};
  EXPECT_EQ(index->find(all), std::vector<std::uint32_t>{0});
  EXPECT_EQ(index->find(all, 0.5), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(index->find(all, 0.51), std::vector<std::uint32_t>{0});
  EXPECT_EQ(terms_needed(0.7, 10), 7U);
  EXPECT_EQ(code_of([&] { static_cast<void>(index->find(all, 0)); }), errc::bad_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(index->find(all, 1.1)); }), errc::bad_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(index->find({})); }), errc::bad_argument);
}

TEST(TextIndex, the_order_of_threads_does_not_show) {
  const temporary_directory folder;
  const std::vector<words> documents = sample_documents(400, 6);
  build(folder / "one", documents);
  text_index_builder builder({}, folder.path());
  for (std::size_t i = 0; i < documents.size(); ++i) builder.add_file("d" + std::to_string(i));
  detail::in_parallel(parallel{4}, documents.size(), [&](std::uint64_t i) {
    builder.add(static_cast<std::uint32_t>(i), 0, documents[i]);
  });
  builder.save(folder / "four");
  EXPECT_EQ(read_bytes(folder / "four"), read_bytes(folder / "one"));
}

TEST(TextIndex, nothing_at_all_is_an_index_too) {
  const temporary_directory folder;
  build(folder / "i", {});
  const text_index index(folder / "i");
  index.verify();
  EXPECT_EQ(index->documents(), 0U);
  EXPECT_TRUE(index->find(words{1}).empty());
  EXPECT_EQ(index->fpr(), 0.0);
}

TEST(TextIndex, options_that_cannot_be) {
  const temporary_directory folder;
  const auto make = [&](const text_index_options& o) {
    return code_of([&] { text_index_builder(o, folder.path()); });
  };
  EXPECT_EQ(make({.fpr = 0}), errc::bad_argument);
  EXPECT_EQ(make({.fpr = 1}), errc::bad_argument);
  EXPECT_EQ(make({.fpr = std::nan("")}), errc::bad_argument);
  EXPECT_EQ(make({.probes = 65}), errc::bad_argument);
  EXPECT_EQ(make({.kmer = 3}), errc::bad_argument);
  EXPECT_EQ(make({.terms = term_kind::kmers}), errc::bad_argument);
}

// Makes the checksums right again, as somebody who alters a file on purpose would.
void seal_index(byte_vector& bytes) {
  bloomery_test::put(bytes, 120, 8, bloomery_test::xxh3(std::span(bytes).first(120)));
  bloomery_test::put(bytes, bytes.size() - 8, 8,
                     bloomery_test::xxh3(std::span(bytes).first(bytes.size() - 8)));
}

TEST(TextIndex, every_damaged_byte_is_found) {
  const temporary_directory folder;
  build(folder / "i", sample_documents(20, 8));
  const byte_vector good = read_bytes(folder / "i");
  for (std::size_t at = 0; at < good.size(); ++at) {
    byte_vector bad = good;
    bad[at] ^= std::byte{0x10};
    EXPECT_THROW(text_index_view{bad}, error) << at;
  }
  for (std::size_t size = 0; size < good.size(); size += 7) {
    EXPECT_THROW(text_index_view{std::span(good).first(size)}, error) << size;
  }
  byte_vector longer = good;
  longer.resize(good.size() + 8);
  EXPECT_THROW(text_index_view{longer}, error);
}

TEST(TextIndex, forged_numbers_are_refused) {
  const temporary_directory folder;
  build(folder / "i", sample_documents(20, 9));
  const byte_vector good = read_bytes(folder / "i");
  // Every number of the header and of the first group: 0, 1 more, huge.
  for (std::size_t at :
       {12U, 16U, 18U, 20U, 32U, 40U, 48U, 56U, 64U, 72U, 80U, 88U, 96U, 128U, 136U, 144U}) {
    const std::size_t size = at < 16 || at == 20 ? 4 : at < 20 ? 2 : 8;
    std::uint64_t old = 0;
    for (std::size_t i = 0; i < size; ++i) {
      old |= std::to_integer<std::uint64_t>(good[at + i]) << (8 * i);
    }
    for (const std::uint64_t value :
         {std::uint64_t{0}, old + 1, old - 1, std::uint64_t{1} << 61U, UINT64_MAX}) {
      byte_vector bad = good;
      bloomery_test::put(bad, at, size, value);
      if (bad == good || at == 32 || (at == 18 && value == 1)) continue;  // lawful
      seal_index(bad);
      // Another number of probes is lawful, and one row more or less that changes no length.
      if ((at == 12 || at == 128) && value - old + 1 <= 2) continue;
      EXPECT_THROW(text_index_view{bad}, error) << at << ' ' << value;
    }
  }
  // A rate that is none.
  byte_vector bad = good;
  bloomery_test::put(bad, 32, 8, std::bit_cast<std::uint64_t>(std::nan("")));
  seal_index(bad);
  EXPECT_THROW(text_index_view{bad}, error);
}

TEST(TextIndex, large_files_are_checked_where_they_are_read) {
  const temporary_directory folder;
  build(folder / "i", sample_documents(4000, 10));
  byte_vector bytes = read_bytes(folder / "i");
  ASSERT_GT(bytes.size(), std::size_t{1} << 20U);
  const text_index_view good(bytes);
  const std::size_t groups = good.groups().size();
  const std::size_t documents = 128 + 24 * groups;
  const std::size_t members = documents + 8 * 4000;
  const std::size_t ends = members + 4 * 4000;
  const std::uint32_t number = good.member(good.groups()[0], 0);
  // The first document of the first group is another one; is of no file; has a name past all names.
  const auto spoiled = [&](std::size_t at, std::uint64_t value, std::size_t size) {
    byte_vector bad = bytes;
    bloomery_test::put(bad, at, size, value);
    seal_index(bad);
    const text_index_view view(bad);  // opens: nobody has looked yet
    EXPECT_EQ(code_of([&] { view.verify(); }), errc::corrupt);
    return code_of([&] {
      const auto& g = view.groups()[0];
      for (std::uint64_t i = 0; i < g.documents; ++i) {
        static_cast<void>(view.document(view.member(g, i)));
      }
    });
  };
  EXPECT_EQ(spoiled(members, 4000, 4), errc::corrupt);
  EXPECT_EQ(spoiled(documents + std::size_t{8} * number, 4000, 4), errc::corrupt);
  EXPECT_EQ(spoiled(ends + std::size_t{8} * number, UINT64_MAX, 8), errc::corrupt);
  EXPECT_EQ(spoiled(members, good.member(good.groups()[1], 0), 4),
            errc{});  // verify() alone sees it
}

TEST(DistinctHashes, are_distinct) {
  distinct_hashes set;
  for (int round = 0; round < 3; ++round) {
    std::set<std::uint64_t> expected;
    for (std::uint64_t i = 0; i < 5000; ++i) {
      const std::uint64_t hash = i % 1000 == 0 ? 0 : word(i / 2);
      set.add(hash);
      expected.insert(hash);
    }
    const auto all = set.all();
    EXPECT_EQ(set.size(), expected.size());
    EXPECT_EQ(std::set<std::uint64_t>(all.begin(), all.end()), expected);
    set.clear();
    EXPECT_EQ(set.size(), 0U);
    EXPECT_TRUE(set.all().empty());
  }
}

}  // namespace
}  // namespace bloomery
