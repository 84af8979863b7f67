#include "bloomery/format/string_map.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/hash.hpp"
#include "filter/samples.hpp"
#include "format/files.hpp"

namespace bloomery {
namespace {

using bloomery_test::byte_vector;
using bloomery_test::throws;

const hash_spec plain_keys{.id = hash_id::xxh3};

std::string country_of(std::uint64_t i) { return "country " + std::to_string(i % 7); }

// Keys 0 to n - 1 in this order, each with the string of its number.
string_map countries(std::uint64_t keys, bool backwards = false, string_map_options o = {}) {
  std::vector<std::uint64_t> hashes;
  std::vector<std::uint64_t> numbers;
  string_table table;
  for (std::uint64_t i = 0; i < keys; ++i) {
    const std::uint64_t key = backwards ? keys - 1 - i : i;
    hashes.push_back(bloomery_test::sample_hash(key, 1));
    numbers.push_back(table.number_of(country_of(key)));
  }
  table.number_of("nobody has this");
  return {plain_keys, hashes, numbers, table, o};
}

byte_vector saved(const string_map& map) {
  const bloomery_test::temporary_directory folder;
  map.save(folder / "map");
  return bloomery_test::read_bytes(folder / "map");
}

TEST(string_map, gives_each_key_its_string_and_others_one_at_the_rate) {
  const bloomery_test::temporary_directory folder;
  countries(10'000).save(folder / "map");
  const string_map_file map(folder / "map");
  map.verify();
  EXPECT_EQ(map->strings(), 7U);  // without the one that no key has
  EXPECT_EQ(map->string_bytes(), 7 * country_of(0).size());
  EXPECT_EQ(map->filter().keys(), 10'000U);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    ASSERT_EQ(map->value(bloomery_test::sample_hash(i, 1)), country_of(i));
  }
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    if (map->value(bloomery_test::sample_hash(i, 2))) ++wrong;
  }
  EXPECT_LE(map->fpr(), 0.01);
  EXPECT_LT(wrong, 1'000 + 4 * 32);  // 1 % and four standard deviations
  EXPECT_GT(wrong, 100U);            // a map that knew its keys would have none
}

TEST(string_map, is_the_same_file_in_any_order_with_any_number_of_threads) {
  const byte_vector one = saved(countries(1'000));
  EXPECT_EQ(one, saved(countries(1'000, true)));
  EXPECT_EQ(one, saved(countries(1'000, false, {.threads = 3})));
  EXPECT_EQ(bloomery_test::xxh3(one), 0xde03c8b6247ef91bU);  // frozen
}

TEST(string_map, changes_strings_as_long_as_there_is_room) {
  string_map map = countries(100);  // 7 strings in 3 bits
  const std::uint64_t key = bloomery_test::sample_hash(5, 1);
  EXPECT_FALSE(map.update(bloomery_test::sample_hash(0, 99), "x"));
  EXPECT_TRUE(map.update(key, "country 1"));
  EXPECT_EQ(map.value(key), "country 1");
  EXPECT_TRUE(map.update(key, "an eighth"));
  EXPECT_EQ(map.value(key), "an eighth");
  EXPECT_TRUE(throws(errc::full, "value bits", [&] { map.update(key, "a ninth"); }));
  EXPECT_EQ(map.value(key), "an eighth");
  const byte_vector bytes = saved(map);
  const string_map_view view(bytes);
  EXPECT_EQ(view.value(key), "an eighth");
  EXPECT_EQ(view.value(bloomery_test::sample_hash(6, 1)), country_of(6));
  string_map again(view);
  EXPECT_EQ(saved(again), bytes);
  string_map roomy = countries(100, false, {.value_bits = 10});
  EXPECT_TRUE(roomy.update(key, "a ninth") && roomy.update(key, "a tenth"));
}

TEST(string_map, may_be_empty_and_refuses_what_makes_no_sense) {
  const byte_vector none = saved(string_map(plain_keys, {}, {}, {}));
  EXPECT_EQ(string_map_view(none).strings(), 0U);
  EXPECT_FALSE(string_map_view(none).value(1));
  string_table two;
  const std::vector<std::uint64_t> numbers{two.number_of("a"), two.number_of("b")};
  const std::vector<std::uint64_t> same{7, 7};
  EXPECT_TRUE(throws(errc::bad_argument, "", [&] { string_map(plain_keys, same, numbers, two); }));
  EXPECT_TRUE(throws(errc::bad_argument, "as many as keys",
                     [&] { string_map(plain_keys, std::span(same).first(1), numbers, two); }));
  EXPECT_TRUE(throws(errc::bad_argument, "below 0",
                     [&] { string_map(plain_keys, same, numbers, string_table{}); }));
  string_table many;
  std::vector<std::uint64_t> hashes;
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < 5; ++i) {
    hashes.push_back(bloomery_test::sample_hash(i, 1));
    all.push_back(many.number_of(std::to_string(i)));
  }
  EXPECT_TRUE(throws(errc::bad_argument, "at least 3",
                     [&] { string_map(plain_keys, hashes, all, many, {.value_bits = 2}); }));
}

// Seals the header and the table again, as somebody who alters a file on purpose would.
void seal_map(byte_vector& bytes) {
  std::uint64_t image = 0;
  for (std::size_t i = 0; i < 8; ++i)
    image |= std::to_integer<std::uint64_t>(bytes[16 + i]) << 8 * i;
  if (image < bytes.size() - 72) {
    const auto table = std::span(bytes).subspan(64 + static_cast<std::size_t>(image));
    bloomery_test::put(bytes, bytes.size() - 8, 8,
                       bloomery_test::xxh3(table.first(table.size() - 8)));
  }
  bloomery_test::put(bytes, 56, 8, bloomery_test::xxh3(std::span(bytes).first(56)));
}

TEST(string_map, that_has_a_string_twice_is_not_verified) {
  string_table two;
  const std::vector<std::uint64_t> numbers = {two.number_of("ab"), two.number_of("cd")};
  const std::vector<std::uint64_t> hashes = {1, 2};
  byte_vector bytes = saved(string_map(plain_keys, hashes, numbers, two));
  bloomery_test::put(bytes, bytes.size() - 16, 8, 0x62616261);  // abab
  seal_map(bytes);
  const string_map_view map(bytes);
  EXPECT_TRUE(throws(errc::corrupt, "twice", [&] { map.verify(); }));
  EXPECT_TRUE(throws(errc::corrupt, "twice", [&] { static_cast<void>(string_map(map)); }));
}

TEST(string_map, of_hostile_bytes_is_refused_or_stays_inside_of_them) {
  const byte_vector good = saved(countries(200));
  for (std::size_t size = 0; size < good.size(); size += 13) {  // every length is wrong
    const byte_vector cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW(string_map_view{cut}, error) << size;
  }
  std::mt19937_64 random(1);
  std::size_t refused = 0;
  for (int round = 0; round < 4'000; ++round) {
    byte_vector bad = good;
    const bool header = round % 2 == 0;
    const std::size_t at = header ? 12 + random() % 44 : random() % good.size();
    bad[at] = static_cast<std::byte>(random());
    if (round % 4 < 2) bad[at] = std::byte{0xff};
    if (bad == good) continue;
    seal_map(bad);
    try {
      const string_map_view map(bad);
      map.verify();
      for (std::uint64_t i = 0; i < 200; ++i) {
        static_cast<void>(map.value(bloomery_test::sample_hash(i, 1)));
      }
      static_cast<void>(string_map(map));
    } catch (const error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 3'000U);
  byte_vector lengths = good;  // both lengths of the table, so large that their sum is right again
  bloomery_test::put(lengths, 24, 8, (std::uint64_t{1} << 61U) + 7);
  seal_map(lengths);
  EXPECT_TRUE(throws(errc::corrupt, "table", [&] { string_map_view{lengths}; }));
}

TEST(string_map, and_filters_are_not_taken_for_each_other) {
  const byte_vector map = saved(countries(10));
  EXPECT_TRUE(is_string_map(map));
  EXPECT_TRUE(throws(errc::unsupported, "map of strings", [&] { image_view::parse(map); }));
  const byte_vector filter = bloomery_test::small_image<blocked_filter>();
  EXPECT_FALSE(is_string_map(filter));
  EXPECT_TRUE(throws(errc::unsupported, "no map", [&] { string_map_view{filter}; }));
}

}  // namespace
}  // namespace bloomery
