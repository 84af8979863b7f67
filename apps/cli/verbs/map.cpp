// bloomery map: a value for each key, in little more than the bits of the values.
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <deque>
#include <filesystem>
#include <optional>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/format/string_map.hpp"
#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/input/keys.hpp"
#include "cli/input/pair_lines.hpp"
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
  hash_options hash;
  bool no_wait = false;
  bool strings = false;
  bool json = false;
};

// Values are numbers, or from the first one that is none on numbers of strings in the table.
struct pairs {
  std::vector<std::uint64_t> hashes;
  std::vector<std::uint64_t> values;
  bool of_strings = false;
  string_table strings;

  void use_strings() {
    if (of_strings) return;
    of_strings = true;
    for (std::uint64_t& value : values) value = strings.number_of(std::to_string(value));
  }
};

// A number is printed as it was given, so 007, +7 and 2^64 are strings.
std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = code == std::errc{} && end == text.data() + text.size();
  if (!whole || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  return value;
}

struct pair_list {  // the pairs of a chunk
  std::vector<std::string_view> keys;
  std::vector<std::string_view> texts;
  std::vector<std::uint64_t> numbers;   // of the texts, up to the first that is none
  std::optional<std::string_view> bad;  // a line that is no pair, after which nothing was read
  std::string why_bad;                  // where it has a tab
  std::deque<std::string> spelled;      // keys that were read from their spelling
};

// Options say how the key is spelled.
pair_list split_pairs(const chunk& c, const record_options& records) {
  pair_list all;
  all.keys.reserve(c.keys.size());
  all.texts.reserve(c.keys.size());
  all.numbers.reserve(c.keys.size());
  for (const std::string_view line : c.keys) {
    const std::optional<pair_line> pair = split_pair(line);
    if (!pair) {
      all.bad = line;
      break;
    }
    std::string_view key = pair->key;
    if (records.hex || records.integers) {
      try {
        key = all.spelled.emplace_back(spelled_key(key, records));
      } catch (const error& e) {
        all.bad = line;
        all.why_bad = e.what();
        break;
      }
    }
    all.keys.push_back(key);
    all.texts.push_back(pair->value);
    if (all.numbers.size() + 1 != all.texts.size()) continue;
    if (const auto number = number_in(all.texts.back())) all.numbers.push_back(*number);
  }
  return all;
}

// Lines come whole, because only the key before the tab is spelled as the options say.
key_source open_pairs(const input_options& input, progress& meter) {
  make_format(input.records);  // refuses options that contradict each other
  record_options lines = input.records;
  lines.hex = false;
  lines.integers = false;
  return key_source(input.paths, lines, meter);
}

// Hashes in parallel and keeps the order of the input.
pairs read_pairs(const any_hasher& hash, key_source& source, const input_options& input,
                 bool strings) {
  pairs all;
  all.of_strings = strings;
  line_counter lines;
  for_each_chunk_in_order(source, input.threads, [&](const chunk& c, auto in_turn) {
    const pair_list some = split_pairs(c, input.records);
    std::vector<std::uint64_t> hashes(some.keys.size());
    hash.hash(some.keys, hashes);
    in_turn([&] {
      const std::uint64_t first_line = lines.first_line(c);
      if (some.bad && some.why_bad.empty()) throw_no_pair(c, first_line, *some.bad);
      if (some.bad) throw_bad_line(c, first_line, *some.bad, some.why_bad);
      all.hashes.insert(all.hashes.end(), hashes.begin(), hashes.end());
      if (some.numbers.size() < some.texts.size()) all.use_strings();
      if (all.of_strings) {
        for (const std::string_view text : some.texts) {
          all.values.push_back(all.strings.number_of(text));
        }
      } else {
        all.values.insert(all.values.end(), some.numbers.begin(), some.numbers.end());
      }
    });
  });
  return all;
}

// Errors about the values as a whole name the file, because they have no line.
template <class Work>
auto naming_inputs(const map_options& o, Work work) {
  try {
    return work();
  } catch (const error& e) {
    const std::string files = fmt::format("{}", fmt::join(o.input.paths, ", "));
    throw error(e.code(),
                fmt::format("{}: {}", files.empty() ? "standard input" : files, e.what()));
  }
}

