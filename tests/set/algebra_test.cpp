#include "bloomery/set/algebra.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/classic.hpp"
#include "bloomery/filter/partitioned.hpp"
#include "bloomery/filter/split_block.hpp"

namespace bloomery {
namespace {

// Of a block, in the kinds that have any.
template <class Filter>
constexpr std::uint32_t block_bits_of() {
  if constexpr (in_blocks<typename Filter::probes_type>) return Filter::probes_type::block_bits;
  return 0;
}

template <class Filter>
class every_kind : public testing::Test {
 protected:
  using keyed_filter = keyed<Filter>;

  // 240 units of 64 bytes, so that 2, 3, 4, 5, 6 and 240 divide every kind's units.
  static plan plan_of(std::uint32_t probes, std::uint64_t divisor = 1) {
    plan p;
    p.shape = {.kind = Filter::kind,
               .scheme = Filter::probes_type::scheme,
               .probes = probes,
               .block_bits = block_bits_of<Filter>(),
               .bits = std::uint64_t{240} * 512 * 5 / divisor};
    return p;
  }
  static constexpr bool may_choose_probes = Filter::kind != filter_kind::split_block;
  static constexpr std::uint32_t usual_probes = may_choose_probes ? 5 : split_probes;
  static keyed_filter empty(std::uint32_t probes = usual_probes, std::uint64_t divisor = 1,
                            std::uint64_t seed = 0) {
    return keyed_filter(Filter(plan_of(probes, divisor)), xxh3_hasher(seed));
  }
  static keyed_filter of(std::uint64_t first, std::uint64_t last, std::uint64_t divisor = 1) {
    keyed_filter f = empty(usual_probes, divisor);
    for (std::uint64_t key = first; key < last; ++key) f.add(key);
    return f;
  }
};

template <class Keyed>
bool same_bits(const Keyed& a, const Keyed& b) {
  return std::ranges::equal(a.filter().words(), b.filter().words());
}

template <class Work>
std::string mismatch(Work work) {
  try {
    work();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::mismatch);
    return e.what();
  }
  return "nothing thrown";
}

using kinds =
    testing::Types<blocked_filter, split_block_filter, classic_filter, partitioned_filter>;
TYPED_TEST_SUITE(every_kind, kinds);

TYPED_TEST(every_kind, merges_parts_into_the_filter_of_the_whole) {
  auto parts = this->of(0, 1000);
  parts |= this->of(1000, 3000);
  parts |= this->of(3000, 4000);
  EXPECT_TRUE(same_bits(parts, this->of(0, 4000)));
  EXPECT_EQ(parts.keys(), 4000U);
  EXPECT_TRUE(same_bits(merge(this->of(0, 1000), this->of(1000, 4000)), this->of(0, 4000)));
}

TYPED_TEST(every_kind, merges_views) {
  const auto a = this->of(0, 500);
  const auto b = this->of(500, 1000);
  const bit_view<typename TypeParam::probes_type> view(b.filter().planned(), b.filter().words(),
                                                       b.keys());
  TypeParam into(a.filter());
  into |= view;
  EXPECT_TRUE(std::ranges::equal(into.words(), this->of(0, 1000).filter().words()));
}

TYPED_TEST(every_kind, intersects_to_what_both_contain) {
  auto both = this->of(0, 3000);
  both &= this->of(2000, 5000);
  for (std::uint64_t key = 2000; key < 3000; ++key) ASSERT_TRUE(both.contains(key));
  EXPECT_EQ(both.keys(), 3000U);
  EXPECT_TRUE(may_cover(this->of(0, 3000), both));
  EXPECT_TRUE(same_bits(both, intersect(this->of(2000, 5000), this->of(0, 3000))));
}

TYPED_TEST(every_kind, folds_to_the_filter_that_was_built_small) {
  const auto large = this->of(0, 3000);
  for (const std::uint64_t divisor : {1U, 2U, 3U, 4U, 5U, 6U, 8U, 12U, 16U, 30U, 240U}) {
    EXPECT_TRUE(same_bits(fold(large, divisor), this->of(0, 3000, divisor))) << divisor;
    EXPECT_EQ(fold(large, divisor).keys(), 3000U);
  }
  EXPECT_TRUE(same_bits(fold(fold(large, 2), 2), fold(large, 4)));
}

TYPED_TEST(every_kind, folds_into_words_that_were_in_use) {
  const auto large = this->of(0, 3000);
  for (const std::uint64_t divisor : {1U, 2U, 3U, 8U, 30U, 240U}) {
    const auto small = this->of(0, 3000, divisor);
    std::vector<std::uint64_t> into(small.filter().words().size(), ~std::uint64_t{0});
    detail::fold_words(into, large.filter().words(), large.filter().shape(), divisor);
    EXPECT_TRUE(std::ranges::equal(into, small.filter().words())) << divisor;
  }
}

TYPED_TEST(every_kind, folding_and_merging_commute) {
  const auto a = this->of(0, 1000);
  const auto b = this->of(500, 2000);
  EXPECT_TRUE(same_bits(fold(merge(a, b), 6), merge(fold(a, 6), fold(b, 6))));
}

TYPED_TEST(every_kind, refuses_to_fold_by_what_does_not_divide) {
  for (const std::uint64_t divisor :
       {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{1} << 40U}) {
    try {
      (void)fold(this->of(0, 10), divisor);
      FAIL() << divisor;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::bad_argument);
      EXPECT_NE(std::string(e.what()).find(std::to_string(divisor)), std::string::npos);
    }
  }
}

