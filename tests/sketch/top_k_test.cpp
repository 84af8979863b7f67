// The top-k sketch: its list, its buckets against a second implementation, and images from anybody.
#include "bloomery/sketch/top_k.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "filter/samples.hpp"
#include "sketch/streams.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

static_assert(queryable<top_k> && countable<top_k> && queryable<top_k_view>);
static_assert(countable<top_k_view> && storable<top_k_view>);
static_assert(std::is_nothrow_move_constructible_v<top_k> && std::is_copy_constructible_v<top_k>);

std::string name(std::uint64_t i) { return "key " + std::to_string(i); }

std::vector<std::uint64_t> image_of(const top_k& t) {
  const bit_array image = t.serialise();
  EXPECT_EQ(image.words().size() * 64, t.shape().bits);
  return {image.words().begin(), image.words().end()};
}

top_k filled(std::uint32_t k, std::uint64_t width, std::size_t length = 20000) {
  top_k t(top_k_options{.k = k, .width = width});
  for (const std::uint32_t key : zipf_stream(3000, length, 1.0, 8)) {
    t.add(name(key), sample_hash(key));
  }
  return t;
}

TEST(top_k, counts_exactly_while_every_key_has_a_place) {
  top_k t(top_k_options{.k = 50, .width = 2});  // the buckets are of no use
  std::map<std::uint64_t, std::uint64_t> truth;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const std::uint64_t key = sample_hash(i, 3) % 50;
    const std::uint64_t count = 1 + sample_hash(i, 4) % 3;
    EXPECT_EQ(t.add(name(key), sample_hash(key), count), std::nullopt);
    truth[key] += count;
  }
  const auto list = t.entries();
  ASSERT_EQ(list.size(), 50U);
  for (const auto& [key, count] : truth) {
    EXPECT_EQ(t.count(sample_hash(key)), count);
    EXPECT_TRUE(t.contains(sample_hash(key)));
  }
  for (std::size_t i = 1; i < list.size(); ++i) {
    EXPECT_TRUE(list[i - 1].count > list[i].count ||
                (list[i - 1].count == list[i].count && list[i - 1].key < list[i].key));
  }
  EXPECT_EQ(t.keys(), 5000U);
  EXPECT_FALSE(t.contains(sample_hash(60)));
  EXPECT_EQ(t.count(sample_hash(60)), 0U);
}

TEST(top_k, is_never_too_high) {
  for (const std::uint64_t width : {8U, 64U, 512U}) {
    const top_k t = filled(20, width);
    const auto truth = counts_in(zipf_stream(3000, 20000, 1.0, 8), 3000);
    for (std::uint32_t key = 0; key < 3000; ++key) {
      ASSERT_LE(t.count(sample_hash(key)), truth[key]) << key << " with " << width;
    }
    EXPECT_EQ(t.total(), 20000U);
  }
}

TEST(top_k, says_which_key_it_drops) {
  top_k t(top_k_options{.k = 5, .width = 64});
  std::map<std::string, bool> listed;
  std::size_t dropped = 0;
  for (const std::uint32_t key : zipf_stream(100, 3000, 0.5, 2)) {
    const bool before = t.contains(sample_hash(key));
    const auto gone = t.add(name(key), sample_hash(key));
    if (gone) {
      ASSERT_FALSE(before);
      ASSERT_TRUE(listed[*gone]);
      listed[*gone] = false;
      ++dropped;
    }
    if (t.contains(sample_hash(key))) listed[name(key)] = true;
    const auto list = t.entries();
    for (const auto& e : list) ASSERT_TRUE(listed[std::string(e.key)]);
  }
  EXPECT_GT(dropped, 10U);
  EXPECT_EQ(std::count_if(listed.begin(), listed.end(), [](const auto& l) { return l.second; }), 5);
}

TEST(top_k, a_key_must_have_more_than_the_weakest_to_be_listed) {
  top_k t(top_k_options{.k = 1, .width = 64});
  t.add("a", sample_hash(1));
  EXPECT_EQ(t.add("b", sample_hash(2)), std::nullopt) << "a tie";
  EXPECT_TRUE(t.contains(sample_hash(1)));
  EXPECT_EQ(t.count(sample_hash(2)), 1U) << "not listed, but in its buckets";
  EXPECT_EQ(t.add("b", sample_hash(2)), "a");
  EXPECT_EQ(t.entries().front().count, 2U);
}

