#include "bloomery/exchange/publication.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/follow_pace.hpp"
#include "bloomery/exchange/publisher.hpp"
#include "bloomery/filter/blocked.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/format/version_name.hpp"
#include "format/files.hpp"

namespace bloomery {
namespace {

using bloomery_test::read_bytes;
using bloomery_test::temporary_directory;

publication some_publication() {
  return {.name = "a \"list\"\\.bloom",
          .version = 3,
          .bytes = 5000,
          .packed_file = "a.packed",
          .packed_bytes = 1000,
          .deltas = {{.from = 1, .to = 2, .file = "a.1-2.delta", .bytes = 100},
                     {.from = 2, .to = 3, .file = "a.2-3.delta", .bytes = 50}}};
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

bool refused(const std::string& text) {
  try {
    static_cast<void>(parse_manifest(text));
    return false;
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::corrupt) << e.what();
    return true;
  }
}

TEST(manifest, comes_back) {
  const publication p = some_publication();
  EXPECT_EQ(parse_manifest(manifest_text(p)), p);
  publication bare = p;
  bare.deltas.clear();
  EXPECT_EQ(parse_manifest(manifest_text(bare)), bare);
}

TEST(manifest, may_say_more_and_in_any_form_of_json) {
  const std::string text = manifest_text(some_publication());
  const std::string more =
      replaced(text, "{", "\r\n { \"later\" : [1.5e-3,-0,{\"x\":[true,false,null,\"\\u00e9\"]}], ");
  EXPECT_EQ(parse_manifest(more), some_publication());
  EXPECT_EQ(
      parse_manifest(replaced(text, "a.packed", "\\u0061.p\\u00e4cked\\ud83d\\ude00")).packed_file,
      "a.p\xc3\xa4"
      "cked\xf0\x9f\x98\x80");
}

TEST(manifest, is_refused_when_it_contradicts_itself_or_leads_astray) {
  const std::string text = manifest_text(some_publication());
  ASSERT_FALSE(refused(text));
  for (const char* name :
       {"../x", "a/b", ".hidden", "", "..", "x\\n", "x\\u0000", "a\\/b", "\\u007f"}) {
    EXPECT_TRUE(refused(replaced(text, "a.packed", name))) << name;
    EXPECT_TRUE(refused(replaced(text, "a.1-2.delta", name))) << name;
  }
  EXPECT_TRUE(refused(replaced(text, "a.packed", std::string(256, 'x'))));
  for (const char* number : {"0", "-1", "1.5", "1e3", "007", "18446744073709551616", "\"9\"",
                             "null", "1125899906842625", "[]"}) {
    EXPECT_TRUE(refused(replaced(text, "1000", number))) << number;
  }
  EXPECT_TRUE(refused(replaced(text, "0000000000000003", "3")));
  EXPECT_TRUE(refused(replaced(text, "0000000000000003", "000000000000000A")));
  EXPECT_TRUE(refused(replaced(text, "\"version\"", "\"Version\"")));
  EXPECT_TRUE(refused(replaced(text, "\"version\"", "\"bytes\"")));
  EXPECT_TRUE(refused(replaced(text, "\"to\":\"0000000000000002", "\"to\":\"0000000000000009")));
  EXPECT_TRUE(refused(replaced(text, "\"to\":\"0000000000000003", "\"to\":\"0000000000000002")));
  EXPECT_TRUE(refused(text + "x"));
  EXPECT_TRUE(refused(text + text));
  EXPECT_TRUE(refused(replaced(text, "a.packed", "\xff")));
  EXPECT_TRUE(refused(replaced(text, "a.packed", "\\ud800")));
  for (std::size_t length = 0; length + 1 < text.size(); ++length) {
    EXPECT_TRUE(refused(text.substr(0, length))) << length;
  }
}

TEST(manifest, of_a_stranger_is_bounded) {
  EXPECT_TRUE(refused(std::string(1'000'000, '[')));
  EXPECT_TRUE(refused("{\"later\":" + std::string(100, '[') + std::string(100, ']') + "}"));
  EXPECT_TRUE(refused(manifest_text(some_publication()) + std::string(most_manifest_bytes, ' ')));
  publication p = some_publication();
  p.deltas.clear();
  for (std::uint64_t i = 0; i <= most_published_deltas; ++i) {
    p.deltas.push_back({.from = i, .to = i + 1, .file = "d", .bytes = 1});
  }
  p.version = p.deltas.back().to;
  EXPECT_TRUE(refused(manifest_text(p)));
  p.deltas.erase(p.deltas.begin());
  EXPECT_FALSE(refused(manifest_text(p)));
}

TEST(published_names, are_files_that_are_not_parts_of_the_site) {
  for (const char* name : {"words.bloom", "w", "two words", "\xc3\xa4", "a.json.bloom", "100%"}) {
    EXPECT_TRUE(is_published_name(name)) << name;
  }
  for (const char* name : {"", ".", "..", ".hidden", "a/b", "a\nb", "\xff", "index.json",
                           "a.packed", "a.delta", "\x7f"}) {
    EXPECT_FALSE(is_published_name(name)) << name;
  }
  EXPECT_TRUE(is_published_name(std::string(200, 'x')));
  EXPECT_FALSE(is_published_name(std::string(201, 'x')));
}

TEST(plan_update, takes_the_cheaper_way) {
  using way = update_plan::way;
  publication p = some_publication();
  EXPECT_EQ(plan_update(p, 3).by, way::nothing);
  EXPECT_EQ(plan_update(p, std::nullopt).by, way::whole);
  EXPECT_EQ(plan_update(p, 77).by, way::whole);
  EXPECT_EQ(plan_update(p, 77).bytes, 1000U);
  EXPECT_EQ(plan_update(p, 2).bytes, 50U);
  const update_plan both = plan_update(p, 1);
  EXPECT_EQ(both.by, way::deltas);
  EXPECT_EQ(both.steps, p.deltas);
  EXPECT_EQ(both.bytes, 150U);
  p.packed_bytes = 149;
  EXPECT_EQ(plan_update(p, 1).by, way::whole);
  EXPECT_EQ(plan_update(p, 2).by, way::deltas);
}

TEST(plan_update, goes_through_a_version_once) {
  publication p = some_publication();
  p.deltas = {{.from = 1, .to = 2, .file = "a", .bytes = 1},
              {.from = 2, .to = 1, .file = "b", .bytes = 1},
              {.from = 1, .to = 3, .file = "c", .bytes = 1}};
  EXPECT_EQ(plan_update(p, 1).steps.size(), 1U);
  EXPECT_EQ(plan_update(p, 1).steps.front().file, "c");
  EXPECT_EQ(plan_update(p, 2).steps.size(), 2U);
}

TEST(listing, has_a_row_for_each) {
  EXPECT_EQ(listing_text({}), "[]\n");
  const std::vector<listed_filter> rows = {
      {.name = "a\"b", .header = {.keys = 7}, .bytes = 300, .version = 15, .packed_bytes = 9},
      {.name = "c",
       .header = {.planned = {.shape = {}, .keys = 0, .fpr_target = 0.01}},
       .bytes = 300,
       .version = 16,
       .packed_bytes = std::nullopt}};
  const std::string text = listing_text(rows);
  EXPECT_NE(text.find(R"({"name":"a\"b","kind":)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("keys":7,"bytes":300,"fpr_target":null,"version":"000000000000000f",)"
                      R"("packed_bytes":9})"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("fpr_target":0.01,"version":"0000000000000010"})"), std::string::npos)
      << text;
}

TEST(listing, is_utf8_whatever_the_names_are) {
  const std::vector<listed_filter> rows = {{.name = "\xff"
                                                    "a\xc3\xa4\xc3",
                                            .header = {},
                                            .bytes = 1,
                                            .version = 1,
                                            .packed_bytes = std::nullopt}};
  const std::string text = listing_text(rows);
  EXPECT_NE(text.find("\"name\":\"\xef\xbf\xbd"
                      "a\xc3\xa4\xef\xbf\xbd\""),
            std::string::npos)
      << text;
}

// ---- the publisher ----------------------------------------------------------------------------

// Versions of one list: each has more keys than the one before.
class list {
 public:
  list() : filter_(options{.keys = 20'000}) {
    for (std::uint64_t i = 0; i < 10'000; ++i) add(i);
  }
  void add(std::uint64_t key) { filter_.add(splitmix64(key)); }
  [[nodiscard]] filter_version version() const {
    return {.header = {.planned = filter_.planned(),
                       .hash = {.id = hash_id::xxh3},
                       .keys = filter_.keys()},
            .words = filter_.words()};
  }
  [[nodiscard]] std::uint64_t name() const { return image_name(version().header, version().words); }

 private:
  blocked_filter filter_;
};

publication manifest_in(const temporary_directory& folder, const std::string& name) {
  const auto bytes = read_bytes(folder / manifest_file_name(name));
  return parse_manifest({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// Every version that the manifest names can be had from the files that it names.
void expect_sound(const temporary_directory& folder, const std::string& name, const list& current) {
  const publication p = manifest_in(folder, name);
  EXPECT_EQ(p.version, current.name());
  const auto packed = read_bytes(folder / p.packed_file);
  EXPECT_EQ(packed.size(), p.packed_bytes);
  const unpacked_filter f = unpack(packed);
  EXPECT_EQ(image_name(f.header, f.words.words()), p.version);
  for (const published_delta& d : p.deltas) {
    const auto delta = read_bytes(folder / d.file);
    EXPECT_EQ(delta.size(), d.bytes);
    EXPECT_EQ(describe_delta(delta).from, d.from);
    EXPECT_EQ(describe_delta(delta).to, d.to);
  }
}

publish_report publish_once(const temporary_directory& folder, const list& f,
                            const publish_limits& limits = {}) {
  publisher site(folder.path(), limits);
  publish_report report = site.publish("list", f.version());
  site.finish();
  return report;
}

TEST(publisher, keeps_a_chain_that_leads_from_each_version_to_the_last) {
  const temporary_directory folder;
  list f;
  const std::uint64_t first = f.name();
  EXPECT_EQ(publish_once(folder, f).outcome, publish_outcome::added);
  expect_sound(folder, "list", f);
  EXPECT_EQ(folder.names().size(), 4U);  // filter, packed, manifest, listing
  for (std::uint64_t i = 0; i < 3; ++i) {
    f.add(100'000 + i);
    const publish_report r = publish_once(folder, f);
    EXPECT_EQ(r.outcome, publish_outcome::changed);
    EXPECT_TRUE(r.follows);
    expect_sound(folder, "list", f);
  }
  const publication p = manifest_in(folder, "list");
  EXPECT_EQ(p.deltas.size(), 3U);
  EXPECT_EQ(p.deltas.front().from, first);
  EXPECT_EQ(read_bytes(folder / "list").size(), p.bytes);
  EXPECT_EQ(plan_update(p, first).by, update_plan::way::deltas);
  // Again: nothing is written, and what only the manifest before needed is gone.
  EXPECT_EQ(folder.names().size(), 8U);
  const publish_report again = publish_once(folder, f);
  EXPECT_EQ(again.outcome, publish_outcome::unchanged);
  EXPECT_EQ(again.written, 0U);
  EXPECT_EQ(folder.names().size(), 7U);
}

TEST(publisher, keeps_as_many_steps_as_it_may) {
  const temporary_directory folder;
  list f;
  publish_once(folder, f);
  for (std::uint64_t i = 0; i < 6; ++i) {
    f.add(100'000 + i);
    publish_once(folder, f, {.deltas = 3});
    expect_sound(folder, "list", f);
  }
  EXPECT_EQ(manifest_in(folder, "list").deltas.size(), 3U);
  const std::uint64_t one = manifest_in(folder, "list").deltas.back().bytes;
  publish_once(folder, f, {.delta_bytes = one + 1});
  EXPECT_EQ(manifest_in(folder, "list").deltas.size(), 1U);
  publish_once(folder, f, {.deltas = 0});
  EXPECT_EQ(manifest_in(folder, "list").deltas.size(), 0U);
  f.add(7'000'000);
  EXPECT_FALSE(publish_once(folder, f, {.deltas = 0}).follows);
  expect_sound(folder, "list", f);
}

TEST(publisher, starts_anew_where_a_step_costs_more_than_the_whole) {
  const temporary_directory folder;
  list f;
  publish_once(folder, f);
  f.add(100'000);
  publish_once(folder, f);
  list other;
  for (std::uint64_t i = 0; i < 9'000; ++i) other.add(500'000 + i);
  blocked_filter smaller(options{.keys = 100});
  publisher site(folder.path());
  const publish_report r = site.publish(
      "list", {.header = {.planned = smaller.planned(), .hash = {.id = hash_id::xxh3}, .keys = 0},
               .words = smaller.words()});
  EXPECT_FALSE(r.follows);
  EXPECT_TRUE(r.now.deltas.empty());
}

TEST(publisher, comes_back_to_an_earlier_version) {
  const temporary_directory folder;
  const list old;
  list f;
  publish_once(folder, f);
  f.add(100'000);
  publish_once(folder, f);
  publish_once(folder, old);
  expect_sound(folder, "list", old);
  list third;
  third.add(200'000);
  publish_once(folder, third);
  expect_sound(folder, "list", third);
  const publication p = manifest_in(folder, "list");
  EXPECT_EQ(p.deltas.size(), 3U);
  EXPECT_EQ(plan_update(p, old.name()).steps.size(), 1U);
}

TEST(publisher, mends_what_is_damaged_or_gone) {
  const temporary_directory folder;
  list f;
  publish_once(folder, f);
  for (std::uint64_t i = 0; i < 2; ++i) {
    f.add(100'000 + i);
    publish_once(folder, f);
  }
  const auto before = manifest_in(folder, "list");
  const std::vector<std::string> files = {before.packed_file, "list", before.deltas[1].file,
                                          "list.json"};
  for (const std::string& name : files) {
    auto bytes = read_bytes(folder / name);
    bytes[bytes.size() / 2] ^= std::byte{1};
    bloomery_test::write_bytes(folder / name, bytes);
    publish_once(folder, f);
    expect_sound(folder, "list", f);
    EXPECT_EQ(read_bytes(folder / "list").size(), before.bytes);
    std::filesystem::remove(folder / name);
    publish_once(folder, f);
    expect_sound(folder, "list", f);
    EXPECT_EQ(publish_once(folder, f).outcome, publish_outcome::unchanged) << name;
  }
  // The version before cannot be read: the chain starts anew.
  std::filesystem::remove(folder / manifest_in(folder, "list").packed_file);
  f.add(300'000);
  EXPECT_FALSE(publish_once(folder, f).follows);
  expect_sound(folder, "list", f);
}

TEST(publisher, withdraws_and_leaves_others_alone) {
  const temporary_directory folder;
  const list f;
  publisher site(folder.path());
  site.publish("list", f.version());
  site.publish("list.2", f.version());
  std::ofstream(folder / "robots.txt") << "x";
  std::ofstream(folder / "other.json") << "{}";
  std::ofstream(folder / "list.0123.packed") << "x";
  site.finish();
  EXPECT_EQ(site.published(), (std::vector<std::string>{"list", "list.2"}));
  site.withdraw("list");
  site.finish();
  EXPECT_EQ(site.published(), (std::vector<std::string>{"list.2"}));
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"index.json", "list.0123.packed", "list.2",
                                                      packed_file_name("list.2", f.name()),
                                                      "list.2.json", "other.json", "robots.txt"}));
  EXPECT_THROW(site.publish("a.json", f.version()), error);
  EXPECT_THROW(site.publish("../list", f.version()), error);
}

// ---- the pace ---------------------------------------------------------------------------------

TEST(follow_pace, scatters_and_backs_off) {
  using std::chrono::hours;
  using std::chrono::minutes;
  using std::chrono::seconds;
  follow_pace pace(hours(1), 1);
  follow_pace other(hours(1), 2);
  EXPECT_NE(pace.after_success(), other.after_success());
  follow_pace::span shortest = hours(9);
  follow_pace::span longest{0};
  for (int i = 0; i < 1000; ++i) {
    const auto pause = pace.after_success();
    shortest = std::min(shortest, pause);
    longest = std::max(longest, pause);
  }
  EXPECT_GE(shortest, minutes(45));
  EXPECT_LT(shortest, minutes(46));
  EXPECT_LE(longest, minutes(75));
  EXPECT_GT(longest, minutes(74));
  follow_pace::span expected = follow_pace::span(hours(1)) / 64;
  for (int i = 0; i < 200; ++i) {
    const auto pause = pace.after_failure();
    EXPECT_GE(pause, expected * 3 / 4 - follow_pace::span(1));
    EXPECT_LE(pause, expected * 5 / 4);
    expected = std::min<follow_pace::span>(2 * expected, hours(1));
  }
  EXPECT_LE(pace.after_success(), minutes(75));
  EXPECT_LE(pace.after_failure(), seconds(71));  // from the start again
  EXPECT_EQ(pace.after_failure(hours(5)), hours(5));
  EXPECT_EQ(pace.after_failure(hours(100)), hours(24));
  follow_pace quick(seconds(1), 3);
  EXPECT_GE(quick.after_failure(), follow_pace::span(750));
  for (int i = 0; i < 50; ++i) EXPECT_LE(quick.after_failure(), minutes(75));
  EXPECT_GE(quick.after_failure(), minutes(45));
}

}  // namespace
}  // namespace bloomery
