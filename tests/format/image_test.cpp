// The bytes of the format: written as docs/format.md says, and refused when they say anything else.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "format/files.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

template <class Filter>
class every_image : public testing::Test {};
TYPED_TEST_SUITE(every_image, filter_types, );

// ---- what is written --------------------------------------------------------------------------

// The table of docs/format.md, once more.
template <class Filter>
byte_vector image_by_the_book(const Filter& f, const hash_spec& hash) {
  const bool blocked = Filter::kind == filter_kind::blocked;
  const std::uint64_t payload = (f.shape().bits + 63) / 64 * 8;
  byte_vector bytes(256 + payload + 8);
  std::memcpy(bytes.data(), "BLOOMERY", 8);
  put(bytes, 8, 2, 1);
  put(bytes, 10, 2, 256);
  put(bytes, 12, 2, Filter::kind == filter_kind::classic ? 1 : blocked ? 3 : 2);
  put(bytes, 14, 2, hash.id == hash_id::md5 ? 4 : 1);
  put(bytes, 16, 2, hash.id == hash_id::md5 ? 2 : 1);
  put(bytes, 20, 4, f.shape().probes);
  put(bytes, 24, 8, f.shape().bits);
  put(bytes, 32, 4, blocked ? 512 : 0);
  put(bytes, 36, 4, 1'048'576);
  put(bytes, 40, 8, hash.seed);
  put(bytes, 48, 8, hash.key_id);
  put(bytes, 56, 8, f.keys());
  put(bytes, 64, 8, f.planned().keys);
  put(bytes, 72, 8, std::bit_cast<std::uint64_t>(f.planned().fpr_target));
  put(bytes, 80, 8, 256);
  put(bytes, 88, 8, payload);
  put(bytes, 96, 8, 256 + payload);
  put(bytes, 104, 8, 256 + payload + 8);
  for (std::uint64_t p = 0; p < f.shape().bits; ++p) {
    if (!detail::test_bit(f.words().data(), p)) continue;
    bytes[256 + p / 8] |= static_cast<std::byte>(1U << (p % 8));
  }
  seal(bytes);
  return bytes;
}

TYPED_TEST(every_image, has_the_bytes_of_the_specification) {
  const auto f = small_filter<TypeParam>();
  EXPECT_EQ(image_of(f, spec_for<TypeParam>()), image_by_the_book(f, spec_for<TypeParam>()));
}

TYPED_TEST(every_image, is_what_save_writes) {
  const temporary_directory folder;
  save(small_filter<TypeParam>(), folder / "f", spec_for<TypeParam>());
  EXPECT_EQ(read_bytes(folder / "f"), small_image<TypeParam>());
}

TYPED_TEST(every_image, does_not_depend_on_the_order_of_the_keys) {
  auto hashes = sample_hashes<typename TypeParam::hash_type>(100);
  std::reverse(hashes.begin(), hashes.end());
  TypeParam f(small_filter<TypeParam>().planned());
  for (const auto& hash : hashes) f.add(hash);
  EXPECT_EQ(image_of(f, spec_for<TypeParam>()), small_image<TypeParam>());
}

// ---- what is read -----------------------------------------------------------------------------

TYPED_TEST(every_image, is_read_as_it_was_written) {
  const auto f = small_filter<TypeParam>();
  const byte_vector bytes = small_image<TypeParam>();
  const image_view image = image_view::parse(bytes);
  EXPECT_EQ(image.header().planned.shape, f.shape());
  EXPECT_EQ(image.header().planned.keys, 100U);
  EXPECT_EQ(image.header().planned.fpr_target, 0.125);
  EXPECT_EQ(image.header().hash, spec_for<TypeParam>());
  EXPECT_EQ(image.header().keys, 100U);
  EXPECT_EQ(std::vector(image.words().begin(), image.words().end()), words_of(f));
  EXPECT_EQ(image.payload().data(), bytes.data() + 256);
  EXPECT_NO_THROW(image.verify());
}

TYPED_TEST(every_image, may_be_empty_or_full) {
  TypeParam f(small_filter<TypeParam>().planned());
  EXPECT_NO_THROW(image_view::parse(image_of(f, spec_for<TypeParam>())));
  for (std::uint64_t i = 0; i < f.shape().bits; ++i) {
    detail::set_bit(f.mutable_words().data(), i);
  }
  EXPECT_NO_THROW(image_view::parse(image_of(f, spec_for<TypeParam>())));
}

