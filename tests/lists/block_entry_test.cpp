#include "bloomery/lists/block_entry.hpp"

#include <gtest/gtest.h>

#include <string>

#include "bloomery/lists/block_scan.hpp"

namespace bloomery {
namespace {

std::string normal(std::string_view text) {
  const auto u = url::parse(text);
  return u ? u->text() : "none";
}

TEST(url, has_one_form) {
  EXPECT_EQ(normal("HTTP://User:Pass@Example.COM:80/%7Ea/%c3%bc/./b/../c?Q=%41#frag"),
            "http://example.com/~a/%C3%BC/c?Q=A");
  EXPECT_EQ(normal("https://example.com"), "https://example.com/");
  EXPECT_EQ(normal("https://example.com:443?"), "https://example.com/");
  EXPECT_EQ(normal("https://example.com:0443/"), "https://example.com/");
  EXPECT_EQ(normal("http://example.com:443/"), "http://example.com:443/");
  EXPECT_EQ(normal("http://example.com.:/"), "http://example.com/");
  EXPECT_EQ(normal("http://h.example/%2e%2E/%2e/a/.."), "http://h.example/");
  EXPECT_EQ(normal("http://h.example/a/..//b/."), "http://h.example//b/");
  EXPECT_EQ(normal("http://h.example/100%/a b\x01"), "http://h.example/100%25/a%20b%01");
  EXPECT_EQ(normal("http://h.example/%2f%3F"), "http://h.example/%2F%3F");
  EXPECT_EQ(normal("http://h%2Eexample?a=/../b"), "http://h.example/?a=/../b");
  EXPECT_EQ(normal("http://[2001:DB8:0::1]:8080/"), "http://[2001:db8::1]:8080/");
  EXPECT_EQ(normal("http://[::ffff:1.2.3.4]/"), "http://1.2.3.4/");
  for (const char* text : {"", "http://", "http:///path", "://h.example/", "1http://h.example/",
                           "mailto:a@h.example", "http://h..example/", "http://h_%00.example/",
                           "http://h.example:65536/", "http://h.example:8x/", "http://[::1/",
                           "http://1.2.3.256/", "http://::1/", "http://[1.2.3.4]/"}) {
    EXPECT_EQ(normal(text), "none") << text;
  }
}

TEST(domain, has_one_form) {
  EXPECT_EQ(normal_domain("Ads.Example.COM."), "ads.example.com");
  EXPECT_EQ(normal_domain("_dmarc.xn--bcher-kva.example"), "_dmarc.xn--bcher-kva.example");
  EXPECT_EQ(normal_domain("bücher.example"), "bücher.example");
  EXPECT_TRUE(normal_domain(std::string(63, 'a') + ".b"));
  for (const std::string& text :
       {std::string(), std::string("."), std::string("a..b"), std::string(".a"), std::string("a b"),
        std::string("1.2"), std::string("a/b"), std::string(64, 'a') + ".b",
        std::string(254, 'a')}) {
    EXPECT_FALSE(normal_domain(text)) << text;
  }
}

// The entries of a line, or what else it is.
std::string parsed(std::string_view line) {
  const block_line p = parse_block_line(line);
  if (p.kind == line_kind::nothing) return "nothing";
  if (p.kind == line_kind::exception) return "exception";
  if (p.kind == line_kind::hiding) return "hiding";
  if (p.kind == line_kind::options) return "options";
  if (p.kind == line_kind::pattern) return "pattern";
  if (p.kind == line_kind::bad) return "bad";
  std::string text;
  for (const block_entry& e : p.entries) text += (text.empty() ? "" : " ") + e.text();
  return text;
}

TEST(block_line, addresses_ranges_and_what_follows_them) {
  EXPECT_EQ(parsed("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(parsed("\xef\xbb\xbf 192.0.2.1 \r"), "192.0.2.1");
  EXPECT_EQ(parsed("1.2.3.0/24 ; SBL123"), "1.2.3.0/24");
  EXPECT_EQ(parsed("1.2.3.0/24;SBL123"), "1.2.3.0/24");
  EXPECT_EQ(parsed("1.2.3.4,malware,2026"), "1.2.3.4");
  EXPECT_EQ(parsed("1.2.3.4\tsome words # and more"), "1.2.3.4");
  EXPECT_EQ(parsed("2001:DB8::/32 # doc"), "2001:db8::/32");
  EXPECT_EQ(parsed("::ffff:10.0.0.0/104"), "10.0.0.0/8");
  EXPECT_EQ(parsed("10.0.0.1-10.0.0.2"), "10.0.0.1 10.0.0.2");
  EXPECT_EQ(parsed("10.0.0.0 - 10.0.0.255 , text"), "10.0.0.0/24");
  EXPECT_EQ(parsed("10.0.0.0 - 10.0.0.255, text"), "10.0.0.0/24");
  EXPECT_EQ(parsed("::1-::2"), "::1 ::2");
  EXPECT_EQ(parsed("10.0.0.2-10.0.0.1"), "bad");
  EXPECT_EQ(parsed("10.0.0.2-::1"), "bad");
  EXPECT_EQ(parsed("10.0.0.2-x"), "bad");
  for (const char* line : {"1.2.3.0/33", "1.2.3.0/255.255.255.0", "2001:db8::/129"}) {
    EXPECT_EQ(parsed(line), "bad") << line;
  }
  EXPECT_EQ(parsed("1.2.3.0/33/x"), "pattern");  // a '/' in it: a part of a URL
  EXPECT_EQ(parsed("1.2.3.256"), "bad");
  EXPECT_EQ(parsed("0.0.0.0/8 ; SBL1"), "0.0.0.0/8");
  EXPECT_EQ(parsed("127.0.0.1"), "127.0.0.1");
}

TEST(block_line, hosts_files) {
  EXPECT_EQ(parsed("0.0.0.0 Ads.Example"), "ads.example");
  EXPECT_EQ(parsed("127.0.0.1\tads.example a.example # both\r"), "ads.example a.example");
  EXPECT_EQ(parsed("::1 ads.example#comment"), "ads.example");
  EXPECT_EQ(parsed("127.0.0.1 localhost"), "nothing");
  EXPECT_EQ(parsed("127.0.0.1 localhost.localdomain local"), "nothing");
  EXPECT_EQ(parsed("::1 ip6-localhost ip6-loopback"), "nothing");
  EXPECT_EQ(parsed("0.0.0.0 0.0.0.0"), "nothing");
  EXPECT_EQ(parsed("0.0.0.0 a..b"), "bad");
  EXPECT_EQ(parse_block_line("0.0.0.0 a.b").entries.front().kind, block_kind::host);
}

TEST(block_line, domains_and_urls) {
  EXPECT_EQ(parsed("ads.example"), ".ads.example");
  EXPECT_EQ(parsed("*.ads.example"), ".ads.example");
  EXPECT_EQ(parsed(".zip"), ".zip");
  EXPECT_EQ(parsed("ads.example. # why"), ".ads.example");
  EXPECT_EQ(parsed("ads.example,phishing"), ".ads.example");
  EXPECT_EQ(parsed("http://Ads.example/a/../b/?x=1#y"), "ads.example/b?x=1");
  EXPECT_EQ(parsed("https://ads.example"), "ads.example/");
  EXPECT_EQ(parsed("http://ads.example:8080/a/ # c"), "ads.example:8080/a");
  for (const char* line : {"garbage", "two words", "ads.example is one", "\x01\x02",
                           "{\"json\": 1}", "http://a.example/ text", "a@b@c", "1.2.3.256"}) {
    EXPECT_EQ(parsed(line), "bad") << line;
  }
  EXPECT_EQ(parsed("http://a.example/" + std::string(2100, 'x')), "pattern");
  std::string deep = "http://a.example";
  for (int i = 0; i < 70; ++i) deep += "/x";
  EXPECT_EQ(parsed(deep), "pattern");
}

TEST(block_line, rules_of_ad_blockers) {
  EXPECT_EQ(parsed("||ads.example^"), ".ads.example");
  EXPECT_EQ(parsed("||ads.example^|"), ".ads.example");
  EXPECT_EQ(parsed("||ads.example"), ".ads.example");
  EXPECT_EQ(parsed("||ads.example/"), ".ads.example");
  EXPECT_EQ(parsed("||ads.example^$all"), ".ads.example");
  EXPECT_EQ(parsed("|http://ads.example/a|$important"), "|ads.example/a|");
  EXPECT_EQ(parsed("||ads.example^$all,popup"), "options");
  EXPECT_EQ(parsed("||1.2.3.4^"), "1.2.3.4");
  EXPECT_EQ(parsed("||1.2.3.4/x"), "1.2.3.4/x");
  EXPECT_EQ(parsed("||ads.example/banners/"), ".ads.example/banners");
  EXPECT_EQ(parsed("|http://ads.example/a"), "ads.example/a");
  EXPECT_EQ(parsed("|https://ads.example/a/|"), "|ads.example/a/|");
  EXPECT_EQ(parsed("@@||good.example^"), "exception");
  for (const char* line : {"example.com##.ad", "example.com###ad", "###ad", "##.ad", "#@#.ad",
                           "example.com#@#div", "a.com,b.com#?#div", "example.com#$#body"}) {
    EXPECT_EQ(parsed(line), "hiding") << line;
  }
  for (const char* line :
       {"||ads.example^$third-party", "ads.example$script", "$csp=a 'b' c", "|http://a.b/$x"}) {
    EXPECT_EQ(parsed(line), "options") << line;
  }
  for (const char* line :
       {"/ads[0-9]+/", "/banner/*/img^", "-ad-300x250.", "&ad_box=", "||ads.", "||ads*.example^",
        "|http://*.example/", "_ads_", ".468x60.", ".468x60_", "%2Fads", "_ads.js", "-ad.gif",
        "http://", "://ads.", "http://a.example/*/b", "||ads.example^path"}) {
    EXPECT_EQ(parsed(line), "pattern") << line;
  }
  for (const char* line : {"", "  ", "# c", "## heading", "### heading", "###", "####", "#####",
                           "! c", "; c", "[Adblock Plus 2.0]"}) {
    EXPECT_EQ(parsed(line), "nothing") << line;
  }
}

std::string scanned(std::string_view line) {
  std::vector<text_thing> things;
  scan_text(line, things);
  std::string text;
  for (const text_thing& t : things) {
    text += t.kind == thing_kind::address ? "A:" : t.kind == thing_kind::domain ? "D:" : "U:";
    text.append(t.text).append(" ");
  }
  return text;
}

TEST(scan_text, finds_what_a_log_names) {
  EXPECT_EQ(scanned("192.0.2.7 - - [15/Nov/2026:10:00:00 +0000] \"GET /a.html HTTP/1.1\" 200 5 "
                    "\"https://ref.example/x?y=1\" \"Mozilla/5.0 (X11; rv:1.9)\""),
            "A:192.0.2.7 D:a.html U:https://ref.example/x?y=1 ");
  EXPECT_EQ(scanned("connect from mail.example[2001:db8::1]:25, from=<a.b@c.example>"),
            "D:mail.example A:2001:db8::1 D:c.example ");
  EXPECT_EQ(scanned("[IPv6:2001:db8::1] [::ffff:192.0.2.1]:80 ::1: refused"),
            "A:2001:db8::1 A:::ffff:192.0.2.1 A:::1 ");
  EXPECT_EQ(scanned("CONNECT h.example:443 src=10.0.0.1:5555, (10.0.0.2)."),
            "D:h.example A:10.0.0.1 A:10.0.0.2 ");
  EXPECT_EQ(scanned("(see http://a.example/b_(c).) <http://[::1]:80/x>, \"ftp://h.example.\""),
            "U:http://a.example/b_(c) U:http://[::1]:80/x U:ftp://h.example ");
  EXPECT_EQ(scanned("1.2.3 1.2.3.4.5 v1.2.3.4 12:34:56 std::vector a.b .. :: - 300.1.1.1"),
            "A::: ");
  EXPECT_EQ(scanned("http://bad^host.example/ http:// x://"), "D:host.example ");
  EXPECT_EQ(scanned(""), "");
}

// Were the rest of the line looked at for each of them, this would take minutes.
TEST(scan_text, takes_a_hostile_line_in_linear_time) {
  for (const char* piece : {"a://", "a://%", "a://b.c.:", "a.", ":", "a:", ".", "1.2.3.4:", "a@"}) {
    std::string line;
    while (line.size() < 2'000'000) line += piece;
    std::vector<text_thing> things;
    scan_text(line, things);
    scan_text("http://h.example/" + line + std::string(1000, ')'), things);
  }
}

}  // namespace
}  // namespace bloomery
