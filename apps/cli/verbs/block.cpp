// bloomery block: block lists of addresses, domains and URLs, and what of a log is on them.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <mutex>

#include "bloomery/core/error.hpp"
#include "bloomery/lists/blocklist.hpp"
#include "bloomery/lists/source_counter.hpp"
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

struct list_options {
  input_options input;
  std::string path;
  std::string fpr = "0.1%";
  std::string entries;
  std::uint64_t seed = 0;
  bool strict = false;
  bool json = false;
};

struct log_options {
  input_options input;
  std::string path;
  std::vector<std::string> confirm;
  std::uint32_t top = 0;
  bool invert = false;
  bool count = false;
  bool only = false;
  bool json = false;

  [[nodiscard]] bool silent() const { return input.silent(json); }
  [[nodiscard]] bool prints() const { return !count && !json && !silent(); }
};

// Quotes the beginning of a line, which may contain any bytes, for a message on a terminal.
std::string quoted(std::string_view line) {
  constexpr std::size_t most = 60;
  std::string text;
  for (const char c : line.substr(0, most)) {
    text.push_back(static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c);
  }
  return fmt::format("'{}'{}", text, line.size() > most ? "..." : "");
}

// Calls take(line, file name, line number) for every line of the lists.
template <class Take>
void for_each_list_line(std::vector<std::string> paths, progress& meter, Take take) {
  record_options records;
  records.keep_empty = true;
  records.any_line_end = true;
  if (paths.empty()) paths.emplace_back("-");
  for (const std::string& path : paths) {
    key_source source({path}, records, meter);
    std::uint64_t number = 0;
    for (chunk c; source.next(c);) {
      for (const std::string_view line : c.keys) take(line, c.file, ++number);
    }
  }
}

struct line_counts {  // the lines of the lists by what they were
  std::array<std::uint64_t, line_kinds> of{};
  std::string first_bad;  // "list:17: 'text'"

  [[nodiscard]] std::uint64_t operator[](line_kind kind) const {
    return of[static_cast<std::size_t>(kind)];
  }
  // What block lists have, and no set of strings can hold.
  [[nodiscard]] std::uint64_t left_out() const {
    const auto& self = *this;
    return self[line_kind::exception] + self[line_kind::hiding] + self[line_kind::options] +
           self[line_kind::pattern];
  }
  [[nodiscard]] std::string text() const {
    const auto& self = *this;
    return fmt::format(
        "{}, {}, {} with options, {}", counted(self[line_kind::exception], "exception"),
        counted(self[line_kind::hiding], "hiding rule"), counted(self[line_kind::options], "rule"),
        counted(self[line_kind::pattern], "pattern"));
  }
  [[nodiscard]] nlohmann::json json() const {
    const auto& self = *this;
    return {{"exceptions", self[line_kind::exception]},
            {"hiding_rules", self[line_kind::hiding]},
            {"with_options", self[line_kind::options]},
            {"patterns", self[line_kind::pattern]}};
  }
};

line_counts read_lists(const list_options& o, block_list_builder& builder) {
  line_counts counts;
  progress meter("reading", o.input.show());
  for_each_list_line(
      o.input.paths, meter,
      [&](std::string_view line, std::string_view file, std::uint64_t number) {
        const line_kind kind = builder.add_line(line);
        ++counts.of[static_cast<std::size_t>(kind)];
        if (kind != line_kind::bad || !counts.first_bad.empty()) return;
        counts.first_bad = fmt::format("{}:{}: {}", file, number, quoted(line));
        if (o.strict) {
          throw error(errc::corrupt,
                      counts.first_bad + " is no address, domain, URL or rule of a block list");
        }
      });
  if (builder.entries() == 0 && counts[line_kind::bad] > 0) {
    throw error(errc::corrupt,
                counts.first_bad + " is no entry of a block list, nor is any other line");
  }
  if (builder.entries() == 0 && counts.left_out() > 0) {
    const std::vector<std::string> standard = {"standard input"};
    throw error(errc::corrupt,
                fmt::format("{}: no line is an entry that a filter can hold: {}",
                            fmt::join(o.input.paths.empty() ? standard : o.input.paths, ", "),
                            counts.text()));
  }
  return counts;
}