TYPED_TEST(every_image, is_read_at_any_address_but_viewed_at_aligned_ones) {
  const byte_vector image = small_image<TypeParam>();
  for (std::size_t shift = 0; shift < 8; ++shift) {
    byte_vector moved(shift);
    moved.insert(moved.end(), image.begin(), image.end());
    const image_view view = image_view::parse(std::span(moved).subspan(shift));
    EXPECT_NO_THROW(view.verify());
    if (shift == 0) {
      EXPECT_NO_THROW((void)view.words());
    } else {
      EXPECT_TRUE(throws(errc::bad_argument, "aligned", [&] { (void)view.words(); }));
    }
  }
}

TYPED_TEST(every_image, is_refused_at_any_other_length) {
  byte_vector image = small_image<TypeParam>();
  for (std::size_t length = 0; length < image.size(); ++length) {
    // A copy of exactly this length, so that a sanitizer sees what reads beyond it.
    const byte_vector cut(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(length));
    ASSERT_TRUE(throws(length < 8 ? errc::not_bloomery : errc::corrupt, "", [&] {
      image_view::parse(cut);
    })) << length;
  }
  image.push_back(std::byte{0});
  EXPECT_TRUE(throws(errc::corrupt, std::to_string(image.size()) + " bytes, but its header says",
                     [&] { image_view::parse(image); }));
}

TYPED_TEST(every_image, is_refused_with_any_bit_flipped) {
  byte_vector image = small_image<TypeParam>();
  for (std::size_t i = 0; i < image.size(); ++i) {
    const errc expected = i < 8 ? errc::not_bloomery : i < 10 ? errc::unsupported : errc::corrupt;
    for (unsigned mask = 1; mask <= 256; mask *= 2) {
      const auto change = static_cast<std::byte>(mask == 256 ? 255 : mask);
      image[i] ^= change;
      ASSERT_TRUE(throws(expected, "", [&] { image_view::parse(image); })) << i;
      image[i] ^= change;
    }
  }
  EXPECT_NO_THROW(image_view::parse(image));
}

// ---- forged headers: wrong, but with right checksums ------------------------------------------

struct forgery {
  std::string what;
  std::function<void(byte_vector&)> change;
  errc code;
  std::string text;
};

auto set(std::size_t offset, std::size_t size, std::uint64_t value) {
  return [=](byte_vector& image) { put(image, offset, size, value); };
}

auto set_target(double target) { return set(72, 8, std::bit_cast<std::uint64_t>(target)); }

// Bits, and the four fields that follow from them.
auto set_extent(std::uint64_t bits) {
  return [=](byte_vector& image) {
    const std::uint64_t payload = (bits + 63) / 64 * 8;
    const std::uint64_t chunks = (payload + 1'048'575) / 1'048'576;
    put(image, 24, 8, bits);
    put(image, 88, 8, payload);
    put(image, 96, 8, 256 + payload);
    put(image, 104, 8, 256 + payload + 8 * chunks);
  };
}

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

