#include "bloomery/lists/address.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

namespace bloomery {
namespace {

std::optional<ip_address> by_the_system(const std::string& text) {
  ip_address a;
  if (inet_pton(AF_INET, text.c_str(), a.bytes.data()) == 1) return a;
  a.family = ip_family::v6;
  if (inet_pton(AF_INET6, text.c_str(), a.bytes.data()) == 1) return a;
  return std::nullopt;
}

void expect_like_the_system(const std::string& text) {
  const auto ours = ip_address::parse(text);
  ASSERT_EQ(ours, by_the_system(text)) << text;
  if (!ours) return;
  ASSERT_EQ(ip_address::parse(ours->text()), ours) << text << " -> " << ours->text();
}

TEST(address, is_read_as_inet_pton_reads_it) {
  for (const char* text : {"",
                           "0",
                           "1.2.3.4",
                           "255.255.255.255",
                           "256.1.1.1",
                           "01.2.3.4",
                           "1.2.3",
                           "1.2.3.4.",
                           "1.2.3.4.5",
                           ".1.2.3.4",
                           "1..2.3",
                           " 1.2.3.4",
                           "1.2.3.4 ",
                           "+1.2.3.4",
                           "-1.2.3.4",
                           "0x1.2.3.4",
                           "1.2.3.0000",
                           "::",
                           ":::",
                           "::1",
                           "1::",
                           "1::2::3",
                           ":1:2:3:4:5:6:7",
                           "1:2:3:4:5:6:7:8",
                           "1:2:3:4:5:6:7:8:9",
                           "1:2:3:4:5:6:7::",
                           "::2:3:4:5:6:7:8",
                           "1:2:3:4:5:6:7:8::",
                           "1:2:3::4:5:6:7:8",
                           "::ffff:1.2.3.4",
                           "::1.2.3.4",
                           "1.2.3.4::",
                           "::1.2.3",
                           "::1.2.3.4:5",
                           "1:2:3:4:5:6:1.2.3.4",
                           "1:2:3:4:5:6:7:1.2.3.4",
                           "12345::",
                           "::g",
                           "fe80::1%lo",
                           "[::1]",
                           "1:",
                           ":",
                           "1:2:",
                           "::1:",
                           "0000:0000::0000",
                           "::00000",
                           "ABCD:ef01::",
                           "::-1",
                           "::+1",
                           "::0x1"}) {
    expect_like_the_system(text);
  }
  std::mt19937_64 random(1);
  const std::string alphabet = "0123456789abcdefF.:::...25";
  for (int i = 0; i < 200'000; ++i) {
    std::string text(random() % 20, ' ');
    for (char& c : text) c = alphabet[random() % alphabet.size()];
    expect_like_the_system(text);
  }
}

TEST(address, is_written_as_inet_ntop_and_rfc_5952_write_it) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; ++i) {
    ip_address a{.family = i % 4 == 0 ? ip_family::v4 : ip_family::v6, .bytes = {}};
    for (std::size_t b = 0; b < a.bits() / 8; ++b) {  // many zeros, so that runs of them occur
      a.bytes[b] = static_cast<std::uint8_t>(random() % 3 == 0 ? random() : 0U);
    }
    std::array<char, INET6_ADDRSTRLEN> text{};
    const int family = a.family == ip_family::v4 ? AF_INET : AF_INET6;
    ASSERT_NE(inet_ntop(family, a.bytes.data(), text.data(), text.size()), nullptr);
    // The system writes ::1.2.3.4, a form that RFC 4291 has withdrawn.
    const bool old_form = std::strchr(text.data(), '.') != nullptr && a.family == ip_family::v6;
    ASSERT_TRUE(old_form || a.text() == text.data()) << a.text() << " " << text.data();
    ASSERT_EQ(ip_address::parse(a.text()), a);
  }
  EXPECT_EQ(ip_address::parse("2001:DB8:0:0:1:0:0:1")->text(), "2001:db8::1:0:0:1");
  EXPECT_EQ(ip_address::parse("2001:db8:0:1:1:1:1:1")->text(), "2001:db8:0:1:1:1:1:1");
  EXPECT_EQ(ip_address::parse("::ffff:102:304")->text(), "::ffff:1.2.3.4");
}

