#include "mutation/seeds.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>

#include "bloomery/bloomery.hpp"
#include "bloomery/format/compact.hpp"
#include "bloomery/format/string_map.hpp"
#include "bloomery/search/text_index_builder.hpp"
#include "bloomery/store/differential.hpp"
#include "redis/dump.hpp"

namespace bloomery_fuzz {

namespace {

using namespace bloomery;
namespace fs = std::filesystem;

byte_vector read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  in.exceptions(std::ios::badbit);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::uint64_t> hashes_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = splitmix64(first + i);
  return made;
}

byte_vector image_of(const any_filter& f) { return detail::make_image(f.header(), f->parts()); }

// A filter in every other form that it can have.
void add_forms(std::vector<seed_file>& seeds, const std::string& name, const byte_vector& plain) {
  const image_view view = image_view::parse(plain);
  const filter_version now{.header = view.header(), .words = view.words()};
  seeds.push_back({.name = name + ".packed", .bytes = pack(now.header, now.words)});
  const any_filter f = any_filter::copy_of(now);
  if (f.hasher() != nullptr && !makes_digests(f.hash().id)) {  // the module has no others
    const bloomery_redis::image_source source(f, {100, 2});
    seeds.push_back({.name = name + ".redis",
                     .form = file_form::redis_value,
                     .bytes = source.read(0, static_cast<std::size_t>(source.bytes()))});
  }
  any_filter before = f.clone();
  try {
    before->clear();
  } catch (const error&) {
    return;  // then there is no older version
  }
  byte_vector old = image_of(before);
  const image_view from = image_view::parse(old);
  byte_vector delta = diff({.header = from.header(), .words = from.words()}, now);
  seeds.push_back({.name = name + ".delta", .bytes = std::move(delta), .old = std::move(old)});
}

void add_index(std::vector<seed_file>& seeds, const fs::path& folder, std::uint32_t files,
               std::size_t words) {
  const fs::path path = folder / "index";
  text_index_builder builder(text_index_options{.fpr = 0.01}, folder);
  for (std::uint32_t i = 0; i < files; ++i) {
    const std::uint32_t file = builder.add_file("folder/document " + std::to_string(i));
    builder.add(file, 0, hashes_from(i, words + i));
    if (i % 5 == 4) builder.drop(file);
  }
  builder.save(path);
  seeds.push_back({.name = "index-" + std::to_string(files), .bytes = read_file(path)});
}

void add_strings(std::vector<seed_file>& seeds, const fs::path& folder, std::size_t keys,
                 std::size_t bytes) {
  const fs::path path = folder / "strings";
  string_table table;
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < keys; ++i) {
    numbers.push_back(table.number_of("text " + std::to_string(i % 7) + std::string(bytes, 'x')));
  }
  string_map(xxh3_hasher().spec(), hashes_from(0, keys), numbers, table, {.value_bits = 5})
      .save(path);
  seeds.push_back({.name = "strings-" + std::to_string(bytes), .bytes = read_file(path)});
}

void add_compact(std::vector<seed_file>& seeds, filter_kind kind) {
  const std::string made = compact_builder({.kind = kind}).build(hashes_from(0, 200));
  const auto bytes = std::as_bytes(std::span(made));
  seeds.push_back({.name = "compact-" + std::string(kind_name(kind)),
                   .form = file_form::compact,
                   .bytes = {bytes.begin(), bytes.end()}});
}

void add_store(std::vector<seed_file>& seeds, const fs::path& folder) {
  const fs::path path = folder / "store";
  fs::remove_all(path);
  {
    differential_store store(path);
    for (int i = 0; i < 40; ++i) store.put("key " + std::to_string(i), std::string(300, 'v'));
    store.erase("key 3");
    store.sync();
    seeds.push_back({.name = "store-log",
                     .form = file_form::store_log,
                     .bytes = read_file(path / "changes.0")});
    store.merge();
  }
  seeds.push_back(
      {.name = "store-base", .form = file_form::store_base, .bytes = read_file(path / "base.1")});
}

// Parts of a file from 1 MiB on are checked when they are used, and not before.
void add_large(std::vector<seed_file>& seeds, const fs::path& folder) {
  any_filter f(sizing::make_plan({.kind = filter_kind::blocked, .keys = 900'000, .fpr = 0.01}),
               erase(xxh3_hasher()));
  f->add_hashes(hashes_from(0, 1000));
  seeds.push_back({.name = "blocked-large", .bytes = image_of(f)});
  add_index(seeds, folder, 200, 5000);
  add_strings(seeds, folder, 30, 200'000);
}

}  // namespace

std::vector<seed_file> make_seeds(const fs::path& golden, const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(golden)) {
    if (entry.path().extension() == ".bloom") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<seed_file> seeds;
  for (const fs::path& path : paths) {
    seeds.push_back({.name = path.stem().string(), .bytes = read_file(path)});
    add_forms(seeds, path.stem().string(), byte_vector(seeds.back().bytes));
  }
  add_index(seeds, folder, 6, 40);
  add_strings(seeds, folder, 60, 0);
  add_compact(seeds, filter_kind::blocked);
  add_compact(seeds, filter_kind::ribbon);
  add_store(seeds, folder);
  add_large(seeds, folder);
  return seeds;
}

}  // namespace bloomery_fuzz
