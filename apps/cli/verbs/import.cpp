// bloomery import: filters from the database file of a Redis server with another module.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/foreign/filters.hpp"
#include "bloomery/foreign/rdb_file.hpp"
#include "bloomery/format/file.hpp"
#include "cli/args/options.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

namespace other = bloomery::foreign;

struct import_options {
  std::string from;
  std::string output;
  std::string dump;
  bool json = false;
  bool quiet = false;
};

struct import_row {
  std::string key;
  std::string kind;
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;
  std::vector<std::string> files;
};

// A name for a file: other characters than these as %XX, and no leading dot. File systems take 255
// bytes, and an ending and a mark of its own may follow: the rest of a long name is a hash.
std::string import_name(const other::rdb_file::module_key& key) {
  constexpr std::string_view plain = "-_:.@+=,";
  std::string name = key.database == 0 ? "" : fmt::format("{}-", key.database);
  for (const char c : key.name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    const bool dot_first = c == '.' && name.empty();
    if ((letter || plain.find(c) != std::string_view::npos) && !dot_first) {
      name += c;
    } else {
      name += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  constexpr std::size_t most_bytes = 200;
  if (name.size() > most_bytes) {
    name.resize(most_bytes);
    name += fmt::format("~{:016x}", xxh3_hasher().bytes(key.name.data(), key.name.size()));
  }
  return name.empty() ? "%" : name;
}

// Two keys may want one name: that of the key a.1 is also that of the first layer of the key a.
// The second one gets ~2 before its endings, which no name has by itself.
class file_names {
 public:
  std::string stem(const other::rdb_file::module_key& key,
                   const std::vector<std::string>& endings) {
    const std::string name = import_name(key);
    std::string stem = name;
    const auto is_taken = [&](const std::string& ending) { return taken_.contains(stem + ending); };
    for (int again = 2; std::ranges::any_of(endings, is_taken); ++again) {
      stem = fmt::format("{}~{}", name, again);
    }
    for (const std::string& ending : endings) taken_.insert(stem + ending);
    return stem;
  }

 private:
  std::set<std::string> taken_;
};

void import_file(const import_options& o, import_row& row, const std::string& name,
                 const any_filter& f) {
  const std::string path = (std::filesystem::path(o.output) / name).string();
  if (std::filesystem::exists(path)) {
    throw error(errc::io, fmt::format("{} exists; give an empty folder", path));
  }
  f.save(path);
  row.files.push_back(path);
}

import_row import_value(const import_options& o, const other::rdb_file::module_key& key,
                        const other::value& v, file_names& names) {
  import_row row{.key = key.name, .kind = "", .bytes = v.stream().size(), .files = {}};
  const bool write = !o.output.empty();
  if (const auto* bloom = dynamic_cast<const other::bloom_layers*>(&v)) {
    const bool valkey = v.from() == other::origin::valkey_bloom;
    row.kind = valkey ? "Bloom filter of Valkey" : "Bloom filter";
    row.items = bloom->items();
    const auto layers = bloom->layers();
    std::vector<std::string> endings;
    for (std::size_t i = 1; i <= layers.size(); ++i) {
      endings.push_back(layers.size() == 1 ? ".bloom" : fmt::format(".{}.bloom", i));
    }
    const std::string stem = names.stem(key, endings);
    // All or none: without one of its layers a key would be missed.
    std::vector<any_filter> filters;
    for (std::size_t i = 0; write && i < layers.size(); ++i) {
      auto f = other::to_filter(*bloom, layers[i]);
      if (!f) return row;
      filters.push_back(std::move(*f));
    }
    for (std::size_t i = 0; i < filters.size(); ++i) {
      import_file(o, row, stem + endings[i], filters[i]);
    }
  } else if (const auto* cuckoo = dynamic_cast<const other::cuckoo_layers*>(&v)) {
    row.kind = "cuckoo filter";
    row.items = cuckoo->items();
  } else if (const auto* counts = dynamic_cast<const other::counter_rows*>(&v)) {
    row.kind = "count-min sketch";
    row.items = counts->total();
  } else if (const auto* top = dynamic_cast<const other::top_list*>(&v)) {
    row.kind = "most frequent items";
    row.items = top->entries().size();
    const std::string ending = ".top";
    const std::string stem = names.stem(key, {ending});
    if (write) import_file(o, row, stem + ending, other::to_filter(*top, erase(xxh3_hasher())));
  }
  return row;
}

struct imported {
  std::vector<import_row> rows;
  std::uint64_t ours = 0;  // keys of our own module, which need no import
};

imported import_rows(const import_options& o, const mapped_file& dump) {
  imported all;
  // All of it is read and its checksum compared before the first file is written.
  for (const bool write : {false, true}) {
    if (write && o.output.empty()) break;
    if (write) std::filesystem::create_directories(o.output);
    all = {};
    import_options now = o;
    if (!write) now.output.clear();
    file_names names;
    other::rdb_file file(dump.bytes());
    while (const auto key = file.next()) {
      if (key->type.starts_with("blmry")) ++all.ours;
      if (key->known == nullptr) continue;
      const auto v = other::read(key->known->from, key->version, file.fields());
      all.rows.push_back(import_value(now, *key, *v, names));
    }
  }
  return all;
}

void print_rows(const import_options& o, const std::vector<import_row>& rows) {
  if (o.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const import_row& r : rows) {
      list.push_back({{"key", r.key},
                      {"kind", r.kind},
                      {"items", r.items},
                      {"bytes", r.bytes},
                      {"files", r.files}});
    }
    print_json({{"rows", list}});
    return;
  }
  std::string text;
  for (const import_row& r : rows) {
    text += fmt::format("{}\t{}\t{}", r.key, r.kind, r.items);
    for (const std::string& file : r.files) text += fmt::format("\t{}", file);
    text += '\n';
  }
  write_output(text);
}

// Of keys whose hashes no file of ours has: a Bloom filter of another module may have them, too.
void tell_of_rest(const std::vector<import_row>& rows) {
  std::map<std::string, std::uint64_t> left;
  std::uint64_t sum = 0;
  for (const import_row& r : rows) {
    if (!r.files.empty()) continue;
    ++left[r.kind];
    ++sum;
  }
  if (sum == 0) return;
  std::string kinds;
  for (const auto& [kind, count] : left) {
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", count, kind);
  }
  tell(
      "bloomery: {} without a file ({}): only the Redis module of Bloomery, which loads the whole "
      "database file, can ask {}\n",
      counted(sum, "key"), kinds, sum == 1 ? "it" : "them");
}

int run_import(const import_options& o) {
  if (o.from != "redisbloom" && o.from != "valkey") {  // in both the keys say whose they are
    throw error(
        errc::bad_argument,
        fmt::format("'{}' is no format to import; there are redisbloom and valkey", o.from));
  }
  const mapped_file dump(as_file(o.dump, content::anything));  // whose errors name the file
  imported all;
  try {
    all = import_rows(o, dump);
  } catch (const error& e) {
    throw error(e.code(), fmt::format("{}: {}", name_of_input(o.dump), e.what()));
  }
  const std::vector<import_row>& rows = all.rows;
  print_rows(o, rows);
  if (!o.quiet && all.ours != 0) {
    tell(
        "bloomery: {} of Bloomery's own module left out; a server with it loads the file, and "
        "'bloomery pull redis://HOST/KEY -o FILE' makes a file of a key\n",
        counted(all.ours, "key"));
  }
  if (!o.quiet && !o.output.empty()) tell_of_rest(rows);
  return rows.empty() ? exit_no_match : exit_success;
}

}  // namespace

