// Squid's keys, and a digest of them, against what Python's hashlib and struct make of the same.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/crypto/digest.hpp"
#include "bloomery/exchange/cache_digest.hpp"

namespace bloomery {
namespace {

std::string hex_of(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::byte b : bytes) {
    text += digits[std::to_integer<unsigned>(b) >> 4U];
    text += digits[std::to_integer<unsigned>(b) & 0xfU];
  }
  return text;
}

TEST(request_key, is_the_md5_of_method_and_url) {
  const std::string url = "http://example.org/0";
  EXPECT_EQ(hex_of(key_of_request(url)), "76c3b8202187304226bba06156cd2b05");
  EXPECT_EQ(hex_of(key_of_request(url, request_method::head)), "9fbd51096579840e26741c8c53a817a5");
  // The same as a key of an ordinary filter: the byte, then the URL.
  const digest words = hash_key(md5_hasher(), "\1" + url);
  const digest same = md5_words(key_of_request(url).data());
  EXPECT_EQ(words.words, same.words);
}

TEST(request_key, makes_the_digest_that_squid_makes) {
  cache_digest d(12);
  for (int i = 0; i < 10; ++i) {
    d.add(md5_words(key_of_request("http://example.org/" + std::to_string(i)).data()));
  }
  const std::vector<std::byte> bytes = d.bytes();
  EXPECT_EQ(hex_of(std::span(bytes).subspan(cache_digest_header_bytes)), "3e1061223f72a42c");
}

}  // namespace
}  // namespace bloomery
