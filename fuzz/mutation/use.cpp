#include "mutation/use.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bloomery/bloomery.hpp"
#include "bloomery/format/compact.hpp"
#include "bloomery/format/string_map.hpp"
#include "bloomery/search/text_index.hpp"
#include "bloomery/search/text_index_builder.hpp"
#include "bloomery/store/differential.hpp"
#include "redis/dump.hpp"

namespace bloomery_fuzz {

namespace {

using namespace bloomery;
namespace fs = std::filesystem;

// No filter becomes larger here: what a file makes a program hold has a test of its own.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 26U;

void require(bool condition, const char* what) {
  if (!condition) throw finding(what);
}

const std::vector<std::string_view>& some_keys() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> made;
    for (int i = 0; i < 130; ++i) made.push_back("key " + std::to_string(i));
    return made;
  }();
  static const std::vector<std::string_view> views(texts.begin(), texts.end());
  return views;
}

const std::vector<std::uint64_t>& some_hashes() {
  static const std::vector<std::uint64_t> hashes = [] {
    std::vector<std::uint64_t> made = {0, 1, UINT64_MAX};
    for (std::uint64_t i = 0; i < 97; ++i) made.push_back(splitmix64(i));
    return made;
  }();
  return hashes;
}

// An operation that a kind lacks, or that has no room, is refused; damage is none of the reasons.
template <class Work>
bool may_refuse(const char* what, Work work) {
  try {
    work();
    return true;
  } catch (const error& e) {
    if (e.code() == errc::corrupt || e.code() == errc::not_bloomery) {
      throw finding(std::string(what) + ": " + e.what());
    }
    return false;
  }
}

// Whatever a sound filter has become, it is written, and what was written is sound.
void require_saved(const any_filter& f, const char* after) {
  try {
    const std::vector<std::byte> image = detail::make_image(f.header(), f->parts());
    const image_view view = image_view::parse(image);
    view.verify(1);
    any_filter::copy_of({.header = view.header(), .words = view.words()})->check();
  } catch (const error& e) {
    throw finding(std::string("what was saved after ") + after + " cannot be opened: " + e.what());
  }
}

void ask(const any_filter& f) {
  static_cast<void>(f->facts());
  require(f->fill() >= 0, "the fill is no share");
  require(f.fpr() >= 0 && f.fpr() <= 1.0000001, "the fpr is no rate");
  static_cast<void>(f->keys_estimated());
  may_refuse("planning", [&] { static_cast<void>(f->compact_plan()); });
  static_cast<void>(f->cells());
  static_cast<void>(f->room());
  static_cast<void>(f->growth_bytes());
  static_cast<void>(f->most_count());
  if (f.hasher() == nullptr) return;
  const auto& keys = some_keys();
  std::vector<std::uint64_t> bitmap((keys.size() + 63) / 64);
  f.contains_bits(keys, bitmap);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool one = f.contains(keys[i]);
    require(one == (((bitmap[i / 64] >> (i % 64)) & 1U) != 0),
            "one key and many are answered otherwise");
  }
  static_cast<void>(f->explain(keys[0], *f.hasher()));
  std::vector<std::uint64_t> numbers(keys.size());
  if (f.can().count) f.count(keys, numbers);
  if (f.can().value) f.value(keys, numbers, bitmap);
}

