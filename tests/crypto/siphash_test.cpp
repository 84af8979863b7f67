// SipHash-2-4 against its authors' vectors, and what a file may tell about the key.
#include "bloomery/crypto/siphash.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/keyed.hpp"
#include "crypto/keys.hpp"

namespace bloomery {
namespace {

using key_type = siphash_hasher::key_type;

// Key 00 01 ... 0f, message of n bytes 00 01 ...: vectors.h of the reference implementation. The
// one of 15 bytes is worked out in appendix A of the paper.
constexpr std::uint64_t vectors[] = {
    0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d,
    0xcf2794e0277187b7, 0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137,
    0x93f5f5799a932462, 0x9e0082df0ba9e4b0, 0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7,
    0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee, 0xa129ca6149be45e5,
    0x3f2acc7f57c29bdb, 0x699ae9f52cbe4794, 0x4bc1b3f0968dd39c, 0xbb6dc91da77961bd,
    0xbed65cf21aa2ee98, 0xd0f2cbb02e3b67c7, 0x93536795e3a33e88, 0xa80c038ccd5ccec8,
    0xb8ad50c6f649af94, 0xbce192de8a85b8ea, 0x17d835b85bbb15f3, 0x2f2e6163076bcfad,
    0xde4daaaca71dc9a5, 0xa6a2506687956571, 0xad87a3535c49ef28, 0x32d892fad841c342};

TEST(Siphash, GivesTheReferenceVectors) {
  const siphash_hasher h(counting_key());
  std::vector<std::byte> message;
  for (const std::uint64_t expected : vectors) {
    EXPECT_EQ(hash_key(h, message), expected) << message.size() << " bytes";
    message.push_back(static_cast<std::byte>(message.size()));
  }
}

TEST(Siphash, AnIntegerIsItsEightBytesLittleEndian) {
  const siphash_hasher h(counting_key());
  const std::array<unsigned char, 8> bytes = {42, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(hash_key(h, 42), 0x2cbe815a255faf48U);  // with a second implementation, in Python
  EXPECT_EQ(hash_key(h, 42), h.bytes(bytes.data(), bytes.size()));
  EXPECT_NE(hash_key(h, 42), hash_key(h, "42"));
}

TEST(Siphash, AnotherKeyIsAnotherFunction) {
  std::set<std::uint64_t> hashes;
  std::set<std::uint64_t> ids;
  for (std::size_t bit = 0; bit < 128; ++bit) {
    key_type key = counting_key();
    key[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    const siphash_hasher h(key);
    hashes.insert(hash_key(h, "apples"));
    ids.insert(h.spec().key_id);
  }
  EXPECT_EQ(hashes.size(), 128U);
  EXPECT_EQ(ids.size(), 128U);
}

// The first 8 bytes of BLAKE2b-256("bloomery siphash id" + key), computed with Python's hashlib.
// Files hold it, so it never changes.
TEST(Siphash, TheKeyIdIsFrozen) {
  EXPECT_EQ(siphash_hasher(counting_key()).spec(),
            (hash_spec{.id = hash_id::siphash, .seed = 0, .key_id = 0xbc07b007e2858adc}));
  EXPECT_EQ(siphash_hasher(key_type{}).spec().key_id, 0xaa45f287f7007c8fU);
}

TEST(Siphash, WorksInAFilter) {
  keyed<blocked_filter, siphash_hasher> f(blocked_filter(options{.keys = 1000, .fpr = 0.01}),
                                          siphash_hasher(counting_key()));
  for (int i = 0; i < 1000; ++i) f.add("key " + std::to_string(i));
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(f.contains("key " + std::to_string(i)));
  int found = 0;
  for (int i = 0; i < 10'000; ++i) found += f.contains("other " + std::to_string(i)) ? 1 : 0;
  EXPECT_LT(found, 160);  // 98 expected; 6 standard deviations more
}

}  // namespace
}  // namespace bloomery
