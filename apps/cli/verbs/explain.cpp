// bloomery explain: what a filter looks at when asked for a key, and why it answers as it does.
#include <fmt/format.h>

#include <algorithm>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/detail/core/block_geometry.hpp"
#include "bloomery/filter/explanation.hpp"
#include "bloomery/format/describe.hpp"
#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/input/keys.hpp"
#include "cli/output/array_change.hpp"
#include "cli/output/plot.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct explain_options {
  std::string path;
  std::string key;
  std::string key_file;
  record_options form;  // how the key is spelled
  bool before = false;
  std::string plot;
  bool quiet = false;
  bool json = false;
};

// The bits of a block, a line for each lane. What the key asks for stands out.
std::string draw_block(const explanation& e) {
  using block_geometry::lane_bits;
  std::string text = "          bit 0                            31\n";
  const std::uint64_t block_bits = e.block.size() * 64;
  for (std::uint64_t bit = 0; bit < block_bits; ++bit) {
    if (bit % lane_bits == 0) text += fmt::format("  lane {:>2}  ", bit / lane_bits);
    const bool set = detail::test_bit(e.block.data(), bit);
    const bool asked = std::ranges::any_of(
        e.places, [&](const key_place& p) { return p.position % block_bits == bit; });
    text += asked ? (set ? "█" : "○") : (set ? "▪" : "·");
    if (bit % lane_bits == lane_bits - 1) text += '\n';
  }
  return text + "          █ set and asked for   ○ asked for, not set   ▪ set   · not set\n";
}

std::string place_text(const explanation& e, const key_place& p) {
  std::string text = fmt::format("{} {}", e.unit, with_commas(p.position));
  if (!e.block.empty()) {
    using block_geometry::lane_bits;
    const std::uint64_t block_bits = e.block.size() * 64;
    text += fmt::format(" (lane {}, bit {} of block {})", p.position % block_bits / lane_bits,
                        p.position % lane_bits, with_commas(p.position / block_bits));
  }
  return text + fmt::format(" is {}", p.value);
}

std::string number_text(const named_number& n, bool hexadecimal) {
  const auto one = [&](std::uint64_t value) {
    return hexadecimal ? fmt::format("{:x}", value) : with_commas(value);
  };
  if (const auto* const value = std::get_if<std::uint64_t>(&n.value)) return one(*value);
  if (const auto* const value = std::get_if<bool>(&n.value)) return *value ? "yes" : "no";
  std::string all;
  for (const std::uint64_t value : std::get<std::vector<std::uint64_t>>(n.value)) {
    if (!all.empty()) all += hexadecimal ? " " : ", ";
    all += one(value);
  }
  return all;
}

std::string sentence(const finding& f) {  // with its numbers in it
  std::string text(f.text);
  for (const named_number& n : f.numbers) {
    for (const bool hexadecimal : {false, true}) {
      const std::string mark = fmt::format("{{{}{}}}", n.name, hexadecimal ? ":x" : "");
      if (const auto at = text.find(mark); at != std::string::npos) {
        text.replace(at, mark.size(), number_text(n, hexadecimal));
      }
    }
  }
  return text;
}

std::string verdict(const any_filter& f, const explanation& e, bool contained, double fpr) {
  const std::string reason = sentence(e.why);
  if (!contained && !reason.empty()) return "surely not in the set: " + reason;
  const auto zero = std::ranges::count(e.places, 0U, &key_place::value);
  if (!contained && !e.places.empty()) {
    return fmt::format(
        "surely not in the set: {} of its {} {}s are 0, and a key that was added "
        "has none",
        zero, e.places.size(), e.unit);
  }
  if (!contained) return "surely not in the set";
  std::string why;
  if (!reason.empty()) {
    why = ": " + reason;
  } else if (!e.places.empty()) {
    why = fmt::format(": all {} {}s are set", e.places.size(), e.unit);
  }
  if (f.keys() == 0) return "probably in the set" + why;
  return fmt::format("probably in the set{}; of keys that are not in it, {} look so too", why,
                     as_rate(fpr));
}

// The array before and after the key is added to a copy in memory; the file stays as it is.
std::optional<array_change> change_by(const explain_options& o, const any_filter& f,
                                      std::string_view key) {
  if (!o.before && o.plot.empty()) return std::nullopt;
  constexpr std::uint64_t largest = std::uint64_t{1} << 28U;
  if (f.shape().bits > largest) {
    throw error(errc::unsupported,
                fmt::format("{}: --before copies the filter, and is for up to {}", o.path,
                            as_bytes(static_cast<double>(largest / 8))));
  }
  any_filter copy = any_filter::copy_of(f.version(), f.hasher());
  return add_and_compare(copy, key, o.key, o.path);
}

