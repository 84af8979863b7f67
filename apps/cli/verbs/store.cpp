// bloomery store: records in a folder, by key, whose changes wait in a log until they are merged
// (store/differential.hpp). A filter says which records have changed.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "bloomery/core/error.hpp"
#include "bloomery/store/differential.hpp"
#include "cli/args/options.hpp"
#include "cli/input/pair_lines.hpp"
#include "cli/input/source.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace fs = std::filesystem;

namespace {

struct store_options {
  input_options input;
  std::string folder;
  std::string fpr = "1%";
  bool json = false;
};

// Opens a store that must be there: asking one with a mistyped name would make a new one.
differential_store open_store(const store_options& o) {
  if (!std::filesystem::exists(std::filesystem::path(o.folder) / "lock")) {
    throw error(errc::io, fmt::format("{}: there is no store; 'bloomery store load' or 'put' "
                                      "makes one",
                                      o.folder));
  }
  return differential_store(o.folder, parse_rate(o.fpr));
}

record_options lines_as_they_are(record_options records) {
  records.any_line_end = true;
  return records;
}

// The lines of the input, one after the other.
class line_reader {
 public:
  explicit line_reader(const input_options& o)
      : meter_("reading", o.show()), source_(o.paths, lines_as_they_are(o.records), meter_) {}

  bool next() {
    while (place_ == chunk_.keys.size()) {
      if (!source_.next(chunk_)) {
        meter_.clear();
        return false;
      }
      first_line_ = lines_.first_line(chunk_);
      place_ = 0;
    }
    line_ = chunk_.keys[place_++];
    return true;
  }
  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] pair_line pair() const {
    const std::optional<pair_line> here = split_pair(line_);
    if (!here) throw_no_pair(chunk_, first_line_, line_);
    return *here;
  }

 private:
  progress meter_;
  key_source source_;
  chunk chunk_;
  line_counter lines_;
  std::uint64_t first_line_ = 1;
  std::size_t place_ = 0;
  std::string_view line_;
};

nlohmann::json store_json(const differential_store& s) {
  return {{"records_in_base", s.base_records()},
          {"changes", s.changes()},
          {"filter_bytes", s.filter_bytes()},
          {"fpr_now", s.fpr()}};
}

void report_store(const store_options& o, const differential_store& s) {
  if (!o.input.quiet) {
    tell("{}: records in the base: {}, changes in the log: {}, filter for these: {}\n", o.folder,
         with_commas(s.base_records()), with_commas(s.changes()),
         as_bytes(static_cast<double>(s.filter_bytes())));
  }
  if (o.json) print_json(store_json(s));
}

// Opens a store or makes one, and takes one that it made away again unless it was filled: while it
// is still locked, so that nobody else has put anything there.
class filled_store {
 public:
  explicit filled_store(const store_options& o)
      : folder_(o.folder),
        had_folder_(fs::exists(folder_)),
        had_files_(had_folder_ && !fs::is_empty(folder_)),
        store_(o.folder, parse_rate(o.fpr)) {}
  filled_store(const filled_store&) = delete;
  filled_store& operator=(const filled_store&) = delete;
  ~filled_store() {
    if (filled_ || had_files_) return;
    std::error_code ignored;
    for (const fs::directory_entry& e : fs::directory_iterator(folder_, ignored)) {
      fs::remove(e.path(), ignored);
    }
    if (!had_folder_) fs::remove(folder_, ignored);
  }

  void keep() { filled_ = true; }
  [[nodiscard]] differential_store& operator*() { return store_; }
  [[nodiscard]] differential_store* operator->() { return &store_; }

 private:
  fs::path folder_;
  bool had_folder_;
  bool had_files_;
  bool filled_ = false;
  differential_store store_;
};

void run_load(const store_options& o) {
  filled_store s(o);
  if (s->base_records() != 0 || s->changes() != 0) {
    throw error(errc::bad_argument,
                fmt::format("{}: the store is not empty; 'bloomery store put' adds records to it",
                            o.folder));
  }
  line_reader lines(o.input);
  try {
    s->load([&](std::string_view& key, std::string_view& value) {
      if (!lines.next()) return false;
      const pair_line pair = lines.pair();
      key = pair.key;
      value = pair.value;
      return true;
    });
  } catch (const error& e) {
    if (e.code() != errc::bad_argument) throw;
    throw error(e.code(), fmt::format("{}; nothing was loaded. 'LC_ALL=C sort' sorts records, and "
                                      "'bloomery store put' takes them in any order",
                                      e.what()));
  }
  s.keep();
  report_store(o, *s);
}

// Runs change() for each line. Those before a line that is none stay changed, and the message says
// how many: the input may be a pipe that cannot be read again.
template <class Change>
void change_by_lines(differential_store& s, line_reader& lines, std::string_view done,
                     Change change) {
  std::uint64_t changed = 0;
  try {
    for (; lines.next(); ++changed) change();
  } catch (const error& e) {
    if (changed == 0) throw;
    s.sync();
    throw error(e.code(), fmt::format("{}; {} before it {} {}", e.what(), counted(changed, "line"),
                                      changed == 1 ? "was" : "were", done));
  }
  s.sync();
}

void run_put(const store_options& o) {
  filled_store s(o);
  line_reader lines(o.input);
  change_by_lines(*s, lines, "stored", [&] {
    const pair_line pair = lines.pair();
    s->put(pair.key, pair.value);
    s.keep();
  });
  s.keep();
  report_store(o, *s);
}

void run_erase(const store_options& o) {
  differential_store s = open_store(o);
  line_reader lines(o.input);
  change_by_lines(s, lines, "done", [&] { s.erase(lines.line()); });
  report_store(o, s);
}

