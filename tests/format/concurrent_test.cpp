// What the format does in several threads; the thread sanitizer runs these too.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/format/sliced_build.hpp"
#include "filter/threads.hpp"
#include "format/files.hpp"

namespace {

using namespace bloomery;
using namespace bloomery_test;

TEST(concurrent_format, spools_from_many_threads) {
  const temporary_directory folder;
  const auto hashes = sample_hashes(40'000);
  classic_filter expected(options{.keys = hashes.size()});
  expected.add_batch(hashes);

  hash_spool spool(folder.path(), 3, 50'000);
  in_threads([&](std::size_t t) {
    for (std::size_t from = t * 100; from < hashes.size(); from += thread_count * 100) {
      spool.append(std::span(hashes).subspan(from, 100));
    }
  });
  EXPECT_EQ(spool.keys(), hashes.size());
  atomic_file file(folder / "f");
  build_sliced(file, {.planned = expected.planned(), .hash = {}}, spool, 1);
  file.commit();
  EXPECT_EQ(read_bytes(folder / "f"), image_of(expected));
}

TEST(concurrent_format, adds_to_an_erased_filter_from_many_threads) {
  std::vector<std::string> keys;
  for (int i = 0; i < 20'000; ++i) keys.push_back("key " + std::to_string(i));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  for (const filter_kind kind : all_kinds()) {
    if (!abilities_of(kind).add_concurrently) continue;
    const plan p = sizing::make_plan({.kind = kind, .keys = keys.size(), .fpr = 0.01});
    any_filter sequential(p, erase(xxh3_hasher()));
    sequential.add(views);
    any_filter shared(p, erase(xxh3_hasher()));
    in_threads([&](std::size_t t) {
      for (std::size_t from = t * 500; from < keys.size(); from += thread_count * 500) {
        shared.add_concurrent(std::span(views).subspan(from, 500));
      }
    });
    EXPECT_EQ(words_of(shared), words_of(sequential));
    EXPECT_EQ(shared.keys(), keys.size());
  }
}

TEST(concurrent_format, names_the_first_damaged_chunk_whoever_finds_it) {
  classic_filter f(plan{.shape = {.kind = filter_kind::classic, .probes = 1, .bits = 60U << 20U}});
  byte_vector image = image_of(f);
  EXPECT_NO_THROW(image_view::parse(image).verify(thread_count));
  for (std::size_t chunk = 3; chunk < 8; ++chunk) {
    image[256 + chunk * image_chunk_bytes] = std::byte{1};
  }
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(throws(errc::corrupt, "chunk 4 of 8",
                       [&] { image_view::parse(image).verify(thread_count); }));
  }
}

TEST(concurrent_format, keeps_updates_of_several_threads_under_the_lock) {
  const temporary_directory folder;
  save(filter({.keys = 1000, .fpr = 1e-6}), folder / "f");
  in_threads([&](std::size_t t) {
    for (std::size_t i = 0; i < 10; ++i) {
      const file_lock lock(folder / "f");
      auto f = load<filter>(folder / "f");
      f.add(t * 10 + i);
      save(f, folder / "f");
    }
  });
  const auto f = map<filter>(folder / "f");
  EXPECT_EQ(f->keys(), thread_count * 10);
  EXPECT_EQ(f->contains_count(numbers(thread_count * 10)), f->keys());
}

}  // namespace
