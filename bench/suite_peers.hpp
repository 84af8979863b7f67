// What people use instead of a filter of ours, for suite.cpp: each is made of all keys and asked
// for one at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#ifdef BLOOMERY_HAS_LIBBLOOM
#include <bloom.h>
#endif
#ifdef BLOOMERY_HAS_LEVELDB
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>
#endif
#ifdef BLOOMERY_HAS_ROCKSDB
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <stdlib.h>

#include <filesystem>
#endif

#include "bloomery/hash/hash.hpp"
#include "suite_keys.hpp"

namespace bloomery::bench {

struct hash_set {
  static constexpr const char* name = "unordered_set";
  std::unordered_set<std::uint64_t> set;

  explicit hash_set(const key_list& keys) {
    set.reserve(keys.size());
    set.insert(keys.begin(), keys.end());
  }
  [[nodiscard]] bool contains(std::uint64_t key) const { return set.contains(key); }
};

struct sorted_hashes {
  static constexpr const char* name = "sorted_hashes";
  key_list hashes;

  explicit sorted_hashes(const key_list& keys) : hashes(keys.size()) {
    mix64_batch(xxh3_hasher().integers(keys), hashes);
    std::sort(hashes.begin(), hashes.end());
  }
  [[nodiscard]] bool contains(std::uint64_t key) const {
    return std::binary_search(hashes.begin(), hashes.end(), xxh3_hasher().integer(key));
  }
};

#ifdef BLOOMERY_HAS_LEVELDB
struct leveldb_policy {
  static constexpr const char* name = "leveldb";
  std::unique_ptr<const leveldb::FilterPolicy> policy{leveldb::NewBloomFilterPolicy(10)};
  std::string bits;

  explicit leveldb_policy(const key_list& keys) {
    std::vector<leveldb::Slice> slices(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) slices[i] = slice_of(keys[i]);
    policy->CreateFilter(slices.data(), static_cast<int>(slices.size()), &bits);
  }
  [[nodiscard]] bool contains(const std::uint64_t& key) const {
    return policy->KeyMayMatch(slice_of(key), bits);
  }
  static leveldb::Slice slice_of(const std::uint64_t& key) {
    return {reinterpret_cast<const char*>(&key), sizeof key};
  }
};
#endif

#ifdef BLOOMERY_HAS_LIBBLOOM
// Debian's libbloom: one bit array, Murmur hashes.
struct libbloom {
  static constexpr const char* name = "libbloom";
  struct release {
    void operator()(bloom* b) const {
      bloom_free(b);
      delete b;
    }
  };
  std::unique_ptr<bloom, release> bits{new bloom()};

  explicit libbloom(const key_list& keys) {
    if (bloom_init(bits.get(), static_cast<int>(keys.size()), 0.01) != 0) std::abort();
    for (const std::uint64_t& key : keys) bloom_add(bits.get(), &key, sizeof key);
  }
  [[nodiscard]] bool contains(const std::uint64_t& key) const {
    return bloom_check(bits.get(), &key, sizeof key) == 1;
  }
};
#endif

#ifdef BLOOMERY_HAS_ROCKSDB
// Since its version 7 nobody outside can call RocksDB's filters: FilterPolicy makes a builder whose
// type no header has. What a program can call is KeyMayExist, which finds the table of a key and
// asks its filter, and reads no data. So this is a database of one table.
class rocksdb_database {
 public:
  static constexpr const char* name = "rocksdb";

  explicit rocksdb_database(key_list keys) {
    rocksdb::BlockBasedTableOptions table;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    rocksdb::Options options;
    options.create_if_missing = true;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    const std::string database = *folder_ / "database";
    const std::string file = *folder_ / "keys.sst";
    for (std::uint64_t& key : keys) key = __builtin_bswap64(key);  // in the order of bytes
    std::sort(keys.begin(), keys.end());
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
    check(writer.Open(file));
    for (const std::uint64_t key : keys) {
      const std::uint64_t bytes = __builtin_bswap64(key);
      check(writer.Put(slice_of(bytes), ""));
    }
    check(writer.Finish());
    rocksdb::DB* opened = nullptr;
    check(rocksdb::DB::Open(options, database, &opened));
    database_.reset(opened);
    rocksdb::IngestExternalFileOptions moved;
    moved.move_files = true;
    check(database_->IngestExternalFile({file}, moved));
  }
  [[nodiscard]] bool contains(const std::uint64_t& key) const {
    return database_->KeyMayExist(asking_, slice_of(key), &value_);
  }

 private:
  struct remove_folder {
    void operator()(std::filesystem::path* path) const {
      std::filesystem::remove_all(*path);
      delete path;
    }
  };
  using temporary = std::unique_ptr<std::filesystem::path, remove_folder>;
  static temporary make_folder() {
    std::string name = std::filesystem::temp_directory_path() / "bloomery-suite-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    return temporary(new std::filesystem::path(name));
  }

  static void check(const rocksdb::Status& status) {
    if (status.ok()) return;
    std::fprintf(stderr, "suite: %s\n", status.ToString().c_str());
    std::abort();
  }
  static rocksdb::Slice slice_of(const std::uint64_t& key) {
    return {reinterpret_cast<const char*>(&key), sizeof key};
  }

  temporary folder_ = make_folder();  // goes last
  std::unique_ptr<rocksdb::DB> database_;
  rocksdb::ReadOptions asking_;
  mutable std::string value_;
};
#endif

}  // namespace bloomery::bench
