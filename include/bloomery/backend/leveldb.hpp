// Bloomery's filters inside LevelDB, in one line:
//
//     options.filter_policy = bloomery::new_leveldb_policy({.fpr = 0.01});
//     options.filter_policy =
//         bloomery::new_leveldb_policy({.fpr = 0.01, .kind = bloomery::filter_kind::ribbon});
//
// LevelDB keeps a filter beside each data block, of some dozens of keys; format/compact.hpp is made
// for that. Filters say what they are, so the options may change while a database lives. LevelDB
// goes by the policy's name and reads tables of another without a filter until they are compacted.
//
// Needs LevelDB: link to bloomery::leveldb.
#pragma once

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bloomery/format/compact.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

class leveldb_policy final : public leveldb::FilterPolicy {
 public:
  explicit leveldb_policy(const compact_options& o) : builder_(o) {}

  // Part of the format: LevelDB reads filters only of a policy with the name that it stored.
  [[nodiscard]] const char* Name() const override {
    return "bloomery.compact1";
  }  // NOLINT(*-naming)

  void CreateFilter(const leveldb::Slice* keys, int count,
                    std::string* out) const override {  // NOLINT(*-naming)
    std::vector<std::uint64_t> hashes;
    hashes.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) hashes.push_back(hash_of(keys[i]));
    out->append(builder_.build(std::move(hashes)));
  }

  [[nodiscard]] bool KeyMayMatch(const leveldb::Slice& key,
                                 const leveldb::Slice& bytes) const override {  // NOLINT(*-naming)
    return compact_contains({bytes.data(), bytes.size()}, hash_of(key));
  }

 private:
  [[nodiscard]] static std::uint64_t hash_of(const leveldb::Slice& key) noexcept {
    return hash_key(xxh3_hasher(), std::string_view(key.data(), key.size()));
  }

  compact_builder builder_;
};

// The caller deletes the policy after the database is closed. Throws errc::bad_argument for a kind
// other than blocked and ribbon, and for a target out of range.
[[nodiscard]] inline const leveldb::FilterPolicy* new_leveldb_policy(const compact_options& o) {
  return new leveldb_policy(o);
}

}  // namespace bloomery
