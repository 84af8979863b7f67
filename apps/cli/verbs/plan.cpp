// bloomery plan: how large a filter of each kind would be, and the alternatives to filters.
#include <fmt/format.h>

#include <cmath>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "cli/args/options.hpp"
#include "cli/output/plan_figure.hpp"
#include "cli/output/plot.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct plan_options {
  std::string keys;
  std::string fpr;
  std::string bytes;
  std::string plot;
  std::string panel;
  bool quiet = false;  // there is nothing to silence; scripts give it to every verb
  bool json = false;
};

struct alternative {
  std::string name;
  double bytes;
  double fpr;
};

// What can be used instead of a filter, for n keys and the same or a lower fpr.
std::vector<alternative> alternatives(double n, double fpr) {
  // A list of n hashes of b bits has a false-positive rate of n/2^b.
  const double cut = std::ceil(std::log2(n / fpr));
  return {{fmt::format("sorted list of {:.0f}-bit hashes", cut), n * cut / 8, n * std::exp2(-cut)},
          {"sorted list of 64-bit hashes", n * 8, n * 0x1p-64},
          // A table with open addressing that is 7/8 full, with a byte of metadata for each slot.
          {"hash table of 64-bit hashes", n / 0.875 * 9, n * 0x1p-64},
          // Each key has a pointer, and an allocation with its length and the allocator's overhead.
          {"hash table of 20-byte keys", n * 40, 0}};
}

nlohmann::json make_row(const sizing::request& r) {
  const plan p = sizing::make_plan(r);
  const abilities can = abilities_of(r.kind);
  return {{"kind", kind_name(r.kind)},
          {"bits_per_key", p.bits_per_key()},
          {"bytes", (p.shape.bits + 63) / 64 * 8},
          {"probes", p.shape.probes},
          {"fpr", p.fpr},
          {"times_lower_bound",
           static_cast<double>(p.shape.bits) / sizing::lower_bound_bits(r.keys, p.fpr)},
          {"lines", sizing::lines_of_lookup(p.shape)},
          {"add", can.add},
          {"remove", can.remove},
          {"count", can.count},
          {"value", can.value},
          {"merge", can.merge},
          {"grow", can.grow},
          {"forget", can.forget}};
}

// The kinds that hold a set. Top-k holds only the most frequent keys, so it has no size for all.
nlohmann::json make_rows(const sizing::request& asked) {
  nlohmann::json rows = nlohmann::json::array();
  std::optional<error> reason;
  for (const filter_kind kind : all_kinds()) {
    if (abilities_of(kind).lists_top) continue;
    sizing::request r = asked;
    r.kind = kind;
    try {
      rows.push_back(make_row(r));
    } catch (const error& e) {
      if (!reason) reason = e;  // such a kind has no line; if none can, the first reason is thrown
    }
  }
  if (rows.empty()) throw error(*reason);
  return rows;
}

nlohmann::json make_json(const sizing::request& r) {
  nlohmann::json rows = make_rows(r);
  // If a size is given, rates differ by kind, and the lower bound is that for the best one.
  double fpr = 1;
  for (const auto& row : rows) fpr = std::min(fpr, row["fpr"].get<double>());
  if (r.fpr) fpr = *r.fpr;
  const double bound = sizing::lower_bound_bits(r.keys, fpr);
  nlohmann::json others = nlohmann::json::array();
  for (const alternative& a : alternatives(static_cast<double>(r.keys), fpr)) {
    others.push_back({{"name", a.name},
                      {"bytes", static_cast<std::uint64_t>(std::ceil(a.bytes))},
                      {"bits_per_key", a.bytes * 8 / static_cast<double>(r.keys)},
                      {"fpr", a.fpr}});
  }
  return {{"keys", r.keys},
          {"fpr", fpr},
          {"rows", rows},
          {"lower_bound",
           {{"bits_per_key", bound / static_cast<double>(r.keys)},
            {"bytes", static_cast<std::uint64_t>(std::ceil(bound / 8))}}},
          {"alternatives", others}};
}

std::string can_text(const nlohmann::json& row) {
  std::string text = row["add"].get<bool>() ? "" : "static";
  for (const char* ability : {"remove", "count", "value", "merge", "grow", "forget"}) {
    if (!row[ability].get<bool>()) continue;
    text += text.empty() ? "" : " ";
    text += ability;
  }
  return text;
}