void build_numbers(const map_options& o, output_file& out,
                   const std::shared_ptr<const any_hasher>& hasher, const pairs& all) {
  std::uint64_t largest = 1;
  for (const std::uint64_t value : all.values) largest = std::max(largest, value);
  sizing::request r{.kind = filter_kind::bloomier,
                    .keys = std::max<std::uint64_t>(1, all.hashes.size()),
                    .fpr = parse_rate(o.fpr)};
  r.variant = o.value_bits.value_or(static_cast<std::uint32_t>(std::bit_width(largest)));
  const any_filter f = naming_inputs(o, [&] {
    return any_filter::build(sizing::make_plan(r), hasher, all.hashes, all.values, o.input.threads);
  });
  f.save(out.path());
  out.finish(o.input.quiet);
  if (!o.input.quiet) print_summary(out.name(), f);
  if (o.json) print_json(info_json(f, out.bytes()));
}

void build_strings(const map_options& o, output_file& out, const hash_spec& hash,
                   const pairs& all) {
  const string_map made = naming_inputs(o, [&] {
    return string_map(hash, all.hashes, all.values, all.strings,
                      {.fpr = parse_rate(o.fpr),
                       .value_bits = o.value_bits.value_or(0),
                       .threads = o.input.threads});
  });
  made.save(out.path());
  out.finish(o.input.quiet);
  if (!std::filesystem::is_regular_file(out.path())) return;  // /dev/null
  const string_map_file f(out.path(), {.verify = false});
  if (!o.input.quiet) {
    tell("{}: map of {} to {}, {}, fpr {}\n", out.name(), counted(f->filter().keys(), "key"),
         counted(f->strings(), "different string"), as_bytes(static_cast<double>(out.bytes())),
         as_rate(f->fpr()));
  }
  if (o.json) print_json(info_json(*f, out.bytes()));
}

void run_build(const map_options& o) {
  std::vector<std::string> inputs = o.input.paths;
  if (!o.hash.key_file.empty()) inputs.push_back(o.hash.key_file);
  output_file out(o.path, inputs, o.json);
  progress meter("reading", o.input.show());
  key_source source = open_pairs(o.input, meter);
  const auto hasher = make_hasher(o.hash, 1, o.input.records.form());
  const pairs all = read_pairs(*hasher, source, o.input, o.strings);
  meter.clear();
  all.of_strings ? build_strings(o, out, hasher->spec(), all) : build_numbers(o, out, hasher, all);
  if (!o.input.quiet && all.hashes.empty()) warn_without_keys(o.input.records, out.name());
}