TEST(range, is_a_prefix_of_any_length) {
  const auto in = [](const char* range, const char* address) {
    return ip_range::parse(range)->contains(*ip_address::parse(address));
  };
  EXPECT_TRUE(in("0.0.0.0/0", "255.1.2.3"));
  EXPECT_FALSE(in("0.0.0.0/0", "::1"));
  EXPECT_TRUE(in("10.1.2.3/32", "10.1.2.3"));
  EXPECT_FALSE(in("10.1.2.3", "10.1.2.2"));
  EXPECT_TRUE(in("10.128.0.0/9", "10.255.0.0"));
  EXPECT_FALSE(in("10.128.0.0/9", "10.127.255.255"));
  EXPECT_TRUE(in("2001:db8::/33", "2001:db8:7fff::1"));
  EXPECT_FALSE(in("2001:db8::/33", "2001:db8:8000::1"));
  EXPECT_TRUE(in("::/0", "ffff::"));
  EXPECT_TRUE(in("::1/128", "::1"));
  EXPECT_EQ(ip_range::parse("10.1.2.3/8")->text(), "10.0.0.0/8");
  EXPECT_EQ(ip_range::parse("10.1.2.3/32")->text(), "10.1.2.3");
  EXPECT_EQ(ip_range::parse("::ffff:10.0.0.0/104")->unmapped().text(), "10.0.0.0/8");
  EXPECT_EQ(ip_range::parse("::/95")->unmapped().text(), "::/95");
  for (const char* text : {"10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/08", "10.0.0.0/-1", "/8",
                           "10.0.0.0/8/8", "10.0.0.0/4294967297"}) {
    EXPECT_FALSE(ip_range::parse(text)) << text;
  }
}

TEST(range, between_two_addresses_is_the_fewest_prefixes) {
  const auto between = [](const char* a, const char* b) {
    std::string text;
    for (const ip_range& r : ranges_between(*ip_address::parse(a), *ip_address::parse(b))) {
      text += r.text() + " ";
    }
    return text;
  };
  EXPECT_EQ(between("0.0.0.0", "255.255.255.255"), "0.0.0.0/0 ");
  EXPECT_EQ(between("10.0.0.1", "10.0.0.6"), "10.0.0.1 10.0.0.2/31 10.0.0.4/31 10.0.0.6 ");
  EXPECT_EQ(between("10.0.0.0", "10.0.0.0"), "10.0.0.0 ");
  EXPECT_EQ(between("255.255.255.254", "255.255.255.255"), "255.255.255.254/31 ");
  EXPECT_EQ(between("10.0.0.2", "10.0.0.1"), "");
  EXPECT_EQ(between("10.0.0.2", "::1"), "");
  EXPECT_EQ(between("::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), "::/0 ");
  EXPECT_EQ(ranges_between(*ip_address::parse("::1"),
                           *ip_address::parse("ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe"))
                .size(),
            254U);
  // Every pair of a small net, counted out.
  for (unsigned a = 0; a < 64; ++a) {
    for (unsigned b = a; b < 64; ++b) {
      ip_address first;
      ip_address last;
      first.bytes[3] = static_cast<std::uint8_t>(a);
      last.bytes[3] = static_cast<std::uint8_t>(b);
      const auto ranges = ranges_between(first, last);
      for (unsigned x = 0; x < 64; ++x) {
        ip_address asked;
        asked.bytes[3] = static_cast<std::uint8_t>(x);
        const auto covering = std::count_if(ranges.begin(), ranges.end(),
                                            [&](const ip_range& r) { return r.contains(asked); });
        ASSERT_EQ(covering, x >= a && x <= b ? 1 : 0);
      }
    }
  }
}

}  // namespace
}  // namespace bloomery
