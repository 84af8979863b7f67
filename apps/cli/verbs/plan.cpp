// bloomery plan: how large a filter of each kind would be, and the alternatives to filters.
#include <fmt/format.h>

#include <cmath>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/format/describe_plan.hpp"
#include "cli/args/options.hpp"
#include "cli/output/plan_answers.hpp"
#include "cli/output/plan_figure.hpp"
#include "cli/output/plot.hpp"
#include "cli/output/rate_table.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct plan_options {
  std::string keys;
  std::string fpr;
  std::string bytes;
  std::optional<double> bits_per_key;
  std::optional<std::uint32_t> probes;
  std::string universe;
  std::uint64_t key_bytes = 20;
  std::optional<double> deviation;
  std::optional<double> packed;
  std::string present;
  std::string absent;
  std::string filter_time;
  std::string lookup_time;
  bool table = false;
  std::string plot;
  std::string panel;
  bool quiet = false;  // there is nothing to silence; scripts give it to every verb
  bool json = false;
};

std::string can_text(const nlohmann::json& row) {
  std::string text = row["add"].get<bool>() ? "" : "static";
  for (const char* ability : {"remove", "count", "value", "merge", "grow", "forget"}) {
    if (!row[ability].get<bool>()) continue;
    text += text.empty() ? "" : " ";
    text += ability;
  }
  return text;
}

// The options of build that make such a filter.
std::string build_options(const plan_options& o) {
  std::string text = o.bits_per_key    ? fmt::format("--bits-per-key {:g}", *o.bits_per_key)
                     : o.bytes.empty() ? "--fpr " + (o.fpr.empty() ? "1%" : o.fpr)
                                       : "--bytes " + o.bytes;
  if (o.probes) text += fmt::format(" --probes {}", *o.probes);
  return text;
}

const nlohmann::json* row_named(const nlohmann::json& rows, const char* field,
                                std::string_view name) {
  for (const auto& row : rows) {
    if (row[field].get<std::string>() == name) return &row;
  }
  return nullptr;
}

// The kind to take instead of the first for the smallest size, or the lowest rate of a size.
std::string better_kind(const nlohmann::json& rows, bool by_size) {
  const char* const measure = by_size ? "fpr" : "bytes";
  const nlohmann::json* best = &rows[0];
  for (const auto& row : rows) {
    if (row["value"].get<bool>()) continue;  // those are for 'map build'
    if (row[measure].get<double>() < (*best)[measure].get<double>()) best = &row;
  }
  if (best == &rows[0]) return "";
  return fmt::format("; add '--kind {}' for the {}{}", (*best)["kind"].get<std::string>(),
                     by_size ? "lowest rate" : "smallest",
                     (*best)["add"].get<bool>() ? "" : " if the keys never change");
}

// The result in a sentence, with the command to build that filter.
std::string in_words(const nlohmann::json& plan, const plan_options& o) {
  // If a size is given, kinds differ in their rates, else in their sizes.
  const bool by_size = o.bits_per_key || !o.bytes.empty();
  std::string asked = "at " + as_rate(plan["fpr"].get<double>());
  if (!o.bytes.empty()) asked = "in " + as_bytes(static_cast<double>(parse_bytes(o.bytes)));
  if (o.bits_per_key) asked = fmt::format("in {:g} bits each", *o.bits_per_key);
  std::string text =
      fmt::format("{} {}:", counted(plan["keys"].get<std::uint64_t>(), "key"), asked);
  for (const auto& [kind, shown] :
       {std::pair{"blocked", "blocked"}, std::pair{"classic", "classic"},
        std::pair{"ribbon", "static (ribbon)"}}) {
    const nlohmann::json* const row = row_named(plan["rows"], "kind", kind);
    if (row == nullptr) continue;
    text += fmt::format(
        " {} {},", shown,
        by_size ? as_rate((*row)["fpr"].get<double>()) : as_bytes((*row)["bytes"].get<double>()));
  }
  const std::string table = fmt::format("hash table of {}-byte keys", o.key_bytes);
  text += fmt::format(
      " a {} about {}.", table,
      as_bytes((*row_named(plan["alternatives"], "name", table))["bytes"].get<double>()));
  const std::string first = plan["rows"][0]["kind"].get<std::string>();
  std::string run = fmt::format("Run 'bloomery build {}{} -o F KEYS'", build_options(o),
                                first == "blocked" ? "" : " --kind " + first);
  run += better_kind(plan["rows"], by_size);
  return wrapped(text, 0, 0) + wrapped(run + ".", 0, 0) + "\n";
}