void change(any_filter f) {
  const auto& keys = some_keys();
  const bool hashed = f.hasher() != nullptr;
  f->advance(UINT64_C(1'700'000'000));
  require_saved(f, "nothing");
  if (f.can().add && hashed && f->growth_bytes() < most_bytes &&
      may_refuse("adding", [&] { f.add(keys); })) {
    if (f.shape().shard.whole() && !f.can().forget && !f.can().lists_top) {
      for (const auto key : keys) require(f.contains(key), "a key that was added is not there");
    }
    require_saved(f, "adding");
  }
  if (f.can().add && f->growth_bytes() < most_bytes) {
    may_refuse("adding hashes", [&] { f->add_hashes(some_hashes()); });
    require_saved(f, "adding hashes");
  }
  if (f.can().remove && hashed) {
    may_refuse("removing", [&] { f.remove(keys); });
    require_saved(f, "removing");
  }
  if (f.can().value) {
    const std::vector<std::uint64_t> values(some_hashes().size(), 1);
    may_refuse("setting values", [&] { f->update_values(some_hashes(), values); });
    require_saved(f, "setting values");
  }
  if (f->growth_bytes() < most_bytes) {
    const any_filter twin = f.clone();
    may_refuse("merging", [&] { f.merge(twin); });
    require_saved(f, "merging");
  }
  may_refuse("clearing", [&] { f->clear(); });
  require_saved(f, "clearing");
}

void convert(const any_filter& f, const fs::path& folder) {
  const filter_version v = f.version();
  may_refuse("packing", [&] {
    const unpacked_filter again = unpack(pack(v.header, v.words));
    require(std::ranges::equal(again.words.words(), v.words), "packing changes it");
  });
  may_refuse("a delta", [&] {
    const unpacked_filter again = patch(v, diff(v, v));
    require(std::ranges::equal(again.words.words(), v.words), "a delta of nothing changes it");
  });
  for (const std::uint64_t by : {2U, 3U}) {
    may_refuse("folding", [&] {
      const unpacked_filter folded = fold(v, by);
      any_filter::copy_of({.header = folded.header, .words = folded.words.words()})->check();
    });
  }
  for (const set_operation operation : {set_operation::merge, set_operation::intersect}) {
    may_refuse("combining", [&] {
      const fs::path path = folder / "combined";
      atomic_file file(path);
      combine(file, std::vector<filter_version>{v, v}, operation);
      file.commit();
      any_filter::open(path).verify(1);
    });
  }
}

verdict use_filter(const fs::path& path, const fs::path& folder) {
  std::optional<any_filter> f;
  try {
    f.emplace(any_filter::open(path, nullptr, {.verify = false}));
  } catch (const error&) {
    return verdict::refused;
  }
  ask(*f);  // which is done to files that are not verified
  try {
    f->verify(1);
  } catch (const error& e) {
    return verdict::unsound;
  }
  try {
    any_filter owned = any_filter::load(path);
    const fs::path saved = folder / "saved";
    owned.save(saved);
    any_filter::load(saved).verify(1);
    convert(*f, folder);
    change(std::move(owned));
  } catch (const error& e) {
    throw finding(std::string("a sound filter: ") + e.what());
  }
  return verdict::accepted;
}

verdict use_delta(const byte_vector& bytes, const byte_vector& old) {
  try {
    const image_view from = image_view::parse(old);
    const unpacked_filter now =
        patch({.header = from.header(), .words = from.words()}, bytes, {.memory = most_bytes});
    any_filter::copy_of({.header = now.header, .words = now.words.words()})->check();
  } catch (const error&) {
    return verdict::refused;
  }
  return verdict::accepted;
}

verdict use_index(const byte_vector& bytes, const fs::path& folder) {
  const auto ask_index = [](const text_index_view& index) {
    for (const double share : {1.0, 0.5}) {
      for (const std::uint32_t number : index.find(some_hashes(), share)) {
        require(number < index.documents(), "a document that is not there is found");
        static_cast<void>(index.document(number));
      }
    }
    require(index.fpr() >= 0, "the fpr is no rate");
    static_cast<void>(index.expected_false(3));
  };
  std::optional<text_index_view> index;
  try {
    index.emplace(std::span(bytes));
    ask_index(*index);
  } catch (const error&) {
    return verdict::refused;  // a large index is checked where it is used
  }
  try {
    index->verify();
  } catch (const error&) {
    return verdict::unsound;
  }
  const fs::path path = folder / "index";
  may_refuse("adding to an index", [&] {
    if (index->options().fpr < 1e-3) return;
    text_index_builder builder(*index, folder);
    const std::vector<std::uint64_t> hashes = {1, 2, 3};
    builder.add(builder.add_file("new"), 0, hashes);
    builder.save(path);
    const text_index sum(path);
    sum.verify();
    ask_index(*sum);
    require(sum->documents() == index->documents() + 1, "a document is lost");
    const auto found = sum->find(hashes);
    require(!found.empty() && found.back() == index->documents(), "the new document is not found");
  });
  return verdict::accepted;
}

verdict use_strings(const byte_vector& bytes, const fs::path& folder) {
  std::optional<string_map_view> map;
  try {
    map.emplace(std::span(bytes));
    for (const std::uint64_t hash : some_hashes()) static_cast<void>(map->value(hash));
  } catch (const error&) {
    return verdict::refused;
  }
  try {
    map->verify(1);
  } catch (const error&) {
    return verdict::unsound;
  }
  const fs::path path = folder / "strings";
  may_refuse("changing a map", [&] {
    string_map owned(*map);
    for (const std::uint64_t hash : some_hashes()) owned.update(hash, "another");
    owned.save(path);
    string_map_file again(path);
    again.verify(1);
    for (const std::uint64_t hash : some_hashes()) {
      require(owned.value(hash) == again->value(hash), "a saved map has other values");
    }
  });
  return verdict::accepted;
}

verdict use_redis(const byte_vector& bytes) {
  const auto read = [](std::span<const std::byte> all) {
    bloomery_redis::image_sink sink(bloomery_redis::image_sink::content::dump, most_bytes);
    for (std::size_t at = 0; at < all.size(); at += 400) {
      sink.append(all.subspan(at, std::min<std::size_t>(400, all.size() - at)));
    }
    return sink.finish();
  };
  std::optional<bloomery_redis::dumped> value;
  try {
    value.emplace(read(bytes));
  } catch (const error&) {
    return verdict::refused;
  }
  ask(value->filter);
  try {
    const bloomery_redis::image_source source(value->filter, value->facts);
    const byte_vector again = source.read(0, static_cast<std::size_t>(source.bytes()));
    require(read(again).facts == value->facts, "a value is written otherwise");
    change(std::move(value->filter));
  } catch (const error& e) {
    throw finding(std::string("a sound value: ") + e.what());
  }
  return verdict::accepted;
}

verdict use_compact(const byte_vector& bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const std::uint64_t hash : some_hashes()) static_cast<void>(compact_contains(text, hash));
  return compact_view::open(text) ? verdict::accepted : verdict::refused;
}

// `path` is the log or the base of a store that is there already.
verdict use_store(const fs::path& store) {
  try {
    differential_store s(store);
    for (const auto key : some_keys()) static_cast<void>(s.find(key));
    s.for_each([](std::string_view, std::string_view) {});
  } catch (const error&) {
    return verdict::refused;
  }
  may_refuse("changing a store", [&] {
    {
      differential_store s(store);
      s.put("key 7", "another");
      s.erase("key 8");
      s.sync();
      s.merge();
    }
    differential_store s(store);
    require(s.find("key 7") == "another", "a record that was put is not there");
    require(!s.find("key 8"), "a record that was erased is there");
  });
  return verdict::accepted;
}

void write_file(const fs::path& path, const byte_vector& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.exceptions(std::ios::failbit | std::ios::badbit);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

verdict use(const byte_vector& bytes, file_form form, const byte_vector& old,
            const fs::path& folder) {
  switch (form) {
    case file_form::redis_value: return use_redis(bytes);
    case file_form::compact: return use_compact(bytes);
    case file_form::store_log:
    case file_form::store_base: {
      const fs::path store = folder / "store";
      fs::remove_all(store);
      fs::create_directories(store);
      const bool log = form == file_form::store_log;
      write_file(store / (log ? "changes.0" : "base.1"), bytes);
      return use_store(store);
    }
    case file_form::file: break;
  }
  if (is_delta(bytes)) return use_delta(bytes, old);
  if (is_text_index(std::span(bytes))) return use_index(bytes, folder);
  if (is_string_map(bytes)) return use_strings(bytes, folder);
  const fs::path path = folder / "file";
  write_file(path, bytes);
  return use_filter(path, folder);
}

}  // namespace bloomery_fuzz
