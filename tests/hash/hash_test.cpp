// Keys become hashes: frozen vectors, and which keys are the same key.
#include "bloomery/hash/hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace shop {

// A user's type, hashed by a function beside it.
struct article {
  std::string name;
  std::uint32_t size;
};
template <class Hasher>
std::uint64_t bloomery_hash(const article& a, const Hasher& hasher) {
  return bloomery::hash_fields(hasher, a.name, a.size);
}

struct unhashed {};

enum class colour : std::uint8_t { red, green = 200 };
enum level { low = -1, high = 1 };

}  // namespace shop

namespace bloomery {
namespace {

constexpr std::uint64_t all_ones = ~std::uint64_t{0};

// ---- frozen vectors ---------------------------------------------------------------------------

// The buffer and the results of xxHash's own sanity check (xxHash 0.8, XSUM_XXH3_testdata). The
// lengths reach every branch of the function: 0, 1-3, 4-8, 9-16, 17-128, 129-240 and the long ones.
struct xxh3_vector {
  std::size_t size;
  std::uint64_t unseeded;
  std::uint64_t seeded;
};
constexpr xxh3_vector xxh3_vectors[] = {
    {0, 0x2d06800538d394c2, 0xa8a6b918b2f0364a},    {1, 0xc44bdff4074eecdb, 0x032be332dd766ef8},
    {6, 0x27b56a84cd2d7325, 0x84589c116ab59ab9},    {12, 0xa713daf0dfbb77e7, 0xe7303e1b2336de0e},
    {24, 0xa3fe70bf9d3510eb, 0x850e80fc35bdd690},   {48, 0x397da259ecba1f11, 0xadc2cbaa44acc616},
    {80, 0xbcdefbbb2c47c90a, 0xc6dd0cb699532e73},   {195, 0xcd94217ee362ec3a, 0xba68003d370cb3d9},
    {403, 0xcdeb804d65c6dea4, 0x6259f6ecfd6443fd},  {512, 0x617e49599013cb6b, 0x3ce457de14c27708},
    {2048, 0xdd59e2c3a5f038e0, 0x66f81670669ababc}, {2367, 0xcb37aeb9e5d361ed, 0xd2db3415b942b42a}};

TEST(Xxh3Hasher, GivesThePublishedVectors) {
  std::vector<std::uint8_t> buffer(2367);
  std::uint64_t generator = 2654435761U;
  for (std::uint8_t& byte : buffer) {
    byte = static_cast<std::uint8_t>(generator >> 56U);
    generator *= 11400714785074694797U;
  }
  for (const xxh3_vector& v : xxh3_vectors) {
    EXPECT_EQ(xxh3_hasher(0).bytes(buffer.data(), v.size), v.unseeded) << v.size;
    EXPECT_EQ(xxh3_hasher(11400714785074694797U).bytes(buffer.data(), v.size), v.seeded) << v.size;
  }
}

TEST(Xxh3Hasher, IsTheLibrarysFunctionForEveryLengthAndSeed) {
  std::string text;
  for (int size = 0; size < 300; ++size) {
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, all_ones}) {
      ASSERT_EQ(xxh3_hasher(seed).bytes(text.data(), text.size()),
                XXH3_64bits_withSeed(text.data(), text.size(), seed));
    }
    text.push_back(static_cast<char>('a' + size % 26));
  }
}

// The first is the well-known first output of the generator; all were computed with Python's
// integers.
TEST(SplitMix64, GivesFrozenVectors) {
  static_assert(splitmix64(0) == 0xe220a8397b1dcdaf);
  static_assert(splitmix64(1) == 0x910a2dec89025cc1);
  static_assert(splitmix64(2) == 0x975835de1c9756ce);
  static_assert(splitmix64(42) == 0xbdd732262feb6e95);
  static_assert(splitmix64(all_ones) == 0xe4d971771b652c20);
}

// Computed from docs/format.md with Python's integers.
struct mix_vector {
  std::uint64_t key;
  std::uint64_t seed;
  std::uint64_t hash;
};
constexpr mix_vector mix_vectors[] = {
    {0, 0, 0x678a4a22b673cd48},
    {1, 0, 0x69e4230a4ddbc71c},
    {2, 0, 0x6523ac56c4c72429},
    {all_ones, 0, 0x5afa9fdd2d6d03d3},
    {0, 1, 0x01a28be0c9cca9f7},
    {1, 1, 0xc56f55645d1b5de5},
    {0x0123456789abcdef, 42, 0x40ded4216a8488b2},
    {std::uint64_t{1} << 63U, 7, 0x4d16f8abe417a132},
};