// A counter above the least listed count, with the fingerprint of a key that is not listed, is
// another's.
TEST(top_k, tells_fingerprints_that_collide_with_a_listed_key) {
  top_k t(top_k_options{.k = 2, .depth = 1, .width = 1});
  t.add("large", 5, 100);
  t.add("small", 6);
  const std::uint64_t twin = 5 + (std::uint64_t{1} << 40U);
  const auto words = image_of(t);
  ASSERT_GE(detail::little_endian(words[8]) >> 32U, 99U);
  EXPECT_EQ(t.count(twin), 0U);
  EXPECT_EQ(top_k_view(t.planned(), words, 2).count(twin), 0U);
  EXPECT_EQ(t.add("twin", twin), std::nullopt);
  EXPECT_FALSE(t.contains(twin)) << "it came once";
  EXPECT_EQ(image_of(t)[8], words[8]) << "and does not count for the other";
}

// The rules of docs/format.md once more, with the table from long double powers: one row of one
// bucket.
TEST(top_k, wears_buckets_down_as_the_format_says) {
  for (const double decay : {1 / 1.08, 0.5, 0.99}) {
    top_k t(top_k_options{.k = 1, .depth = 1, .width = 1, .decay = decay, .seed = 5});
    const long double ratio = std::floor(static_cast<long double>(decay) * 0x1p32L) * 0x1p-32L;
    std::uint64_t length = 0;  // of the table: no draws for counters beyond it
    for (auto t64 = ~std::uint64_t{0}; t64 != 0; ++length) {
      const auto factor = static_cast<std::uint64_t>(ratio * 0x1p32L);
      t64 = (t64 >> 32U) * factor + (((t64 & UINT32_MAX) * factor) >> 32U);
    }
    std::uint64_t state = 5;
    std::uint64_t owner = 0;
    std::uint64_t counter = 0;
    const auto reference = [&](std::uint64_t hash) {
      if (counter == 0 || owner == hash) {
        owner = hash;
        ++counter;
        return;
      }
      if (counter >= length) return;
      const long double draw = static_cast<long double>(splitmix64(state)) * 0x1p-64L;
      state += 0x9e3779b97f4a7c15U;
      if (draw >= std::pow(ratio, static_cast<long double>(counter))) return;
      if (--counter == 0) {
        owner = hash;
        counter = 1;
      }
    };
    // The listed key has more than any other, so that no counter is taken for a collision.
    t.add("first", sample_hash(0), 1000000);
    owner = sample_hash(0);
    counter = 1000000;
    std::vector<std::uint64_t> words = image_of(t);
    counter = 3;
    words[8] = detail::little_endian((counter << 32U) | (owner & UINT32_MAX));
    top_k worn((top_k_view(t.planned(), words, 1)));
    for (std::uint64_t i = 0; i < 3000; ++i) {
      const std::uint64_t key = sample_hash(i, 6) % 10 < 7 ? 1 : 2 + i % 2;
      worn.add(name(key), sample_hash(key));
      reference(sample_hash(key));
      const std::uint64_t bucket = detail::little_endian(image_of(worn)[8]);
      ASSERT_EQ(bucket, (counter << 32U) | (owner & UINT32_MAX)) << i << " at " << decay;
      ASSERT_EQ(detail::little_endian(image_of(worn)[1]), state);
    }
  }
}

TEST(top_k, the_same_stream_makes_the_same_image) {
  EXPECT_EQ(image_of(filled(20, 64)), image_of(filled(20, 64)));
  top_k other(top_k_options{.k = 20, .width = 64, .seed = 1});
  for (const std::uint32_t key : zipf_stream(3000, 20000, 1.0, 8)) {
    other.add(name(key), sample_hash(key));
  }
  EXPECT_NE(image_of(filled(20, 64)), image_of(other)) << "other draws";
}