TYPED_TEST(every_kind, covers_its_parts_and_nothing_else) {
  const auto all = this->of(0, 3000);
  EXPECT_TRUE(may_cover(all, this->of(100, 200)));
  EXPECT_TRUE(may_cover(all, this->empty()));
  EXPECT_FALSE(may_cover(this->of(100, 200), all));
  EXPECT_FALSE(may_cover(this->empty(), all));
}

TYPED_TEST(every_kind, names_the_difference_that_forbids_combining) {
  auto a = this->of(0, 10);
  if (this->may_choose_probes) {
    EXPECT_NE(mismatch([&] { a |= this->empty(4); }).find("probes differ, 5 and 4"),
              std::string::npos);
  }
  constexpr std::uint32_t probes = TestFixture::usual_probes;
  EXPECT_NE(mismatch([&] { a |= this->empty(probes, 2); }).find("bits differ, 614400 and 307200"),
            std::string::npos);
  EXPECT_NE(mismatch([&] { a &= this->empty(probes, 1, 9); }).find("seeds differ, 0 and 9"),
            std::string::npos);
  EXPECT_TRUE(same_bits(a, this->of(0, 10)));
}

TEST(fold, puts_the_parts_of_a_digest_filter_on_each_other) {
  plan p{.shape = {.kind = filter_kind::classic,
                   .scheme = probe_scheme::modulo,
                   .probes = 4,
                   .bits = 3 * 1000}};
  digest_filter large(p);
  p.shape.bits = 1000;
  digest_filter small(p);
  for (std::uint32_t i = 0; i < 50; ++i) {
    digest d;
    for (std::uint32_t j = 0; j < 4; ++j) {
      d.words[j] = static_cast<std::uint32_t>(splitmix64(4 * i + j));
    }
    large.add(d);
    small.add(d);
  }
  EXPECT_TRUE(std::ranges::equal(fold(large, 3).words(), small.words()));
  std::vector<std::uint64_t> into(small.words().size(), ~std::uint64_t{0});
  detail::fold_words(into, large.words(), large.shape(), 3);
  EXPECT_TRUE(std::ranges::equal(into, small.words()));
}

}  // namespace
}  // namespace bloomery