// With two decimals, or with an exponent where that would be wider than a column.
std::string in_column(double value) {
  return value < 9999.995 ? fmt::format("{:.2f}", value) : fmt::format("{:.1e}", value);
}

// The tables fit into 80 columns: kinds with all that is known of them, then what has no more than
// a size and a rate, under a longer name.
void print_text(const nlohmann::json& plan, const plan_options& o) {
  std::string text = in_words(plan, o);
  text += fmt::format("{:<11} {:>9} {:>8} {:>6} {:>8} {:>7} {:>5}  {}\n", "", "size", "bits/key",
                      "probes", "fpr", "x bound", "lines", "can, besides add");
  const auto size_of = [](const nlohmann::json& row) {
    return fmt::format("{:>9} {:>8}", as_bytes(row["bytes"].get<double>()),
                       in_column(row["bits_per_key"].get<double>()));
  };
  for (const auto& row : plan["rows"]) {
    std::string line = fmt::format(
        "{:<11} {} {:>6} {:>8} {:>7} {:>5}  {}", row["kind"].get<std::string>(), size_of(row),
        row["probes"].get<int>(), as_rate(row["fpr"].get<double>()),
        in_column(row["times_lower_bound"].get<double>()), row["lines"].get<int>(), can_text(row));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  text += fmt::format("\n{:<39} {:>9} {:>8} {:>8}\n", "", "size", "bits/key", "fpr");
  const auto other = [&](const std::string& name, const nlohmann::json& row, double fpr) {
    text += fmt::format("{:<39} {} {:>8}\n", name, size_of(row), as_rate(fpr));
  };
  other("lower bound of any filter", plan["lower_bound"], plan["fpr"].get<double>());
  for (const auto& row : plan["alternatives"]) {
    other(row["name"].get<std::string>(), row, row["fpr"].get<double>());
  }
  write_output(text + answers_text(plan));
}

// The lookup that stands behind the filter; none when nobody gave its time.
std::optional<sizing::guarded_lookup> lookup_of(const plan_options& o) {
  if (o.lookup_time.empty()) return std::nullopt;
  return sizing::guarded_lookup{
      .present = static_cast<double>(parse_count(o.present)),
      .absent = static_cast<double>(parse_count(o.absent)),
      .filter_time = o.filter_time.empty() ? 0 : parse_time(o.filter_time),
      .lookup_time = parse_time(o.lookup_time)};
}

plan_questions questions_of(const plan_options& o) {
  plan_questions q{.key_bytes = o.key_bytes,
                   .deviation = o.deviation,
                   .packed = o.packed,
                   .lookup = lookup_of(o)};
  q.asked.keys = parse_count(o.keys);
  q.asked.probes = o.probes;
  if (!o.bytes.empty()) {
    q.asked.bytes = parse_bytes(o.bytes);
  } else if (o.bits_per_key) {
    q.asked.bits_per_key = o.bits_per_key;
  } else {
    q.asked.fpr = o.fpr.empty() ? 0.01 : parse_rate(o.fpr);
  }
  if (!o.universe.empty()) {
    q.universe = parse_universe(o.universe);
    if (!(*q.universe > static_cast<double>(q.asked.keys))) {
      throw error(
          errc::bad_argument,
          fmt::format("--universe {}: more keys must be possible than there are", o.universe));
    }
  }
  return q;
}

void run_plan(const plan_options& o) {
  if (o.table) {
    o.json ? print_json(rate_table_json()) : write_output(rate_table_text());
    return;
  }
  if (o.keys.empty()) {
    throw error(errc::bad_argument, "--keys is missing; only --table needs no number of keys");
  }
  const plan_questions q = questions_of(o);
  check_plot(o.plot, o.json);
  const nlohmann::json plan = nlohmann::json::parse(plan_as_json(q));
  const std::string picture = o.plot.empty() ? "" : plot(plan_figure(q.asked, o.panel), o.plot);
  if (o.json) {
    print_json(plan);
  } else {
    print_text(plan, o);
  }
  write_output(picture);
}

}  // namespace