// The random state is part of the image: saving and opening changes nothing that comes later.
TEST(top_k, goes_on_after_opening_as_if_never_closed) {
  const auto stream = zipf_stream(3000, 20000, 1.0, 8);
  top_k through = filled(20, 64);
  top_k reopened(top_k_options{.k = 20, .width = 64});
  for (std::size_t i = 0; i < stream.size(); ++i) {
    if (i % 997 == 0) {
      const auto words = image_of(reopened);
      reopened = top_k(top_k_view(reopened.planned(), words, reopened.keys()));
    }
    reopened.add(name(stream[i]), sample_hash(stream[i]));
  }
  EXPECT_EQ(image_of(reopened), image_of(through));
  EXPECT_EQ(reopened.keys(), through.keys());
}

TEST(top_k, its_image_answers_as_it_does) {
  const top_k t = filled(20, 64);
  const auto words = image_of(t);
  const top_k_view view(t.planned(), words, t.keys());
  const auto list = t.entries();
  ASSERT_EQ(view.entries().size(), list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(view.entries()[i].key, list[i].key);
    EXPECT_EQ(view.entries()[i].hash, list[i].hash);
    EXPECT_EQ(view.entries()[i].count, list[i].count);
  }
  const auto asked = sample_hashes(500);
  std::vector<std::uint64_t> counts(500);
  std::vector<std::uint64_t> counts_in_view(500);
  std::vector<std::uint8_t> bytes(500);
  t.count_batch(asked, counts);
  view.count_batch(asked, counts_in_view);
  view.contains_bytes(asked, bytes);
  EXPECT_EQ(counts, counts_in_view);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    ASSERT_EQ(view.count(asked[i]), t.count(asked[i]));
    ASSERT_EQ(counts[i], t.count(asked[i]));
    ASSERT_EQ(bytes[i] != 0, t.contains(asked[i]));
  }
  EXPECT_EQ(t.contains_count(asked), 20U);
  EXPECT_EQ(view.fill(), t.fill());
  EXPECT_EQ(view.fpr(), t.fpr());
  EXPECT_EQ(view.total(), t.total());
}

TEST(top_k, batches_do_what_single_calls_do) {
  const auto stream = zipf_stream(3000, 20000, 1.0, 8);
  std::vector<std::string> names;
  names.reserve(stream.size());
  for (const std::uint32_t key : stream) names.push_back(name(key));
  const std::vector<std::string_view> views(names.begin(), names.end());
  for (const std::uint64_t width : {64U, 1U << 16U}) {  // in the cache, and with prefetches
    top_k batch(top_k_options{.k = 20, .width = width});
    batch.add_batch(views, hashes_of(stream));
    EXPECT_EQ(image_of(batch), image_of(filled(20, width))) << width;
    top_k few(top_k_options{.k = 20, .width = width});
    few.add_batch(std::span(views).first(3), hashes_of({stream.begin(), stream.begin() + 3}));
    EXPECT_EQ(few.total(), 3U);
  }

  top_k counted(top_k_options{.k = 20, .width = 64});
  top_k single(top_k_options{.k = 20, .width = 64});
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 0; i < stream.size(); ++i) counts.push_back(i % 3);
  std::vector<std::optional<std::string>> dropped(stream.size());
  const auto hashes = hashes_of(stream);
  counted.add_batch(views, hashes, counts, dropped);
  for (std::size_t i = 0; i < stream.size(); ++i) {
    ASSERT_EQ(dropped[i], single.add(views[i], hashes[i], counts[i])) << i;
  }
  EXPECT_EQ(image_of(counted), image_of(single));
}

// The rules of docs/format.md for single arrivals once more, over plain numbers. Starts with a key
// that came so often that its counters are full.
class plain_top_k {
 public:
  plain_top_k(std::uint32_t k, std::uint32_t depth, std::uint64_t width, std::uint64_t first)
      : k_(k), depth_(depth), width_(width), buckets_(depth * width) {
    for (auto t = ~std::uint64_t{0}; t != 0;) {
      thresholds_.push_back(t);
      t = (t >> 32U) * ratio + (((t & UINT32_MAX) * ratio) >> 32U);
    }
    for (const std::size_t at : places(first)) buckets_[at] = {low(first), UINT32_MAX};
    listed_[first] = often;
  }

