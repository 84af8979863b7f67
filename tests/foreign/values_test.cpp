// Values of other modules, from files that the real RedisBloom wrote (redisbloom/README.md).
#include "bloomery/foreign/values.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/foreign/filters.hpp"
#include "bloomery/foreign/rdb_file.hpp"
#include "bloomery/sketch/top_k.hpp"

namespace {

using namespace bloomery;
namespace other = bloomery::foreign;

std::string content_of(const std::string& name) {
  std::ifstream in(std::string(BLOOMERY_SOURCE_DIR "/tests/foreign/redisbloom/") + name,
                   std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  EXPECT_FALSE(all.str().empty()) << name;
  return all.str();
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

using value_map = std::map<std::string, std::unique_ptr<other::value>>;

value_map values_in(std::span<const std::byte> bytes) {
  value_map all;
  other::rdb_file file(bytes);
  while (auto key = file.next()) {
    if (key->known == nullptr) continue;  // in damaged files only
    all[key->name] = other::read(key->known->from, key->version, file.fields());
  }
  EXPECT_EQ(1U, file.other_keys());
  return all;
}

const value_map& known_values() {
  static const std::string bytes = content_of("dump.rdb");
  static const value_map all = values_in(bytes_of(bytes));
  return all;
}

template <class Value>
const Value& get(const std::string& name) {
  return dynamic_cast<const Value&>(*known_values().at(name));
}

// The text between the quotes, or the numbers of the list, that answers.json has for a key.
std::string answer(const std::string& name) {
  static const std::string all = content_of("answers.json");
  const std::size_t key = all.find('"' + name + "\":");
  EXPECT_NE(std::string::npos, key) << name;
  const std::size_t begin = key + name.size() + 3;
  const char end = all[all.find_first_of("[\"", begin)] == '[' ? ']' : '"';
  const std::size_t first = all.find_first_of("[\"", begin) + 1;
  return all.substr(first, all.find(end, first) - first);
}

std::vector<std::uint64_t> numbers(const std::string& name) {
  std::vector<std::uint64_t> list;
  std::string text = answer(name);
  std::erase(text, '"');
  std::stringstream in(text);
  for (std::string number; std::getline(in, number, ',');) list.push_back(std::stoull(number));
  return list;
}

std::string item(std::size_t i) { return "item-" + std::to_string(i + 1); }

template <class Value>
void same_answers(const std::string& name) {
  const std::string expected = answer(name);
  const auto& v = get<Value>(name);
  std::string got;
  for (std::size_t i = 0; i < expected.size(); ++i) got += v.contains(item(i)) ? '1' : '0';
  EXPECT_EQ(expected, got) << name;
}

template <class Value>
void same_counts(const std::string& name, const std::string& list) {
  const auto expected = numbers(list);
  ASSERT_LT(100U, expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(expected[i], get<Value>(name).count(item(i))) << name << ' ' << i;
  }
}

TEST(foreign_values, answer_as_the_module_that_wrote_them) {
  EXPECT_EQ(10U, known_values().size());
  for (const char* name : {"bf:fixed", "bf:growing", "bf:tiny", "bf:default", "bf:empty"}) {
    same_answers<other::bloom_layers>(name);
  }
  for (const char* name : {"cf:plain", "cf:buckets"}) {
    same_answers<other::cuckoo_layers>(name);
    same_counts<other::cuckoo_layers>(name, std::string(name) + " count");
  }
  for (const char* name : {"cms:dim", "cms:prob"}) same_counts<other::counter_rows>(name, name);
}

TEST(foreign_values, know_what_they_are) {
  const auto& growing = get<other::bloom_layers>("bf:growing");
  EXPECT_EQ(2982U, growing.items());
  EXPECT_EQ(3100U, growing.capacity());
  EXPECT_EQ(5U, growing.layers().size());
  EXPECT_EQ(2U, growing.expansion());
  EXPECT_DOUBLE_EQ(0.01, growing.error());
  EXPECT_EQ(0U, get<other::bloom_layers>("bf:fixed").expansion());
  EXPECT_DOUBLE_EQ(0.001, get<other::bloom_layers>("bf:fixed").error());
  const auto& plain = get<other::cuckoo_layers>("cf:plain");
  EXPECT_EQ(1250U, plain.items());
  EXPECT_EQ(30U, plain.deletes());
  EXPECT_EQ(3U, plain.layers().size());
  EXPECT_EQ(500500U, get<other::counter_rows>("cms:dim").total());
  const auto& top = get<other::top_list>("top:k");
  ASSERT_EQ(10U, top.entries().size());
  EXPECT_EQ("item-160", top.entries()[0].item);
  EXPECT_EQ(25600U, top.entries()[0].count);
}

TEST(foreign_values, are_written_as_they_were_read) {
  for (const auto& [name, v] : known_values()) {
    const auto again = other::decode(v->stream());
    EXPECT_TRUE(std::ranges::equal(v->stream(), again->stream())) << name;
    other::field_stream fields;
    v->write_to(fields);
    // The stream has its origin in front.
    EXPECT_TRUE(std::ranges::equal(v->stream().subspan(9), fields.bytes())) << name;
  }
}

TEST(foreign_values, come_in_pieces) {
  const std::vector<std::pair<std::string, std::vector<int>>> all = {
      {"bf:growing", {1, 145, 457, 1153, 2689, 6049}}, {"cf:plain", {1, 1025, 2049, 3073}}};
  for (const auto& [name, ends] : all) {
    std::string file = name;
    file[2] = '-';
    const other::value& whole = *known_values().at(name);
    std::optional<other::pieces> pieces;
    for (const int end : ends) {
      const std::string chunk = content_of(file + ".chunk." + std::to_string(end));
      if (!pieces) {
        EXPECT_THROW(other::pieces(whole.from(), bytes_of(chunk), 1000), error);
        EXPECT_THROW(other::pieces(whole.from(), bytes_of(chunk).subspan(1), 1 << 20), error);
        pieces.emplace(whole.from(), bytes_of(chunk), 1 << 20);
      } else {
        EXPECT_FALSE(pieces->complete());
        pieces->append(bytes_of(chunk));
      }
    }
    ASSERT_TRUE(pieces->complete());
    EXPECT_THROW(pieces->append(bytes_of(name)), error);
    EXPECT_TRUE(std::ranges::equal(whole.stream(), pieces->finish()->stream())) << name;
  }
}

TEST(foreign_values, of_cuckoo_filters_lose_what_is_removed) {
  const auto copy = get<other::cuckoo_layers>("cf:plain").clone();
  auto& filter = dynamic_cast<other::cuckoo_layers&>(*copy);
  const std::uint64_t before = filter.count("item-2");
  ASSERT_LT(0U, before);
  EXPECT_TRUE(filter.remove("item-2"));
  EXPECT_EQ(before - 1, filter.count("item-2"));
  EXPECT_EQ(1249U, filter.items());
  EXPECT_EQ(31U, filter.deletes());
  const auto again = other::decode(filter.stream());
  EXPECT_EQ(1249U, dynamic_cast<const other::cuckoo_layers&>(*again).items());
  EXPECT_EQ(before, get<other::cuckoo_layers>("cf:plain").count("item-2"));
  while (filter.remove("item-2")) {
  }
  EXPECT_FALSE(filter.contains("item-2"));
}

TEST(foreign_values, of_counters_add_up) {
  const auto& counts = get<other::counter_rows>("cms:dim");
  const std::vector<other::counter_rows::term> terms = {{&counts, 3}, {nullptr, 7}, {&counts, -1}};
  const auto sum = other::counter_rows::sum(terms);
  ASSERT_NE(nullptr, sum);
  EXPECT_EQ(2 * counts.count("item-77"), sum->count("item-77"));
  EXPECT_EQ(2 * counts.total(), sum->total());
  const std::vector<other::counter_rows::term> negative = {{&counts, -1}};
  EXPECT_EQ(nullptr, other::counter_rows::sum(negative));
}

// By Python's own siphash13 with PYTHONHASHSEED=0, and by a second implementation for the key.
TEST(foreign_hashes, of_slices_are_siphash) {
  other::sip_key key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i);
  EXPECT_EQ(0x5cb96f6ba2a4fcfcU, other::sip13_of_slice("", key));
  EXPECT_EQ(0x3d76291cfbea17abU, other::sip13_of_slice("item-1", key));
  EXPECT_EQ(0xbfd0e6a9e0dd073bU, other::sip13_of_slice("twelve bytes", key));
  EXPECT_EQ(0x6f99a94a224a0f67U, other::sip13_of_slice("sixteen bytes ok", key));
}

// A layer as a filter file of ours has the same bits, so the layers together answer the same.
TEST(foreign_values, become_filters_of_ours) {
  const auto& growing = get<other::bloom_layers>("bf:growing");
  std::vector<any_filter> filters;
  for (const auto& layer : growing.layers()) {
    filters.push_back(other::to_filter(growing, layer).value());
    EXPECT_EQ(layer.items, filters.back().keys());
  }
  for (std::size_t i = 0; i < 8000; ++i) {
    const std::string key = item(i);
    const bool found =
        std::ranges::any_of(filters, [&](const any_filter& f) { return f.contains(key); });
    ASSERT_EQ(growing.contains(key), found) << i;
  }
  const auto top = other::to_filter(get<other::top_list>("top:k"), erase(xxh3_hasher()));
  EXPECT_TRUE(top.contains("item-191"));
  EXPECT_FALSE(top.contains("item-1"));
  EXPECT_EQ(36481U, top.get_if<top_k>()->entries()[0].count);
}

TEST(rdb_file, refuses_what_is_cut_or_changed) {
  const std::string good = content_of("dump.rdb");
  EXPECT_THROW(values_in(bytes_of(std::string("NOREDIS123"))), error);
  for (std::size_t size = 0; size < good.size(); size += size < 600 ? 1 : 997) {
    const std::string cut = good.substr(0, size);
    EXPECT_THROW(values_in(bytes_of(cut)), error) << size;
  }
  for (std::size_t at = 5; at < good.size(); at += 499) {
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 16);
    EXPECT_THROW(values_in(bytes_of(changed)), error) << at;
  }
}

}  // namespace