const std::vector<forgery>& forgeries_of_any_kind() {
  static const std::string contradiction = "contradicts itself";
  static const std::vector<forgery> all = {
      {"version 0", set(8, 2, 0), errc::unsupported, "version 0"},
      {"version 2", set(8, 2, 2), errc::unsupported, "version 2"},
      {"version 65535", set(8, 2, 65535), errc::unsupported, "version 65535"},
      {"header bytes", set(10, 2, 248), errc::corrupt, contradiction},
      {"kind 0", set(12, 2, 0), errc::unsupported, "kind 0"},
      {"kind 999", set(12, 2, 999), errc::unsupported, "kind 999"},
      {"kind 65535", set(12, 2, 65535), errc::unsupported, "kind 65535"},
      {"hash 8", set(14, 2, 8), errc::unsupported, "hash 8"},
      {"hash 65535", set(14, 2, 65535), errc::unsupported, "hash 65535"},
      {"scheme 0", set(16, 2, 0), errc::unsupported, "scheme 0"},
      {"scheme 3", set(16, 2, 3), errc::unsupported, "scheme 3"},
      {"cells", set(18, 2, 1), errc::corrupt, "bits in a cell is 1"},
      {"no probes", set(20, 4, 0), errc::corrupt, "the number of probes is 0"},
      {"65 probes", set(20, 4, 65), errc::corrupt, "the number of probes is 65"},
      {"2^32 - 1 probes", set(20, 4, most), errc::corrupt, "the number of probes is 4294967295"},
      {"no bits", set_extent(0), errc::corrupt, "the number of bits is 0"},
      {"bits beyond the limit", set_extent((std::uint64_t{1} << 48U) + 512), errc::corrupt, "2^48"},
      {"bits that overflow", set_extent(most), errc::corrupt, "18446744073709551615"},
      {"bits that overflow in bytes", set_extent(most - 511), errc::corrupt, "2^48"},
      {"bits of 2^63", set_extent(std::uint64_t{1} << 63U), errc::corrupt, "2^48"},
      {"bits without payload", set(24, 8, 999'936), errc::corrupt, contradiction},
      {"a filter of 512 MiB", set_extent(std::uint64_t{1} << 32U), errc::corrupt,
       "bytes, but its header says 536875264"},
      {"a block of 256 bits", set(32, 4, 256), errc::corrupt, "256"},
      {"chunk bytes", set(36, 4, 1'048'575), errc::corrupt, contradiction},
      {"no chunk bytes", set(36, 4, 0), errc::corrupt, contradiction},
      {"target 1", set_target(1), errc::corrupt, "target"},
      {"negative target", set_target(-0.01), errc::corrupt, "target"},
      {"negative zero target", set_target(-0.0), errc::corrupt, "target"},
      {"infinite target", set_target(INFINITY), errc::corrupt, "target"},
      {"NaN target", set_target(NAN), errc::corrupt, "target"},
      {"payload offset", set(80, 8, 320), errc::corrupt, contradiction},
      {"payload offset 2^64 - 1", set(80, 8, most), errc::corrupt, contradiction},
      {"payload bytes", set(88, 8, 120), errc::corrupt, contradiction},
      {"payload bytes that overflow", set(88, 8, most - 7), errc::corrupt, contradiction},
      {"checksums offset", set(96, 8, 256), errc::corrupt, contradiction},
      {"file bytes", set(104, 8, 256), errc::corrupt, contradiction},
      {"file bytes 2^64 - 1", set(104, 8, most), errc::corrupt, contradiction},
      {"checksum of the checksums", set(112, 8, 1), errc::corrupt, "checksum of its checksums"},
      {"variant", set(120, 1, 1), errc::corrupt, "the variant is 1"},
      {"a shard behind the last", set(124, 2, 1), errc::corrupt, "below the number of shards"},
      {"an unknown form of keys", set(128, 2, 5), errc::unsupported, "keys of form 5"},
      {"the high byte of the form", set(129, 1, 1), errc::unsupported, "keys of form 256"},
      {"bases without k-mers", set(130, 2, 31), errc::corrupt, "k-mers have 31 bases"},
      {"k-mers without bases", set(128, 2, 4), errc::corrupt, "k-mers have 0 bases"},
      {"k-mers of 1025 bases", set(128, 4, 4 | (1025U << 16U)), errc::corrupt, "1025 bases"},
      {"reserved, first", set(132, 1, 1), errc::corrupt, contradiction},
      {"reserved, last", set(247, 1, 128), errc::corrupt, contradiction},
      {"key id without a secret", set(48, 8, 1), errc::corrupt, "takes no key"},
  };
  return all;
}

template <class Filter>
void expect_refused(const forgery& f) {
  byte_vector image = small_image<Filter>();
  f.change(image);
  seal_header(image);
  EXPECT_TRUE(throws(f.code, f.text, [&] { image_view::parse(image); })) << f.what;
}

TYPED_TEST(every_image, is_refused_when_forged) {
  for (const forgery& f : forgeries_of_any_kind()) expect_refused<TypeParam>(f);
}

TEST(image, refuses_what_a_kind_cannot_have) {
  const auto blocked = [](auto change, const char* text) {
    expect_refused<blocked_filter>({text, change, errc::corrupt, text});
  };
  blocked(set(20, 4, 17), "from 1 to 16 in a blocked filter");
  blocked(set_extent(1000), "a multiple of 512");
  blocked(set(32, 4, 0), "must be 512");
  blocked(set(12, 2, 1), "0 in a filter without blocks");
  blocked(set(124, 4, 3 | (2U << 16U)), "the number of a shard is 3");
  blocked(set(124, 4, 65535 | (65534U << 16U)), "the number of a shard is 65535");
  expect_refused<classic_filter>({"a shard", set(126, 2, 1), errc::corrupt,
                                  "only blocked and split-block filters have shards"});
  expect_refused<partitioned_filter>(
      {"7 probes", set(20, 4, 7), errc::corrupt, "a multiple of the number of probes"});
  expect_refused<classic_filter>({"blocks", set(32, 4, 512), errc::corrupt, "without blocks"});
}

TEST(image, refuses_the_largest_header_over_few_bytes) {
  const std::string text = "but its header says 35184640524544";
  const forgery f{"32 TiB", set_extent(std::uint64_t{1} << 48U), errc::corrupt, text};
  expect_refused<blocked_filter>(f);
  expect_refused<classic_filter>(f);
  expect_refused<partitioned_filter>(f);
}

TEST(image, refuses_hashes_that_do_not_fit) {
  const std::string together = "do not belong together";
  for (const std::uint64_t hash : {0U, 1U, 2U}) {
    expect_refused<digest_filter>({"64-bit hash", set(14, 2, hash), errc::corrupt, together});
  }
  for (const std::uint64_t hash : {3U, 4U}) {
    expect_refused<classic_filter>({"digest", set(14, 2, hash), errc::corrupt, together});
  }
  expect_refused<digest_filter>({"5 probes", set(20, 4, 5), errc::corrupt, "md5 has at most 4"});
  expect_refused<digest_filter>({"seed", set(40, 8, 1), errc::corrupt, "takes no seed"});
  expect_refused<blocked_filter>({"seed", set(14, 2, 2), errc::corrupt, "takes no seed"});
  expect_refused<partitioned_filter>(
      {"scheme", set(16, 2, 2), errc::corrupt, "positions of classic filters only"});
  expect_refused<digest_filter>(
      {"too long", set_extent((std::uint64_t{1} << 32U) + 1), errc::corrupt, "2^32"});
}

TEST(image, accepts_every_lawful_header) {
  byte_vector image = small_image<classic_filter>();
  const auto accepted = [&](std::size_t offset, std::size_t size, std::uint64_t value) {
    put(image, offset, size, value);
    seal_header(image);
    EXPECT_NO_THROW(image_view::parse(image)) << offset;
  };
  accepted(56, 8, most);
  accepted(64, 8, 0);
  accepted(72, 8, 0);
  accepted(72, 8, std::bit_cast<std::uint64_t>(std::nextafter(1.0, 0.0)));
  accepted(20, 4, 64);
  accepted(20, 4, 1);
  accepted(40, 8, most);
  accepted(14, 2, 0);
  put(image, 40, 8, 0);
  accepted(14, 2, 2);
  accepted(48, 8, most);
}

TYPED_TEST(every_image, is_refused_with_bits_behind_the_last) {
  byte_vector image = small_image<TypeParam>();
  const std::size_t last = image.size() - 9;
  image[last] |= std::byte{0x80};
  seal(image);
  if (TypeParam::kind == filter_kind::blocked) {
    EXPECT_NO_THROW(image_view::parse(image)) << "its last word is full";
  } else {
    EXPECT_TRUE(
        throws(errc::corrupt, "behind its last position", [&] { image_view::parse(image); }));
  }
}

TEST(image, is_no_arbitrary_file) {
  for (const std::string text : {"", "BLOOM", "bloomery", "#!/bin/sh\n"}) {
    EXPECT_TRUE(throws(errc::not_bloomery, "does not start with BLOOMERY",
                       [&] { image_view::parse(std::as_bytes(std::span(text))); }));
  }
}

// ---- the writer -------------------------------------------------------------------------------

TEST(image_writer, gets_the_same_bytes_piece_by_piece) {
  classic_filter f(plan{.shape = {.kind = filter_kind::classic, .probes = 3, .bits = 20'000'001}});
  f.add_batch(sample_hashes(10'000));
  image_writer whole({.planned = f.planned(), .hash = {}});
  whole.pass(f.words());
  image_writer pieces({.planned = f.planned(), .hash = {}});
  constexpr std::size_t chunk = image_chunk_bytes / 8;
  pieces.pass(f.words().first(chunk));
  pieces.pass(f.words().subspan(chunk));
  EXPECT_EQ(pieces.header(), whole.header());
  EXPECT_EQ(pieces.checksums().size(), 3 * 8U);
}

// What cannot be read back must not be written, and it is the caller who is wrong, not a file.
TEST(image_writer, refuses_what_no_file_can_hold) {
  const plan p = small_filter<classic_filter>().planned();
  const auto refused = [](const image_header& header, std::string_view text) {
    return throws(errc::bad_argument, text, [&] { image_writer{header}; });
  };
  EXPECT_TRUE(refused({.planned = {}, .hash = {}}, "the number of bits is 0"));
  EXPECT_TRUE(refused({.planned = p, .hash = {.id = hash_id::md5}}, "belong together"));
  EXPECT_TRUE(refused({.planned = p, .hash = {.id = hash_id::siphash, .seed = 1}}, "seed"));
  EXPECT_TRUE(refused({.planned = p, .hash = {.rule = key_rule::word}}, "rule"));
  EXPECT_TRUE(refused({.planned = p, .hash = {.key_id = 1}}, "key"));
  EXPECT_TRUE(refused({.planned = p, .hash = {.form = key_type::kmers}}, "0 bases"));
  EXPECT_TRUE(refused(
      {.planned = p, .hash = {.id = hash_id::xxh3, .rule = key_rule::word, .form = key_type::text}},
      "its rule says what its keys are"));
  plan no_rate = p;
  no_rate.fpr_target = 1.5;
  EXPECT_TRUE(refused({.planned = no_rate, .hash = {}}, "1.5"));
}

// ---- larger than one chunk --------------------------------------------------------------------

class large_image : public testing::Test {
 protected:
  large_image() {
    // Three chunks and a half.
    const plan p{.shape = {.kind = filter_kind::classic, .probes = 3, .bits = 7 * (4U << 20U) - 5}};
    classic_filter f(p);
    f.add_batch(sample_hashes(100'000));
    image_ = image_of(f, {.id = hash_id::xxh3});
  }
  void damage(std::size_t chunk, std::size_t byte = 12'345) {
    image_[256 + chunk * image_chunk_bytes + byte] ^= std::byte{1};
  }
  [[nodiscard]] testing::AssertionResult verify_throws(std::string_view text) const {
    const image_view view = image_view::parse(image_);
    for (const unsigned threads : {1U, 2U, 3U, 64U, 0U}) {
      auto result = throws(errc::corrupt, text, [&] { view.verify(threads); });
      if (!result) return result << " with " << threads << " threads";
    }
    return testing::AssertionSuccess();
  }

  byte_vector image_;
};

TEST_F(large_image, is_sound_with_any_number_of_threads) {
  const image_view view = image_view::parse(image_);
  for (const unsigned threads : {0U, 1U, 2U, 3U, 4U, 5U, 64U}) {
    EXPECT_NO_THROW(view.verify(threads)) << threads;
  }
}

TEST_F(large_image, opens_when_damaged_but_does_not_verify) {
  for (std::size_t chunk = 0; chunk < 4; ++chunk) {
    damage(chunk);
    EXPECT_TRUE(verify_throws("chunk " + std::to_string(chunk + 1) + " of 4"));
    damage(chunk);
  }
}

TEST_F(large_image, sees_damage_at_the_edges_of_chunks) {
  for (const auto& [chunk, byte] : {std::pair<std::size_t, std::size_t>{0, 0},
                                    {0, image_chunk_bytes - 1},
                                    {1, 0},
                                    {3, image_chunk_bytes / 2 - 9}}) {
    damage(chunk, byte);
    EXPECT_TRUE(verify_throws("chunk " + std::to_string(chunk + 1) + " of 4"));
    damage(chunk, byte);
  }
}

TEST_F(large_image, names_the_first_of_several_damaged_chunks) {
  for (const std::size_t chunk : {1U, 2U, 3U}) damage(chunk);
  EXPECT_TRUE(verify_throws("chunk 2 of 4"));
}

TEST_F(large_image, sees_damage_to_its_checksums) {
  for (std::size_t i = 0; i < 32; ++i) {
    image_[image_.size() - 32 + i] ^= std::byte{16};
    ASSERT_TRUE(verify_throws("checksum of its checksums")) << i;
    image_[image_.size() - 32 + i] ^= std::byte{16};
  }
}

TEST(image, is_checked_at_once_up_to_one_chunk) {
  const auto damaged = [](std::uint64_t bits) {
    classic_filter f(plan{.shape = {.kind = filter_kind::classic, .probes = 1, .bits = bits}});
    byte_vector image = image_of(f);
    image[256 + 1'000'000] = std::byte{1};
    return image;
  };
  constexpr std::uint64_t chunk = 8 * image_chunk_bytes;
  EXPECT_TRUE(throws(errc::corrupt, "chunk 1 of 1", [&] { image_view::parse(damaged(chunk)); }));
  EXPECT_NO_THROW(image_view::parse(damaged(chunk + 1)));
}

TEST_F(large_image, is_refused_at_once_with_a_damaged_header_or_length) {
  image_[60] ^= std::byte{1};
  EXPECT_TRUE(throws(errc::corrupt, "checksum of its header", [&] { image_view::parse(image_); }));
  image_[60] ^= std::byte{1};
  EXPECT_TRUE(throws(errc::corrupt, "but its header says",
                     [&] { image_view::parse(std::span(image_).first(image_.size() - 1)); }));
}

}  // namespace
