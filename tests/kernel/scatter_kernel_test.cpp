// The kernels of classic and partitioned filters of every instruction set that this machine has,
// against the one-key calls of their probe schemes: the same bits set and the same answers, for
// every number of probes, any length and sizes from one bit to more than 2^32.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../../src/kernel/dispatch.hpp"
#include "../../src/kernel/wide/wide.hpp"
#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/filter/classic.hpp"
#include "bloomery/filter/partitioned.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/hash/probe.hpp"
#include "levels.hpp"

namespace {

using namespace bloomery;
using kernel::level;
using kernel::scatter_array;
using kernel::scatter_kernels;

std::vector<std::uint64_t> hashes_from(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint64_t> hashes(count);
  for (std::size_t i = 0; i < count; ++i) hashes[i] = splitmix64(seed + i);
  return hashes;
}

// A filter of either kind, by its one-key calls.
template <class Probes>
class scatter_model {
 public:
  explicit scatter_model(const shape& s) : shape_(s), probes_(s) {}

  void add(std::uint64_t* words, std::uint64_t hash) const {
    probes_.all_of(hash, [words](std::uint64_t position) {
      detail::set_bit(words, position);
      return true;
    });
  }
  [[nodiscard]] bool contains(const std::uint64_t* words, std::uint64_t hash) const {
    return probes_.all_of(
        hash, [words](std::uint64_t position) { return detail::test_bit(words, position); });
  }
  template <class Word>
  [[nodiscard]] scatter_array<Word> array(Word* words) const {
    const bool sliced = shape_.kind == filter_kind::partitioned;
    const std::uint64_t slice = shape_.bits / shape_.probes;
    return {.words = words,
            .range = sliced ? slice : shape_.bits,
            .step = sliced ? slice : 0,
            .probes = shape_.probes};
  }

 private:
  shape shape_;
  Probes probes_;
};

shape shape_of(filter_kind kind, std::uint64_t bits, std::uint32_t probes) {
  shape s{};
  s.kind = kind;
  s.bits = bits;
  s.probes = probes;
  return s;
}

class scatter_kernel : public testing::TestWithParam<level> {
 protected:
  [[nodiscard]] const scatter_kernels& kernels() const {
    return kernel::wide_kernels_of(GetParam()).scatter;
  }

  // Adds `count` hashes, one of them twice, and asks for others, a third of which are there.
  template <class Probes>
  void check(const shape& s, std::size_t count) const {
    SCOPED_TRACE(testing::Message() << kind_name(s.kind) << ", " << s.bits << " bits, " << s.probes
                                    << " probes, " << count << " keys");
    const scatter_model<Probes> expect(s);
    std::vector<std::uint64_t> hashes = hashes_from(count, 1);
    if (count > 3) hashes[3] = hashes[1];
    if (count > 4) hashes[2] = ~std::uint64_t{0};
    const std::size_t size = static_cast<std::size_t>(bit_array::words_for(s.bits));
    std::vector<std::uint64_t> expected(size);
    for (const std::uint64_t hash : hashes) expect.add(expected.data(), hash);
    std::vector<std::uint64_t> words(size);
    kernels().add(expect.array(words.data()), {hashes.data(), count});
    ASSERT_EQ(words, expected);

    std::vector<std::uint64_t> asked = hashes_from(count, 1'000'000);
    for (std::size_t i = 0; i < count; i += 3) asked[i] = hashes[i];
    std::vector<std::uint64_t> answers((count + 63) / 64 + 1);
    for (std::size_t i = 0; i < count; ++i) {
      answers[i / 64] |= std::uint64_t{expect.contains(words.data(), asked[i])} << (i % 64);
    }
    answers.back() = 0x1234;  // one word more than needed, which must be left alone
    std::vector<std::uint64_t> bitmap(answers.size(), ~std::uint64_t{0});
    bitmap.back() = 0x1234;
    const std::uint64_t* const read = words.data();
    kernels().contains(expect.array(read), {asked.data(), count}, bitmap.data());
    ASSERT_EQ(bitmap, answers);
  }

