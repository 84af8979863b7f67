// Filters before real stores, medians of 5; prints the tables of docs/lookup.md. LevelDB with its
// own filter policy and with ours, and RocksDB with its own filters and behind a guard. Within a
// table the stores are open at the same time and take turns, so that a noisy machine is noisy for
// all.
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bloomery/backend/leveldb.hpp"
#include "bloomery/backend/rocksdb.hpp"
#include "bloomery/hash/hash.hpp"

namespace {

using namespace bloomery;

constexpr std::uint64_t keys = 200'000;
constexpr std::uint64_t asked = 50'000;
constexpr std::size_t repetitions = 5;
constexpr std::size_t value_bytes = 100;

template <class Status>
void check(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "guard_bench: %s\n", status.ToString().c_str());
  std::exit(1);
}

std::filesystem::path folder() {
  return std::filesystem::temp_directory_path() / "bloomery-guard-bench";
}

// Keys are 16 digits in random order. An absent key comes directly after a present one in the order
// of keys, so that every store has to look for it.
std::string present(std::uint64_t i) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx",
                static_cast<unsigned long long>(splitmix64(i % keys)));
  return text.data();
}
std::string absent(std::uint64_t i) { return present(i) + "x"; }

// A value of which half is compressible.
std::string value_of(std::uint64_t i) {
  std::string value;
  while (value.size() < value_bytes / 2) value += present(splitmix64(i + value.size()));
  value.resize(value_bytes, '.');
  return value;
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

using name_of = std::string (*)(std::uint64_t);

// Microseconds for a lookup, with each contestant once in each repetition.
template <class Contestants>
void race(Contestants& all, name_of name) {
  std::vector<std::vector<double>> times(all.size());
  for (std::size_t r = 0; r <= repetitions; ++r) {
    std::vector<std::string> questions;
    for (std::uint64_t i = 0; i < asked; ++i) questions.push_back(name(splitmix64(r * asked + i)));
    for (std::size_t c = 0; c < all.size(); ++c) {
      const auto start = std::chrono::steady_clock::now();
      for (const std::string& key : questions) all[c]->find(key);
      const std::chrono::duration<double, std::micro> time =
          std::chrono::steady_clock::now() - start;
      if (r > 0) times[c].push_back(time.count() / asked);  // the first fills the caches
    }
  }
  for (std::size_t c = 0; c < all.size(); ++c) {
    (name == present ? all[c]->present_us : all[c]->absent_us) = median(times[c]);
  }
}

// ---- LevelDB ------------------------------------------------------------------------------------

// Wraps another policy, and counts its calls.
class counted_policy final : public leveldb::FilterPolicy {
 public:
  explicit counted_policy(const leveldb::FilterPolicy* inner) : inner_(inner) {}

  const char* Name() const override { return inner_->Name(); }
  void CreateFilter(const leveldb::Slice* all, int count, std::string* out) const override {
    const std::size_t before = out->size();
    inner_->CreateFilter(all, count, out);
    ++filters;
    filter_keys += static_cast<std::uint64_t>(count);
    filter_bytes += out->size() - before;
  }
  bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& bytes) const override {
    const bool answer = inner_->KeyMayMatch(key, bytes);
    ++questions;
    matches += answer ? 1U : 0U;
    return answer;
  }

  mutable std::uint64_t filters = 0;
  mutable std::uint64_t filter_keys = 0;
  mutable std::uint64_t filter_bytes = 0;
  mutable std::uint64_t questions = 0;
  mutable std::uint64_t matches = 0;

 private:
  std::unique_ptr<const leveldb::FilterPolicy> inner_;
};

class level_store {
 public:
  level_store(std::string name, const leveldb::FilterPolicy* policy)
      : name_(std::move(name)),
        path_(folder() / name_),
        policy_(policy ? new counted_policy(policy) : nullptr) {
    leveldb::Options options;
    options.create_if_missing = true;
    options.filter_policy = policy_.get();
    leveldb::DB* opened = nullptr;
    check(leveldb::DB::Open(options, path_, &opened));
    db_.reset(opened);
    for (std::uint64_t i = 0; i < keys; ++i) check(db_->Put({}, present(i), value_of(i)));
    db_->CompactRange(nullptr, nullptr);
  }

  bool find(const std::string& key) { return db_->Get({}, key, &value_).ok(); }

  // Counts the answers for absent keys.
  void count() {
    if (policy_ == nullptr) return;
    policy_->questions = policy_->matches = 0;
    for (std::uint64_t i = 0; i < 4 * asked; ++i) find(absent(i));
  }
  void print() const {
    if (policy_ == nullptr) {
      std::printf("| %s | | | | %.2f | %.2f |\n", name_.c_str(), absent_us, present_us);
      return;
    }
    const counted_policy& p = *policy_;
    std::printf("| %s | %.1f | %.2f | %.2f %% | %.2f | %.2f |\n", name_.c_str(),
                static_cast<double>(p.filter_keys) / static_cast<double>(p.filters),
                8 * static_cast<double>(p.filter_bytes) / static_cast<double>(p.filter_keys),
                100 * static_cast<double>(p.matches) / static_cast<double>(p.questions), absent_us,
                present_us);
  }

  double absent_us = 0;
  double present_us = 0;

 private:
  std::string name_;
  std::string path_;
  std::unique_ptr<counted_policy> policy_;
  std::unique_ptr<leveldb::DB> db_;
  std::string value_;
};

