// Sealed messages: both sides understand each other, and nobody else changes, repeats or forges.
#include "bloomery/crypto/session.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "bloomery/crypto/file_digest.hpp"
#include "filter/samples.hpp"

namespace bloomery {
namespace {

using bloomery_test::throws;

std::vector<std::byte> session_text(const char* text) {
  const std::string_view view = text;
  const auto bytes = std::as_bytes(std::span(view));
  return {bytes.begin(), bytes.end()};
}

struct session_pair {
  explicit session_pair(const master_key& one, const master_key& other)
      : here(one, true), there(other, false) {
    here.meet(there.greeting());
    there.meet(here.greeting());
  }
  sealed_session here;
  sealed_session there;
};

TEST(sealed_session, both_sides_read_each_other_in_order) {
  const master_key key = random_master_key();
  session_pair p(key, key);
  for (int i = 0; i < 3; ++i) {
    const auto sealed = p.here.seal(7, session_text("question"));
    EXPECT_EQ(sealed.size(), 8 + sealed_session::overhead_bytes);
    EXPECT_EQ(p.there.open(7, sealed), session_text("question"));
    EXPECT_EQ(p.here.open(9, p.there.seal(9, session_text(""))), session_text(""));
  }
}

TEST(sealed_session, refuses_what_was_changed_repeated_reordered_or_sent_back) {
  const master_key key = random_master_key();
  session_pair p(key, key);
  const auto first = p.here.seal(1, session_text("first"));
  const auto second = p.here.seal(1, session_text("second"));
  const auto refused = [&](std::uint8_t type, const std::vector<std::byte>& sealed) {
    return throws(errc::corrupt, "", [&] { return p.there.open(type, sealed); });
  };
  EXPECT_TRUE(refused(1, second));  // not its turn
  EXPECT_TRUE(refused(2, first));   // another type
  for (std::size_t i = 0; i < first.size(); ++i) {
    auto changed = first;
    changed[i] ^= std::byte{1};
    EXPECT_TRUE(refused(1, changed));
  }
  EXPECT_TRUE(refused(1, {}));
  EXPECT_EQ(p.there.open(1, first), session_text("first"));
  EXPECT_TRUE(refused(1, first));  // again
  EXPECT_EQ(p.there.open(1, second), session_text("second"));
  const auto own = p.there.seal(1, session_text("mine"));
  EXPECT_TRUE(refused(1, own));  // sent back
}

TEST(sealed_session, needs_the_same_key_and_a_greeting_of_its_own) {
  session_pair p(random_master_key(), random_master_key());
  EXPECT_TRUE(throws(errc::corrupt, "another key",
                     [&] { return p.there.open(1, p.here.seal(1, session_text("x"))); }));
  sealed_session alone(random_master_key(), true);
  EXPECT_FALSE(alone.met());
  EXPECT_TRUE(throws(errc::corrupt, "greeting", [&] { alone.meet(alone.greeting()); }));
  EXPECT_TRUE(throws(errc::corrupt, "greeting", [&] { alone.meet(session_text("short")); }));
  EXPECT_TRUE(throws(errc::corrupt, "same key", [&] { return alone.open(1, session_text("x")); }));
}

TEST(file_digest, is_that_of_sha256sum) {
  const std::filesystem::path path = testing::TempDir() + "bloomery_file_digest";
  std::ofstream(path) << "abc";
  EXPECT_EQ(sha256_of_file(path),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  std::filesystem::remove(path);
  EXPECT_TRUE(throws(errc::io, "opening", [&] { return sha256_of_file(path); }));
}

}  // namespace
}  // namespace bloomery
