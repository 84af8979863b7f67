// URLs as Squid has them in its keys, and what logs and cache directories tell.
#include "bloomery/exchange/cache_contents.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "filter/samples.hpp"

namespace bloomery {
namespace {

using bloomery_test::throws;

// What Squid 5.7 had in its store after it was asked for the first.
TEST(cache_contents, has_urls_as_squid_has_them) {
  const std::pair<const char*, const char*> urls[] = {
      {"http://127.0.0.1:80/p80", "http://127.0.0.1/p80"},
      {"HTTP://LOCALHOST/Up", "http://localhost/Up"},
      {"http://localhost", "http://localhost/"},
      {"http://localhost?q=1", "http://localhost/?q=1"},
      {"http://localhost/a#b", "http://localhost/a#b"},
      {"http://user:pw@localhost/usr", "http://localhost/usr"},
      {"http://localhost./dot", "http://localhost/dot"},
      {"http://localhost/%7etilde", "http://localhost/%7etilde"},
      {"http://localhost/x/../y", "http://localhost/x/../y"},
      {"http://localhost:080/zero", "http://localhost/zero"},
      {"http://localhost/A%2fb", "http://localhost/A%2fb"},
      {"http://localhost/b//c", "http://localhost/b//c"},
      {"http://localhost/a|b{c}\"<", "http://localhost/a|b{c}\"<"},
      // Of others by the same rules.
      {"https://h:443/", "https://h/"},
      {"https://h:80/", "https://h:80/"},
      {"http://[::1]:8080/x", "http://[::1]:8080/x"},
      {"http://[::1]", "http://[::1]/"},
  };
  for (const auto& [given, kept] : urls) EXPECT_EQ(cache_url(given), kept) << given;
  for (const char* text :
       {"", "/path", "host/path", "http:/host", "http://", "http:///path",
        "http://localhost:/colon", "http://h:99999/", "http://h:x/", "h ttp://h/", "://h/",
        "http://a b/", "http://./", "http://user@/", "http://h:0/"}) {
    EXPECT_EQ(cache_url(text), std::nullopt) << text;
  }
  EXPECT_EQ(origin_of("http://h:8080/a/b"), "http://h:8080");
}

TEST(cache_contents, spells_files_as_browsers_and_as_apt) {
  const path_spellings plain = url_of_file("http://h/debian", "pool/a_1.deb");
  EXPECT_EQ(plain.usual, "http://h/debian/pool/a_1.deb");
  EXPECT_EQ(plain.apt, "");
  const path_spellings both = url_of_file("http://h/debian/", "g++ 12~b\xc3\xbc%.deb");
  EXPECT_EQ(both.usual, "http://h/debian/g++%2012~b%C3%BC%25.deb");
  EXPECT_EQ(both.apt, "http://h/debian/g%2b%2b%2012%7eb%c3%bc%25.deb");
}

TEST(cache_contents, reads_logs) {
  const auto read = [](std::string_view line, std::string_view base = {}) {
    return read_log_line(line, base);
  };
  const auto squid = read(
      "1794967945.791     45 127.0.0.1 TCP_MISS/200 471 GET http://H:80/o30 - HIER_DIRECT/::1 -");
  EXPECT_EQ(squid.what, logged::fetched);
  EXPECT_EQ(squid.url, "http://h/o30");
  EXPECT_EQ(read("1.2 4 ::1 TCP_MISS/200 4 GET http://h/? - HIER_DIRECT/::1 -").what, logged::cut);
  EXPECT_EQ(read("1.2 4 ::1 TCP_MISS/404 4 GET http://h/ - HIER_DIRECT/::1 -").what, logged::other);
  EXPECT_EQ(read("1.2 4 ::1 TCP_TUNNEL/200 4 CONNECT h:443 - HIER_DIRECT/::1 -").what,
            logged::other);
  EXPECT_EQ(read("1.2 4 ::1 TCP_HIT/200 4 HEAD http://h/ - HIER_NONE/- -").what, logged::other);
  EXPECT_EQ(read("1.2 4 ::1 TCP_HIT/200 4 GET /path - HIER_NONE/- -").what, logged::unknown);

  const std::string_view web =
      R"(::1 - - [18/Nov/2026:02:12:24 +0000] "GET /a?b=1 HTTP/1.1" 200 471 "-" "curl \"x")";
  EXPECT_EQ(read(web).what, logged::path);
  EXPECT_EQ(read(web, "http://h:8080/x/").url, "http://h:8080/a?b=1");
  EXPECT_EQ(read(R"(::1 - - [x] "GET http://P/a HTTP/1.1" 200 4)").url, "http://p/a");
  EXPECT_EQ(read(R"(::1 - - [x] "POST /a HTTP/1.1" 200 4)", "http://h/").what, logged::other);
  EXPECT_EQ(read(R"(::1 - - [x] "GET /a HTTP/1.1" 304 0)", "http://h/").what, logged::other);
  EXPECT_EQ(read(R"(::1 - - [x] "\x16\x03" 400 0)", "http://h/").what, logged::other);
  for (const char* line : {"", " ", "one", "a b c d e f g h", R"(::1 - - [x] "GET /a)", "] \"",
                           R"(::1 - - [x] "GET /a HTTP/1.1")"}) {
    EXPECT_EQ(read(line, "http://h/").what, logged::unknown) << line;
  }
}

std::span<const std::byte> bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(cache_contents, reads_keys_of_nginx) {
  const auto read = [](const std::string& key, std::string_view base = {}) {
    const std::string text = std::string(300, '\0') + "\nKEY: " + key + "\nHTTP/1.1 200 OK\r\n";
    return nginx_object_url(bytes_of_text(text), base);
  };
  EXPECT_EQ(read("httpbackend/a?b"), "http://backend/a?b");
  EXPECT_EQ(read("http127.0.0.1:8080/a"), "http://127.0.0.1:8080/a");
  EXPECT_EQ(read("httpsbackend/a"), "https://backend/a");
  EXPECT_EQ(read("httpbackend/a", "http://site/x/"), "http://site/a");
  EXPECT_EQ(read("https://Site:443/a"), "https://site/a");
  EXPECT_EQ(read("http://127.0.0.1:8080/a//b", "http://site/"), "http://site/a//b");
  EXPECT_EQ(read("http://host", "http://site/"), "http://host/");
  EXPECT_EQ(read("/a/b", "http://site/"), "http://site/a/b");
  EXPECT_EQ(read("/a/b"), std::nullopt);
  EXPECT_EQ(read("nothing"), std::nullopt);
  EXPECT_EQ(nginx_object_url(bytes_of_text("\nKEY: http://h/cut"), ""), std::nullopt);
  EXPECT_EQ(nginx_object_url({}, ""), std::nullopt);
}

void put_number(std::string& out, std::uint32_t value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

TEST(cache_contents, reads_keys_of_squid_objects) {
  const auto object = [](std::uint32_t length, std::uint32_t key_bytes) {
    std::string text = "\3";
    put_number(text, length);
    text += '\x09';
    put_number(text, 2);
    text += "ab\3";
    put_number(text, key_bytes);
    return text + "0123456789abcdef" + "HTTP/1.1 200 OK\r\n";
  };
  const auto key = squid_object_key(bytes_of_text(object(33, 16)));
  ASSERT_TRUE(key);
  EXPECT_EQ(std::memcmp(key->data(), "0123456789abcdef", 16), 0);
  EXPECT_EQ(squid_object_key(bytes_of_text(object(33, 15))), std::nullopt);
  EXPECT_EQ(squid_object_key(bytes_of_text(object(32, 16))), std::nullopt);
  EXPECT_EQ(squid_object_key(bytes_of_text(object(UINT32_MAX, 16))), std::nullopt);
  EXPECT_EQ(squid_object_key(bytes_of_text(object(4, 16))), std::nullopt);
  EXPECT_EQ(squid_object_key(bytes_of_text("\3ab")), std::nullopt);
  EXPECT_EQ(squid_object_key(bytes_of_text("4" + object(33, 16))), std::nullopt);
}

TEST(cache_contents, follows_the_log_of_squid) {
  std::string text("\3\0\0\0", 4);
  put_number(text, 2);
  put_number(text, 72);
  text.resize(72);
  for (const auto& [what, key] : {std::pair('\1', 'a'), {'\1', 'b'}, {'\2', 'a'}, {'\7', 'c'}}) {
    text += what;
    text.append(51, '\0').append(16, key).append(4, '\0');
  }
  std::vector<std::pair<char, bool>> seen;
  const auto visit = [&](const squid_key& key, bool added) {
    seen.emplace_back(static_cast<char>(key[0]), added);
  };
  const std::vector<std::pair<char, bool>> expected = {{'a', true}, {'b', true}, {'a', false}};
  read_swap_state(bytes_of_text(text), visit);
  EXPECT_EQ(seen, expected);
  seen.clear();
  read_swap_state(bytes_of_text(text).first(72 * 4 - 1), visit);  // the third is being written
  EXPECT_EQ(seen.size(), 2U);
  read_swap_state({}, visit);
  text[8] = 56;
  EXPECT_TRUE(throws(errc::unsupported, "records of 72 bytes",
                     [&] { read_swap_state(bytes_of_text(text), visit); }));
  EXPECT_TRUE(throws(errc::unsupported, "swap.state",
                     [&] { read_swap_state(bytes_of_text("\3"), visit); }));
}

}  // namespace
}  // namespace bloomery