// The result in a sentence, with the command to build that filter.
std::string in_words(const nlohmann::json& plan, const plan_options& o) {
  const bool by_size = !o.bytes.empty();  // then kinds differ in their rates, else in their sizes
  std::string text =
      fmt::format("{} keys {}:", with_commas(plan["keys"].get<std::uint64_t>()),
                  by_size ? "in " + as_bytes(static_cast<double>(parse_bytes(o.bytes)))
                          : "at " + as_rate(plan["fpr"].get<double>()));
  const auto told = [](const nlohmann::json& rows, const char* field, std::string_view name,
                       bool rate) {
    for (const auto& row : rows) {
      if (row[field].get<std::string>() != name) continue;
      return rate ? as_rate(row["fpr"].get<double>()) : as_bytes(row["bytes"].get<double>());
    }
    return std::string("none");
  };
  for (const auto& [kind, shown] :
       {std::pair{"blocked", "blocked"}, std::pair{"classic", "classic"},
        std::pair{"ribbon", "static (ribbon)"}}) {
    text += fmt::format(" {} {},", shown, told(plan["rows"], "kind", kind, by_size));
  }
  text += fmt::format(" a hash table of 20-byte keys about {}.",
                      told(plan["alternatives"], "name", "hash table of 20-byte keys", false));
  const std::string size =
      o.bytes.empty() ? "--fpr " + (o.fpr.empty() ? "1%" : o.fpr) : "--bytes " + o.bytes;
  return wrapped(text, 0, 0) +
         wrapped(fmt::format("Run 'bloomery build {} -o F KEYS'; add '--kind ribbon' for the "
                             "smallest if the keys never change.",
                             size),
                 0, 0) +
         "\n";
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
  text += fmt::format("\n{:<30} {:>9} {:>8} {:>8}\n", "", "size", "bits/key", "fpr");
  const auto other = [&](const std::string& name, const nlohmann::json& row, double fpr) {
    text += fmt::format("{:<30} {} {:>8}\n", name, size_of(row), as_rate(fpr));
  };
  other("lower bound of any filter", plan["lower_bound"], plan["fpr"].get<double>());
  for (const auto& row : plan["alternatives"]) {
    other(row["name"].get<std::string>(), row, row["fpr"].get<double>());
  }
  write_output(text);
}

void run_plan(const plan_options& o) {
  sizing::request r;
  r.keys = parse_count(o.keys);
  if (!o.bytes.empty()) {
    r.bytes = parse_bytes(o.bytes);
  } else {
    r.fpr = o.fpr.empty() ? 0.01 : parse_rate(o.fpr);
  }
  check_plot(o.plot, o.json);
  const nlohmann::json plan = make_json(r);
  const std::string picture = o.plot.empty() ? "" : plot(plan_figure(r, o.panel), o.plot);
  if (o.json) {
    print_json(plan);
  } else {
    print_text(plan, o);
  }
  write_output(picture);
}

}  // namespace

void add_plan(command& app, int& /*status*/) {
  auto o = std::make_shared<plan_options>();
  command* verb = app.add_subcommand("plan", "Compare the sizes of every kind before building one");
  verb->add_option("--keys", o->keys, "Number of keys: 1000, 1e9, 64k, 2.5M, 10G")
      ->required()
      ->type_name("N");
  option* fpr = verb->add_option("--fpr", o->fpr,
                                 "Highest false-positive rate: 0.01, 1% or 1e-2 (default 1%)")
                    ->type_name("P");
  verb->add_option("--bytes", o->bytes, "The memory that there is, instead of a rate: 64K, 10M, 2G")
      ->excludes(fpr)
      ->type_name("M");
  verb->add_flag("--json", o->json, "Print it as JSON");
  option* drawn = add_plot(*verb, o->plot);
  verb->add_option("--panel", o->panel, "Draw one panel only: probes, kinds or packed")
      ->one_of({"probes", "kinds", "packed"})
      ->needs(drawn)
      ->type_name("P");
  add_quiet(*verb, o->quiet);
  verb->footer(
      "Example:\n  bloomery plan --keys 1e9 --fpr 0.1%\n  bloomery plan --keys 7M --bytes 8M\n"
      "  bloomery plan --keys 7M --plot plan.svg");
  verb->callback([o] { run_plan(*o); });
}

}  // namespace bloomery::cli