  void add(std::uint64_t hash) {
    if (!listed_.contains(hash) && listed_.size() < k_) listed_[hash] = 0;
    const bool listed = listed_.contains(hash);
    const std::uint64_t most = listed ? ~std::uint64_t{0} : weakest()->second;
    std::uint64_t estimate = 0;
    for (const std::size_t at : places(hash)) {
      auto& [owner, count] = buckets_[at];
      if (count == 0) {
        owner = low(hash);
        count = 1;
      } else if (owner == low(hash)) {
        if (count > most) continue;
        count = std::min<std::uint64_t>(count + 1, UINT32_MAX);
      } else if (count < thresholds_.size()) {
        const std::uint64_t draw = splitmix64(state_);
        state_ += 0x9e3779b97f4a7c15U;
        if (draw < thresholds_[count] && --count == 0) {
          owner = low(hash);
          count = 1;
        }
      }
      if (owner == low(hash)) estimate = std::max(estimate, count);
    }
    if (listed) {
      ++listed_[hash];
    } else if (estimate > most) {
      listed_.erase(weakest());
      listed_[hash] = estimate;
    }
  }

  void expect_equal(const top_k& t) const {
    const auto words = image_of(t);
    EXPECT_EQ(detail::little_endian(words[1]), state_);
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      ASSERT_EQ(detail::little_endian(words[8 + i]), buckets_[i].second << 32U | buckets_[i].first);
    }
    ASSERT_EQ(t.entries().size(), listed_.size());
    for (const auto& [hash, count] : listed_) {
      ASSERT_TRUE(t.contains(hash));
      ASSERT_EQ(t.count(hash), count);
    }
  }

  static constexpr std::uint64_t often = std::uint64_t{5} << 32U;

 private:
  static constexpr std::uint64_t ratio = 3976821570;
  using counts = std::map<std::uint64_t, std::uint64_t>;

  static std::uint64_t low(std::uint64_t hash) { return hash & UINT32_MAX; }
  std::vector<std::size_t> places(std::uint64_t hash) const {
    std::vector<std::size_t> all;
    for (std::uint64_t j = 0; j < depth_; ++j) {
      all.push_back(static_cast<std::size_t>(j * width_ + detail::multiply_high(hash, width_)));
      hash *= next_probe_multiplier;
    }
    return all;
  }
  counts::iterator weakest() {  // the last by count, then by key
    return std::ranges::min_element(listed_, [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second < b.second : name(a.first) > name(b.first);
    });
  }

  std::uint32_t k_;
  std::uint64_t depth_;
  std::uint64_t width_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> buckets_;
  std::vector<std::uint64_t> thresholds_;
  std::uint64_t state_ = 0;
  counts listed_;
};

// Few fingerprints, 0 among them, so that they collide with listed keys and with full counters.
TEST(top_k, single_arrivals_follow_the_format) {
  for (const std::uint32_t k : {1U, 3U, 20U}) {
    for (const std::uint32_t depth : {1U, 2U, 5U}) {
      for (const std::uint64_t width : {1U, 7U, 40000U}) {
        SCOPED_TRACE(testing::Message() << k << " keys, " << depth << " rows of " << width);
        std::vector<std::uint64_t> hashes;
        for (const std::uint32_t rank : zipf_stream(300, 3000, 0.9, k + depth + width)) {
          hashes.push_back((sample_hash(rank) & ~std::uint64_t{UINT32_MAX}) | (rank % 17));
        }
        std::vector<std::string> names;
        names.reserve(hashes.size());
        for (const std::uint64_t hash : hashes) names.push_back(name(hash));
        const std::vector<std::string_view> keys(names.begin(), names.end());

        plain_top_k expected(k, depth, width, hashes[0]);
        top_k one(top_k_options{.k = k, .depth = depth, .width = width});
        one.add(keys[0], hashes[0], plain_top_k::often);
        top_k many(one);
        for (std::size_t i = 0; i < keys.size(); ++i) {
          expected.add(hashes[i]);
          one.add(keys[i], hashes[i]);
        }
        for (std::size_t i = 0; i < keys.size(); i += 1000) {
          many.add_batch(std::span(keys).subspan(i, 1000), std::span(hashes).subspan(i, 1000));
        }
        expected.expect_equal(one);
        EXPECT_EQ(image_of(many), image_of(one));
        EXPECT_EQ(many.keys(), one.keys());
        EXPECT_EQ(many.total(), plain_top_k::often + keys.size());
      }
    }
  }
}

