// A large blocked filter as shards (filter/shard.hpp), and back. Splitting copies nothing, and
// joining puts the words behind each other again: join(split(F)) is F to the byte.
//
// Nobody knows how many of the whole's keys are in each shard. The shards' numbers of keys, planned
// and added, are equal to within one and add up to the whole's.
#pragma once

#include <cstdint>
#include <span>

#include "bloomery/format/delta.hpp"
#include "bloomery/format/file.hpp"

namespace bloomery {

// One shard of the filter, looking at its words. Throws errc::bad_argument unless the shards divide
// the filter's blocks, and errc::unsupported when it is no whole blocked filter.
[[nodiscard]] filter_version shard_of(const filter_version& whole, shard_number which);

// The whole filter from its shards, one after the other.
class shard_joiner {
 public:
  explicit shard_joiner(atomic_file& file) : file_(&file) {}

  // The next shard, from number 0 on. Throws errc::mismatch for another one or another filter's.
  void add(const filter_version& shard);
  // Throws errc::mismatch when shards are missing. The file is yet to be committed.
  void finish();

 private:
  atomic_file* file_;
  image_header header_;  // of the whole, as far as it is known
  std::optional<image_stream> out_;
  std::uint32_t next_ = 0;
  std::uint32_t count_ = 1;
};

void join(atomic_file& file, std::span<const filter_version> shards);

}  // namespace bloomery
