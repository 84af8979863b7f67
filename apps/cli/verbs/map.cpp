// bloomery map: a value for each key, in little more than the bits of the values.
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <optional>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/input/keys.hpp"
#include "cli/input/source.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct map_options {
  input_options input;
  std::string path;
  std::string fpr = "1%";
  std::optional<std::uint32_t> value_bits;
  std::uint64_t seed = 0;
  bool no_wait = false;
  bool json = false;
};

struct pairs {
  std::vector<std::uint64_t> hashes;
  std::vector<std::uint64_t> values;
};

struct key_and_value {
  std::string_view key;
  std::uint64_t value;
};

// A line is KEY, a tab and an integer; the key may contain tabs.
std::optional<key_and_value> split_pair(std::string_view line) {
  const std::size_t tab = line.rfind('\t');
  std::uint64_t value = 0;
  if (tab != std::string_view::npos) {
    const std::string_view text = line.substr(tab + 1);
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc{} && end == text.data() + text.size() && !text.empty()) {
      return key_and_value{line.substr(0, tab), value};
    }
  }
  return std::nullopt;
}

class line_counter {  // of lines before each chunk, for messages; chunks must come in order
 public:
  std::uint64_t first_line(const chunk& c) {
    if (c.file != file_) lines_ = 0;
    file_ = c.file;
    const std::uint64_t first = lines_ + 1;
    lines_ += count_records(c.text, '\n').all;
    return first;
  }

 private:
  std::string file_;
  std::uint64_t lines_ = 0;
};

[[noreturn]] void throw_no_pair(const chunk& c, std::uint64_t first_line, std::string_view line) {
  constexpr std::size_t shown = 60;
  const auto before = static_cast<std::size_t>(line.data() - c.text.data());
  throw_bad_record(c, first_line + count_records(c.text.substr(0, before), '\n').all,
                   fmt::format("'{}{}' is no key, tab and whole number from 0 to 2^64 - 1",
                               line.substr(0, shown), line.size() > shown ? "..." : ""));
}

// Hashes in parallel and keeps the order of the input.
pairs read_pairs(const any_hasher& hash, key_source& source, unsigned threads) {
  pairs all;
  line_counter lines;
  for_each_chunk_in_order(source, threads, [&](const chunk& c, auto in_turn) {
    std::vector<std::string_view> keys;
    std::vector<std::uint64_t> values;
    keys.reserve(c.keys.size());
    values.reserve(c.keys.size());
    std::optional<std::string_view> bad;
    for (const std::string_view line : c.keys) {
      const std::optional<key_and_value> pair = split_pair(line);
      if (!pair) {
        bad = line;
        break;
      }
      keys.push_back(pair->key);
      values.push_back(pair->value);
    }
    std::vector<std::uint64_t> hashes(keys.size());
    hash.hash(keys, hashes);
    in_turn([&] {
      const std::uint64_t first_line = lines.first_line(c);
      if (bad) throw_no_pair(c, first_line, *bad);
      all.hashes.insert(all.hashes.end(), hashes.begin(), hashes.end());
      all.values.insert(all.values.end(), values.begin(), values.end());
    });
  });
  return all;
}

// Errors about the values as a whole name the file, because they have no line.
any_filter build_map(const map_options& o, const plan& planned,
                     const std::shared_ptr<const any_hasher>& hasher, const pairs& all) {
  try {
    return any_filter::build(planned, hasher, all.hashes, all.values, o.input.threads);
  } catch (const error& e) {
    const std::string files = fmt::format("{}", fmt::join(o.input.paths, ", "));
    throw error(e.code(),
                fmt::format("{}: {}", files.empty() ? "standard input" : files, e.what()));
  }
}

void run_build(const map_options& o) {
  output_file out(o.path, o.input.paths, o.json);
  progress meter("reading", o.input.show());
  key_source source(o.input.paths, o.input.records, meter);
  const auto hasher = make_hasher("xxh3", o.seed, "", 1, o.input.records.form());
  const pairs all = read_pairs(*hasher, source, o.input.threads);
  meter.clear();
  std::uint64_t largest = 1;
  for (const std::uint64_t value : all.values) largest = std::max(largest, value);
  sizing::request r{.kind = filter_kind::bloomier,
                    .keys = std::max<std::uint64_t>(1, all.hashes.size()),
                    .fpr = parse_rate(o.fpr)};
  r.variant = o.value_bits.value_or(static_cast<std::uint32_t>(std::bit_width(largest)));
  const any_filter f = build_map(o, sizing::make_plan(r), hasher, all);
  f.save(out.path());
  if (!o.input.quiet) print_summary(out.name(), f);
  if (!o.input.quiet && all.hashes.empty()) warn_without_keys(o.input.records, out.name());
  if (o.json) print_json(info_json(f, out.bytes()));
  out.finish();
}

constexpr const char* no_map = "has no values; 'bloomery map build' makes a map";

