#include "bloomery/backend/rocksdb.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "format/files.hpp"

namespace bloomery {
namespace {

using bloomery_test::temporary_directory;

constexpr int keys = 5000;

std::unique_ptr<rocksdb::DB> opened(const temporary_directory& folder) {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* db = nullptr;
  const auto status = rocksdb::DB::Open(options, folder / "db", &db);
  if (!status.ok()) throw std::runtime_error(status.ToString());
  return std::unique_ptr<rocksdb::DB>(db);
}

std::string key_of(int i) { return "key-" + std::to_string(i); }

// Half of them in a file, half in memory.
void fill(rocksdb::DB& db) {
  rocksdb::WriteOptions fast;
  fast.disableWAL = true;
  for (int i = 0; i < keys; ++i) {
    ASSERT_TRUE(db.Put(fast, key_of(i), "value " + key_of(i)).ok());
    if (i == keys / 2) {
      ASSERT_TRUE(db.Flush({}).ok());
    }
  }
}

TEST(rocksdb, a_guard_answers_as_the_database_does) {
  const temporary_directory folder;
  const auto db = opened(folder);
  fill(*db);
  auto g = rocksdb_guard(*db);
  const rocksdb_lookup plain(*db);
  for (int i = 0; i < 5 * keys; ++i) {
    const std::optional<std::string> expected = plain(key_of(i));
    ASSERT_EQ(expected.has_value(), i < keys);
    ASSERT_EQ(g.find(key_of(i)), expected) << i;
  }
  const guard_report r = g.report();
  EXPECT_EQ(r.hit, std::uint64_t{keys});
  // fpr() is the rate of these bits, so the count is binomial: five standard deviations.
  const double wasted = g.fpr() * 4 * keys;
  EXPECT_NEAR(static_cast<double>(r.passed()), keys + wasted, 5 * std::sqrt(wasted));
}

TEST(rocksdb, keys_come_and_go) {
  const temporary_directory folder;
  const auto db = opened(folder);
  fill(*db);
  auto g = rocksdb_guard(*db, {.growth = 0.1});
  for (int i = keys; i < keys + 100; ++i) {
    ASSERT_TRUE(db->Put({}, key_of(i), "new").ok());
    g.add(key_of(i));
    ASSERT_EQ(g.find(key_of(i)), "new");
  }
  for (int i = 0; i < keys; ++i) ASSERT_TRUE(db->Delete({}, key_of(i)).ok());
  g.removed(keys);
  EXPECT_TRUE(g.rebuild_if_aged([&] { return rocksdb_filter(*db); }));
  g.wait();
  for (int i = 0; i < keys; ++i) ASSERT_FALSE(g.find(key_of(i)));
  for (int i = keys; i < keys + 100; ++i) ASSERT_TRUE(g.find(key_of(i)));
  EXPECT_LT(g.report().wasted, 120U);  // of 5000 at 1 %: 50, and ten standard deviations
}

}  // namespace
}  // namespace bloomery