void add_changes(nlohmann::json& object, const array_change& c) {
  nlohmann::json& cells = object["cells_of_key"] = nlohmann::json::array();
  for (const changed_row& row : c.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (!row.cells[i].of_key) continue;
      cells.push_back({{"position", row.first + i},
                       {"before", row.cells[i].before},
                       {"after", row.cells[i].after}});
    }
  }
}

int run_explain(const explain_options& o) {
  check_plot(o.plot, o.json);
  any_filter f = open_filter(as_file(o.path), o.key_file, o.form.form());
  f->advance(clock_now());
  const std::string key = spelled_key(o.key, o.form);
  const std::string_view view = key;
  std::optional<std::uint64_t> hash;
  if (!makes_digests(hash_name(f.hash().id))) {
    std::uint64_t made = 0;
    f.hasher()->hash({&view, 1}, {&made, 1});
    hash = made;
  }
  const bool contained = f.contains(view);
  const explanation e = f->explain(view, *f.hasher());
  const double fpr = quick_fpr(f);
  const std::optional<array_change> change = change_by(o, f, view);
  if (!o.plot.empty() && o.plot != "-") write_picture(change_picture(*change), o.plot);
  if (o.json) {
    nlohmann::json object = nlohmann::json::parse(explain_as_json(f, view, *f.hasher()));
    object["key"] = o.key;
    if (change) add_changes(object, *change);
    print_json(object);
    return contained ? exit_success : exit_no_match;
  }
  if (o.quiet) return contained ? exit_success : exit_no_match;
  std::string text = fmt::format("key      {} ({})\n", escaped(o.key), counted(key.size(), "byte"));
  text += fmt::format("filter   {}: {}, {}, {}\n", escaped(name_of_input(o.path)),
                      kind_name(f.shape().kind), counted(f.keys(), "key"),
                      counted(f.shape().probes, "probe"));
  text += fmt::format("hash     {}", hash_name(f.hash().id));
  if (f.hash().seed != 0) text += fmt::format(", seed {}", f.hash().seed);
  text += hash ? fmt::format(": {:016x}\n", *hash) : "\n";
  for (const key_place& p : e.places) text += fmt::format("         {}\n", place_text(e, p));
  for (const finding& found : e.findings) text += fmt::format("         {}\n", sentence(found));
  const bool drawn = o.before || o.plot == "-";
  if (drawn) text += change_chart(*change);
  if (!e.block.empty() && !drawn) text += draw_block(e);
  text += fmt::format("verdict  {}\n", verdict(f, e, contained, fpr));
  write_output(text);
  return contained ? exit_success : exit_no_match;
}

}  // namespace

void add_explain(command& app, int& status) {
  auto o = std::make_shared<explain_options>();
  command* verb = app.add_subcommand("explain", "Show why a filter answers as it does for a key");
  verb->add_option("F", o->path, "The filter file to ask; - is standard input")
      ->required()
      ->type_name("");
  verb->add_option("KEY", o->key, "The key")->required()->type_name("");
  option* integers = verb->add_flag("--integers", o->form.integers, "The key is a 64-bit integer");
  option* hex = verb->add_flag("--hex", o->form.hex, "The key is bytes in hexadecimal");
  verb->add_option("--kmer", o->form.kmer, "The key is a k-mer, in either direction")
      ->between(1U, max_kmer_bases)
      ->type_name("K")
      ->excludes(integers)
      ->excludes(hex->excludes(integers));
  add_key_file(*verb, o->key_file);
  add_opening_options(*verb);
  verb->add_flag("--before", o->before,
                 "Show the array before and after adding the key; the file stays as it is");
  verb->add_option("--plot", o->plot, "Draw that to FILE.svg or FILE.png, or with - as text")
      ->type_name("FILE");
  verb->add_flag("--json", o->json, "Print it as JSON");
  add_quiet(*verb, o->quiet, true);
  verb->footer(
      "Exit status: 0 when the key is probably in the set, 1 when it surely is not, 2 after an "
      "error.\n\nExample:\n  bloomery explain words.bloom mango\n"
      "  bloomery explain --before --plot mango.svg words.bloom mango");
  verb->callback([o, &status] { status = run_explain(*o); });
}

}  // namespace bloomery::cli