TEST(Mix64, GivesFrozenVectors) {
  for (const mix_vector& v : mix_vectors) {
    EXPECT_EQ(mix64(v.key, splitmix64(v.seed)), v.hash) << v.key << ' ' << v.seed;
    EXPECT_EQ(xxh3_hasher(v.seed).integer(v.key), v.hash) << v.key << ' ' << v.seed;
  }
}

TEST(HashId, NumbersAndNamesAreFrozen) {
  EXPECT_EQ(static_cast<int>(hash_id::none), 0);
  EXPECT_EQ(static_cast<int>(hash_id::xxh3), 1);
  EXPECT_EQ(static_cast<int>(hash_id::siphash), 2);
  EXPECT_EQ(static_cast<int>(hash_id::salted_sha1), 3);
  EXPECT_EQ(static_cast<int>(hash_id::md5), 4);
  EXPECT_EQ(static_cast<int>(hash_id::folded_sha1), 5);
  EXPECT_EQ(static_cast<int>(hash_id::xxh3_secret), 6);
  EXPECT_EQ(static_cast<int>(hash_id::murmur), 7);
  EXPECT_EQ(hash_name(hash_id::none), "none");
  EXPECT_EQ(hash_name(hash_id::xxh3), "xxh3");
  EXPECT_EQ(hash_name(hash_id::siphash), "siphash");
  EXPECT_EQ(hash_name(hash_id::salted_sha1), "sha1");
  EXPECT_EQ(hash_name(hash_id::md5), "md5");
  EXPECT_EQ(hash_name(hash_id::folded_sha1), "sha1-folded");
  EXPECT_EQ(hash_name(hash_id::xxh3_secret), "xxh3-secret");
  EXPECT_EQ(hash_name(hash_id::murmur), "murmur");
  EXPECT_EQ(hash_name(hash_id{99}), "unknown");
}

TEST(Xxh3Hasher, SaysWhatAFileMustStore) {
  EXPECT_EQ(xxh3_hasher(7).spec(), (hash_spec{.id = hash_id::xxh3, .seed = 7, .key_id = 0}));
  EXPECT_NE(xxh3_hasher(7).spec(), xxh3_hasher(8).spec());
}

// ---- the same key in many types ---------------------------------------------------------------

TEST(HashKey, TheSameBytesAreTheSameKey) {
  const xxh3_hasher h(5);
  const std::uint64_t expected = XXH3_64bits_withSeed("apples", 6, 5);
  const std::string text = "apples";
  const char* pointer = text.c_str();
  std::vector<std::byte> bytes;
  std::vector<char> chars;
  std::array<std::uint8_t, 6> small{};
  for (std::size_t i = 0; i < text.size(); ++i) {
    bytes.push_back(static_cast<std::byte>(text[i]));
    chars.push_back(text[i]);
    small[i] = static_cast<std::uint8_t>(text[i]);
  }
  EXPECT_EQ(hash_key(h, text), expected);
  EXPECT_EQ(hash_key(h, std::string_view(text)), expected);
  EXPECT_EQ(hash_key(h, pointer), expected);
  EXPECT_EQ(hash_key(h, "apples"), expected);
  EXPECT_EQ(hash_key(h, bytes), expected);
  EXPECT_EQ(hash_key(h, chars), expected);
  EXPECT_EQ(hash_key(h, small), expected);
  EXPECT_EQ(hash_key(h, std::span<const std::byte>(bytes)), expected);
  EXPECT_EQ(hash_key(h, std::as_bytes(std::span(small))), expected);
  EXPECT_EQ(hash_key(h, std::u8string(u8"apples")), expected);
}

TEST(HashKey, EmptyKeysAreKeys) {
  const xxh3_hasher h;
  EXPECT_EQ(hash_key(h, ""), 0x2d06800538d394c2U);
  EXPECT_EQ(hash_key(h, std::string()), 0x2d06800538d394c2U);
  EXPECT_EQ(hash_key(h, std::string_view()), 0x2d06800538d394c2U);
  EXPECT_EQ(hash_key(h, std::vector<std::byte>()), 0x2d06800538d394c2U);
}

