// Filters through streams and through bytes in memory: the bytes of a file and its checks.
#include "bloomery/format/stream.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <ios>
#include <sstream>
#include <streambuf>
#include <string>
#include <utility>

#include "bloomery/core/sizing.hpp"
#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/classic.hpp"
#include "bloomery/filter/counting.hpp"
#include "bloomery/filter/cuckoo.hpp"
#include "bloomery/filter/scalable.hpp"
#include "filter/samples.hpp"
#include "format/files.hpp"

namespace bloomery {
namespace {

using namespace bloomery_test;

template <class Filter>
keyed<Filter> sample(std::uint64_t keys = 3000, std::uint64_t seed = 7) {
  keyed<Filter> f({.keys = 1000, .fpr = 0.01, .seed = seed});
  for (std::uint64_t key = 0; key < keys; ++key) f.add(key);
  return f;
}

std::string text_of(const byte_vector& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class Load>
errc code_of(Load load) {
  try {
    load();
  } catch (const error& e) {
    return e.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

template <class Filter>
class every_stream : public testing::Test {};
using filters = testing::Types<blocked_filter, classic_filter, counting_filter, cuckoo_filter,
                               scalable_filter>;  // the last is in several parts
TYPED_TEST_SUITE(every_stream, filters, );

TYPED_TEST(every_stream, has_the_bytes_of_the_file) {
  const temporary_directory folder;
  const auto f = sample<TypeParam>();
  save(f, folder / "f");
  const byte_vector file = read_bytes(folder / "f");
  EXPECT_EQ(to_image(f), file);
  std::ostringstream out;
  save(f, out);
  EXPECT_EQ(out.str(), text_of(file));
}

TYPED_TEST(every_stream, comes_back_as_it_was_saved) {
  const auto f = sample<TypeParam>();
  const byte_vector image = to_image(f);
  auto from_memory = load<keyed<TypeParam>>(image);
  EXPECT_EQ(to_image(from_memory), image);
  from_memory.add("one more");
  EXPECT_TRUE(from_memory.contains("one more"));
  std::istringstream in(text_of(image));
  EXPECT_EQ(to_image(load<keyed<TypeParam>>(in)), image);
}

TEST(stream, holds_one_filter_after_the_other) {
  std::stringstream both;
  both << "title ";
  save(sample<blocked_filter>(100), both);
  save(sample<counting_filter>(200), both);
  both << "end";
  std::string word;
  both >> word;
  both.get();
  EXPECT_EQ(load<filter>(both).keys(), 100U);
  EXPECT_EQ(load<keyed<counting_filter>>(both).keys(), 200U);
  both >> word;
  EXPECT_EQ(word, "end");
}

// More than one chunk, and more than one piece that is read at a time.
TEST(stream, takes_large_filters) {
  filter f({.keys = 16'000'000, .fpr = 0.01});
  f.add("apples");
  std::stringstream stream;
  save(f, stream);
  EXPECT_GT(stream.view().size(), 17'000'000U);
  EXPECT_EQ(to_image(load<filter>(stream)), to_image(f));
}

TEST(image, may_lie_anywhere_in_memory) {
  const byte_vector image = to_image(sample<blocked_filter>());
  for (std::size_t offset = 1; offset < 8; ++offset) {
    byte_vector moved(offset);
    moved.insert(moved.end(), image.begin(), image.end());
    EXPECT_EQ(to_image(load<filter>(std::span(moved).subspan(offset))), image);
  }
}

TEST(image, is_checked_like_a_file) {
  const byte_vector image = to_image(sample<blocked_filter>());
  for (const std::size_t at :
       {std::size_t{20}, std::size_t{200}, std::size_t{300}, image.size() - 1}) {
    byte_vector damaged = image;
    damaged[at] ^= std::byte{1};
    EXPECT_EQ(code_of([&] { (void)load<filter>(damaged); }), errc::corrupt) << at;
    std::istringstream in(text_of(damaged));
    EXPECT_EQ(code_of([&] { (void)load<filter>(in); }), errc::corrupt) << at;
  }
  const byte_vector longer = [&] {
    byte_vector bytes = image;
    bytes.push_back(std::byte{0});
    return bytes;
  }();
  EXPECT_EQ(code_of([&] { (void)load<filter>(longer); }), errc::corrupt);
  EXPECT_EQ(code_of([&] { (void)load<keyed<classic_filter>>(image); }), errc::mismatch);
  EXPECT_EQ(code_of([&] { (void)load<filter>(image, xxh3_hasher(8)); }), errc::mismatch);
  EXPECT_EQ(to_image(load<filter>(image, xxh3_hasher(7))), image);
}

TEST(image, is_refused_at_every_length_but_its_own) {
  const byte_vector image = to_image(sample<blocked_filter>(10));
  for (std::size_t size = 0; size < image.size(); ++size) {
    const byte_vector cut(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(size));
    const errc expected = size < 8 ? errc::not_bloomery : errc::corrupt;
    EXPECT_EQ(code_of([&] { (void)load<filter>(cut); }), expected) << size;
    std::istringstream in(text_of(cut));
    EXPECT_EQ(code_of([&] { (void)load<filter>(in); }), expected) << size;
  }
}

// A header that tells of 32 TiB is no reason to take them.
TEST(stream, takes_memory_for_what_is_there) {
  const image_writer writer(
      {.planned = {.shape = {.kind = filter_kind::classic, .probes = 3, .bits = max_bits}}});
  const auto header = writer.header();
  std::istringstream in(std::string(reinterpret_cast<const char*>(header.data()), header.size()));
  EXPECT_EQ(code_of([&] { (void)load<keyed<classic_filter>>(in); }), errc::corrupt);
}

// A device that takes or gives a few bytes and then fails.
class broken_buffer : public std::streambuf {
 public:
  explicit broken_buffer(std::string text) : text_(std::move(text)) {
    setg(text_.data(), text_.data(), text_.data() + text_.size());
  }

 private:
  int_type overflow(int_type /*c*/) override { return traits_type::eof(); }
  int_type underflow() override { throw std::ios_base::failure("broken"); }

  std::string text_;
};

TEST(stream, says_when_it_fails) {
  const auto f = sample<blocked_filter>();
  broken_buffer buffer(text_of(to_image(f)).substr(0, 500));
  std::iostream stream(&buffer);
  EXPECT_EQ(code_of([&] { save(f, stream); }), errc::io);
  stream.clear();
  EXPECT_EQ(code_of([&] { (void)load<filter>(stream); }), errc::io);
}

}  // namespace
}  // namespace bloomery
