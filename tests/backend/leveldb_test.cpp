#include "bloomery/backend/leveldb.hpp"

#include <gtest/gtest.h>
#include <leveldb/cache.h>
#include <leveldb/db.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "format/files.hpp"

namespace bloomery {
namespace {

using bloomery_test::temporary_directory;
using bloomery_test::throws;

constexpr int keys = 5000;

std::string present(int i) { return "key-" + std::to_string(i); }
std::string absent(int i) { return present(i) + "x"; }  // beside a present one, in the same table

// A policy that does as another does, counts, and may change what is written.
class watched_policy final : public leveldb::FilterPolicy {
 public:
  explicit watched_policy(const leveldb::FilterPolicy* inner) : inner_(inner) {}

  const char* Name() const override { return name; }
  void CreateFilter(const leveldb::Slice* all, int count, std::string* out) const override {
    std::string made;
    inner_->CreateFilter(all, count, &made);
    if (change) change(made);
    out->append(made);
    filter_keys += count;
    filter_bytes += static_cast<int>(made.size());
  }
  bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& bytes) const override {
    const bool answer = inner_->KeyMayMatch(key, bytes);
    ++asked;
    matched += answer ? 1 : 0;
    return answer;
  }

  const char* name = "bloomery.compact1";
  std::function<void(std::string&)> change;
  mutable int filter_keys = 0;
  mutable int filter_bytes = 0;
  mutable int asked = 0;
  mutable int matched = 0;

 private:
  std::unique_ptr<const leveldb::FilterPolicy> inner_;
};

class database {
 public:
  database(const temporary_directory& folder, const leveldb::FilterPolicy* policy) {
    leveldb::Options options;
    options.create_if_missing = true;
    options.filter_policy = policy;
    leveldb::DB* opened = nullptr;
    const auto status = leveldb::DB::Open(options, folder / "db", &opened);
    if (!status.ok()) throw std::runtime_error(status.ToString());
    db_.reset(opened);
  }
  void fill() {
    for (int i = 0; i < keys; ++i) {
      ASSERT_TRUE(db_->Put({}, present(i), std::string(80, static_cast<char>('a' + i % 26))).ok());
    }
    db_->CompactRange(nullptr, nullptr);
  }
  [[nodiscard]] int found(std::string (*name)(int)) const {
    int count = 0;
    std::string value;
    for (int i = 0; i < keys; ++i) count += db_->Get({}, name(i), &value).ok() ? 1 : 0;
    return count;
  }

 private:
  std::unique_ptr<leveldb::DB> db_;
};

class leveldb_kinds : public testing::TestWithParam<filter_kind> {};
INSTANTIATE_TEST_SUITE_P(all, leveldb_kinds,
                         testing::Values(filter_kind::blocked, filter_kind::ribbon),
                         [](const auto& kind) { return std::string(kind_name(kind.param)); });

TEST_P(leveldb_kinds, finds_every_key_after_reopening_and_keeps_its_rate) {
  const temporary_directory folder;
  watched_policy policy(new_leveldb_policy({.fpr = 0.02, .kind = GetParam()}));
  database(folder, &policy).fill();
  EXPECT_GE(policy.filter_keys, keys);
  const database db(folder, &policy);
  EXPECT_EQ(db.found(present), keys);
  EXPECT_GE(policy.asked, keys);
  EXPECT_EQ(policy.matched, policy.asked);
  policy.asked = policy.matched = 0;
  EXPECT_EQ(db.found(absent), 0);
  EXPECT_GT(policy.asked, keys / 2);
  // Five standard deviations of a count.
  const double expected = 0.02 * policy.asked;
  EXPECT_LT(policy.matched, expected + 5 * std::sqrt(expected));
}

TEST_P(leveldb_kinds, damaged_filters_hide_no_key) {
  for (const std::size_t place : {0U, 5U}) {
    const temporary_directory folder;
    watched_policy policy(new_leveldb_policy({.kind = GetParam()}));
    policy.change = [place](std::string& made) { made[made.size() - 1 - place] ^= 0x10; };
    database(folder, &policy).fill();
    EXPECT_EQ(database(folder, &policy).found(present), keys);
    EXPECT_EQ(policy.matched, policy.asked);
  }
}

TEST(leveldb_policy, reads_tables_of_other_policies_without_their_filters) {
  const temporary_directory folder;
  watched_policy other(leveldb::NewBloomFilterPolicy(10));
  other.name = "leveldb.BuiltinBloomFilter2";
  database(folder, &other).fill();
  watched_policy ours(new_leveldb_policy({}));
  EXPECT_EQ(database(folder, &ours).found(present), keys);
  EXPECT_EQ(ours.asked, 0);
}

TEST(leveldb_policy, takes_foreign_bytes_under_its_own_name_for_a_match) {
  const temporary_directory folder;
  watched_policy other(leveldb::NewBloomFilterPolicy(10));
  database(folder, &other).fill();
  watched_policy ours(new_leveldb_policy({}));
  EXPECT_EQ(database(folder, &ours).found(present), keys);
  EXPECT_GE(ours.asked, keys);
}

TEST(leveldb_policy, a_database_may_hold_filters_of_both_kinds) {
  const temporary_directory folder;
  watched_policy blocked(new_leveldb_policy({}));
  database(folder, &blocked).fill();
  watched_policy ribbon(new_leveldb_policy({.kind = filter_kind::ribbon}));
  {
    const database db(folder, &ribbon);
    EXPECT_EQ(db.found(present), keys);
    EXPECT_EQ(db.found(absent), 0);
    EXPECT_LT(ribbon.matched, keys + keys / 10);
  }
  database(folder, &ribbon).fill();
  EXPECT_LT(static_cast<double>(ribbon.filter_bytes) / ribbon.filter_keys,
            0.85 * blocked.filter_bytes / blocked.filter_keys);
  EXPECT_EQ(database(folder, &blocked).found(present), keys);
}

TEST(leveldb_policy, refuses_kinds_that_it_does_not_have) {
  EXPECT_TRUE(throws(errc::bad_argument, "blocked or ribbon",
                     [] { (void)new_leveldb_policy({.kind = filter_kind::fuse}); }));
}

}  // namespace
}  // namespace bloomery