TEST(HashKey, BytesAfterAZeroCount) {
  const xxh3_hasher h;
  using namespace std::string_view_literals;
  EXPECT_NE(hash_key(h, "a\0b"sv), hash_key(h, "a\0c"sv));
  EXPECT_NE(hash_key(h, "a"sv), hash_key(h, "a\0"sv));
}

TEST(HashKey, IntegersOfTheSameValueAreTheSameKey) {
  const xxh3_hasher h(9);
  const std::uint64_t expected = h.integer(42);
  EXPECT_EQ(hash_key(h, std::int8_t{42}), expected);
  EXPECT_EQ(hash_key(h, std::uint8_t{42}), expected);
  EXPECT_EQ(hash_key(h, short{42}), expected);
  EXPECT_EQ(hash_key(h, static_cast<unsigned short>(42)), expected);
  EXPECT_EQ(hash_key(h, 42), expected);
  EXPECT_EQ(hash_key(h, 42U), expected);
  EXPECT_EQ(hash_key(h, 42L), expected);
  EXPECT_EQ(hash_key(h, 42UL), expected);
  EXPECT_EQ(hash_key(h, 42LL), expected);
  EXPECT_EQ(hash_key(h, 42ULL), expected);
}

TEST(HashKey, NegativeIntegersKeepTheirSign) {
  const xxh3_hasher h(9);
  const std::uint64_t expected = h.integer(all_ones);
  EXPECT_EQ(hash_key(h, std::int8_t{-1}), expected);
  EXPECT_EQ(hash_key(h, short{-1}), expected);
  EXPECT_EQ(hash_key(h, -1), expected);
  EXPECT_EQ(hash_key(h, -1L), expected);
  EXPECT_EQ(hash_key(h, -1LL), expected);
  EXPECT_EQ(hash_key(h, std::numeric_limits<std::int64_t>::min()),
            h.integer(std::uint64_t{1} << 63U));
  EXPECT_NE(hash_key(h, -1), hash_key(h, std::numeric_limits<std::uint32_t>::max()));
}

TEST(HashKey, AnIntegerIsNotItsText) {
  const xxh3_hasher h;
  EXPECT_NE(hash_key(h, 42), hash_key(h, "42"));
  const std::uint64_t number = 42;
  EXPECT_NE(hash_key(h, number), hash_key(h, std::as_bytes(std::span(&number, 1))));
}

// ---- what is no key ---------------------------------------------------------------------------

static_assert(!key_for<char>);
static_assert(!key_for<char8_t>);
static_assert(!key_for<char16_t>);
static_assert(!key_for<char32_t>);
static_assert(!key_for<wchar_t>);
static_assert(!key_for<double>);
static_assert(!key_for<float>);
static_assert(!key_for<void*>);
static_assert(!key_for<int*>);
static_assert(!key_for<std::vector<int>>);
static_assert(!key_for<std::vector<bool>>);
static_assert(!key_for<std::wstring>);
static_assert(!key_for<std::u16string>);
static_assert(!key_for<shop::unhashed>);
static_assert(key_for<std::int8_t> && key_for<std::uint8_t>);  // small numbers, not characters
static_assert(key_for<std::string> && key_for<const char*> && key_for<char[4]>);
static_assert(key_for<std::span<std::byte>> && key_for<std::vector<unsigned char>>);
static_assert(key_for<shop::article>);

// As a pointer to text it would be read from address 0.
TEST(HashKey, NullIsNoKey) { EXPECT_FALSE(key_for<std::nullptr_t>); }

// ---- types of the user ------------------------------------------------------------------------

// Another hash function, as simple as can be, to see that user types follow whichever is in use.
class adding_hasher {
 public:
  using result_type = std::uint64_t;
  static constexpr hash_id id = hash_id::none;

  [[nodiscard]] std::uint64_t bytes(const void* data, std::size_t size) const noexcept {
    std::uint64_t sum = 1000;
    for (std::size_t i = 0; i < size; ++i) sum += static_cast<const unsigned char*>(data)[i];
    return sum;
  }
  [[nodiscard]] std::uint64_t integer(std::uint64_t key) const noexcept { return key; }
  [[nodiscard]] hash_spec spec() const noexcept { return {}; }
};
static_assert(hasher<adding_hasher>);
static_assert(hasher<xxh3_hasher>);
static_assert(!hasher<shop::unhashed>);

