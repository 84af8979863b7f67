// Filters whose kind is known at run time only: the same answers and bytes as the typed ones.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bloomery/filter/cuckoo.hpp"
#include "bloomery/sketch/count_min.hpp"
#include "bloomery/sketch/top_k.hpp"
#include "format/files.hpp"

#ifdef BLOOMERY_HAS_CRYPTO
#include "bloomery/crypto/digest.hpp"
#include "bloomery/crypto/siphash.hpp"
#endif

namespace {

using namespace bloomery;
using namespace bloomery_test;

std::vector<std::string> texts(std::size_t count, const std::string& prefix = "key ") {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(prefix + std::to_string(i));
  return all;
}

template <class Filter>
auto hasher_of() {
  if constexpr (std::is_same_v<Filter, digest_filter>) {
    return toy_digest_hasher();
  } else {
    return xxh3_hasher(7);
  }
}

template <class Filter>
plan plan_of(std::uint64_t keys = 1000) {
  const bool foreign = Filter::probes_type::scheme == probe_scheme::modulo;
  plan p = sizing::make_plan({.kind = Filter::kind, .keys = keys, .bits_per_key = 8, .probes = 4});
  if (foreign) p.shape.scheme = probe_scheme::modulo;
  return p;
}

template <class Filter>
class any_of_kind : public testing::Test {
 protected:
  using keyed_type = keyed<Filter, decltype(hasher_of<Filter>())>;

  any_of_kind() : typed_(Filter(plan_of<Filter>()), hasher_of<Filter>()) {
    typed_.add_batch(keys_);
  }
  [[nodiscard]] static any_filter empty() {
    return any_filter(plan_of<Filter>(), erase(hasher_of<Filter>()));
  }
  void expect_same(const any_filter& f) const {
    EXPECT_EQ(words_of(f), words_of(typed_.filter()));
    EXPECT_EQ(f.keys(), 1000U);
    EXPECT_EQ(f.shape(), typed_.filter().shape());
    EXPECT_EQ(f.planned().keys, 1000U);
    EXPECT_EQ(f.hash(), typed_.hash_function().spec());
    EXPECT_EQ(f->fill(), typed_.filter().fill());
    EXPECT_EQ(f.fpr(), typed_.fpr());
    const auto asked = texts(3000);
    std::vector<std::uint64_t> expected(47);
    std::vector<std::uint64_t> bitmap(47);
    typed_.contains_bits(asked, expected);
    f.contains_bits(views(asked), bitmap);
    EXPECT_EQ(bitmap, expected);
    for (std::size_t i = 990; i < 1100; ++i) {
      EXPECT_EQ(f.contains(asked[i]), typed_.contains(asked[i]));
    }
  }