void leveldb_table() {
  std::vector<std::unique_ptr<level_store>> all;
  const auto add = [&all](const char* name, const leveldb::FilterPolicy* policy) {
    all.push_back(std::make_unique<level_store>(name, policy));
  };
  add("no filter", nullptr);
  add("LevelDB's own, 10 bits", leveldb::NewBloomFilterPolicy(10));
  add("Bloomery blocked, 10 bits", new_leveldb_policy({.bits_per_key = 10}));
  add("Bloomery blocked, 1 %", new_leveldb_policy({.fpr = 0.01}));
  add("Bloomery ribbon, 1 %", new_leveldb_policy({.fpr = 0.01, .kind = filter_kind::ribbon}));
  add("Bloomery ribbon, 10 bits",
      new_leveldb_policy({.bits_per_key = 10, .kind = filter_kind::ribbon}));
  race(all, absent);
  race(all, present);
  std::printf(
      "| LevelDB | keys a filter | bits a key | fpr | absent key, us | present key, us |\n"
      "|---|---|---|---|---|---|\n");
  for (const auto& store : all) {
    store->count();
    store->print();
  }
}

// ---- RocksDB ------------------------------------------------------------------------------------

class rocks_store {
 public:
  rocks_store(std::string name, const rocksdb::FilterPolicy* policy, bool guarded)
      : name_(std::move(name)), statistics_(rocksdb::CreateDBStatistics()) {
    rocksdb::BlockBasedTableOptions table;
    table.filter_policy.reset(policy);
    rocksdb::Options options;
    options.create_if_missing = true;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    options.statistics = statistics_;
    options.compression = rocksdb::kSnappyCompression;
    options.write_buffer_size = std::size_t{4} << 20U;  // several files in several levels
    options.target_file_size_base = std::size_t{4} << 20U;
    options.max_bytes_for_level_base = std::size_t{16} << 20U;
    rocksdb::DB* opened = nullptr;
    check(rocksdb::DB::Open(options, folder() / name_, &opened));
    db_.reset(opened);
    for (std::uint64_t i = 0; i < keys; ++i) check(db_->Put({}, present(i), value_of(i)));
    check(db_->Flush({}));
    while (number("rocksdb.compaction-pending") + number("rocksdb.num-running-compactions") > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (guarded) guard_.emplace(rocksdb_filter(*db_), rocksdb_lookup(*db_));
  }

  bool find(const std::string& key) {
    return guard_ ? guard_->find(key).has_value() : db_->Get({}, key, &value_).ok();
  }

  void count() {
    check(statistics_->Reset());
    if (guard_) guard_.emplace(rocksdb_filter(*db_), rocksdb_lookup(*db_));
    for (std::uint64_t i = 0; i < 4 * asked; ++i) find(absent(i));
  }
  void print() {
    rocksdb::TablePropertiesCollection tables;
    check(db_->GetPropertiesOfAllTables(&tables));
    double bits = 0;
    for (const auto& [path, table] : tables) bits += 8 * static_cast<double>(table->filter_size);
    bits /= static_cast<double>(keys);
    double fpr = 1;
    if (guard_) {
      bits += sizing::make_plan({.keys = keys, .fpr = 0.01}).bits_per_key();
      fpr = guard_->report().fpr();
    } else if (const auto no = ticker(rocksdb::BLOOM_FILTER_USEFUL); no > 0) {
      const auto yes = ticker(rocksdb::BLOOM_FILTER_FULL_POSITIVE);
      fpr = yes / (yes + no);
    }
    std::printf("| %s | %.2f | %.2f %% | %.2f | %.2f |\n", name_.c_str(), bits, 100 * fpr,
                absent_us, present_us);
  }

  double absent_us = 0;
  double present_us = 0;

 private:
  [[nodiscard]] double ticker(std::uint32_t which) const {
    return static_cast<double>(statistics_->getTickerCount(which));
  }
  [[nodiscard]] std::uint64_t number(const char* property) const {
    std::uint64_t value = 0;
    db_->GetIntProperty(property, &value);
    return value;
  }

  std::string name_;
  std::shared_ptr<rocksdb::Statistics> statistics_;
  std::unique_ptr<rocksdb::DB> db_;
  std::optional<guard<filter, rocksdb_lookup>> guard_;
  std::string value_;
};

void rocksdb_table() {
  std::vector<std::unique_ptr<rocks_store>> all;
  const auto add = [&all](const char* name, const rocksdb::FilterPolicy* policy, bool guarded) {
    all.push_back(std::make_unique<rocks_store>(name, policy, guarded));
  };
  add("no filter", nullptr, false);
  add("RocksDB's Bloom, 10 bits", rocksdb::NewBloomFilterPolicy(10), false);
  add("RocksDB's Ribbon, 10 bits", rocksdb::NewRibbonFilterPolicy(10), false);
  add("no filter, Bloomery guard 1 %", nullptr, true);
  add("RocksDB's Bloom, Bloomery guard 1 %", rocksdb::NewBloomFilterPolicy(10), true);
  race(all, absent);
  race(all, present);
  std::printf(
      "| RocksDB | bits a key | fpr | absent key, us | present key, us |\n"
      "|---|---|---|---|---|\n");
  for (const auto& store : all) {
    store->count();
    store->print();
  }
}

}  // namespace

int main() {
  std::filesystem::remove_all(folder());
  std::filesystem::create_directories(folder());
  leveldb_table();
  std::filesystem::remove_all(folder());
  std::filesystem::create_directories(folder());
  std::puts("");
  rocksdb_table();
  std::filesystem::remove_all(folder());
}