int run_get(const map_options& o) {
  const any_filter f = open_filter(as_file(o.path), "", o.input.records.form());
  require(f.can().value, f, o.path, no_map);
  progress meter("asking", o.input.show().unless(true));
  key_source source(o.input.paths, o.input.records, meter);
  std::uint64_t keys = 0;
  std::uint64_t found = 0;
  for_each_chunk_in_order(source, o.input.threads, [&](const chunk& c, auto in_turn) {
    std::vector<std::uint64_t> values(c.keys.size());
    std::vector<std::uint64_t> bitmap((c.keys.size() + 63) / 64);
    f.value(c.keys, values, bitmap);
    std::string text;
    std::uint64_t present = 0;
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
      if (((bitmap[i / 64] >> (i % 64)) & 1U) == 0) continue;
      ++present;
      if (o.json) continue;
      append_readable(text, c.keys[i], o.input.records);
      text.append(fmt::format("\t{}", values[i])).append(o.input.records.line_end());
    }
    in_turn([&] {
      keys += c.keys.size();
      found += present;
      write_output(text);
    });
  });
  if (o.json) print_json({{"keys", keys}, {"found", found}});
  return found > 0 ? exit_success : exit_no_match;
}

int run_set(const map_options& o) {
  progress meter("setting", o.input.show());
  key_source source(o.input.paths, o.input.records, meter);
  std::uint64_t asked = 0;
  std::uint64_t done = 0;
  change_file(o.path, "", o.input.records.form(), {.quiet = o.input.quiet, .wait = !o.no_wait},
              [&](any_filter& f) {
                require(f.can().value, f, o.path, no_map);
                const pairs all = read_pairs(*f.hasher(), source, o.input.threads);
                asked = all.hashes.size();
                done = f->update_values(all.hashes, all.values);
                meter.clear();
                return done != 0;
              });
  if (!o.input.quiet) {
    tell("{} set; {} not in the map\n", counted(done, "value"), counted(asked - done, "key"));
  }
  if (o.json) print_json({{"keys", asked}, {"found", done}});
  return done > 0 ? exit_success : exit_no_match;
}

void add_map_build(command& map) {
  auto o = std::make_shared<map_options>();
  command* verb = map.add_subcommand("build", "Build a map from lines of key, tab and number");
  verb->add_option("-o,--output", o->path, "The file to write; - is standard output")
      ->required()
      ->type_name("F");
  verb->add_option("--fpr", o->fpr, "How often an absent key may have a value (default 1%)")
      ->type_name("P");
  verb->add_option("--value-bits", o->value_bits,
                   "Bits of a value, 1 to 64 (default: as the largest needs)")
      ->type_name("V");
  verb->add_option("--seed", o->seed, "Chooses the hash function (default 0)")->type_name("S");
  verb->add_flag("--json", o->json, "Print what was built as JSON");
  add_input_options(*verb, o->input);
  verb->footer("Example:\n  bloomery map build -o sizes.bloom sizes.tsv");
  verb->callback([o] { run_build(*o); });
}

}  // namespace

void add_map(command& app, int& status) {
  command* map = app.add_subcommand("map", "Values for keys: build a map, ask it, change values");
  map->require_subcommand(1);
  add_map_build(*map);
  auto asked = std::make_shared<map_options>();
  command* get =
      map->add_subcommand("get", "Print the keys that have a value, a tab and the value");
  get->add_option("F", asked->path, "The map; - is standard input")->required()->type_name("");
  get->add_flag("--json", asked->json, "Print how many keys and how many had a value as JSON");
  add_reading_options(*get, asked->input);
  get->footer(
      "Exit status: 0 when a key has a value, 1 when none has, 2 after an error.\n\n"
      "Example:\n  echo readme.txt | bloomery map get sizes.bloom");
  get->callback([asked, &status] { status = run_get(*asked); });
  auto changed = std::make_shared<map_options>();
  command* set = map->add_subcommand("set", "Give keys of a map other values, atomically");
  set->add_option("F", changed->path, "The map")->required()->type_name("");
  add_no_wait(*set, changed->no_wait);
  set->add_flag("--json", changed->json, "Print how many keys and how many were found as JSON");
  add_input_options(*set, changed->input);
  set->footer(
      "Exit status: 0 when a key was found, 1 when none was, 2 after an error.\n\n"
      "Example:\n  printf 'readme.txt\\t120\\n' | bloomery map set sizes.bloom");
  set->callback([changed, &status] { status = run_set(*changed); });
  map->footer(
      "A map takes about 1.13 times the bits of a value and a few more for each key. It does not "
      "hold the keys, so that an absent key has a value by chance with the probability of "
      "--fpr.\n\n"
      "Exit status of get and set: 0 when a key was found, 1 when none was, 2 after an error.\n\n"
      "Example:\n  bloomery map build -o sizes.bloom sizes.tsv\n"
      "  echo readme.txt | bloomery map get sizes.bloom");
}

}  // namespace bloomery::cli
