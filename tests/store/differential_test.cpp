#include "bloomery/store/differential.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bloomery/core/error.hpp"
#include "format/files.hpp"

namespace bloomery {
namespace {

namespace fs = std::filesystem;
using bloomery_test::temporary_directory;
using bloomery_test::throws;
using model = std::map<std::string, std::string>;

std::string key_of(std::uint64_t i) { return "key " + std::to_string(i); }
std::string value_of(std::uint64_t i) { return std::string(i % 97, 'v') + std::to_string(i); }

void load(differential_store& store, const model& records) {
  auto next = records.begin();
  store.load([&](std::string_view& key, std::string_view& value) {
    if (next == records.end()) return false;
    key = next->first;
    value = next->second;
    ++next;
    return true;
  });
}

model first_records(std::uint64_t number) {
  model records;
  for (std::uint64_t i = 0; i < number; ++i) records[key_of(i)] = value_of(i);
  return records;
}

std::optional<std::string> in(const model& records, const std::string& key) {
  const auto found = records.find(key);
  if (found == records.end()) return std::nullopt;
  return found->second;
}

void expect_same(differential_store& store, const model& records, std::uint64_t keys) {
  for (std::uint64_t i = 0; i < keys; ++i) {
    ASSERT_EQ(store.find(key_of(i)), in(records, key_of(i))) << i;
  }
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

TEST(differential_store, agrees_with_a_map_through_changes_merges_and_openings) {
  const temporary_directory folder;
  constexpr std::uint64_t keys = 3'000;
  model records = first_records(keys / 2);
  std::optional<differential_store> store(std::in_place, folder / "store");
  load(*store, records);
  std::mt19937_64 random(1);
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 4'000; ++i) {
      const std::string key = key_of(random() % keys);
      if (random() % 4 == 0) {
        store->erase(key);
        records.erase(key);
      } else {
        const std::string value = value_of(random() % 1000);
        store->put(key, value);
        records[key] = value;
      }
    }
    expect_same(*store, records, keys);
    if (round % 2 == 1) store->merge();
    if (round % 3 == 1) store.emplace(folder / "store");
    expect_same(*store, records, keys);
  }
  store->merge();
  EXPECT_EQ(store->base_records(), records.size());
  EXPECT_EQ(store->changes(), 0U);
}

// Severance and Lohman: what the filter cannot save are searches for records that did not change.
TEST(differential_store, wastes_searches_at_the_rate_of_its_filter) {
  const temporary_directory folder;
  constexpr std::uint64_t keys = 40'000;
  constexpr std::uint64_t changed = 10'000;
  differential_store store(folder / "store", 0.02);
  load(store, first_records(keys));
  for (std::uint64_t i = 0; i < changed; ++i) store.put(key_of(i), "new");
  for (std::uint64_t i = 0; i < keys; ++i) (void)store.find(key_of(i));
  const differential_counts& c = store.counts();
  EXPECT_EQ(c.asked, keys);
  EXPECT_EQ(c.log_searches, changed + c.wasted_searches);
  EXPECT_EQ(c.base_reads, keys - changed);
  // Eight standard deviations of a binomial count around the filter's own rate; the seed is random.
  const double expected = store.fpr() * static_cast<double>(keys - changed);
  EXPECT_NEAR(static_cast<double>(c.wasted_searches), expected, 8 * std::sqrt(expected) + 1);
  EXPECT_LE(store.fpr(), 0.02);

  differential_store bare(folder / "bare", 1);
  bare.put("a", "1");
  EXPECT_EQ(bare.find("b"), std::nullopt);
  EXPECT_EQ(bare.counts().wasted_searches, 1U);
}

// Such keys have one XXH3 without a seed. In one chain, 20,000 of them took 200 million reads.
TEST(differential_store, finds_keys_that_were_chosen_to_meet) {
  const temporary_directory folder;
  differential_store store(folder / "store");
  const auto chosen = [](std::uint64_t i) {
    return "\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe" + std::to_string(10'000'000 + i) +
           std::string(16, 'x');
  };
  constexpr std::uint64_t keys = 20'000;
  for (std::uint64_t i = 0; i < keys; ++i) store.put(chosen(i), std::to_string(i));
  for (std::uint64_t i = 0; i < keys; ++i) ASSERT_EQ(store.find(chosen(i)), std::to_string(i));
}

TEST(differential_store, a_log_cut_anywhere_loses_the_last_changes_only) {
  const temporary_directory folder;
  {
    differential_store store(folder / "store");
    for (std::uint64_t i = 0; i < 5; ++i) store.put(key_of(i), value_of(i + 20));
  }
  const std::string log = read_file(folder / "store" / "changes.0");
  std::uint64_t kept = 0;
  for (std::size_t size = 0; size <= log.size(); ++size) {
    write_file(folder / "store" / "changes.0", log.substr(0, size));
    differential_store store(folder / "store");
    ASSERT_GE(store.changes(), kept);
    kept = store.changes();
    for (std::uint64_t i = 0; i < 5; ++i) {
      ASSERT_EQ(store.find(key_of(i)).has_value(), i < kept) << size;
    }
    store.put("later", "1");  // and it goes on from there
    ASSERT_EQ(store.find("later"), "1");
  }
  EXPECT_EQ(kept, 5U);
  write_file(folder / "store" / "changes.0", log + std::string(5000, '\0'));
  EXPECT_EQ(differential_store(folder / "store").changes(), 5U);
}

TEST(differential_store, damage_is_found) {
  const temporary_directory folder;
  {
    differential_store store(folder / "store");
    load(store, first_records(500));
    for (std::uint64_t i = 0; i < 5; ++i) store.put(key_of(i), value_of(i));
  }
  const std::string log = read_file(folder / "store" / "changes.1");
  const std::string base = read_file(folder / "store" / "base.1");
  for (std::size_t at = 0; at < log.size() / 2; ++at) {
    std::string bad = log;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    write_file(folder / "store" / "changes.1", bad);
    try {
      // A length that now reaches the end looks like a torn record, and no other damage does.
      differential_store store(folder / "store");
      EXPECT_LT(store.changes(), 5U) << at;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::corrupt);
    }
  }
  write_file(folder / "store" / "changes.1", log);
  for (std::size_t at = 0; at < base.size(); at += 7) {
    std::string bad = base;
    bad[at] = static_cast<char>(bad[at] ^ 16);
    write_file(folder / "store" / "base.1", bad);
    EXPECT_TRUE(throws(errc::corrupt, "the base is damaged", [&] {
      differential_store store(folder / "store");
      for (std::uint64_t i = 0; i < 500; ++i) (void)store.find(key_of(i));
      store.merge();
    })) << at;
  }
  for (std::size_t size = 0; size < base.size(); size += 101) {
    write_file(folder / "store" / "base.1", base.substr(0, size));
    EXPECT_TRUE(throws(errc::corrupt, "damaged", [&] { differential_store(folder / "store"); }));
  }
  fs::remove(folder / "store" / "base.1");
  EXPECT_TRUE(throws(errc::corrupt, "missing", [&] { differential_store(folder / "store"); }));
}