void print_built(const list_options& o, const block_list_builder& builder,
                 const line_counts& counts, const std::string& name, std::uint64_t bytes) {
  const std::uint64_t entries = builder.entries();
  tell("{}: {} {}, {}, {:.1f} bits each, false alarms at most {}\n", name, with_commas(entries),
       entries == 1 ? "entry" : "entries", as_bytes(static_cast<double>(bytes)),
       entries == 0 ? 0.0 : 8 * static_cast<double>(bytes) / static_cast<double>(entries),
       as_rate(parse_rate(o.fpr)));
  if (counts.left_out() > 0) tell("left out: {}\n", counts.text());
  if (counts[line_kind::bad] > 0) {
    tell("bloomery: warning: {} no entry of a block list; the first is {}\n",
         counts[line_kind::bad] == 1 ? "1 line is"
                                     : with_commas(counts[line_kind::bad]) + " lines are",
         counts.first_bad);
  }
}

void run_build(const list_options& o) {
  output_file out(o.path, o.input.paths, o.json);
  block_list_builder builder({.fpr = parse_rate(o.fpr),
                              .room = o.entries.empty() ? 0 : parse_count(o.entries),
                              .seed = o.seed,
                              .directory = out.folder()});
  const line_counts counts = read_lists(o, builder);
  const any_filter f = builder.build();
  f.save(out.path());
  out.finish(o.input.quiet);
  const std::uint64_t bytes = out.bytes();
  if (!o.input.quiet) print_built(o, builder, counts, out.name(), bytes);
  if (!o.input.quiet && builder.entries() == 0) warn_without_keys({}, out.name());
  if (o.json) {
    nlohmann::json object = info_json(f, bytes);
    object["entries"] = builder.entries();
    object["questions"] = builder.questions();
    object["left_out"] = counts.json();
    object["bad_lines"] = counts[line_kind::bad];
    print_json(object);
  }
}

class log_chunk {  // looks up everything that a chunk of a log contains at once
 public:
  log_chunk(const block_list& list, const chunk& c) : lines_(c.records), batch_(list) {
    for (const std::string_view line : lines_) {
      scan_text(line, things_);
      line_ends_.push_back(things_.size());
    }
    for (const text_thing& thing : things_) batch_.add(thing);
    batch_.ask();
  }

  [[nodiscard]] const block_batch& batch() const { return batch_; }
  [[nodiscard]] std::size_t things() const { return things_.size(); }

  [[nodiscard]] std::vector<ip_address> sources() const {  // the first of each line, if any
    std::vector<ip_address> found;
    for (std::size_t line = 0, i = 0; line < lines_.size(); ++line) {
      for (; i < line_ends_[line]; ++i) {
        if (things_[i].kind != thing_kind::address) continue;
        found.push_back(things_[i].address);
        break;
      }
      i = line_ends_[line];
    }
    return found;
  }

  struct outcome {
    std::uint64_t selected = 0;      // lines
    std::uint64_t found = 0;         // things that are blocked
    std::uint64_t false_alarms = 0;  // things that the filter reports and the list does not have
  };
  outcome write(const log_options& o, const block_confirmation* list, std::string& out) const {
    outcome sums;
    for (std::size_t line = 0, i = 0; line < lines_.size(); ++line) {
      bool blocked = false;
      for (; i < line_ends_[line]; ++i) {
        if (!batch_.reported(i)) continue;
        const auto entry = batch_.answer(i, list);
        ++(entry ? sums.found : sums.false_alarms);
        if (!entry) continue;
        if (o.prints() && o.only) {
          out.append(things_[i].text).append("\n");
        } else if (o.prints() && !o.invert && !blocked) {
          out.append(things_[i].text).append("\t").append(entry->text());
          out.append("\t").append(lines_[line]).append("\n");
        }
        blocked = true;
      }
      if (blocked != o.invert) ++sums.selected;
      if (o.prints() && o.invert && !blocked) out.append(lines_[line]).append("\n");
    }
    return sums;
  }

