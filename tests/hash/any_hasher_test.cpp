// Hash functions chosen at run time give what the compile-time ones give.
#include "bloomery/hash/any_hasher.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bloomery {
namespace {

constexpr std::array<std::string_view, 3> keys = {"apples", "", "plums"};

TEST(AnyHasher, HashesABatchLikeTheHasherItHolds) {
  const std::shared_ptr<const any_hasher> erased = erase(xxh3_hasher(7));
  std::array<std::uint64_t, 3> hashes{};
  erased->hash(keys, hashes);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(hashes[i], hash_key(xxh3_hasher(7), keys[i]));
  }
  EXPECT_EQ(erased->spec(), xxh3_hasher(7).spec());
}

TEST(AnyHasher, RefusesTheOtherKindOfResultByName) {
  const std::shared_ptr<const any_hasher> erased = erase(xxh3_hasher(7));
  std::array<digest, 3> digests{};
  try {
    erased->hash(keys, digests);
    FAIL() << "no error was thrown";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::unsupported);
    EXPECT_NE(std::string(e.what()).find("xxh3"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace bloomery