// A merge makes base.2, then changes.2, then removes base.1 and changes.1.
TEST(differential_store, a_merge_may_stop_at_every_step) {
  const temporary_directory folder;
  const fs::path at = folder / "store";
  model records = first_records(300);
  {
    differential_store store(at);
    load(store, records);
    store.put("key 7", "seven");
    store.erase("key 8");
  }
  const fs::path before = folder / "before";
  fs::copy(at, before, fs::copy_options::recursive);
  differential_store(at).merge();
  const std::string new_base = read_file(at / "base.2");
  records["key 7"] = "seven";
  records.erase("key 8");
  for (const bool with_base : {false, true}) {
    for (const bool with_log : {false, true}) {
      for (const bool without_old_base : {false, true}) {
        if (with_log && !with_base) continue;
        if (without_old_base && !with_base) continue;
        fs::remove_all(at);
        fs::copy(before, at, fs::copy_options::recursive);
        if (with_base) write_file(at / "base.2", new_base);
        if (with_log) write_file(at / "changes.2", "");
        if (without_old_base) fs::remove(at / "base.1");
        differential_store store(at);
        expect_same(store, records, 310);
        EXPECT_EQ(store.changes(), with_base ? 0U : 2U);
        EXPECT_EQ(fs::exists(at / "base.1"), !with_base);
        EXPECT_EQ(fs::exists(at / "changes.1"), !with_base);
      }
    }
  }
}

