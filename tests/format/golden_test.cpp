// Frozen bits: every configuration below gives tests/golden/NAME.bloom to the byte, for ever and on
// every machine, and the opened file answers as NAME.json says.
//
//     {"present": [keys that it contains], "absent": [keys that it does not],
//      "integers": true,       when the keys are integers
//      "key_hex": "...",       the secret key, when it needs one
//      "counts": {key: n},     what a filter that counts says, of keys added and of others
//      "values": {key: n},     what a map says, of the keys that it says it has
//      "top": [[key, n]]}      the list of the most frequent keys
//
// tests/cross reads the same files with another reader. A new kind or hash adds a row here; then
//
//     BLOOMERY_WRITE_GOLDEN=1 build/release/tests/bloomery_format_tests --gtest_filter='*golden*'
//
// writes its files. Files that exist already must not change: whoever rewrites one breaks every
// filter that somebody has saved.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/detail/hash/shard_probe.hpp"
#include "bloomery/hash/murmur.hpp"
#include "bloomery/hash/secret_hasher.hpp"
#include "bloomery/sketch/top_k.hpp"
#include "format/files.hpp"

#ifdef BLOOMERY_HAS_CRYPTO
#include "bloomery/crypto/digest.hpp"
#include "bloomery/crypto/siphash.hpp"
#endif

namespace {

using namespace bloomery;
using namespace bloomery_test;

// ---- keys -------------------------------------------------------------------------------------

// Different for different indexes: two letters are the syllable of a digit.
std::string word(std::uint64_t index) {
  switch (index) {
    case 0: return "";
    case 1: return "two words";
    case 2: return "naïve";
    default: break;
  }
  constexpr std::string_view syllables = "babidoduferakopulimesyntavixejwo";
  std::string text = index % 3 == 0 ? "the-" : "";
  for (std::uint64_t rest = index; rest != 0; rest /= 16)
    text += syllables.substr(rest % 16 * 2, 2);
  return text;
}

// Small, large and negative ones.
std::int64_t integer(std::uint64_t index) {
  const auto value = static_cast<std::int64_t>(index);
  if (index % 3 == 0) return value;
  if (index % 3 == 1) return -value;
  return static_cast<std::int64_t>(splitmix64(index));
}

// ---- configurations ---------------------------------------------------------------------------

// Spelt out, not planned: the planner may become better, and the bits must stay what they are.
plan shaped(filter_kind kind, std::uint64_t bits, std::uint32_t probes, double target = 0) {
  const std::uint32_t block = kind == filter_kind::blocked       ? 512
                              : kind == filter_kind::split_block ? 256
                                                                 : 0;
  return {.shape = {.kind = kind, .probes = probes, .block_bits = block, .bits = bits},
          .fpr_target = target};
}

// The kinds of cells, lines and directories. Static ones find out their bits themselves; 64 stands
// for those.
plan celled(filter_kind kind, std::uint64_t bits, std::uint32_t probes, std::uint32_t cell_bits,
            std::uint32_t variant = 0, std::uint32_t block_bits = 0) {
  return {.shape = {.kind = kind,
                    .probes = probes,
                    .block_bits = block_bits,
                    .cell_bits = cell_bits,
                    .variant = variant,
                    .bits = bits}};
}

plan planned_for(std::uint64_t keys, plan p) {
  p.keys = keys;
  return p;
}

plan foreign(std::uint64_t bits, std::uint32_t probes) {
  plan p = shaped(filter_kind::classic, bits, probes);
  p.shape.scheme = probe_scheme::modulo;
  return p;
}

constexpr std::uint64_t question_count = 30;  // of each sort

struct golden {
  std::string name;
  plan shape;
  std::uint64_t keys;
  std::shared_ptr<const any_hasher> hash;
  std::uint64_t seed = 0;  // of the integers' hash
  bool integers = false;
  std::string key_hex = {};
  std::uint64_t repeats = 0;  // key i is added 1 + repeats / (i + 1) times
  std::uint64_t removed = 0;  // so many first keys are removed again, once each
  std::uint64_t window = 0;   // of time; key i is added at time i

