// Filters larger than memory, built slice by slice: the bytes of the one that was built in memory.

#include "bloomery/format/sliced_build.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "format/files.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

template <class Filter>
class sliced : public testing::Test {
 protected:
  // A little over three chunks, and where the kind allows it no whole number of words.
  static plan odd_plan() {
    plan p{.shape = {.kind = Filter::kind, .probes = 5, .bits = 5 * 5'300'001ULL},
           .keys = 200'000,
           .fpr_target = 0.125};
    if constexpr (in_blocks<typename Filter::probes_type>) {
      p.shape.block_bits = Filter::probes_type::block_bits;
      p.shape.bits = p.shape.block_bits * 52'001ULL * (512 / p.shape.block_bits);
    }
    if (p.shape.kind == filter_kind::split_block) p.shape.probes = 8;
    return p;
  }
  [[nodiscard]] byte_vector built_in_memory() const {
    Filter f(odd_plan());
    f.add_batch(hashes_);
    return image_of(f, hash_);
  }
  [[nodiscard]] byte_vector built_from(const hash_spool& spool, std::uint64_t slice_bytes) const {
    atomic_file file(folder_ / "f");
    build_sliced(file, {.planned = odd_plan(), .hash = hash_}, spool, slice_bytes);
    file.commit();
    return read_bytes(folder_ / "f");
  }