TEST(top_k, another_decay_can_be_set_before_the_first_key) {
  top_k t(top_k_options{.k = 20, .width = 64});
  t.set_decay(0.5);
  EXPECT_EQ(image_of(t), image_of(top_k(top_k_options{.k = 20, .width = 64, .decay = 0.5})));
  EXPECT_TRUE(throws(errc::bad_argument, "the decay", [&] { t.set_decay(1.5); }));
  t.add("a", sample_hash(1));
  EXPECT_TRUE(throws(errc::bad_argument, "was used", [&] { t.set_decay(0.6); }));
}

TEST(top_k, copies_and_moves) {
  top_k a = filled(20, 64);
  const auto image = image_of(a);
  top_k copy(a);
  copy.add("new", sample_hash(1, 9), 100000);
  EXPECT_EQ(image_of(a), image);
  EXPECT_NE(image_of(copy), image);
  const top_k moved(std::move(a));
  EXPECT_EQ(image_of(moved), image);
  a = copy;  // NOLINT(bugprone-use-after-move): that is the point
  EXPECT_EQ(image_of(a), image_of(copy));
}

TEST(top_k, lists_keys_of_any_bytes_and_most_lengths) {
  top_k t(top_k_options{.k = 4, .width = 64});
  const std::string longest(top_k_longest_key, 'x');
  t.add("", 1);
  t.add(std::string_view("\0\xff\n", 3), 2, 5);
  t.add(longest, 3, 7);
  EXPECT_TRUE(
      throws(errc::bad_argument, "the length of a key is 65537", [&] { t.add(longest + "x", 4); }));
  const auto words = image_of(t);
  const top_k_view view(t.planned(), words, 3);
  EXPECT_EQ(view.entries()[0].key, longest);
  EXPECT_EQ(view.entries()[1].key, std::string_view("\0\xff\n", 3));
  EXPECT_EQ(view.entries()[2].key, "");
}

TEST(top_k, a_huge_count_takes_no_time_and_saturates) {
  top_k t(top_k_options{.k = 1, .depth = 2, .width = 1});
  t.add("a", 1, 100);
  const auto gone = t.add("b", 2, ~std::uint64_t{0});
  EXPECT_EQ(gone, "a") << "2^64 arrivals wear a counter of 100 down";
  EXPECT_EQ(t.count(2), UINT32_MAX) << "as much as a bucket holds";
  t.add("b", 2, ~std::uint64_t{0});
  EXPECT_EQ(t.count(2), ~std::uint64_t{0});
  EXPECT_EQ(t.total(), ~std::uint64_t{0});
  EXPECT_EQ(t.add("c", 3, 1000), std::nullopt);
}

// ---- made and refused -------------------------------------------------------------------------

TEST(top_k, is_made_from_options_and_plans) {
  EXPECT_TRUE(made_from_bare_options<top_k>);
  const top_k t(options{.keys = 1000000, .fpr = 0.01});
  EXPECT_EQ(t.k(), 100U);
  EXPECT_EQ(t.depth(), 2U);
  EXPECT_EQ(t.width(), 65536U);
  EXPECT_EQ(t.shape().bits, (8 + 131072) * 64U);
  EXPECT_EQ(image_of(t).size(), 8 + 131072U);
  const plan p =
      sizing::make_plan({.kind = filter_kind::top_k, .keys = 10, .bytes = 1000, .variant = 7});
  EXPECT_LE(p.shape.bits, 8000U);
  EXPECT_EQ(top_k(p).width(), 58U);
  for (const double decay : {0.0, 1.0, 0.995, -1.0}) {
    EXPECT_TRUE(
        throws(errc::bad_argument, "the decay is", [&] { top_k(top_k_options{.decay = decay}); }));
  }
  plan wrong = p;
  wrong.shape.cell_bits = 16;
  EXPECT_TRUE(throws(errc::bad_argument, "32 in a top-k filter", [&] { top_k{wrong}; }));
  wrong = p;
  wrong.shape.bits = 512;
  EXPECT_TRUE(throws(errc::bad_argument, "the number of bits is 512", [&] { top_k{wrong}; }));
}

