// The form of keys: what files remember of it, and whom they refuse.

#include "bloomery/hash/key_form.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "bloomery/format/codec.hpp"
#include "bloomery/format/combine.hpp"
#include "bloomery/format/delta.hpp"
#include "bloomery/format/stream.hpp"
#include "bloomery/set/algebra.hpp"
#include "bloomery/set/estimate.hpp"
#include "format/files.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

const std::vector<key_form>& known_forms() {
  static const std::vector<key_form> all = {
      key_type::text,       key_type::integers,    key_type::binary,
      {key_type::kmers, 1}, {key_type::kmers, 31}, {key_type::kmers, max_kmer_bases}};
  return all;
}

filter with_form(const key_form& form) {
  filter f({.keys = 100});
  f.add("apples");
  f.set_form(form);
  return f;
}

TEST(key_form, has_a_name_and_is_found_by_it) {
  for (const key_form& form : known_forms()) EXPECT_EQ(form_from_name(form_name(form)), form);
  EXPECT_EQ(form_name({key_type::kmers, 31}), "k-mers of 31 bases");
  EXPECT_FALSE(form_from_name(form_name({})).known());
  EXPECT_FALSE(form_from_name("k-mers of 1025 bases").known());
}

TEST(key_form, unknown_agrees_with_all_and_others_with_themselves) {
  for (const key_form& a : known_forms()) {
    EXPECT_TRUE(agree(a, {}));
    EXPECT_TRUE(agree({}, a));
    EXPECT_EQ(common_form(a, {}), key_form{});
    for (const key_form& b : known_forms()) EXPECT_EQ(agree(a, b), &a == &b);
    EXPECT_EQ(common_form(a, a), a);
  }
}

TEST(key_form, is_kept_in_every_form_of_file) {
  const temporary_directory folder;
  for (const key_form& form : known_forms()) {
    const filter f = with_form(form);
    save(f, folder / "f");
    EXPECT_EQ(load<filter>(folder / "f").form(), form);
    EXPECT_EQ(map<filter>(folder / "f")->form(), form);
    EXPECT_EQ(load<filter>(to_image(f)).form(), form);
    const any_filter any = any_filter::open(folder / "f");
    EXPECT_EQ(any.hash().form, form);
    const filter_version v = any.version();
    EXPECT_EQ(unpack(pack(v.header, v.words)).header.hash, v.header.hash);
    const filter plain = with_form({});
    save(plain, folder / "plain");
    const any_filter old = any_filter::open(folder / "plain");
    EXPECT_EQ(patch(old.version(), diff(old.version(), v)).header.hash.form, form);
  }
}

// A program that says nothing writes the bytes that it always wrote.
TEST(key_form, changes_nothing_but_its_own_bytes) {
  const std::vector<std::byte> plain = to_image(with_form({}));
  std::vector<std::byte> kmers = to_image(with_form({key_type::kmers, 0x0102}));
  for (std::size_t i = 128; i < 132; ++i) EXPECT_EQ(plain[i], std::byte{0});
  EXPECT_EQ(kmers[128], std::byte{4});
  EXPECT_EQ(kmers[130], std::byte{2});
  EXPECT_EQ(kmers[131], std::byte{1});
  for (const std::size_t i : {128U, 130U, 131U}) kmers[i] = std::byte{0};
  for (std::size_t i = 248; i < 256; ++i) kmers[i] = plain[i];  // the checksum of the header
  EXPECT_EQ(kmers, plain);
}

TEST(key_form, of_two_kinds_are_not_combined) {
  filter text = with_form(key_type::text);
  const filter other = with_form(key_type::integers);
  const char* const difference = "keys differ, text and integers";
  EXPECT_TRUE(throws(errc::mismatch, difference, [&] { text |= other; }));
  EXPECT_TRUE(throws(errc::mismatch, difference, [&] { text &= other; }));
  EXPECT_TRUE(throws(errc::mismatch, difference, [&] { (void)merge(text, other); }));
  EXPECT_TRUE(throws(errc::mismatch, difference, [&] { (void)intersect(text, other); }));
  EXPECT_TRUE(throws(errc::mismatch, difference, [&] { (void)compare(text, other); }));
  EXPECT_TRUE(throws(errc::mismatch, difference, [&] { (void)may_cover(text, other); }));
  EXPECT_EQ(merge(text, text).form(), key_form(key_type::text));
  EXPECT_EQ(fold(text, 1).form(), key_form(key_type::text));
  EXPECT_EQ(merge(text, with_form({})).form(), key_form{});
  text |= with_form({});
  EXPECT_EQ(text.form(), key_form{});
}

TEST(key_form, of_two_files_are_not_combined) {
  const temporary_directory folder;
  save(with_form(key_type::text), folder / "text");
  save(with_form({key_type::kmers, 21}), folder / "kmers");
  save(with_form({}), folder / "unknown");
  any_filter text = any_filter::load(folder / "text");
  const any_filter kmers = any_filter::load(folder / "kmers");
  const any_filter unknown = any_filter::load(folder / "unknown");
  const char* const difference = "keys differ, text and k-mers of 21 bases";
  EXPECT_TRUE(throws(errc::mismatch, difference, [&] { text.merge(kmers); }));
  const std::vector<filter_version> unlike = {text.version(), kmers.version()};
  EXPECT_TRUE(throws(errc::mismatch, difference,
                     [&] { (void)combined_header(unlike, set_operation::merge); }));
  const std::vector<filter_version> alike = {text.version(), text.version()};
  EXPECT_EQ(combined_header(alike, set_operation::merge).hash.form, key_form(key_type::text));
  const std::vector<filter_version> mixed = {text.version(), unknown.version()};
  EXPECT_EQ(combined_header(mixed, set_operation::intersect).hash.form, key_form{});
  text.merge(unknown);
  EXPECT_EQ(text.hash().form, key_form{});
}

TEST(key_form, decides_who_may_ask) {
  const temporary_directory folder;
  save(with_form(key_type::integers), folder / "integers");
  save(with_form(key_type::text), folder / "text");
  EXPECT_TRUE(any_filter::open(folder / "text").contains("apples"));
  // Digits are not taken for the number that they spell.
  const any_filter numbers = any_filter::open(folder / "integers");
  EXPECT_TRUE(throws(errc::mismatch, "integers", [&] { (void)numbers.contains("42"); }));
  const auto integers = erase(xxh3_hasher(), key_type::integers);
  EXPECT_EQ(any_filter::open(folder / "integers", integers).hash().form.type, key_type::integers);
  EXPECT_TRUE(throws(errc::mismatch, "text: its keys are text, not integers",
                     [&] { (void)any_filter::open(folder / "text", integers); }));
  // Who does not say what he brings is trusted.
  EXPECT_TRUE(any_filter::open(folder / "text", erase(xxh3_hasher())).contains("apples"));
}

}  // namespace