  std::vector<std::uint64_t> hashes_ = sample_hashes(200'000);
  hash_spec hash_{.id = hash_id::xxh3, .seed = 5};
  temporary_directory folder_;
};
using filters =
    testing::Types<blocked_filter, split_block_filter, classic_filter, partitioned_filter>;
TYPED_TEST_SUITE(sliced, filters, );

TYPED_TEST(sliced, is_the_filter_built_in_memory) {
  const byte_vector expected = this->built_in_memory();
  for (const std::uint32_t partitions : {1U, 2U, 3U, 7U, 64U}) {
    hash_spool spool(this->folder_.path(), partitions, 64 * mebibyte);
    spool.append(this->hashes_);
    for (const std::uint64_t slice : {1 * mebibyte, 2 * mebibyte, 64 * mebibyte}) {
      EXPECT_TRUE(this->built_from(spool, slice) == expected)
          << partitions << " partitions, slices of " << slice << " bytes";
    }
  }
}

TYPED_TEST(sliced, takes_slices_that_are_no_whole_chunks) {
  const byte_vector expected = this->built_in_memory();
  hash_spool spool(this->folder_.path(), 4, 64 * mebibyte);
  spool.append(this->hashes_);
  for (const std::uint64_t slice :
       {std::size_t{0}, std::size_t{1}, mebibyte + 1, 2 * mebibyte - 1}) {
    EXPECT_TRUE(this->built_from(spool, slice) == expected) << slice;
  }
}

TYPED_TEST(sliced, is_the_same_when_the_hashes_were_on_disk) {
  const byte_vector expected = this->built_in_memory();
  // Everything, most and little of it spilt.
  for (const std::size_t memory : {std::size_t{0}, std::size_t{100'000}, mebibyte}) {
    hash_spool spool(this->folder_.path(), 4, memory);
    for (std::size_t from = 0; from < this->hashes_.size(); from += 1700) {
      const std::size_t count = std::min<std::size_t>(1700, this->hashes_.size() - from);
      spool.append(std::span(this->hashes_).subspan(from, count));
    }
    EXPECT_EQ(spool.keys(), 200'000U);
    EXPECT_TRUE(this->built_from(spool, mebibyte) == expected) << memory;
  }
}

TYPED_TEST(sliced, may_be_empty) {
  const hash_spool spool(this->folder_.path(), 4, mebibyte);
  const byte_vector empty = this->built_from(spool, mebibyte);
  EXPECT_TRUE(empty == image_of(TypeParam(this->odd_plan()), this->hash_));
}

TYPED_TEST(sliced, advises_a_partition_for_each_slice_where_that_helps) {
  const shape s = this->odd_plan().shape;
  const bool blocked = in_blocks<typename TypeParam::probes_type>;
  EXPECT_EQ(spool_partitions(s, mebibyte), blocked ? 4U : 1U);
  EXPECT_EQ(spool_partitions(s, 2 * mebibyte), blocked ? 2U : 1U);
  EXPECT_EQ(spool_partitions(s, 100 * mebibyte), 1U);
  shape large = s;
  large.bits = 5 * 512 * 1'000'000'000ULL;
  EXPECT_EQ(spool_partitions(large, mebibyte), blocked ? 256U : 1U);
}

TEST(hash_spool, keeps_every_hash_in_the_partition_of_its_upper_bits) {
  const temporary_directory folder;
  hash_spool spool(folder.path(), 7, 5000);
  auto expected = sample_hashes(10'000);
  expected.push_back(0);
  expected.push_back(UINT64_MAX);
  for (const std::uint64_t hash : expected) spool.append({&hash, 1});
  EXPECT_EQ(folder.names(), std::vector<std::string>{}) << "the files have no names";
  EXPECT_EQ(spool.partitions(), 7U);

  std::sort(expected.begin(), expected.end());
  std::vector<std::uint64_t> all;
  for (std::uint32_t p = 0; p < 7; ++p) {
    std::vector<std::uint64_t> part;
    spool.for_each(p, [&](auto hashes) { part.insert(part.end(), hashes.begin(), hashes.end()); });
    std::sort(part.begin(), part.end());
    all.insert(all.end(), part.begin(), part.end());
  }
  EXPECT_EQ(all, expected) << "the partitions, one after the other, are in order";
}

TEST(hash_spool, has_at_least_one_partition) {
  const hash_spool spool("/", 0, 0);
  EXPECT_EQ(spool.partitions(), 1U);
}

TEST(hash_spool, says_when_it_cannot_spill) {
  const temporary_directory folder;
  hash_spool spool(folder / "missing", 1, 0);
  EXPECT_TRUE(throws(errc::io, "missing", [&] { spool.append(sample_hashes(1)); }));
}

template <class Filter>
class sharded : public testing::Test {};
using static_filters = testing::Types<fuse_filter, ribbon_filter>;
TYPED_TEST_SUITE(sharded, static_filters, );

// More shards than partitions and fewer, some without a key, more and fewer than threads.
TYPED_TEST(sharded, is_the_filter_built_in_memory_with_any_number_of_threads) {
  const temporary_directory folder;
  for (const std::uint64_t shards : {1U, 3U, 40U}) {
    plan p = sizing::make_plan({.kind = TypeParam::kind, .keys = 30'000, .fpr = 0.01});
    p.keys = shards << sizing::log2_shard_keys;
    auto hashes = sample_hashes(shards == 40 ? 100 : 30'000);
    const byte_vector expected = image_of(TypeParam(p, hashes));
    hashes.insert(hashes.end(), hashes.begin(), hashes.begin() + 50);  // repetitions
    for (const std::uint32_t partitions : {1U, 4U, 64U}) {
      hash_spool spool(folder.path(), partitions, mebibyte);
      spool.append(hashes);
      for (const unsigned threads : {1U, 2U, 3U, 16U}) {
        atomic_file file(folder / "f");
        build_sharded(file, {.planned = p, .hash = {}}, spool, threads);
        file.commit();
        EXPECT_TRUE(read_bytes(folder / "f") == expected)
            << shards << " shards, " << partitions << " partitions, " << threads << " threads";
      }
    }
  }
}

// The least hash whose first position, or block, is this one of `range`.
std::uint64_t hash_for(std::uint64_t position, std::uint64_t range) {
  const auto numerator = (static_cast<detail::uint128>(position) << 64U) + (range - 1);
  return static_cast<std::uint64_t>(numerator / range);
}

TEST(build_sliced, keeps_the_bits_at_the_edges_of_slices) {
  const temporary_directory folder;
  constexpr std::uint64_t slice = 8 * mebibyte;
  classic_filter f(
      plan{.shape = {.kind = filter_kind::classic, .probes = 1, .bits = 3 * slice + 1}});
  hash_spool spool(folder.path(), 1, mebibyte);
  for (const std::uint64_t edge : {slice, 2 * slice, 3 * slice}) {
    for (const std::uint64_t position : {edge - 1, edge}) {
      const std::uint64_t hash = hash_for(position, f.shape().bits);
      spool.append({&hash, 1});
      f.add(hash);
      ASSERT_TRUE(detail::test_bit(f.words().data(), position));
    }
  }
  atomic_file file(folder / "f");
  build_sliced(file, {.planned = f.planned(), .hash = {}}, spool, mebibyte);
  file.commit();
  EXPECT_TRUE(read_bytes(folder / "f") == image_of(f));
}

// Two partitions that meet in the first block of the second slice.
TEST(build_sliced, keeps_the_keys_of_partitions_that_meet_in_a_block) {
  const temporary_directory folder;
  constexpr std::uint64_t slice_blocks = mebibyte / 64;
  constexpr std::uint64_t blocks = 2 * slice_blocks + 1;
  blocked_filter f(plan{
      .shape = {
          .kind = filter_kind::blocked, .probes = 4, .block_bits = 512, .bits = 512 * blocks}});
  hash_spool spool(folder.path(), 2, mebibyte);
  const std::uint64_t middle = std::uint64_t{1} << 63U;
  for (const std::uint64_t hash : {hash_for(slice_blocks, blocks), middle - 1, middle,
                                   hash_for(slice_blocks + 1, blocks) - 1}) {
    ASSERT_EQ(f.probes().block_of(hash), slice_blocks);
    spool.append({&hash, 1});
    f.add(hash);
  }
  atomic_file file(folder / "f");
  build_sliced(file, {.planned = f.planned(), .hash = {}}, spool, mebibyte);
  file.commit();
  EXPECT_TRUE(read_bytes(folder / "f") == image_of(f));
}

TEST(build_sliced, refuses_foreign_digests) {
  const temporary_directory folder;
  const hash_spool spool(folder.path(), 1, mebibyte);
  atomic_file file(folder / "f");
  EXPECT_TRUE(throws(errc::unsupported, "digests", [&] {
    build_sliced(file,
                 {.planned = small_filter<digest_filter>().planned(), .hash = {.id = hash_id::md5}},
                 spool, mebibyte);
  }));
}

// Its header comes last, which a pipe cannot take.
TEST(build_sliced, refuses_pipes) {
  const temporary_directory folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::fstream reader(folder / "pipe", std::ios::in | std::ios::out);  // opens without waiting
  const hash_spool spool(folder.path(), 1, mebibyte);
  atomic_file file(folder / "pipe");
  EXPECT_TRUE(throws(errc::io, "seek", [&] {
    build_sliced(file, {.planned = small_filter<blocked_filter>().planned(), .hash = {}}, spool,
                 mebibyte);
  }));
}

}  // namespace