// Opens and, if it can, uses an image.
bool opens(plan p, const std::vector<std::uint64_t>& words) {
  p.shape.bits = words.size() * 64;
  try {
    const top_k_view view(p, words, 1);
    top_k t(view);
    for (std::uint64_t i = 0; i < 40; ++i) {
      t.add(name(i), sample_hash(i), 1 + i * i);
      EXPECT_GE(t.count(sample_hash(i)) + view.count(sample_hash(i)), 0U);
    }
    EXPECT_LE(t.entries().size(), p.shape.variant);
    EXPECT_NO_THROW(top_k_view(t.planned(), image_of(t), 1));
    return true;
  } catch (const error& e) {
    EXPECT_TRUE(e.code() == errc::corrupt || e.code() == errc::bad_argument) << e.what();
    return false;
  }
}

TEST(top_k, no_image_leads_it_astray) {
  const top_k t = filled(6, 4, 500);
  const auto image = image_of(t);
  ASSERT_TRUE(opens(t.planned(), image));
  const std::vector<std::uint64_t> values = {0,
                                             1,
                                             2,
                                             6,
                                             7,
                                             65536,
                                             65537,
                                             UINT32_MAX,
                                             std::uint64_t{1} << 61U,
                                             ~std::uint64_t{0},
                                             ~std::uint64_t{0} / 3,
                                             std::uint64_t{1} << 63U};
  for (std::size_t i = 0; i < image.size(); ++i) {
    for (const std::uint64_t value : values) {
      auto words = image;
      words[i] = detail::little_endian(value);
      opens(t.planned(), words);
      words[i] = image[i] ^ detail::little_endian(value);
      opens(t.planned(), words);
    }
  }
  for (std::size_t size = 1; size < image.size(); ++size) {
    EXPECT_FALSE(opens(t.planned(), {image.begin(), image.begin() + static_cast<long>(size)}));
  }
  auto longer = image;
  longer.push_back(0);
  EXPECT_FALSE(opens(t.planned(), longer));
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    auto words = sample_hashes(image.size(), seed + 1);
    for (auto& word : words) word >>= sample_hash(word % 1000) % 64;
    opens(t.planned(), words);
  }
}

TEST(top_k, refuses_each_contradiction_by_name) {
  const top_k t = filled(6, 4, 500);
  const auto image = image_of(t);
  const std::size_t list = 8 + 8;
  const auto refused = [&](std::string_view text, auto change) {
    auto words = image;
    change(words);
    return throws(errc::corrupt, text, [&] { top_k_view(t.planned(), words, 0); });
  };
  const auto set = [](std::size_t at, std::uint64_t value) {
    return [=](std::vector<std::uint64_t>& w) { w[at] = detail::little_endian(value); };
  };
  EXPECT_TRUE(refused("rows outside", set(0, 0)));
  EXPECT_TRUE(refused("rows outside", set(0, std::uint64_t{1} << 63U)));
  EXPECT_TRUE(refused("a decay out of range", set(2, 0)));
  EXPECT_TRUE(refused("a decay out of range", set(2, 4252017624)));
  EXPECT_TRUE(refused("more than k keys", set(4, 7)));
  EXPECT_TRUE(refused("keys that do not fill", set(4, 5)));
  EXPECT_TRUE(refused("keys that do not fill", set(5, ~std::uint64_t{0})));
  EXPECT_TRUE(refused("must be zero", set(6, 1)));
  EXPECT_TRUE(refused("must be zero", set(7, 1)));
  EXPECT_TRUE(refused("a key out of bounds", set(list + 2, 65537)));
  EXPECT_TRUE(refused("bytes after the last key", set(list + 17, 0)));
  EXPECT_TRUE(refused("a listed count of zero", set(list + 16, 0)));
  EXPECT_TRUE(refused("out of order", set(list + 1, 1)));
  EXPECT_TRUE(refused("listed twice", [&](auto& w) { w[list + 3] = w[list]; }));
  ASSERT_NE(detail::little_endian(image[5]) % 8, 0U);
  EXPECT_TRUE(refused("must be zero", [&](auto& w) {
    w.back() = detail::little_endian(detail::little_endian(w.back()) | (std::uint64_t{1} << 63U));
  }));
}

}  // namespace