void append_record(std::string& text, std::string_view key, std::string_view value) {
  text.append(key).append("\t").append(value).append("\n");
  if (text.size() < std::size_t{1} << 16U) return;
  write_output(text);
  text.clear();
}

int run_get(const store_options& o) {
  differential_store s = open_store(o);
  line_reader lines(o.input);
  std::uint64_t found = 0;
  std::string text;
  while (lines.next()) {
    const std::optional<std::string> value = s.find(lines.line());
    if (!value) continue;
    ++found;
    if (!o.json) append_record(text, lines.line(), *value);
  }
  write_output(text);
  const differential_counts& c = s.counts();
  if (o.json) {
    print_json({{"keys", c.asked},
                {"found", found},
                {"log_searches", c.log_searches},
                {"wasted_searches", c.wasted_searches},
                {"base_reads", c.base_reads}});
  } else if (o.input.stats) {
    tell("found: {} of {}; searches of the log: {}, of them in vain: {}\n", with_commas(found),
         with_commas(c.asked), with_commas(c.log_searches), with_commas(c.wasted_searches));
  }
  return found > 0 ? exit_success : exit_no_match;
}

int run_list(const store_options& o) {
  const differential_store s = open_store(o);
  std::uint64_t records = 0;
  std::string text;
  s.for_each([&](std::string_view key, std::string_view value) {
    ++records;
    if (!o.json) append_record(text, key, value);
  });
  write_output(text);
  if (o.json) print_json({{"records", records}});
  return records > 0 ? exit_success : exit_no_match;
}

void run_merge(const store_options& o) {
  differential_store s = open_store(o);
  if (s.changes() != 0) s.merge();
  report_store(o, s);
}

void run_info(const store_options& o) {
  const differential_store s = open_store(o);
  if (o.json) return print_json(store_json(s));
  write_output(
      fmt::format("{}: a store\n"
                  "  records   {} in the base\n"
                  "  changes   {} in the log, since the last merge\n"
                  "  filter    {} for the changes, fpr {}\n",
                  o.folder, with_commas(s.base_records()), with_commas(s.changes()),
                  as_bytes(static_cast<double>(s.filter_bytes())), as_rate(s.fpr())));
}

enum class inputs : std::uint8_t { none, some };

template <class Run>
command* add_store_verb(command& store, const char* name, const char* purpose, inputs wanted,
                        const char* json, Run run) {
  auto o = std::make_shared<store_options>();
  command* verb = store.add_subcommand(name, purpose);
  verb->add_option("DIR", o->folder, "The folder of the store")->required()->type_name("");
  verb->add_option("--fpr", o->fpr,
                   "How often the log is searched in vain for a record that has not changed "
                   "(default 1%); 100%: always")
      ->type_name("P");
  verb->add_flag("--json", o->json, json);
  if (wanted == inputs::some) {
    add_input_files(*verb, o->input);
  } else {
    add_quiet(*verb, o->input.quiet);
  }
  verb->callback([o, run] { run(*o); });
  return verb;
}

void add_changes(command& store) {
  constexpr const char* json = "Print what the store has now as JSON";
  add_store_verb(store, "load", "Fill an empty store from sorted lines of key, tab and value",
                 inputs::some, json, run_load)
      ->footer(
          "The first tab counts; a value may have tabs itself.\n\n"
          "Example:\n  LC_ALL=C sort parts.tsv | bloomery store load parts");
  add_store_verb(store, "put", "Add or replace records, from lines of key, tab and value",
                 inputs::some, json, run_put)
      ->footer(
          "The first tab counts; a value may have tabs itself. What stands before a line without "
          "one "
          "is stored.\n\n"
          "Example:\n  printf 'bolt\\t12 cm, steel\\n' | bloomery store put parts");
  add_store_verb(store, "erase", "Take out the records with these keys", inputs::some, json,
                 run_erase)
      ->footer("Example:\n  echo bolt | bloomery store erase parts");
  add_store_verb(store, "merge", "Merge the changes into a new base", inputs::none, json, run_merge)
      ->footer("Example:\n  bloomery store merge parts");
}

}  // namespace

void add_store(command& app, int& status) {
  command* store =
      app.add_subcommand("store", "Records by key; changes wait in a log behind a filter");
  store->require_subcommand(1);
  add_changes(*store);
  add_store_verb(*store, "get", "Print the records with these keys", inputs::some,
                 "Print how many were found, and what the lookups cost, as JSON",
                 [&status](const store_options& o) { status = run_get(o); })
      ->footer(
          "Exit status: 0 when a record was found, 1 when none was, 2 after an error.\n\n"
          "Example:\n  echo bolt | bloomery store get parts");
  add_store_verb(*store, "list", "Print all records, in the order of their keys", inputs::none,
                 "Print how many there are as JSON",
                 [&status](const store_options& o) { status = run_list(o); })
      ->footer(
          "Exit status: 0 when there is a record, 1 when there is none, 2 after an error.\n\n"
          "Example:\n  bloomery store list parts");
  add_store_verb(*store, "info", "Say what the store has", inputs::none, "Print it as JSON",
                 run_info)
      ->footer("Example:\n  bloomery store info parts");
  store->footer(
      "A store is a folder with a base, sorted and never changed, and a log of changes. The "
      "filter holds the keys of the log, so that a record that has not changed is read from the "
      "base alone. What put and erase have done is on disk when they end. One program at a time "
      "opens a store; others wait.\n\n"
      "Example:\n  LC_ALL=C sort parts.tsv | bloomery store load parts\n"
      "  printf 'bolt\\t12 cm, steel\\n' | bloomery store put parts\n"
      "  echo bolt | bloomery store get parts\n"
      "  bloomery store merge parts");
}

}  // namespace bloomery::cli
