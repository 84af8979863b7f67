// A guard around a RocksDB database: one filter of all its keys, before memtables and levels.
//
//     auto g = bloomery::rocksdb_guard(*db);
//     std::optional<std::string> value = g.find("key");
//     db->Put({}, key, value);  g.add(key);                       // the database comes first
//     g.rebuild([&] { return bloomery::rocksdb_filter(*db); });   // after many removals
//
// RocksDB has filters of its own, one for each file; this one answers without visiting any. The
// database must outlive the guard. Any number of threads may use it.
//
// Needs RocksDB: link to bloomery::rocksdb.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/iterator.h>
#include <rocksdb/options.h>
#include <rocksdb/slice.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/guard/key_scan.hpp"
#include "bloomery/filter/keyed.hpp"
#include "bloomery/guard/guard.hpp"

namespace bloomery {

namespace detail {

inline void check_rocksdb(const rocksdb::Status& status) {
  if (!status.ok()) throw error(errc::io, "RocksDB: " + status.ToString());
}

}  // namespace detail

// Looks up the value of a key. Throws errc::io when the database fails.
class rocksdb_lookup {
 public:
  explicit rocksdb_lookup(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family = nullptr,
                          rocksdb::ReadOptions options = {})
      : db_(&db),
        family_(family != nullptr ? family : db.DefaultColumnFamily()),
        options_(std::move(options)) {}

  std::optional<std::string> operator()(std::string_view key) const {
    std::string value;
    const auto status = db_->Get(options_, family_, rocksdb::Slice(key.data(), key.size()), &value);
    if (status.IsNotFound()) return std::nullopt;
    detail::check_rocksdb(status);
    return value;
  }

 private:
  rocksdb::DB* db_;
  rocksdb::ColumnFamilyHandle* family_;
  rocksdb::ReadOptions options_;
};

// Makes a filter of all keys. It reads the whole column family, without filling the block cache.
[[nodiscard]] inline filter rocksdb_filter(rocksdb::DB& db, const scan_options& o = {},
                                           rocksdb::ColumnFamilyHandle* family = nullptr) {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> at(
      db.NewIterator(options, family != nullptr ? family : db.DefaultColumnFamily()));
  key_scan scan(o);
  for (at->SeekToFirst(); at->Valid(); at->Next()) {
    scan.add(std::string_view(at->key().data(), at->key().size()));
  }
  detail::check_rocksdb(at->status());
  return scan.build();
}

[[nodiscard]] inline auto rocksdb_guard(rocksdb::DB& db, const scan_options& o = {},
                                        rocksdb::ColumnFamilyHandle* family = nullptr) {
  return guard<filter, rocksdb_lookup>(rocksdb_filter(db, o, family), rocksdb_lookup(db, family));
}

}  // namespace bloomery