  std::vector<std::string> keys_ = texts(1000);
  keyed_type typed_;
  temporary_directory folder_;
};
TYPED_TEST_SUITE(any_of_kind, filter_types, );

TYPED_TEST(any_of_kind, equals_the_typed_filter) {
  any_filter f = this->empty();
  EXPECT_TRUE(f.can().add);
  const auto all = views(this->keys_);
  f.add(std::span(all).first(600));
  f.add_concurrent(std::span(all).last(400));
  this->expect_same(f);
}

TYPED_TEST(any_of_kind, writes_the_bytes_of_the_typed_filter) {
  any_filter f = this->empty();
  f.add(views(this->keys_));
  f.save(this->folder_ / "any");
  save(this->typed_, this->folder_ / "typed");
  EXPECT_EQ(read_bytes(this->folder_ / "any"), read_bytes(this->folder_ / "typed"));
}

TYPED_TEST(any_of_kind, opens_and_loads_what_the_typed_filter_saved) {
  save(this->typed_, this->folder_ / "f");
  const auto hasher = erase(hasher_of<TypeParam>());
  const any_filter opened = any_filter::open(this->folder_ / "f", hasher);
  this->expect_same(opened);
  EXPECT_FALSE(opened.can().add);
  any_filter loaded = any_filter::load(this->folder_ / "f", hasher);
  this->expect_same(loaded);
  EXPECT_TRUE(loaded.can().add);
  const std::string_view more = "one more";
  loaded.add({&more, 1});
  EXPECT_TRUE(loaded.contains(more));
  EXPECT_EQ(loaded.keys(), 1001U);
}

TYPED_TEST(any_of_kind, refuses_to_change_a_mapped_file) {
  save(this->typed_, this->folder_ / "f");
  any_filter f = any_filter::open(this->folder_ / "f", erase(hasher_of<TypeParam>()));
  const std::string_view key = "one more";
  const std::uint64_t hash = 1;
  const auto refused = [](auto work) {
    return throws(errc::unsupported, "a mapped filter cannot be changed", work);
  };
  EXPECT_TRUE(refused([&] { f.add({&key, 1}); }));
  EXPECT_TRUE(refused([&] { f.add_concurrent({&key, 1}); }));
  EXPECT_TRUE(refused([&] { f->add_hashes({&hash, 1}); }));
  this->expect_same(f);
}

TYPED_TEST(any_of_kind, takes_hashes_or_says_why_not) {
  any_filter f = this->empty();
  std::vector<std::uint64_t> hashes;
  for (const std::string& key : this->keys_) hashes.push_back(hash_key(xxh3_hasher(7), key));
  if constexpr (std::is_same_v<TypeParam, digest_filter>) {
    EXPECT_TRUE(throws(errc::unsupported, "digests", [&] { f->add_hashes(hashes); }));
  } else {
    f->add_hashes(hashes);
    this->expect_same(f);
  }
}

TYPED_TEST(any_of_kind, keeps_its_place_when_moved) {
  save(this->typed_, this->folder_ / "f");
  any_filter first = any_filter::open(this->folder_ / "f", erase(hasher_of<TypeParam>()));
  any_filter second = std::move(first);
  this->expect_same(second);
  any_filter third = this->empty();
  third = std::move(second);
  this->expect_same(third);
}

TYPED_TEST(any_of_kind, answers_nothing_for_nothing) {
  any_filter f = this->empty();
  f.add({});
  f.contains_bits({}, {});
  EXPECT_EQ(f.keys(), 0U);
}

TEST(any_filter, finds_damage_in_a_large_file_when_it_reads_all) {
  const temporary_directory folder;
  save(filter({.keys = 2'000'000}), folder / "f");
  byte_vector image = read_bytes(folder / "f");
  image[(1U << 20U) + 5000] ^= std::byte{1};
  write_bytes(folder / "f", image);
  const std::string damaged = (folder / "f").string() + ": the filter is damaged";
  EXPECT_TRUE(throws(errc::corrupt, damaged, [&] { (void)any_filter::open(folder / "f"); }));
  EXPECT_TRUE(throws(errc::corrupt, damaged, [&] { (void)any_filter::load(folder / "f"); }));
  const any_filter unread = any_filter::open(folder / "f", nullptr, {.verify = false});
  EXPECT_TRUE(throws(errc::corrupt, damaged, [&] { unread.verify(); }));
}

// ---- hashes -----------------------------------------------------------------------------------

// A file of a few kilobytes that is about to grow by a large factor. In memory, where nobody else
// has said so, the filter may.
TEST(any_filter, does_not_grow_beyond_the_limit_for_files) {
  const temporary_directory directory;
  const auto path = directory / "f.bloom";
  cuckoo_filter bomb({.keys = 8'000});
  bomb.set_expansion(32'768);
  save(bomb, path, xxh3_hasher().spec());
  const std::vector<std::string> keys = texts(12'000);
  any_filter f = any_filter::load(path);
  EXPECT_TRUE(throws(errc::no_memory, "", [&] { f.add(views(keys)); }));
  EXPECT_GT(f.keys(), 7'000U);  // what went in before
  EXPECT_LT(f->parts().size(), 3U);
  EXPECT_TRUE(throws(errc::no_memory, "", [&] { f.clone().add(views(keys)); }));

  // Steps of usual size are no bombs, whatever the size of the file.
  for (const filter_kind kind : {filter_kind::scalable, filter_kind::layered}) {
    any_filter(sizing::make_plan({.kind = kind, .keys = 100, .fpr = 0.01}), erase(xxh3_hasher()))
        .save(path);
    any_filter grown = any_filter::load(path);
    grown.add(views(keys));
    EXPECT_EQ(grown.keys(), keys.size());
    any_filter small = any_filter::load(path, nullptr, {.memory = 4'000});
    EXPECT_TRUE(throws(errc::no_memory, "", [&] { small.add(views(keys)); })) << kind_name(kind);
    EXPECT_LE(small.shape().bits / 8, 4'000U);
    EXPECT_GE(small.keys(), 100U);
    const std::vector<std::string_view> in = views(keys);
    EXPECT_TRUE(small.contains(in[0]));
    small.add({in.data(), 1});  // it is there already, so nothing grows
    std::vector<std::uint64_t> hashes(in.size());
    small.hasher()->hash(in, hashes);
    std::vector<std::uint64_t> is_new((in.size() + 63) / 64);
    EXPECT_TRUE(throws(errc::no_memory, "", [&] { small->add_new(hashes, is_new); }));
  }
}

TEST(any_filter, does_not_merge_beyond_the_limit_for_files) {
  const std::vector<std::string> keys = texts(4'000);
  const auto in = views(keys);
  const plan p = sizing::make_plan({.kind = filter_kind::scalable, .keys = 2'000, .fpr = 0.01});
  any_filter a(p, erase(xxh3_hasher()));
  any_filter b(p, erase(xxh3_hasher()));
  a.add(std::span(in).first(2'000));
  b.add(std::span(in).subspan(2'000));
  const std::uint64_t before = a.shape().bits;
  a->limit_memory(before / 8);
  EXPECT_TRUE(throws(errc::no_memory, "more than the limit of", [&] { a.merge(b); }));
  EXPECT_EQ(a.shape().bits, before);
  a->limit_memory(0);
  a.merge(b);
  EXPECT_GT(a.shape().bits, before);
  for (const std::string_view key : in) EXPECT_TRUE(a.contains(key));
}

TEST(any_filter, unpacks_no_more_than_the_limit) {
  const temporary_directory directory;
  const auto path = directory / "f.packed";
  const plan p = sizing::make_plan({.keys = 1, .bytes = std::uint64_t{257} << 20U});
  const bit_array zeros(p.shape.bits);
  const image_header header{.planned = p, .hash = xxh3_hasher().spec(), .keys = 0};
  write_bytes(path, pack(header, zeros.words()));
  ASSERT_LT(std::filesystem::file_size(path), 64U << 10U);
  EXPECT_TRUE(throws(errc::no_memory, "", [&] { (void)any_filter::open(path); }));
  EXPECT_TRUE(throws(errc::no_memory, "", [&] { (void)any_filter::load(path); }));
  const opening enough{.memory = std::uint64_t{258} << 20U};
  EXPECT_EQ(any_filter::open(path, nullptr, enough).shape(), p.shape);
}

TEST(memory_limit, is_64_times_the_file_and_at_least_256_MiB_and_at_most_what_there_is) {
  const std::uint64_t most = memory_limit(UINT64_MAX);
  const std::uint64_t least = std::min(most, std::uint64_t{256} << 20U);
  EXPECT_EQ(memory_limit(0), least);
  EXPECT_EQ(memory_limit(1U << 20U), least);
  EXPECT_EQ(memory_limit(8U << 20U), std::min(most, std::uint64_t{512} << 20U));
  EXPECT_NO_THROW(check_memory(least, 0, 0));
  EXPECT_TRUE(throws(errc::no_memory, "", [&] { check_memory(least + 1, 0, 0); }));
}

TEST(any_filter, finds_the_default_hash_in_the_file) {
  const temporary_directory folder;
  filter f({.keys = 100, .seed = 99});
  f.add("apples");
  save(f, folder / "f");
  EXPECT_TRUE(any_filter::open(folder / "f").contains("apples"));
  EXPECT_TRUE(any_filter::load(folder / "f").contains("apples"));
}

TEST(any_filter, refuses_a_hash_that_is_not_the_files) {
  const temporary_directory folder;
  save(filter({.keys = 100, .seed = 99}), folder / "f");
  EXPECT_TRUE(throws(errc::mismatch, "seed",
                     [&] { (void)any_filter::open(folder / "f", erase(xxh3_hasher(98))); }));
  EXPECT_TRUE(throws(errc::mismatch, "the hash xxh3, not md5",
                     [&] { (void)any_filter::load(folder / "f", erase(toy_digest_hasher())); }));
}

TEST(any_filter, asks_once_for_the_hash_of_a_header) {
  const temporary_directory folder;
  save(filter({.keys = 100, .seed = 99}), folder / "f");
  int asked = 0;
  const auto make = [&](const image_header& header) {
    ++asked;
    return erase(xxh3_hasher(header.hash.seed), key_type::integers);
  };
  any_filter f = any_filter::load(mapped_file(folder / "f"), make);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(f.hash().seed, 99U);
  const auto other = [](const image_header&) { return erase(xxh3_hasher(98)); };
  EXPECT_TRUE(throws(errc::mismatch, "f: it was made with another seed",
                     [&] { (void)any_filter::open(mapped_file(folder / "f"), other); }));
}

// A filter of something else than plain keys has answers only for who brings the same rule.
TEST(any_filter, keeps_rules_of_keys_apart) {
  const temporary_directory folder;
  blocked_filter hashes(options{.keys = 100});
  const std::string_view key = "apples";
  hashes.add(hash_key(xxh3_hasher(), key));
  save(hashes, folder / "f", {.id = hash_id::xxh3, .rule = key_rule::word});
  any_filter f = any_filter::load(folder / "f");
  EXPECT_EQ(f.hash().rule, key_rule::word);
  EXPECT_TRUE(throws(errc::mismatch, "words of a dictionary", [&] { (void)f.contains(key); }));
  EXPECT_TRUE(throws(errc::mismatch, "not of plain keys", [&] { f.use(erase(xxh3_hasher())); }));
  f.use(erase(xxh3_hasher(), {}, key_rule::word));
  EXPECT_TRUE(f.contains(key));
  save(hashes, folder / "g", {.id = hash_id::xxh3});
  EXPECT_TRUE(throws(errc::mismatch, "keys differ, words of a dictionary and plain keys",
                     [&] { f.merge(any_filter::load(folder / "g")); }));
  EXPECT_TRUE(
      throws(errc::mismatch, "a filter of words", [&] { (void)load<filter>(folder / "f"); }));
}

TEST(any_filter, opens_a_secret_filter_for_its_facts_only) {
  const temporary_directory folder;
  blocked_filter hashes(options{.keys = 100});
  hashes.add_batch(sample_hashes(100));
  save(hashes, folder / "f", {.id = hash_id::siphash, .key_id = 5});
  any_filter f = any_filter::load(folder / "f");
  EXPECT_EQ(f.keys(), 100U);
  EXPECT_EQ(f.hash().key_id, 5U);
  EXPECT_GT(f.fpr(), 0.0);
  const std::string_view key = "apples";
  EXPECT_TRUE(throws(errc::mismatch, "secret key", [&] { (void)f.contains(key); }));
  EXPECT_TRUE(throws(errc::mismatch, "secret key", [&] { f.add({&key, 1}); }));
  EXPECT_TRUE(throws(errc::mismatch, "secret key", [&] { f.add_concurrent({&key, 1}); }));
}

TEST(any_filter, says_which_hash_it_does_not_have) {
  const temporary_directory folder;
  save(small_filter<blocked_filter>(), folder / "none");
  save(small_filter<digest_filter>(), folder / "md5", {.id = hash_id::md5});
  for (const std::string name : {"none", "md5"}) {
    const any_filter f = any_filter::open(folder / name);
    EXPECT_EQ(f.keys(), 100U);
    EXPECT_TRUE(throws(errc::unsupported, name, [&] { (void)f.contains("apples"); }));
  }
}

TEST(any_filter, refuses_a_hash_that_does_not_fit_the_shape) {
  // Before the first key is lost, not after the last.
  const std::string_view key = "apples";
  EXPECT_TRUE(throws(errc::unsupported, "scheme", [&] {
    any_filter f(plan_of<classic_filter>(), erase(toy_digest_hasher()));
    f.add({&key, 1});
  }));
  EXPECT_TRUE(throws(errc::unsupported, "scheme", [&] {
    any_filter f(plan_of<digest_filter>(), erase(xxh3_hasher()));
    f.add({&key, 1});
  }));
}

#ifdef BLOOMERY_HAS_CRYPTO

TEST(any_filter, takes_a_secret_key) {
  const temporary_directory folder;
  siphash_hasher::key_type key{};
  const auto wrong = erase(siphash_hasher(key));
  key[0] = std::byte{1};
  const auto right = erase(siphash_hasher(key));
  any_filter f(plan_of<blocked_filter>(), right);
  const auto keys = texts(1000);
  f.add(views(keys));
  f.save(folder / "f");
  EXPECT_TRUE(any_filter::open(folder / "f", right).contains("key 5"));
  EXPECT_FALSE(any_filter::open(folder / "f", right).contains("other"));
  EXPECT_TRUE(
      throws(errc::mismatch, "secret key", [&] { (void)any_filter::open(folder / "f", wrong); }));
}

// A digest with too few words would set and ask for the wrong bits: false negatives.
TEST(any_filter, refuses_a_digest_with_fewer_words_than_probes) {
  const temporary_directory folder;
  plan p = sizing::make_plan({.kind = filter_kind::classic, .keys = 100, .fpr = 0.01});
  p.shape.scheme = probe_scheme::modulo;
  ASSERT_EQ(p.shape.probes, 7U);
  const auto few = erase(salted_sha1_hasher(2));
  const auto enough = erase(salted_sha1_hasher(7));
  EXPECT_TRUE(throws(errc::mismatch, "2 words", [&] { any_filter(p, few); }));
  const any_filter f(p, enough);
  f.save(folder / "f");
  EXPECT_NO_THROW((void)any_filter::open(folder / "f", enough));
  EXPECT_TRUE(
      throws(errc::mismatch, "2 words", [&] { (void)any_filter::open(folder / "f", few); }));
  EXPECT_TRUE(
      throws(errc::mismatch, "2 words", [&] { (void)any_filter::load(folder / "f", few); }));
}

#endif

// ---- the kinds --------------------------------------------------------------------------------

TEST(kinds, are_found_by_their_names) {
  for (const filter_kind kind : all_kinds()) {
    EXPECT_EQ(kind_from_name(kind_name(kind)), kind);
    EXPECT_EQ(kind_from_number(static_cast<std::uint64_t>(kind)), kind);
  }
  for (const std::uint64_t number : {0U, 65535U, 65536U + 3}) {
    EXPECT_EQ(kind_from_number(number), std::nullopt) << number;
  }
  for (const std::string name : {"", "Classic", "blocked ", "unknown"}) {
    EXPECT_EQ(kind_from_name(name), std::nullopt);
  }
}

TEST(any_filter, hands_out_the_filter_that_it_has) {
  const plan p = sizing::make_plan({.kind = filter_kind::cuckoo, .keys = 100, .fpr = 0.01});
  any_filter f(p, erase(xxh3_hasher()));
  ASSERT_NE(f.get_if<cuckoo_filter>(), nullptr);
  EXPECT_EQ(f.get_if<blocked_filter>(), nullptr);
  f.get_if<cuckoo_filter>()->add(hash_key(xxh3_hasher(), std::string_view("a")));
  EXPECT_TRUE(f.contains("a"));
  EXPECT_EQ(std::as_const(f).get_if<cuckoo_filter>()->keys(), 1U);
  any_filter listed(sizing::make_plan({.kind = filter_kind::top_k, .keys = 100, .fpr = 0.01}),
                    erase(xxh3_hasher()));
  const auto words_of = [&] {
    const auto words = listed.words();  // made anew by every call
    return std::vector(words.begin(), words.end());
  };
  const auto words = words_of();
  listed.get_if<top_k>()->add("a", hash_key(xxh3_hasher(), std::string_view("a")));
  EXPECT_NE(words_of(), words);
  // One that is only looked at cannot be changed.
  const temporary_directory folder;
  f.save(folder / "f");
  EXPECT_EQ(any_filter::open(folder / "f").get_if<cuckoo_filter>(), nullptr);
}

TEST(any_filter, joins_two_streams_that_were_counted) {
  const auto sketch = [](std::uint32_t variant, std::uint64_t seed = 0) {
    const plan p = sizing::make_plan(
        {.kind = filter_kind::count_min, .keys = 100, .fpr = 0.01, .variant = variant});
    any_filter f(p, erase(xxh3_hasher(seed)));
    f.add(views(texts(50)));
    return f;
  };
  const temporary_directory folder;
  const any_filter a = sketch(0);
  a.save(folder / "b");
  const any_filter b = any_filter::open(folder / "b");
  const std::uint64_t wanted = a.get_if<count_min>()->inner_product(*a.get_if<count_min>());
  EXPECT_GE(wanted, 50U);
  for (const auto& [left, right] : {std::pair(&a, &b), std::pair(&b, &a), std::pair(&b, &b)}) {
    const std::optional<stream_product> joined = left->inner_product(*right);
    ASSERT_TRUE(joined);
    EXPECT_EQ(joined->product, wanted);
    EXPECT_EQ(joined->total, 50U);
    EXPECT_EQ(joined->other_total, 50U);
    EXPECT_EQ(joined->error, a.get_if<count_min>()->epsilon() * 50 * 50);
    EXPECT_EQ(joined->delta, a.get_if<count_min>()->delta());
  }
  EXPECT_TRUE(throws(errc::unsupported, "", [&] { (void)sketch(1).inner_product(sketch(1)); }));
  EXPECT_TRUE(throws(errc::mismatch, "", [&] { (void)a.inner_product(sketch(1)); }));
  EXPECT_TRUE(throws(errc::mismatch, "seed", [&] { (void)a.inner_product(sketch(0, 9)); }));
  // The hash functions are compared first, before any counter is read.
  EXPECT_TRUE(throws(errc::mismatch, "seed", [&] { (void)sketch(1).inner_product(sketch(1, 9)); }));
  const any_filter bits(plan_of<blocked_filter>(), erase(xxh3_hasher()));
  EXPECT_FALSE(bits.inner_product(bits));
}

std::vector<filter_kind> kinds_of_one_array() {
  std::vector<filter_kind> kinds;
  for (const filter_kind kind : all_kinds()) {
    if (layout_of({.kind = kind}) != position_layout::none) kinds.push_back(kind);
  }
  EXPECT_GE(kinds.size(), 4U);
  return kinds;
}

// The sample is 4,096 blocks of 20,000. Their rates scatter by some 70 % of the mean, and that of
// the sample by 1 %.
TEST(quick_fpr, is_near_the_rate_of_all_bits) {
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t i = 0; i < 1'000'000; ++i) hashes.push_back(splitmix64(i));
  for (const filter_kind kind : kinds_of_one_array()) {
    any_filter f(sizing::make_plan({.kind = kind, .keys = hashes.size(), .fpr = 0.01}),
                 erase(xxh3_hasher()));
    f->add_hashes(hashes);
    EXPECT_EQ(quick_fpr(f), f.fpr()) << kind_name(kind);
    const double sampled = quick_fpr(f, 1 << 20);
    EXPECT_NE(sampled, f.fpr()) << kind_name(kind);
    EXPECT_NEAR(sampled / f.fpr(), 1, 0.05) << kind_name(kind);
  }
  // The words of other kinds are not alike.
  any_filter cuckoo(
      sizing::make_plan({.kind = filter_kind::cuckoo, .keys = hashes.size(), .fpr = 0.01}),
      erase(xxh3_hasher()));
  cuckoo->add_hashes(hashes);
  EXPECT_EQ(quick_fpr(cuckoo, 1 << 20), cuckoo.fpr());
}

// What is smaller than the sample of 4,096 blocks is read whole, whatever the caller says: 64 runs
// of 64 blocks would end behind its array.
TEST(quick_fpr, reads_no_further_than_the_filter) {
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t i = 0; i < 20'000; ++i) hashes.push_back(splitmix64(i));
  constexpr std::uint64_t most = std::uint64_t{1} << 18U;
  for (const filter_kind kind : kinds_of_one_array()) {
    for (const std::uint64_t bits : {most + 1024, most * 2, most * 4, most * 7, most * 8}) {
      any_filter f(sizing::make_plan({.kind = kind, .keys = hashes.size(), .bytes = bits / 8}),
                   erase(xxh3_hasher()));
      f->add_hashes(hashes);
      ASSERT_LE(f.shape().bits, bits);
      EXPECT_EQ(quick_fpr(f, most), f.fpr()) << kind_name(kind) << ", " << f.shape().bits;
    }
  }
}

}  // namespace