 private:
  std::span<const std::string_view> lines_;
  std::vector<text_thing> things_;
  std::vector<std::size_t> line_ends_;  // in things_
  block_batch batch_;
};

// Looks up the whole log, then reads the lists once and keeps what was reported and is in them.
void confirm(const block_list& list, const log_options& o, key_source& source, progress& meter,
             block_confirmation& confirmed) {
  if (!source.rereadable()) {
    throw error(errc::bad_argument,
                "--confirm reads the log twice; give it as a file instead of a pipe");
  }
  std::mutex mutex;
  for_each_chunk(source, o.input.threads, [&](const chunk& c) {
    const log_chunk asked(list, c);
    const std::lock_guard lock(mutex);
    asked.batch().report_to(confirmed);
  });
  source.rewind();
  for_each_list_line(o.confirm, meter, [&](std::string_view line, std::string_view, std::uint64_t) {
    for (const block_entry& entry : parse_block_line(line).entries) confirmed.see(entry);
  });
}

struct log_totals {
  std::uint64_t lines = 0;
  std::uint64_t things = 0;
  log_chunk::outcome sums;
  double seconds = 0;
  std::vector<counted_source> top;

  [[nodiscard]] double lines_per_second() const {
    return seconds > 0 ? static_cast<double>(lines) / seconds : 0;
  }
};

log_totals check_log(const block_list& list, const log_options& o, key_source& source,
                     const block_confirmation* confirmed) {
  const auto start = std::chrono::steady_clock::now();
  log_totals totals;
  source_counter counter(std::max(1U, o.top));
  // Threads that wait for a pipe would hold up the end.
  const unsigned threads = o.silent() && !source.rereadable() ? 1 : o.input.threads;
  try {
    for_each_chunk_in_order(source, threads, [&](const chunk& c, auto in_turn) {
      const log_chunk asked(list, c);
      std::string text;
      const log_chunk::outcome sums = asked.write(o, confirmed, text);
      const auto sources = o.top > 0 ? asked.sources() : std::vector<ip_address>{};
      in_turn([&] {
        write_output(text);
        for (const ip_address& a : sources) counter.add(a);
        totals.lines += c.records.size();
        totals.things += asked.things();
        totals.sums.selected += sums.selected;
        totals.sums.found += sums.found;
        totals.sums.false_alarms += sums.false_alarms;
        if (o.silent() && totals.sums.selected > 0) throw enough_read();
      });
    });
  } catch (const enough_read&) {
  }
  if (o.top > 0) totals.top = counter.top();
  totals.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return totals;
}

void print_totals(const log_options& o, const log_totals& t) {
  if (o.count && !o.json) write_output(fmt::format("{}\n", t.sums.selected));
  if (o.json) {
    nlohmann::json object = {{"lines", t.lines},
                             {"selected", t.sums.selected},
                             {"things", t.things},
                             {"blocked_things", t.sums.found},
                             {"lines_per_second", t.lines_per_second()}};
    if (!o.confirm.empty()) object["false_alarms"] = t.sums.false_alarms;
    if (o.top > 0) object["top"] = nlohmann::json::array();
    for (const counted_source& s : t.top) {
      object["top"].push_back(
          {{"source", s.address.text()}, {"lines", s.count}, {"error", s.error}});
    }
    return print_json(object);
  }
  for (const counted_source& s : t.top) {
    tell("{}\t{}{}\n", s.address.text(), s.count, s.error == 0 ? "" : fmt::format("\t{}", s.error));
  }
  if (o.input.quiet) return;
  tell("{}, {} {}{}; {} per second\n", counted(t.lines, "line"), with_commas(t.sums.selected),
       o.invert ? "not blocked" : "blocked",
       o.confirm.empty() ? ""
                         : fmt::format(", {} removed", counted(t.sums.false_alarms, "false alarm")),
       counted(static_cast<std::uint64_t>(t.lines_per_second()), "line"));
}