void add_import(command& app, int& status) {
  auto o = std::make_shared<import_options>();
  command* verb =
      app.add_subcommand("import", "Take the filters out of a Redis database file, offline");
  verb->add_option("--from", o->from, "What wrote the keys: redisbloom or valkey")
      ->required()
      ->type_name("FORMAT");
  verb->add_option("-o,--output", o->output,
                   "The folder to write filters to; without it the keys are only listed")
      ->type_name("DIR");
  verb->add_flag("--json", o->json, "Print the keys as JSON");
  add_quiet(*verb, o->quiet);
  verb->add_option("DUMP", o->dump, "The database file; - is standard input")
      ->required()
      ->type_name("");
  verb->footer(
      "Each layer of a Bloom filter becomes a file, which check and all other verbs read: a key is "
      "in the filter if one of its layers has it. Lists of frequent items become files for top and "
      "count. Cuckoo filters, counters and Valkey's filters stay where they are: the Redis module "
      "loads the whole file.\n"
      "Exit status: 0 when there were keys of the module, 1 when there were none, 2 after an "
      "error.\n\n"
      "Example:\n  bloomery import --from redisbloom -o filters dump.rdb\n"
      "  bloomery check filters/users.bloom names.txt");
  verb->callback([o, &status] { status = run_import(*o); });
}

}  // namespace bloomery::cli