// Prints the keys that have a value. `text_of(chunk)` returns a function that gives the value of
// the key with this place in the chunk as text, or nothing.
template <class TextOf>
int print_values(const map_options& o, TextOf text_of) {
  progress meter("asking", o.input.show().unless(true));
  key_source source(o.input.paths, o.input.records, meter);
  std::uint64_t keys = 0;
  std::uint64_t found = 0;
  for_each_chunk_in_order(source, o.input.threads, [&](const chunk& c, auto in_turn) {
    const auto value = text_of(c);
    std::string text;
    std::uint64_t present = 0;
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
      const auto of_key = value(i);
      if (!of_key) continue;
      ++present;
      if (o.json) continue;
      append_readable(text, c.keys[i], o.input.records);
      text.append(fmt::format("\t{}", *of_key)).append(o.input.records.line_end());
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

std::shared_ptr<const any_hasher> hasher_of_map(const map_options& o, const string_map_view& map) {
  try {
    return hasher_of(map.image().header(), o.hash.key_file, o.input.records.form());
  } catch (const error& e) {
    throw error(e.code(), fmt::format("{}: {}", o.path, e.what()));
  }
}

int get_strings(const map_options& o, mapped_file file) {
  const string_map_file map(std::move(file), opening_asked());
  const auto hasher = hasher_of_map(o, *map);
  return print_values(o, [&](const chunk& c) {
    std::vector<std::uint64_t> hashes(c.keys.size());
    hasher->hash(c.keys, hashes);
    return [&map, hashes = std::move(hashes)](std::size_t i) { return map->value(hashes[i]); };
  });
}

constexpr const char* no_map = "has no values; 'bloomery map build' makes a map";

int run_get(const map_options& o) {
  const std::string path = as_file(o.path);
  mapped_file file(path);
  if (is_string_map(file.bytes())) return get_strings(o, std::move(file));
  const any_filter f = open_filter(path, o.hash.key_file, o.input.records.form());
  require(f.can().value, f, o.path, no_map);
  return print_values(o, [&](const chunk& c) {
    std::vector<std::uint64_t> values(c.keys.size());
    std::vector<std::uint64_t> bitmap((c.keys.size() + 63) / 64);
    f.value(c.keys, values, bitmap);
    return [values = std::move(values), bitmap = std::move(bitmap)](std::size_t i) {
      const bool present = ((bitmap[i / 64] >> (i % 64)) & 1U) != 0;
      return present ? std::optional(values[i]) : std::nullopt;
    };
  });
}

struct set_counts {
  std::uint64_t asked = 0;
  std::uint64_t done = 0;
};

// Returns nothing for a file that is no map of strings.
std::optional<set_counts> set_strings(const map_options& o, key_source& source) {
  std::optional<file_lock> lock;
  replaced_file replaced = lock_file(lock, o.path, {.quiet = o.input.quiet, .wait = !o.no_wait});
  mapped_file file(*lock);
  if (!is_string_map(file.bytes())) return std::nullopt;
  const string_map_file old(std::move(file), {.verify = false});  // the copy verifies it
  const auto hasher = hasher_of_map(o, *old);
  const pairs all = read_pairs(*hasher, source, o.input, true);
  string_map map(*old);
  set_counts counts{.asked = all.hashes.size()};
  naming_inputs(o, [&] {
    for (std::size_t i = 0; i < all.hashes.size(); ++i) {
      if (map.update(all.hashes[i], all.strings[all.values[i]])) ++counts.done;
    }
  });
  if (counts.done != 0) {
    map.save(o.path);
    replaced.tell_owner(o.input.quiet);
  }
  return counts;
}

set_counts set_numbers(const map_options& o, key_source& source) {
  set_counts counts;
  const change_manners manners{.quiet = o.input.quiet, .wait = !o.no_wait};
  change_file(o.path, o.hash.key_file, o.input.records.form(), manners, [&](any_filter& f) {
    require(f.can().value, f, o.path, no_map);
    const pairs all = read_pairs(*f.hasher(), source, o.input, false);
    if (all.of_strings) {
      throw error(errc::bad_argument,
                  fmt::format("{}: the values of this map are whole numbers from 0 to 2^64 - 1, "
                              "and one of those given is none",
                              o.path));
    }
    counts = {.asked = all.hashes.size(), .done = f->update_values(all.hashes, all.values)};
    return counts.done != 0;
  });
  return counts;
}

int run_set(const map_options& o) {
  progress meter("setting", o.input.show());
  key_source source = open_pairs(o.input, meter);
  std::optional<set_counts> counts = set_strings(o, source);
  if (!counts) counts = set_numbers(o, source);
  meter.clear();
  if (!o.input.quiet) {
    tell("{} set; {} not in the map\n", counted(counts->done, "value"),
         counted(counts->asked - counts->done, "key"));
  }
  if (o.json) print_json({{"keys", counts->asked}, {"found", counts->done}});
  return counts->done > 0 ? exit_success : exit_no_match;
}

void add_map_build(command& map) {
  auto o = std::make_shared<map_options>();
  command* verb = map.add_subcommand("build", "Build a map from lines of key, tab and value");
  verb->add_option("-o,--output", o->path, "The file to write; - is standard output")
      ->required()
      ->type_name("F");
  verb->add_option("--fpr", o->fpr, "How often an absent key may have a value (default 1%)")
      ->type_name("P");
  verb->add_option("--value-bits", o->value_bits,
                   "Bits of a value, 1 to 64 (default: as the largest needs); with strings, of "
                   "their numbers: room for 2^V different ones")
      ->type_name("V");
  verb->add_flag("--strings", o->strings,
                 "Values are strings, even if all are whole numbers (default: when one is none)");
  add_hash_options(*verb, o->hash);
  verb->add_flag("--json", o->json, "Print what was built as JSON");
  add_input_options(*verb, o->input);
  verb->footer(
      "The first tab counts; a value may have tabs itself.\n\n"
      "Example:\n  bloomery map build -o sizes.bloom sizes.tsv\n"
      "  bloomery map build -o countries.bloom countries.tsv");
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
  add_key_file(*get, asked->hash.key_file);
  add_opening_options(*get);
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
  add_key_file(*set, changed->hash.key_file);
  set->add_flag("--json", changed->json, "Print how many keys and how many were found as JSON");
  add_input_options(*set, changed->input);
  set->footer(
      "Exit status: 0 when a key was found, 1 when none was, 2 after an error.\n\n"
      "Example:\n  printf 'readme.txt\\t120\\n' | bloomery map set sizes.bloom");
  set->callback([changed, &status] { status = run_set(*changed); });
  map->footer(
      "A map takes about 1.13 times the bits of a value and a few more for each key. Values that "
      "are no whole numbers are strings, of which the map holds each different one once. It does "
      "not hold the keys, so that an absent key has a value by chance with the probability of "
      "--fpr.\n\n"
      "Exit status of get and set: 0 when a key was found, 1 when none was, 2 after an error.\n\n"
      "Example:\n  bloomery map build -o sizes.bloom sizes.tsv\n"
      "  echo readme.txt | bloomery map get sizes.bloom");
}

}  // namespace bloomery::cli