TEST(differential_store, killed_at_any_moment_it_has_all_that_it_said_it_has) {
  const temporary_directory folder;
  std::mt19937_64 random(3);
  std::uint64_t safe = 0;
  for (int round = 0; round < 12; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      // Says after each change how far it is; merges now and then.
      close(ends[0]);
      differential_store store(folder / "store");
      for (std::uint64_t i = safe;; ++i) {
        store.put(key_of(i), value_of(i));
        if (write(ends[1], &i, sizeof i) != sizeof i) _exit(1);
        if (i % 50 == 49) store.merge();
      }
    }
    close(ends[1]);
    const std::uint64_t until = safe + 1 + random() % 120;
    std::uint64_t said = 0;
    while (said < until && read(ends[0], &said, sizeof said) == sizeof said) {
    }
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    while (read(ends[0], &said, sizeof said) == sizeof said) {
    }
    close(ends[0]);
    safe = said + 1;
    differential_store store(folder / "store");
    for (std::uint64_t i = 0; i < safe; ++i) ASSERT_EQ(store.find(key_of(i)), value_of(i)) << i;
  }
}

TEST(differential_store, refuses_what_it_cannot_do) {
  const temporary_directory folder;
  EXPECT_TRUE(throws(errc::bad_argument, "rate", [&] { differential_store(folder / "a", 0); }));
  differential_store store(folder / "store");
  const auto unsorted = [&] {
    store.load([n = 0](std::string_view& key, std::string_view&) mutable {
      key = n == 0 ? "b" : "a";
      return n++ < 2;
    });
  };
  EXPECT_TRUE(throws(errc::bad_argument, "'a' follows 'b'", unsorted));
  EXPECT_FALSE(fs::exists(folder / "store" / "base.1"));
  store.put("", "empty key");
  store.put("nothing", "");
  EXPECT_EQ(store.find(""), "empty key");
  EXPECT_EQ(store.find("nothing"), "");
  EXPECT_TRUE(throws(errc::bad_argument, "not empty", [&] { load(store, {}); }));
  store.merge();
  EXPECT_EQ(store.find(""), "empty key");
  EXPECT_EQ(store.find("nothing"), "");
}

TEST(differential, lists_all_records_in_order_with_their_changes) {
  const temporary_directory folder;
  differential_store store(folder / "s");
  const auto listed = [&] {
    std::vector<std::pair<std::string, std::string>> all;
    store.for_each(
        [&](std::string_view key, std::string_view value) { all.emplace_back(key, value); });
    return all;
  };
  const auto sorted = [](const model& records) {
    return std::vector<std::pair<std::string, std::string>>(records.begin(), records.end());
  };
  EXPECT_TRUE(listed().empty());
  model records = first_records(1'000);
  load(store, records);
  EXPECT_EQ(listed(), sorted(records));
  for (std::uint64_t i = 0; i < 1'100; i += 3) {
    store.put(key_of(i), "other");
    records[key_of(i)] = "other";
  }
  for (std::uint64_t i = 0; i < 1'200; i += 7) {
    store.erase(key_of(i));
    records.erase(key_of(i));
  }
  EXPECT_EQ(listed(), sorted(records));
  store.merge();
  EXPECT_EQ(listed(), sorted(records));
}

}  // namespace
}  // namespace bloomery