  void check_both(std::uint64_t bits, std::uint32_t probes, std::size_t count) const {
    check<classic_probes>(shape_of(filter_kind::classic, bits, probes), count);
    check<partitioned_probes>(
        shape_of(filter_kind::partitioned, (bits / probes + 1) * probes, probes), count);
  }
};

INSTANTIATE_TEST_SUITE_P(every_level, scatter_kernel,
                         testing::ValuesIn(kernel_tests::available_levels()),
                         kernel_tests::name_of);

TEST_P(scatter_kernel, every_number_of_probes) {
  for (std::uint32_t k = 1; k <= max_probes; ++k) {
    for (const std::uint64_t bits : {1U, 64U, 1009U, 20'011U}) {
      for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 63U, 64U, 65U, 300U}) {
        check_both(bits, k, count);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(scatter_kernel, any_length) {
  for (std::size_t count = 0; count <= 300; ++count) {
    check_both(3001, 7, count);
    if (HasFatalFailure()) return;
  }
}

TEST_P(scatter_kernel, several_pieces) {
  for (const std::size_t count : {1000U, 1023U, 1024U, 1025U, 2047U, 2048U, 2049U, 10'000U}) {
    check_both(100'003, 7, count);
    check_both(1'000'003, 13, count);
    if (HasFatalFailure()) return;
  }
}

// Larger than any cache that is taken for near: the loops with prefetches.
TEST_P(scatter_kernel, large_arrays) {
  constexpr std::uint64_t large = (std::uint64_t{9} << 20U) * 8 + 13;
  for (const std::size_t count : {1U, 8U, 100U, 129U, 1000U, 5003U}) {
    check_both(large, 7, count);
    check_both(large, 1, count);
    check_both(large, 20, count);
    if (HasFatalFailure()) return;
  }
}

// 5 billion bits, of which a few pages are touched.
TEST_P(scatter_kernel, more_than_32_bits_of_bits) {
  constexpr std::uint64_t bits = 5'000'000'000;
  constexpr std::size_t bytes = bits / 8 + 64;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const words = static_cast<std::uint64_t*>(memory);
  const auto run = [&]<class Probes>(const scatter_model<Probes>& expect) {
    const std::vector<std::uint64_t> hashes = hashes_from(203, 5);
    kernels().add(expect.array(words), {hashes.data(), hashes.size()});
    for (const std::uint64_t hash : hashes) ASSERT_TRUE(expect.contains(words, hash));
    std::vector<std::uint64_t> bitmap(4);
    kernels().contains(expect.array(static_cast<const std::uint64_t*>(words)),
                       {hashes.data(), hashes.size()}, bitmap.data());
    EXPECT_EQ(count_bits(bitmap), hashes.size());
    const std::vector<std::uint64_t> absent = hashes_from(203, 1000);
    kernels().contains(expect.array(static_cast<const std::uint64_t*>(words)),
                       {absent.data(), absent.size()}, bitmap.data());
    EXPECT_EQ(count_bits(bitmap), 0U);
  };
  run(scatter_model<classic_probes>(shape_of(filter_kind::classic, bits, 7)));
  run(scatter_model<partitioned_probes>(shape_of(filter_kind::partitioned, bits, 1)));
  munmap(memory, bytes);
}

// Counters of 2 to 64 bits, of which an eighth are zero: a key is there when none of its own is.
TEST_P(scatter_kernel, cells_of_every_width) {
  for (std::uint32_t log = 1; log <= 6; ++log) {
    const std::uint32_t width = 1U << log;
    // The second is larger than what is taken for near; one width will do.
    const std::uint64_t large = log == 4 ? (std::uint64_t{9} << 23U) / width : 7;
    for (const std::uint64_t cells : {std::uint64_t{3001}, large}) {
      std::vector<std::uint64_t> words(static_cast<std::size_t>(cells * width / 64 + 1));
      const classic_probes probes(shape_of(filter_kind::classic, cells, 5));
      for (std::uint64_t c = 0; c < cells; ++c) {
        if (splitmix64(c) % 8 != 0) detail::set_bit(words.data(), c * width + c % width);
      }
      const std::vector<std::uint64_t> asked = hashes_from(1100, log);
      std::vector<std::uint64_t> bitmap(18);
      kernels().contains(
          {.words = words.data(), .range = cells, .step = 0, .probes = 5, .cell_log = log},
          {asked.data(), asked.size()}, bitmap.data());
      for (std::size_t i = 0; i < asked.size(); ++i) {
        const bool there =
            probes.all_of(asked[i], [](std::uint64_t cell) { return splitmix64(cell) % 8 != 0; });
        ASSERT_EQ((bitmap[i / 64] >> (i % 64)) & 1U, there ? 1U : 0U)
            << width << " bits, key " << i;
      }
    }
  }
}

// What the public calls run, in pieces and not.
template <class Filter>
void check_filter() {
  Filter one({.keys = 5000, .fpr = 0.01});
  Filter many = one;
  const std::vector<std::uint64_t> hashes = hashes_from(5000, 9);
  for (const std::uint64_t hash : hashes) one.add(hash);
  many.add_batch(hashes);
  EXPECT_TRUE(std::ranges::equal(many.words(), one.words()));
  EXPECT_EQ(many.keys(), one.keys());
  EXPECT_EQ(many.contains_count(hashes), hashes.size());
  const std::vector<std::uint64_t> absent = hashes_from(5000, 90'000);
  std::size_t found = 0;
  for (const std::uint64_t hash : absent) found += one.contains(hash) ? 1U : 0U;
  EXPECT_EQ(many.contains_count(absent), found);
}

TEST(scatter_batch, the_same_as_one_key_at_a_time) {
  check_filter<classic_filter>();
  check_filter<partitioned_filter>();
}

}  // namespace