namespace {

void add_questions(command& verb, plan_options& o) {
  verb.add_option("--probes", o.probes, "Fix the number of probes; kinds that cannot are left out")
      ->type_name("K");
  verb.add_option("--universe", o.universe,
                  "How many keys there could be: 2^32, 1e9; for the exact bound and a bitmap")
      ->type_name("U");
  verb.add_option("--key-bytes", o.key_bytes, "Bytes of a key, for what stores them (default 20)")
      ->type_name("B");
  verb.add_option("--deviation", o.deviation,
                  "How likely one classic filter's share of zeros is so far from its mean: 0.001")
      ->type_name("D");
  verb.add_option("--packed", o.packed,
                  "The best filter to send packed, with at most B bits per key in memory")
      ->type_name("B");
  option* lookup = verb.add_option("--lookup-time", o.lookup_time,
                                   "Time of a lookup that the filter may save: 500ms, 20us")
                       ->type_name("T");
  const auto cost = [&](const char* name, std::string& value, const char* help, const char* type) {
    return verb.add_option(name, value, help)->needs(lookup)->type_name(type);
  };
  cost("--filter-time", o.filter_time, "Time of asking the filter (default 0s)", "T");
  lookup->needs(cost("--present", o.present, "Lookups for keys that are there: 2000", "N"));
  lookup->needs(cost("--absent", o.absent, "Lookups for keys that are not: 100k", "N"));
}

}  // namespace

void add_plan(command& app, int& /*status*/) {
  auto o = std::make_shared<plan_options>();
  command* verb = app.add_subcommand("plan", "Compare the sizes of every kind before building one");
  verb->add_option("--keys", o->keys, "Number of keys: 1000, 1e9, 64k, 2.5M, 10G")->type_name("N");
  option* fpr = verb->add_option("--fpr", o->fpr,
                                 "Highest false-positive rate: 0.01, 1% or 1e-2 (default 1%)")
                    ->type_name("P");
  option* bytes = verb->add_option("--bytes", o->bytes,
                                   "The memory that there is, instead of a rate: 64k, 10M, 2Gi")
                      ->excludes(fpr)
                      ->type_name("M");
  verb->add_option("--bits-per-key", o->bits_per_key, "The same for each key: 8, 9.6")
      ->excludes(fpr)
      ->excludes(bytes)
      ->type_name("B");
  add_questions(*verb, *o);
  verb->add_flag("--table", o->table,
                 "Only the rates of a classic filter by bits per key and probes");
  verb->add_flag("--json", o->json, "Print it as JSON");
  option* drawn = add_plot(*verb, o->plot);
  verb->add_option("--panel", o->panel, "Draw one panel only: probes, bits, kinds or packed")
      ->one_of({"probes", "bits", "kinds", "packed"})
      ->needs(drawn)
      ->type_name("P");
  add_quiet(*verb, o->quiet);
  verb->footer(
      "Example:\n  bloomery plan --keys 1e9 --fpr 0.1%\n  bloomery plan --keys 7M --bytes 8M\n"
      "  bloomery plan --keys 7M --plot plan.svg\n"
      "  bloomery plan --keys 5M --fpr 3% --key-bytes 40 --lookup-time 500ms --filter-time 1ms \\\n"
      "      --present 2000 --absent 100k");
  verb->callback([o] { run_plan(*o); });
}

}  // namespace bloomery::cli