int run_check(const log_options& o) {
  const block_list list =
      within_limit([&] { return block_list::open(as_file(o.path), opening_asked()); });
  progress meter("checking", o.input.show().unless(o.prints()));
  key_source source(o.input.paths, o.input.records, meter);
  block_confirmation confirmed;
  if (!o.confirm.empty()) confirm(list, o, source, meter, confirmed);
  const log_totals totals = check_log(list, o, source, o.confirm.empty() ? nullptr : &confirmed);
  meter.clear();
  if (!o.silent()) print_totals(o, totals);
  return totals.sums.selected > 0 ? exit_success : exit_no_match;
}

void add_block_build(command& block) {
  auto o = std::make_shared<list_options>();
  command* verb = block.add_subcommand("build", "Build a filter of block lists");
  verb->add_option("-o,--output", o->path, "The filter file to write; - is standard output")
      ->required()
      ->type_name("F");
  verb->add_option("--fpr", o->fpr,
                   "Highest rate of false alarms, for an address, domain or URL (default 0.1%)")
      ->type_name("P");
  verb->add_option("--entries", o->entries,
                   "Room for N entries of any kind: lists built with the same N can be merged")
      ->type_name("N");
  verb->add_option("--seed", o->seed, "Chooses the hash function (default 0)")->type_name("S");
  verb->add_flag("--strict", o->strict, "A line that is no entry is an error, not a warning");
  verb->add_flag("--json", o->json, "Print what was built as JSON");
  add_input_files(*verb, o->input);
  verb->footer(
      "Lists hold addresses, ranges, domains and URLs, one a line; hosts files and rules of ad "
      "blockers are understood too.\n\n"
      "Example:\n  bloomery block build -o blocked.bloom drop.txt hosts.txt");
  verb->callback([o] { run_build(*o); });
}

void add_block_check(command& block, int& status) {
  auto o = std::make_shared<log_options>();
  o->input.answers = true;
  command* verb = block.add_subcommand("check", "Print the lines of a log with what is blocked");
  verb->add_option("F", o->path, "The filter file to ask")->required()->type_name("");
  option* invert =
      verb->add_flag("-v,--invert", o->invert, "Print the lines without anything blocked instead");
  verb->add_flag("-c,--count", o->count, "Print only how many");
  verb->add_flag("--only", o->only, "Print what is blocked, one a line, without the lines")
      ->excludes(invert);
  verb->add_option("--confirm", o->confirm,
                   "Look what the filter reports up in this list; may be given several times")
      ->one_a_time()
      ->type_name("LIST");
  add_opening_options(*verb);
  verb->add_option("--top", o->top,
                   "Also say which N sources, the first address of a line, have the most lines")
      ->between(1, 100'000)
      ->type_name("N");
  verb->add_flag("--json", o->json, "Print how much was asked for and blocked as JSON");
  add_input_files(*verb, o->input);
  o->input.records.any_line_end = true;
  add_threads(*verb, o->input.threads);
  verb->footer(
      "Prints what is blocked, a tab, the entry that blocks it, a tab, and the line. With -q the "
      "first selected line ends it.\n"
      "Exit status: 0 when a line was selected, 1 when none was, 2 after an error.\n\n"
      "Example:\n  bloomery block check blocked.bloom access.log | cut -f1 | sort | uniq -c\n"
      "  bloomery block check --confirm drop.txt --top 10 blocked.bloom access.log");
  verb->callback([o, &status] { status = run_check(*o); });
}

}  // namespace

void add_block(command& app, int& status) {
  command* block = app.add_subcommand("block", "Block lists: build one, check a log against it");
  block->require_subcommand(1);
  add_block_build(*block);
  add_block_check(*block, status);
  block->footer(
      "Example:\n  bloomery block build -o blocked.bloom drop.txt hosts.txt\n"
      "  bloomery block check blocked.bloom access.log");
}

}  // namespace bloomery::cli
