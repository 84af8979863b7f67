#include "bloomery/lists/blocklist.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/lists/source_counter.hpp"
#include "format/files.hpp"

namespace bloomery {
namespace {

using bloomery_test::temporary_directory;
using bloomery_test::throws;

block_list list_of(const std::vector<std::string>& lines,
                   const block_list_options& o = {.fpr = 1e-6}) {
  block_list_builder b(o);
  for (const std::string& line : lines) EXPECT_EQ(b.add_line(line), line_kind::entries) << line;
  return block_list(b.build());
}

std::string address(const block_list& list, const char* text) {
  const auto entry = list.check_address(*ip_address::parse(text));
  return entry ? entry->text() : "-";
}
std::string domain(const block_list& list, std::string_view text) {
  const auto entry = list.check_domain(text);
  return entry ? entry->text() : "-";
}
std::string page(const block_list& list, std::string_view text) {
  const auto entry = list.check_url(text);
  return entry ? entry->text() : "-";
}

TEST(block_list, the_narrowest_of_nested_ranges_blocks) {
  const block_list list = list_of({"10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "192.0.2.0/25",
                                   "2001:db8::/32", "2001:db8::1", "::ffff:198.51.100.0/120"});
  EXPECT_EQ(address(list, "10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(address(list, "10.1.2.4"), "10.1.0.0/16");
  EXPECT_EQ(address(list, "10.2.0.0"), "10.0.0.0/8");
  EXPECT_EQ(address(list, "11.0.0.0"), "-");
  EXPECT_EQ(address(list, "192.0.2.127"), "192.0.2.0/25");
  EXPECT_EQ(address(list, "192.0.2.128"), "-");
  EXPECT_EQ(address(list, "2001:db8:ffff::"), "2001:db8::/32");
  EXPECT_EQ(address(list, "2001:db8::1"), "2001:db8::1");
  EXPECT_EQ(address(list, "2001:db9::"), "-");
  // An IPv4 address in an IPv6 one is the IPv4 address, in the list as in the question.
  EXPECT_EQ(address(list, "::ffff:10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(address(list, "198.51.100.7"), "198.51.100.0/24");
  EXPECT_EQ(domain(list, "10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(page(list, "https://10.1.2.3:99/x"), "10.1.2.3");
  EXPECT_EQ(page(list, "https://[2001:db8::5]/x"), "2001:db8::/32");
  EXPECT_EQ(list.questions(), 5U);  // /8, /16, /24, /25 and /32
}

TEST(block_list, everything_can_be_blocked) {
  const block_list v4 = list_of({"0.0.0.0/0"});
  EXPECT_EQ(address(v4, "1.2.3.4"), "0.0.0.0/0");
  EXPECT_EQ(address(v4, "::1"), "-");
  EXPECT_EQ(v4.questions(), 1U);
  const block_list v6 = list_of({"::/0"});
  EXPECT_EQ(address(v6, "::1"), "::/0");
  EXPECT_EQ(address(v6, "::ffff:1.2.3.4"), "-");
}

TEST(block_list, domains_block_what_is_below_them_and_hosts_do_not) {
  const block_list list = list_of({"ads.example", "0.0.0.0 host.example", "||deep.er.example^"});
  EXPECT_EQ(domain(list, "ads.example"), ".ads.example");
  EXPECT_EQ(domain(list, "A.b.ADS.example."), ".ads.example");
  EXPECT_EQ(domain(list, "example"), "-");
  EXPECT_EQ(domain(list, "bads.example"), "-");
  EXPECT_EQ(domain(list, "host.example"), "host.example");
  EXPECT_EQ(domain(list, "www.host.example"), "-");
  EXPECT_EQ(domain(list, "x.deep.er.example"), ".deep.er.example");
  EXPECT_EQ(domain(list, "no domain"), "-");
  EXPECT_EQ(page(list, "https://www.ads.example:1234/x"), ".ads.example");
  EXPECT_EQ(page(list, "https://host.example/x"), "host.example");
  EXPECT_EQ(page(list, "no url"), "-");
}

TEST(block_list, urls_block_what_is_below_them) {
  const block_list list =
      list_of({"http://a.example/x/y", "http://a.example/q?id=1", "||wide.example/p/",
               "|http://a.example/only|", "http://a.example:8080/", "http://dir.example/d//"});
  for (const char* blocked :
       {"http://a.example/x/y", "https://A.example/x/y/", "http://a.example/x/y?z",
        "http://a.example/x/%79/z/w?q=1", "http://a.example/b/../x/./y/z"}) {
    EXPECT_EQ(page(list, blocked), "a.example/x/y") << blocked;
  }
  for (const char* free :
       {"http://a.example/x", "http://a.example/x/yy", "http://a.example/X/y",
        "http://b.a.example/x/y", "http://a.example:81/x/y", "http://a.example/",
        "http://a.example/q", "http://a.example/q?id=2", "http://a.example/only/x",
        "http://a.example/only?x", "http://wide.example/", "http://dir.example/d/x"}) {
    EXPECT_EQ(page(list, free), "-") << free;
  }
  EXPECT_EQ(page(list, "http://a.example/q?id=1#top"), "a.example/q?id=1");
  EXPECT_EQ(page(list, "http://a.example/q/?id=1"), "a.example/q?id=1");
  EXPECT_EQ(page(list, "http://a.example/only"), "|a.example/only|");
  EXPECT_EQ(page(list, "http://b.wide.example/p/r"), ".wide.example/p");
  EXPECT_EQ(page(list, "http://wide.example/p"), ".wide.example/p");
  EXPECT_EQ(page(list, "http://a.example:8080/any"), "a.example:8080/");
  EXPECT_EQ(page(list, "http://dir.example/d//x"), "dir.example/d/");
}

// All that was asked for, against a search through all entries.
TEST(block_list, agrees_with_a_search_through_random_ranges) {
  std::mt19937_64 random(3);
  const double fpr = 0.01;
  for (const ip_family family : {ip_family::v4, ip_family::v6}) {
    std::vector<ip_range> ranges;
    block_list_builder b({.fpr = fpr});
    for (int i = 0; i < 300; ++i) {
      ip_address a{.family = family, .bytes = {}};
      for (std::size_t k = 0; k < 16; ++k) a.bytes[k] = static_cast<std::uint8_t>(random());
      if (family == ip_family::v4) std::fill(a.bytes.begin() + 4, a.bytes.end(), 0);
      const unsigned length = static_cast<unsigned>(8 + random() % (a.bits() - 7));
      ranges.push_back({a.first_of(length), length});
      b.add_range(ranges.back());
    }
    const block_list list(b.build());
    EXPECT_GT(list.questions(), family == ip_family::v4 ? 20U : 80U);
    block_batch batch(list);
    std::vector<bool> inside;
    for (int i = 0; i < 30'000; ++i) {
      ip_address a{.family = family, .bytes = {}};
      for (std::size_t k = 0; k < a.bits() / 8; ++k)
        a.bytes[k] = static_cast<std::uint8_t>(random());
      if (i % 2 == 0) {  // in a range, or just outside of one
        const ip_range& r = ranges[random() % ranges.size()];
        a = r.first.last_of(r.length);
        if (i % 4 == 0) a.bytes[a.bits() / 8 - 1] ^= 1U;
      }
      batch.add_address(a);
      inside.push_back(std::any_of(ranges.begin(), ranges.end(),
                                   [&](const ip_range& r) { return r.contains(a); }));
    }
    batch.ask();
    std::size_t outside = 0;
    std::size_t false_alarms = 0;
    for (std::size_t i = 0; i < inside.size(); ++i) {
      ASSERT_TRUE(batch.answer(i) || !inside[i]);
      outside += inside[i] ? 0U : 1U;
      false_alarms += batch.answer(i) && !inside[i] ? 1U : 0U;
    }
    // Four standard deviations of a binomial count above what was asked for.
    const double expected = fpr * static_cast<double>(outside);
    EXPECT_GT(outside, 10'000U);
    EXPECT_LT(static_cast<double>(false_alarms), expected + 4 * std::sqrt(expected));
  }
}

TEST(block_list, a_rate_holds_for_a_url_whatever_it_takes) {
  std::mt19937_64 random(4);
  const double fpr = 0.02;
  block_list_builder b({.fpr = fpr});
  for (int i = 0; i < 500; ++i) {
    std::string host = "h" + std::to_string(random());
    for (std::size_t labels = random() % 5 + 1; labels > 0; --labels) host += ".example";
    std::string path;
    for (std::size_t depth = random() % 6; depth > 0; --depth) path += "/d";
    b.add_domain(host);
    EXPECT_EQ(b.add_line("||w" + host + path + "/p" + std::to_string(i)), line_kind::entries);
    b.add_url("http://u" + host + path + "?q=" + std::to_string(i));
  }
  const block_list list(b.build());
  EXPECT_GT(list.questions(), 40U);
  block_batch batch(list);
  const std::size_t asked = 20'000;
  for (std::size_t i = 0; i < asked; ++i) {
    const std::string n = std::to_string(i);
    batch.add_url("https://a" + n + ".b" + n + ".c.d.e.f/1/" + n + "/3/4/5/6/7?q=" + n);
  }
  batch.ask();
  std::size_t false_alarms = 0;
  for (std::size_t i = 0; i < asked; ++i) false_alarms += batch.reported(i) ? 1U : 0U;
  const double expected = fpr * static_cast<double>(asked);
  EXPECT_LT(static_cast<double>(false_alarms), expected + 4 * std::sqrt(expected));
}

TEST(block_list, is_a_file_that_keeps_its_rule_and_merges) {
  const temporary_directory folder;
  const block_list_options o{.fpr = 1e-6, .room = 100, .seed = 5};
  block_list_builder a(o);
  block_list_builder b(o);
  a.add_address(*ip_address::parse("192.0.2.1"));
  b.add_range(*ip_range::parse("2001:db8::/32"));
  b.add_domain("ads.example");
  b.add_host("host.example");
  b.add_url("http://u.example/x");
  any_filter both = a.build();
  both.merge(b.build());
  both.save(folder / "both");
  const block_list list = block_list::open(folder / "both");
  EXPECT_EQ(address(list, "192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(address(list, "2001:db8::9"), "2001:db8::/32");
  EXPECT_EQ(domain(list, "x.ads.example"), ".ads.example");
  EXPECT_EQ(page(list, "http://u.example/x/y"), "u.example/x");
  any_filter(sizing::make_plan({.keys = 10, .fpr = 0.01}), erase(xxh3_hasher()))
      .save(folder / "other");
  EXPECT_TRUE(throws(errc::mismatch, "other: it is a filter of plain keys, not of a block list",
                     [&] { (void)block_list::open(folder / "other"); }));
  EXPECT_TRUE(
      throws(errc::bad_argument, "'no domain' is no domain", [&] { b.add_domain("no domain"); }));
  EXPECT_TRUE(throws(errc::bad_argument, "is no URL", [&] { b.add_url("u.example"); }));
  EXPECT_TRUE(throws(errc::bad_argument, "fpr is 0", [] { block_list_builder({.fpr = 0}); }));
  for (int i = 0; i < 100; ++i) a.add_domain("d" + std::to_string(i) + ".example");
  EXPECT_TRUE(throws(errc::full, "101 entries, and room for 100", [&] { (void)a.build(); }));
}

TEST(block_list, an_empty_one_blocks_nothing) {
  const block_list list = list_of({});
  EXPECT_EQ(address(list, "1.2.3.4"), "-");
  EXPECT_EQ(domain(list, "a.example"), "-");
  EXPECT_EQ(page(list, "http://a.example/"), "-");
}

TEST(block_confirmation, keeps_what_the_list_has_and_takes_the_next_reason) {
  block_list_builder b({.fpr = 0.9});
  b.add_range(*ip_range::parse("10.0.0.0/8"));
  b.add_range(*ip_range::parse("10.1.0.0/16"));
  const block_list list(b.build());
  block_batch batch(list);
  batch.add_address(*ip_address::parse("10.1.2.3"));
  batch.ask();
  block_confirmation confirmed;
  batch.report_to(confirmed);
  EXPECT_EQ(confirmed.wanted(), 2U);
  EXPECT_FALSE(batch.answer(0, &confirmed));
  confirmed.see(range_entry(*ip_range::parse("10.0.0.0/8")));
  confirmed.see(range_entry(*ip_range::parse("11.0.0.0/8")));
  EXPECT_EQ(confirmed.wanted(), 2U);
  EXPECT_EQ(batch.answer(0)->text(), "10.1.0.0/16");
  EXPECT_EQ(batch.answer(0, &confirmed)->text(), "10.0.0.0/8");
}

TEST(source_counter, names_who_sends_most) {
  source_counter c(2);
  std::mt19937_64 random(6);
  for (unsigned i = 0; i < 50'000; ++i) {
    ip_address a;
    a.bytes[0] = 10;
    for (std::size_t k = 1; k < 4; ++k) a.bytes[k] = static_cast<std::uint8_t>(random());
    c.add(a);
    if (i % 10 == 0) c.add(*ip_address::parse(i % 20 == 0 ? "192.0.2.1" : "::ffff:192.0.2.1"));
    if (i % 25 == 0) c.add(*ip_address::parse("2001:db8::1"));
  }
  const auto top = c.top();
  ASSERT_EQ(top.size(), 2U);
  EXPECT_EQ(top[0].address.text(), "192.0.2.1");
  EXPECT_GE(top[0].count, 5000U);
  EXPECT_LE(top[0].count, 5010U);
  EXPECT_EQ(top[1].address.text(), "2001:db8::1");
  EXPECT_GE(top[1].count, 2000U);
}

}  // namespace
}  // namespace bloomery
