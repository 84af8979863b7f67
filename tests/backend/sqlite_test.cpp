#include "bloomery/backend/sqlite.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "format/files.hpp"

namespace bloomery {
namespace {

using bloomery_test::temporary_directory;
using bloomery_test::throws;

constexpr int keys = 3000;
const sqlite_table people = {.table = "people", .key = "mail", .value = "name"};

class connection {
 public:
  explicit connection(const std::filesystem::path& path) {
    if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK) throw std::runtime_error("sqlite3_open");
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() { sqlite3_close(db_); }

  void run(const std::string& sql) {
    char* message = nullptr;
    if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, &message) == SQLITE_OK) return;
    const std::string what = message;
    sqlite3_free(message);
    throw std::runtime_error(what);
  }
  [[nodiscard]] sqlite3* get() const { return db_; }

 private:
  sqlite3* db_ = nullptr;
};

std::string mail(int i) { return "user" + std::to_string(i) + "@example.org"; }

void fill(connection& c) {
  std::string sql =
      "CREATE TABLE people (id INTEGER PRIMARY KEY, mail TEXT UNIQUE, name TEXT);BEGIN;";
  for (int i = 0; i < keys; ++i) {
    sql += "INSERT INTO people VALUES (" + std::to_string(7 * i) + ",'" + mail(i) + "','n" +
           std::to_string(i) + "');";
  }
  c.run(sql + "COMMIT;");
}

// Answers as without the guard, for `asked` keys of which the first are there; hits + fpr * misses
// lookups.
template <class Key, class MakeKey>
void compare(const connection& c, const sqlite_table& t, MakeKey key_of) {
  auto g = sqlite_guard<Key>(c.get(), t);
  sqlite_lookup<Key> plain(c.get(), t);
  int hits = 0;
  for (int i = 0; i < 5 * keys; ++i) {
    const auto key = key_of(i);
    const std::optional<std::string> expected = plain(key);
    hits += expected ? 1 : 0;
    ASSERT_EQ(g.find(key), expected) << key;
  }
  EXPECT_EQ(hits, keys);
  const guard_report r = g.report();
  EXPECT_EQ(r.hit, std::uint64_t{keys});
  // fpr() is the rate of these bits, so the count is binomial: five standard deviations.
  const double wasted = g.fpr() * 4 * keys;
  EXPECT_NEAR(static_cast<double>(r.passed()), keys + wasted, 5 * std::sqrt(wasted));
}

TEST(sqlite, a_guard_answers_as_the_table_does) {
  const temporary_directory folder;
  connection c(folder / "db");
  fill(c);
  compare<std::string_view>(c, people, mail);
  compare<std::int64_t>(c, {.table = "people", .key = "id", .value = "name"},
                        [](int i) { return std::int64_t{7} * i; });
}

TEST(sqlite, keys_come_and_go) {
  const temporary_directory folder;
  connection c(folder / "db");
  fill(c);
  auto g = sqlite_guard<std::string_view>(c.get(), people, {.growth = 0.1});
  c.run("INSERT INTO people VALUES (-1, 'new@example.org', NULL);");
  g.add("new@example.org");
  EXPECT_EQ(g.find("new@example.org"), "");
  c.run("DELETE FROM people WHERE id >= 7000;");
  g.removed(keys - 1000);
  EXPECT_TRUE(g.rebuild_if_aged([&] {
    const connection other(folder / "db");
    return sqlite_filter<std::string_view>(other.get(), people);
  }));
  g.wait();
  for (int i = 0; i < keys; ++i) ASSERT_EQ(g.find(mail(i)).has_value(), i < 1000) << i;
  EXPECT_EQ(g.find("new@example.org"), "");
  EXPECT_LT(g.report().wasted, 60U);  // of 2000 at 1 %: 20, and nine standard deviations
}

TEST(sqlite, keys_are_any_text) {
  const temporary_directory folder;
  connection c(folder / "db");
  c.run(
      "CREATE TABLE \"odd \"\" name\" (k VARCHAR(9), v); INSERT INTO \"odd \"\" name\" VALUES ('', "
      "1), (NULL, 2),"
      "(x'61', 3), (42, 4), (CAST(x'610062' AS TEXT), 5), ('é', x'00ff');");
  const sqlite_table t = {.table = "odd \" name", .key = "k", .value = "v"};
  auto g = sqlite_guard<std::string_view>(c.get(), t, {.fpr = 1e-6});
  EXPECT_EQ(g.find(""), "1");
  EXPECT_EQ(g.find(std::string_view()), "1");
  EXPECT_EQ(g.find("42"), "4");
  EXPECT_EQ(g.find(std::string_view("a\0b", 3)), "5");
  EXPECT_EQ(g.find("é"), std::string("\0\xff", 2));
  EXPECT_EQ(g.find("a"), std::nullopt);
  EXPECT_EQ(g.report().wasted, 0U);
}

TEST(sqlite, columns_that_compare_otherwise_are_refused) {
  const temporary_directory folder;
  connection c(folder / "db");
  c.run("CREATE TABLE t (a TEXT COLLATE NOCASE, r REAL, n, i BIGINT, s TEXT, v);");
  const auto text = [&](const char* key) {
    return [&c, key] { (void)sqlite_guard<std::string_view>(c.get(), {"t", key, "v"}); };
  };
  EXPECT_TRUE(throws(errc::unsupported, "column a of t has the collation NOCASE", text("a")));
  EXPECT_TRUE(throws(errc::unsupported, "declared as 'REAL', not as TEXT", text("r")));
  EXPECT_TRUE(throws(errc::unsupported, "declared as ''", text("n")));
  EXPECT_TRUE(throws(errc::unsupported, "declared as 'BIGINT'", text("i")));
  EXPECT_TRUE(throws(errc::io, "no such", text("x")));
  EXPECT_TRUE(throws(errc::unsupported, "not as an INTEGER", [&] {
    (void)sqlite_guard<std::int64_t>(c.get(), {"t", "s", "v"});
  }));
  text("s")();
}

}  // namespace
}  // namespace bloomery