  friend void PrintTo(const golden& g, std::ostream* out) { *out << g.name; }
};

constexpr std::uint64_t seed = 0x0123456789abcdef;
constexpr std::uint64_t line = bits_per_block;

std::shared_ptr<const any_hasher> plain_hash() { return erase(xxh3_hasher(0)); }
std::shared_ptr<const any_hasher> seeded_hash() { return erase(xxh3_hasher(seed)); }

std::vector<golden> goldens_of_bits() {
  using enum filter_kind;
  const auto plain = plain_hash();
  const auto seeded = seeded_hash();
  std::vector<golden> all = {
      {"blocked-1pc", shaped(blocked, 512 * 10, 6, 0.01), 500, plain},
      {"blocked-seed", shaped(blocked, 512 * 13, 11, 1e-4), 300, seeded},
      {"blocked-16", shaped(blocked, 512 * 5, 16), 60, plain},
      {"blocked-1", shaped(blocked, 512, 1), 100, seeded},
      {"blocked-secret", shaped(blocked, 512 * 6, 6, 0.01), 300, erase(secret_hasher(seed))},
      {"blocked-empty", shaped(blocked, 1024, 8), 0, plain},
      {"split-block-1pc", shaped(split_block, 256 * 21, 8, 0.01), 500, plain},
      {"split-block-seed", shaped(split_block, 256 * 13, 8, 1e-3), 180, seeded},
      {"split-block-one", shaped(split_block, 256, 8), 20, plain},
      {"classic-1pc", shaped(classic, 4864, 7, 0.01), 500, plain},
      {"classic-seed", shaped(classic, 5824, 13, 1e-4), 300, seeded},
      {"classic-odd", shaped(classic, 1009, 3), 200, seeded},
      {"classic-64", shaped(classic, 9001, 64), 90, plain},
      {"partitioned-1pc", shaped(partitioned, 7 * 696, 7, 0.01), 500, plain},
      {"partitioned-seed", shaped(partitioned, 13 * 448, 13, 1e-4), 300, seeded},
      {"partitioned-odd", shaped(partitioned, 7 * 149, 7), 100, seeded},
  };
  const auto integers = [&](const char* name, const plan& p) {
    all.push_back({name, p, 400, seeded, seed, true});
  };
  for (const std::uint32_t index : {0U, 2U}) {
    golden shard{"blocked-shard-" + std::to_string(index), shaped(blocked, 512 * 4, 6, 0.01), 500,
                 seeded};
    shard.shape.shape.shard = {.index = index, .count = 3};
    all.push_back(shard);
  }
  golden half_lines{"split-block-shard-1", shaped(split_block, 256 * 7, 8, 0.01), 500, seeded};
  half_lines.shape.shape.shard = {.index = 1, .count = 3};
  all.push_back(half_lines);
  integers("blocked-integers", shaped(blocked, 512 * 8, 6, 0.01));
  integers("split-block-integers", shaped(split_block, 256 * 17, 8, 0.01));
  integers("classic-integers", shaped(classic, 3904, 7, 0.01));
  integers("partitioned-integers", shaped(partitioned, 7 * 560, 7, 0.01));
  all.push_back({"classic-murmur", foreign(4001, 12), 200, erase(murmur_hasher(4001))});
#ifdef BLOOMERY_HAS_CRYPTO
  siphash_hasher::key_type secret{};
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::byte>(i);
  all.push_back({"blocked-siphash", shaped(blocked, 512 * 6, 6, 0.01), 300,
                 erase(siphash_hasher(secret)), 0, false, "000102030405060708090a0b0c0d0e0f"});
  all.push_back({"classic-sha1", foreign(4001, 12), 200, erase(salted_sha1_hasher(12))});
  all.push_back({"classic-sha1-folded", foreign(4001, 12), 200, erase(folded_sha1_hasher(12))});
  all.push_back({"classic-md5", foreign(2400, 4), 300, erase(md5_hasher())});
#endif
  return all;
}

// One whose keys repeat, so that the order of the calls counts, and may be removed again.
golden changing(const char* name, const plan& p, std::uint64_t keys,
                const std::shared_ptr<const any_hasher>& hash, std::uint64_t repeats = 0,
                std::uint64_t removed = 0) {
  return {
      .name = name, .shape = p, .keys = keys, .hash = hash, .repeats = repeats, .removed = removed};
}

// Every layout, and counters that stick.
std::vector<golden> counting_goldens() {
  using enum filter_kind;
  const auto plain = plain_hash();
  const auto seeded = seeded_hash();
  return {
      changing("counting-lines", celled(counting, 16 * line, 6, 4, 0, 512), 200, plain, 20, 30),
      changing("counting-lines-2", celled(counting, 9 * line, 5, 2, 0, 512), 250, seeded, 2),
      changing("counting-classic", celled(counting, 121 * 64, 7, 4), 200, plain, 20, 30),
      changing("counting-classic-16", celled(counting, 301 * 64, 3, 16), 300, seeded, 300),
  };
}

// Lines that have doubled; several layers; rings that turned and a young one; buckets of one word,
// of more, and that straddle.
std::vector<golden> growing_goldens() {
  using enum filter_kind;
  const auto plain = plain_hash();
  const auto seeded = seeded_hash();
  const auto layered_for = [](std::uint64_t keys, std::uint64_t lines, std::uint32_t probes,
                              std::uint32_t variant) {
    return planned_for(keys, celled(layered, lines * line, probes, 0, variant, 512));
  };
  // Full lines, some of whose keys are in the stash, that have doubled four times and may not do so
  // again.
  const auto scalable_of = [](std::uint32_t cell_bits) {
    return planned_for(20, celled(scalable, (1 + 2) * line, 1, cell_bits, 4, 512));
  };
  const auto windowed_for = [](std::uint64_t keys, std::uint64_t lines, std::uint32_t probes,
                               std::uint32_t generations, std::uint32_t sharing) {
    return planned_for(keys, celled(windowed, lines * line, probes, sharing, generations, 512));
  };
  std::vector<golden> all = {
      changing("scalable-12", scalable_of(12), 1200, seeded),
      changing("scalable-16", scalable_of(16), 900, seeded),
      changing("scalable-21", scalable_of(21), 700, plain),
      changing("scalable-32", scalable_of(32), 450, seeded),
      changing("layered-reserved", layered_for(50, 4, 9, 0x1402), 500, plain, 3),
      changing("layered-steep", layered_for(20, 3, 16, 0x10804), 150, seeded),
      changing("windowed-count", windowed_for(200, 4 + 1 * 9, 6, 4, 5), 500, plain),
      changing("windowed-young", windowed_for(200, 4 + 5 * 1, 8, 4, 1), 120, seeded),
      changing("cuckoo-layers", celled(cuckoo, 48 * 64, 2, 12, 0, 4 * 12), 400, plain, 9, 50),
      changing("cuckoo-wide", celled(cuckoo, 104 * 64, 2, 13, 0, 8 * 13), 300, seeded),
      changing("cuckoo-narrow", celled(cuckoo, 40 * 64, 2, 5, 0, 3 * 5), 200, seeded),
  };
  all.push_back(changing("windowed-time", windowed_for(150, 6 + 3 * 4, 8, 9, 4), 150, plain));
  all.back().window = 61;
  return all;
}

// Few and many segments or layers, none, and several shards, which the number of planned keys
// decides.
std::vector<golden> static_goldens() {
  using enum filter_kind;
  constexpr std::uint64_t for_three_shards = 3U << 20U;
  const auto plain = plain_hash();
  const auto seeded = seeded_hash();
  return {
      {"fuse-3", celled(fuse, 64, 3, 8), 300, plain},
      {"fuse-4", celled(fuse, 64, 4, 16), 1100, seeded},
      {"fuse-32", celled(fuse, 64, 3, 32), 1, seeded},
      {"fuse-shards", planned_for(for_three_shards, celled(fuse, 64, 4, 8)), 500, plain},
      {"fuse-empty", celled(fuse, 64, 3, 8), 0, plain},
      {"ribbon-7", celled(ribbon, 64, 1, 7), 500, plain},
      {"ribbon-layers", celled(ribbon, 64, 1, 4), 7500, seeded},
      {"ribbon-shards", planned_for(for_three_shards, celled(ribbon, 64, 1, 20)), 400, seeded},
      {"bloomier-8", celled(bloomier, 64, 3, 8 + 7, 8), 300, plain},
      {"bloomier-33", celled(bloomier, 64, 4, 33 + 10, 33), 200, seeded},
      {"bloomier-64", planned_for(for_three_shards, celled(bloomier, 64, 3, 64 + 32, 64)), 90,
       plain},
  };
}

// Crowded, so that counts are wrong in the way that the rules make them; with counters that stick.
std::vector<golden> sketch_goldens() {
  using enum filter_kind;
  const auto plain = plain_hash();
  const auto seeded = seeded_hash();
  return {
      changing("count-min-plain", celled(count_min, 59 * 64, 5, 16, 0), 120, plain, 100, 20),
      changing("count-min-conservative", celled(count_min, 59 * 64, 3, 8, 1), 300, seeded, 400),
      changing("count-min-pairwise", celled(count_min, 59 * 64, 4, 16, 2), 120, plain, 100, 20),
      changing("count-min-pairwise-conservative", celled(count_min, 59 * 64, 3, 8, 3), 300, seeded,
               400),
      changing("count-min-lines", celled(count_min, 9 * 512, 5, 16, 4), 120, plain, 100, 20),
      changing("count-min-lines-conservative", celled(count_min, 9 * 512, 3, 8, 5), 300, seeded,
               400),
      changing("count-min-64", celled(count_min, 71 * 64, 2, 64, 0), 50, seeded, 30),
      changing("spectral-minimum", celled(spectral, 75 * 64, 4, 8, 0), 200, plain, 300, 20),
      changing("spectral-increase", celled(spectral, 75 * 64, 5, 16, 1), 150, seeded, 90),
      changing("spectral-recurring", celled(spectral, 75 * 64, 5, 16, 2), 80, plain, 90),
      changing("spectral-recurring-32", celled(spectral, 101 * 64, 3, 32, 2), 60, seeded, 30, 10),
      changing("top-k", celled(top_k, (8 + 2 * 40) * 64, 2, 32, 20), 300, plain, 500),
      changing("top-k-few", celled(top_k, (8 + 3 * 10) * 64, 3, 32, 50), 40, seeded, 10),
      changing("top-k-one", celled(top_k, (8 + 1 * 30) * 64, 1, 32, 1), 200, seeded, 80),
  };
}

std::vector<golden> goldens() {
  std::vector<golden> all = goldens_of_bits();
  for (std::vector<golden> more :
       {counting_goldens(), growing_goldens(), static_goldens(), sketch_goldens()}) {
    std::move(more.begin(), more.end(), std::back_inserter(all));
  }
  for (golden& g : all) {
    if (g.shape.keys == 0) g.shape.keys = g.keys;
  }
  return all;
}

// ---- building and asking ----------------------------------------------------------------------

template <class Filter>
void save_integers(const golden& g, const std::filesystem::path& path) {
  keyed<Filter> f(Filter(g.shape), xxh3_hasher(g.seed));
  for (std::uint64_t i = 0; i < g.keys; ++i) f.add(integer(i));
  save(f, path);
}

bool is_own(const golden& g, std::string_view key) {
  if (g.shape.shape.shard.whole()) return true;
  std::uint64_t hash = 0;
  g.hash->hash({&key, 1}, {&hash, 1});
  return shard_of(hash, g.shape.shape.shard.count) == g.shape.shape.shard.index;
}

// Repetitions come in rounds: kinds that depend on the order have one worth the name.
any_filter added(const golden& g) {
  any_filter f(g.shape, g.hash);
  if (g.window != 0) f->set_window(g.window);
  for (std::uint64_t round = 0; round <= g.repeats; ++round) {
    for (std::uint64_t i = 0; i < g.keys && round <= g.repeats / (i + 1); ++i) {
      const std::string key = word(i);
      const std::string_view view = key;
      if (!is_own(g, view)) continue;
      f->advance(i);
      f.add({&view, 1});
    }
  }
  for (std::uint64_t i = 0; i < g.removed; ++i) {
    const std::string key = word(i);
    const std::string_view view = key;
    f.remove({&view, 1});
  }
  return f;
}

std::uint64_t value_of(const golden& g, std::uint64_t index) {
  return splitmix64(index) >> (64 - g.shape.shape.variant);
}

any_filter built(const golden& g) {
  std::vector<std::uint64_t> hashes(g.keys);
  std::vector<std::uint64_t> values;
  for (std::uint64_t i = 0; i < g.keys; ++i) {
    const std::string key = word(i);
    const std::string_view view = key;
    g.hash->hash({&view, 1}, {&hashes[i], 1});
    if (abilities_of(g.shape.shape.kind).value) values.push_back(value_of(g, i));
  }
  return any_filter::build(g.shape, g.hash, hashes, values);
}

void save_filter(const golden& g, const std::filesystem::path& path) {
  if (g.integers) {
    switch (g.shape.shape.kind) {
      case filter_kind::blocked: return save_integers<blocked_filter>(g, path);
      case filter_kind::split_block: return save_integers<split_block_filter>(g, path);
      case filter_kind::classic: return save_integers<classic_filter>(g, path);
      case filter_kind::partitioned: return save_integers<partitioned_filter>(g, path);
      default: break;
    }
  }
  if (abilities_of(g.shape.shape.kind).add) {
    added(g).save(path);
  } else {
    built(g).save(path);
  }
}

// What answers for key number `index` of a file.
std::function<bool(std::uint64_t)> open_filter(const golden& g, const std::filesystem::path& path) {
  const auto integers = [&](auto filter) {
    using keyed_type = keyed<decltype(filter)>;
    const auto mapped = std::make_shared<bloomery::mapped<keyed_type>>(path);
    return [mapped](std::uint64_t index) { return (*mapped)->contains(integer(index)); };
  };
  if (g.integers) {
    switch (g.shape.shape.kind) {
      case filter_kind::blocked: return integers(blocked_filter(g.shape));
      case filter_kind::split_block: return integers(split_block_filter(g.shape));
      case filter_kind::classic: return integers(classic_filter(g.shape));
      case filter_kind::partitioned: return integers(partitioned_filter(g.shape));
      default: break;
    }
  }
  const auto filter = std::make_shared<any_filter>(any_filter::open(path, g.hash));
  return [filter](std::uint64_t index) { return filter->contains(word(index)); };
}

std::string in_quotes(std::string_view key) { return '"' + std::string(key) + '"'; }

// What a kind says beyond yes and no; empty for those that say no more.
std::string stated_numbers(const golden& g, const std::filesystem::path& path) {
  const any_filter f = any_filter::open(path, g.hash);
  std::string counts;
  std::string values;
  const auto ask = [&](std::uint64_t index) {
    const std::string key = word(index);
    const std::string_view view = key;
    std::uint64_t number = 0;
    std::uint64_t has_value = 0;
    if (f.can().count) {
      f.count({&view, 1}, {&number, 1});
      counts += (counts.empty() ? "" : ", ") + in_quotes(key) + ": " + std::to_string(number);
    }
    if (f.can().value) f.value({&view, 1}, {&number, 1}, {&has_value, 1});
    if (has_value != 0) {
      values += (values.empty() ? "" : ", ") + in_quotes(key) + ": " + std::to_string(number);
    }
  };
  for (std::uint64_t i = 0; i < std::min(g.keys, question_count); ++i) ask(i);
  for (std::uint64_t i = g.keys; i < g.keys + question_count; ++i) ask(i);
  std::string text;
  if (f.can().count) text += "  \"counts\": {" + counts + "},\n";
  if (f.can().value) text += "  \"values\": {" + values + "},\n";
  return text;
}

std::string stated_list(const golden& g, const std::filesystem::path& path) {
  if (g.shape.shape.kind != filter_kind::top_k) return "";
  const any_filter f = any_filter::open(path, g.hash);
  const top_k_view sketch(f.planned(), f.words(), f.keys());
  std::string text;
  for (const top_k_entry& e : sketch.entries()) {
    text += (text.empty() ? "[" : ", [") + in_quotes(e.key) + ", " + std::to_string(e.count) + "]";
  }
  return "  \"top\": [" + text + "],\n";
}

// The text of the .json file, from the answers of the filter. The keys need no escapes.
std::string stated_answers(const golden& g, const std::filesystem::path& path) {
  const auto contains = open_filter(g, path);
  const auto list = [&](std::uint64_t first, std::uint64_t last, bool answer) {
    std::string text;
    std::uint64_t count = 0;
    for (std::uint64_t i = first; i < last && count < question_count; ++i) {
      if (contains(i) != answer) continue;
      text += count++ == 0 ? "" : ", ";
      text += g.integers ? std::to_string(integer(i)) : '"' + word(i) + '"';
    }
    return "[" + text + "]";
  };
  std::string text = "{\n  \"present\": " + list(0, g.keys, true) + ",\n";
  if (g.integers) text += "  \"integers\": true,\n";
  if (!g.key_hex.empty()) text += "  \"key_hex\": \"" + g.key_hex + "\",\n";
  if (!g.integers) text += stated_numbers(g, path) + stated_list(g, path);
  // A filter that forgets has lost keys that were added.
  const bool forgets = abilities_of(g.shape.shape.kind).forget;
  return text + "  \"absent\": " + list(forgets ? 0 : g.keys, UINT64_MAX, false) + "\n}\n";
}

std::string read_text(const std::filesystem::path& path) {
  const byte_vector bytes = read_bytes(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class golden_file : public testing::TestWithParam<golden> {};

TEST_P(golden_file, is_frozen) {
  const std::filesystem::path folder = BLOOMERY_SOURCE_DIR "/tests/golden";
  const std::filesystem::path file = folder / (GetParam().name + ".bloom");
  const std::filesystem::path answers = folder / (GetParam().name + ".json");
  if (const char* wanted = std::getenv("BLOOMERY_WRITE_GOLDEN"); wanted != nullptr) {
    save_filter(GetParam(), file);
    std::ofstream(answers) << stated_answers(GetParam(), file);
  }
  const temporary_directory now;
  save_filter(GetParam(), now / "f");
  EXPECT_TRUE(read_bytes(now / "f") == read_bytes(file)) << "the bits of saved filters changed";
  EXPECT_EQ(stated_answers(GetParam(), file), read_text(answers));
  EXPECT_LT(std::filesystem::file_size(file), 10'000U);
}

INSTANTIATE_TEST_SUITE_P(every, golden_file, testing::ValuesIn(goldens()), [](const auto& test) {
  std::string name = test.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