TEST(CustomKey, IsFoundBesideTheType) {
  const xxh3_hasher h(3);
  const shop::article shirt{.name = "shirt", .size = 42};
  EXPECT_EQ(hash_key(h, shirt), hash_fields(h, std::string_view("shirt"), 42));
  EXPECT_NE(hash_key(h, shirt), hash_key(h, shop::article{.name = "shirt", .size = 43}));
  EXPECT_NE(hash_key(h, shirt), hash_key(h, shop::article{.name = "skirt", .size = 42}));
}

TEST(CustomKey, FollowsTheHashFunctionInUse) {
  // "ab" sums to 1000 + 97 + 98 = 1195 = 0x4ab and the size is 3: the bytes ab, 4 and 3 are added.
  EXPECT_EQ(hash_key(adding_hasher(), shop::article{.name = "ab", .size = 3}),
            1000U + 0xab + 4 + 3);
}

TEST(HashFields, DependsOnTheOrder) {
  const xxh3_hasher h;
  EXPECT_NE(hash_fields(h, 1, 2), hash_fields(h, 2, 1));
  EXPECT_NE(hash_fields(h, "a", "bc"), hash_fields(h, "ab", "c"));
  EXPECT_NE(hash_fields(h, 1, 2), hash_key(h, 1));
  EXPECT_EQ(hash_fields(h, std::uint8_t{1}, "x"), hash_fields(h, 1LL, std::string("x")));
}

// The hash of the two hashes as 16 bytes, little-endian on every machine.
TEST(HashFields, IsFrozen) {
  const xxh3_hasher h(1);
  std::array<unsigned char, 16> bytes{};
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<unsigned char>(h.integer(6) >> (8 * i));
    bytes[8 + i] = static_cast<unsigned char>(h.integer(7) >> (8 * i));
  }
  EXPECT_EQ(hash_fields(h, 6, 7), XXH3_64bits_withSeed(bytes.data(), bytes.size(), 1));
}

// The bytes that a key of fields is the hash of: the hashes of the fields, little-endian.
std::uint64_t hash_of_words(const xxh3_hasher& h, const std::vector<std::uint64_t>& words) {
  std::vector<unsigned char> bytes;
  for (const std::uint64_t word : words) {
    for (std::size_t i = 0; i < 8; ++i)
      bytes.push_back(static_cast<unsigned char>(word >> (8 * i)));
  }
  return h.bytes(bytes.data(), bytes.size());
}

// ---- enumerators, truth values, pairs, tuples, optionals and paths ----------------------------

static_assert(key_for<bool> && key_for<shop::colour> && key_for<shop::level>);
static_assert(key_for<std::pair<int, std::string>> && key_for<std::tuple<shop::article>>);
static_assert(key_for<std::tuple<const int&, std::pair<bool, const char*>>>);
static_assert(key_for<std::optional<std::string>> && key_for<std::filesystem::path>);
static_assert(!key_for<std::tuple<>> && !key_for<std::pair<int, double>>);
static_assert(!key_for<std::tuple<int, char>> && !key_for<std::optional<shop::unhashed>>);

TEST(HashKey, EnumeratorsAndTruthValuesAreTheirNumbers) {
  const xxh3_hasher h(9);
  EXPECT_EQ(hash_key(h, shop::colour::green), h.integer(200));
  EXPECT_EQ(hash_key(h, shop::low), h.integer(all_ones));
  EXPECT_EQ(hash_key(h, std::byte{7}), h.integer(7));
  EXPECT_EQ(hash_key(h, false), h.integer(0));
  EXPECT_EQ(hash_key(h, true), h.integer(1));
}

TEST(HashKey, PairsAndTuplesAreTheirFields) {
  const xxh3_hasher h(1);
  EXPECT_EQ(hash_key(h, std::pair(6, 7)), hash_of_words(h, {h.integer(6), h.integer(7)}));
  EXPECT_EQ(hash_key(h, std::tuple(6, 7)), hash_key(h, std::pair(6, 7)));
  EXPECT_EQ(hash_key(h, std::tuple(6, "a", true)), hash_fields(h, 6, "a", true));
  EXPECT_EQ(hash_key(h, std::tuple(6)), hash_of_words(h, {h.integer(6)}));
  EXPECT_NE(hash_key(h, std::pair("ab", "c")), hash_key(h, std::pair("a", "bc")));
  EXPECT_NE(hash_key(h, std::pair("ab", "")), hash_key(h, std::pair("", "ab")));
  EXPECT_NE(hash_key(h, std::tuple(6)), hash_key(h, 6));
  EXPECT_NE(hash_key(h, std::tuple(1, std::pair(2, 3))), hash_key(h, std::tuple(1, 2, 3)));
  EXPECT_NE(hash_key(h, std::pair(std::pair(1, 2), 3)), hash_key(h, std::pair(1, std::pair(2, 3))));
}

