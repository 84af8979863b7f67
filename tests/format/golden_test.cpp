// Frozen bits: every configuration below gives tests/golden/NAME.bloom to the byte, for ever and on every
// machine, and the opened file answers as NAME.json says.
//
//     {"present": [keys that it contains], "absent": [keys that it does not],
//      "integers": true,       when the keys are integers
//      "key_hex": "..."}       the secret key, when it needs one
//
// tests/cross reads the same files with another reader. A new kind or hash adds a row here; then
//
//     BLOOMERY_WRITE_GOLDEN=1 build/release/tests/bloomery_format_tests --gtest_filter='*golden*'
//
// writes its files. Files that exist already must not change: whoever rewrites one breaks every filter
// that somebody has saved.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "format/files.hpp"

#ifdef BLOOMERY_HAS_CRYPTO
#include "bloomery/crypto/digest.hpp"
#include "bloomery/crypto/siphash.hpp"
#endif

namespace {

using namespace bloomery;
using namespace bloomery_test;

// ---- keys ------------------------------------------------------------------------------------------

// Different for different indexes: two letters are the syllable of a digit.
std::string word(std::uint64_t index) {
  switch (index) {
    case 0:
      return "";
    case 1:
      return "two words";
    case 2:
      return "naïve";
    default:
      break;
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

// ---- configurations --------------------------------------------------------------------------------

// Spelt out, not planned: the planner may become better, and the bits must stay what they are.
plan shaped(filter_kind kind, std::uint64_t bits, std::uint32_t probes, double target = 0) {
  const std::uint32_t block = kind == filter_kind::blocked ? 512 : 0;
  return {.shape = {.kind = kind, .probes = probes, .block_bits = block, .bits = bits},
          .fpr_target = target};
}

#ifdef BLOOMERY_HAS_CRYPTO
plan foreign(std::uint64_t bits, std::uint32_t probes) {
  plan p = shaped(filter_kind::classic, bits, probes);
  p.shape.scheme = probe_scheme::modulo;
  return p;
}
#endif

constexpr std::uint64_t question_count = 30;  // of each sort

struct golden {
  std::string name;
  plan shape;
  std::uint64_t keys;
  std::shared_ptr<const any_hasher> hash;
  std::uint64_t seed = 0;  // of the integers' hash
  bool integers = false;
  std::string key_hex = {};

  friend void PrintTo(const golden& g, std::ostream* out) { *out << g.name; }
};

std::vector<golden> goldens() {
  using enum filter_kind;
  constexpr std::uint64_t seed = 0x0123456789abcdef;
  const auto plain = erase(xxh3_hasher(0));
  const auto seeded = erase(xxh3_hasher(seed));
  std::vector<golden> all = {
      {"blocked-1pc", shaped(blocked, 512 * 10, 6, 0.01), 500, plain},
      {"blocked-seed", shaped(blocked, 512 * 13, 11, 1e-4), 300, seeded},
      {"blocked-16", shaped(blocked, 512 * 5, 16), 60, plain},
      {"blocked-1", shaped(blocked, 512, 1), 100, seeded},
      {"blocked-empty", shaped(blocked, 1024, 8), 0, plain},
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
  integers("blocked-integers", shaped(blocked, 512 * 8, 6, 0.01));
  integers("classic-integers", shaped(classic, 3904, 7, 0.01));
  integers("partitioned-integers", shaped(partitioned, 7 * 560, 7, 0.01));
#ifdef BLOOMERY_HAS_CRYPTO
  siphash_hasher::key_type secret{};
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::byte>(i);
  all.push_back({"blocked-siphash", shaped(blocked, 512 * 6, 6, 0.01), 300,
                 erase(siphash_hasher(secret)), 0, false, "000102030405060708090a0b0c0d0e0f"});
  all.push_back({"classic-sha1", foreign(4001, 12), 200, erase(salted_sha1_hasher(12))});
  all.push_back({"classic-md5", foreign(2400, 4), 300, erase(md5_hasher())});
#endif
  for (golden& g : all) g.shape.keys = g.keys;
  return all;
}

// ---- building and asking ---------------------------------------------------------------------------

template <class Filter>
void save_integers(const golden& g, const std::filesystem::path& path) {
  keyed<Filter> f(Filter(g.shape), xxh3_hasher(g.seed));
  for (std::uint64_t i = 0; i < g.keys; ++i) f.add(integer(i));
  save(f, path);
}

void save_filter(const golden& g, const std::filesystem::path& path) {
  if (g.integers) {
    switch (g.shape.shape.kind) {
      case filter_kind::blocked:
        return save_integers<blocked_filter>(g, path);
      case filter_kind::classic:
        return save_integers<classic_filter>(g, path);
      case filter_kind::partitioned:
        return save_integers<partitioned_filter>(g, path);
      default:
        break;
    }
  }
  any_filter f(g.shape, g.hash);
  for (std::uint64_t i = 0; i < g.keys; ++i) {
    const std::string key = word(i);
    const std::string_view view = key;
    f.add({&view, 1});
  }
  f.save(path);
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
      case filter_kind::blocked:
        return integers(blocked_filter(g.shape));
      case filter_kind::classic:
        return integers(classic_filter(g.shape));
      case filter_kind::partitioned:
        return integers(partitioned_filter(g.shape));
      default:
        break;
    }
  }
  const auto filter = std::make_shared<any_filter>(any_filter::open(path, g.hash));
  return [filter](std::uint64_t index) { return filter->contains(word(index)); };
}

// The text of the .json file, from the answers of the filter. The keys need no escapes.
std::string stated_answers(const golden& g, const std::function<bool(std::uint64_t)>& contains) {
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
  return text + "  \"absent\": " + list(g.keys, UINT64_MAX, false) + "\n}\n";
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
    std::ofstream(answers) << stated_answers(GetParam(), open_filter(GetParam(), file));
  }
  const temporary_directory now;
  save_filter(GetParam(), now / "f");
  EXPECT_TRUE(read_bytes(now / "f") == read_bytes(file)) << "the bits of saved filters changed";
  EXPECT_EQ(stated_answers(GetParam(), open_filter(GetParam(), file)), read_text(answers));
  EXPECT_LT(std::filesystem::file_size(file), 10'000U);
}

INSTANTIATE_TEST_SUITE_P(every, golden_file, testing::ValuesIn(goldens()), [](const auto& test) {
  std::string name = test.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