TEST(HashKey, AnOptionalIsItsValueOrNone) {
  const xxh3_hasher h(1);
  using text = std::optional<std::string>;
  EXPECT_EQ(hash_key(h, text("a")), hash_key(h, std::pair(true, "a")));
  EXPECT_EQ(hash_key(h, text()), hash_key(h, std::tuple(false)));
  const std::set<std::uint64_t> different = {hash_key(h, text()),
                                             hash_key(h, text("")),
                                             hash_key(h, ""),
                                             hash_key(h, false),
                                             hash_key(h, text("a")),
                                             hash_key(h, "a"),
                                             hash_key(h, std::optional<text>(text()))};
  EXPECT_EQ(different.size(), 7U);
}

// Paths that std::filesystem calls equal are the same key, and a path is the same key as its text.
TEST(HashKey, APathIsItsText) {
  const xxh3_hasher h(1);
  using path = std::filesystem::path;
  EXPECT_EQ(hash_key(h, path("/usr/lib")), hash_key(h, "/usr/lib"));
  EXPECT_EQ(hash_key(h, path("")), hash_key(h, ""));
  const std::vector<path> paths = {"/usr/lib", "//usr///lib", "/usr/lib/", "/usr/lib//",
                                   "usr/lib",  "/usr/./lib",  "///",       "/"};
  for (const path& a : paths) {
    for (const path& b : paths) EXPECT_EQ(hash_key(h, a) == hash_key(h, b), a == b) << a << b;
  }
}

// The numbers themselves, so that no two mistakes above make up for each other.
TEST(HashKey, OfComposedKeysIsFrozen) {
  const xxh3_hasher h(42);
  EXPECT_EQ(hash_key(h, true), 0xae9f8bb86e3ac431U);
  EXPECT_EQ(hash_key(h, shop::colour::green), 0x2059ef2cb0158a54U);
  EXPECT_EQ(hash_key(h, std::pair("ab", 7)), 0x365b8ff742c45157U);
  EXPECT_EQ(hash_key(h, std::tuple(1, "two", false)), 0x523f2ee2a670c7b0U);
  EXPECT_EQ(hash_key(h, std::optional<int>(5)), 0xa0494ce659edffadU);
  EXPECT_EQ(hash_key(h, std::optional<int>()), 0x23a05a4ef635f9e6U);
  EXPECT_EQ(hash_key(h, std::filesystem::path("/etc//hosts")), 0x3c30ad2c86c3d443U);
}

// ---- promises ---------------------------------------------------------------------------------

TEST(HashKey, NeverThrows) {
  const xxh3_hasher h;
  static_assert(noexcept(hash_key(h, std::string_view())));
  static_assert(noexcept(hash_key(h, 1)));
  static_assert(noexcept(hash_fields(h, 1, 2)));
  static_assert(noexcept(h.bytes(nullptr, 0)));
  static_assert(noexcept(xxh3_hasher(1)));
}

TEST(Xxh3Hasher, SeedsChooseDifferentFunctions) {
  std::set<std::uint64_t> of_bytes;
  std::set<std::uint64_t> of_integers;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    of_bytes.insert(hash_key(xxh3_hasher(seed), "apples"));
    of_integers.insert(hash_key(xxh3_hasher(seed), 1));
  }
  EXPECT_EQ(of_bytes.size(), 1000U);
  EXPECT_EQ(of_integers.size(), 1000U);
}

// The fold is no bijection, but a random function would let two of a million integers meet with
// probability 3e-8 only.
TEST(Mix64, DoesNotLoseIntegers) {
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t key = 0; key < 1'000'000; ++key) hashes.push_back(mix64(key, splitmix64(0)));
  std::sort(hashes.begin(), hashes.end());
  EXPECT_EQ(std::adjacent_find(hashes.begin(), hashes.end()), hashes.end());
}

}  // namespace
}  // namespace bloomery
