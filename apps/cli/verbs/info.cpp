// bloomery info: what a filter file is. It reads the whole file and so verifies all checksums.
#include <fmt/format.h>

#include <algorithm>

#include "bloomery/core/error.hpp"
#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/input/keys.hpp"
#include "cli/output/fill_figure.hpp"
#include "cli/output/plot.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/each_file.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct info_options {
  std::vector<std::string> paths;
  std::string plot;
  unsigned threads = 0;
  bool quiet = false;  // there is nothing to silence; scripts give it to every verb
  bool json = false;
};

std::string window_text(const nlohmann::json& info) {
  const auto window = info["window"].get<std::uint64_t>();
  if (!info.contains("window_covered")) {
    return fmt::format("the last {} keys at least", with_commas(window));
  }
  const auto covered = info["window_covered"].get<std::uint64_t>();
  if (covered >= window) return fmt::format("the keys of the last {} at least", as_span(window));
  return fmt::format("{}, but only the last {} are covered: keys came faster than planned",
                     as_span(window), as_span(covered));
}

void print_text(const std::string& path, const nlohmann::json& info, const contents& now) {
  const auto keys = info["keys"].get<std::uint64_t>();
  const auto planned = info["keys_planned"].get<std::uint64_t>();
  std::string text =
      fmt::format("{}: {} filter{}\n", path, info["kind"].get<std::string>(),
                  info.contains("keys_are") ? " of " + info["keys_are"].get<std::string>() : "");
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<9} {}\n", name, value);
  };
  row("keys", fmt::format("{} {}{}", with_commas(keys), now.shared ? "in common" : "added",
                          planned != 0 ? ", planned for " + with_commas(planned) : ""));
  if (!info["keys_estimated"].is_null()) {
    row("", fmt::format("about {} {}", with_commas(info["keys_estimated"].get<std::uint64_t>()),
                        now.shared ? "by its bits: an intersection has some that no key set"
                                   : "different ones by what is in it"));
  } else if (info["fill"].get<double>() == 1) {
    row("", "every bit is set: no estimate");
  }
  std::string size = counted(info["bytes"].get<std::uint64_t>(), "byte");
  if (now.keys != 0) {
    size +=
        fmt::format(", {:.2f} bits a key", static_cast<double>(info["bits"].get<std::uint64_t>()) /
                                               static_cast<double>(now.keys));
  }
  row("size", size);
  if (info.contains("shard")) {
    row("shard", fmt::format("{} of {}, counted from 0: a slice of a larger filter",
                             info["shard"].get<std::uint64_t>(),
                             with_commas(info["shards"].get<std::uint64_t>())));
  }
  row("probes", fmt::format("{}", info["probes"].get<std::uint32_t>()));
  if (info.contains("saturated")) {
    const auto full = info["saturated"].get<std::uint64_t>();
    row("saturated", fmt::format("{} counters{}", with_commas(full),
                                 full == 0 ? "" : ": counts that they give are at least that"));
  }
  if (info.contains("overflow_bound")) {
    row("overflow", fmt::format("a probability of at most {} for that, for different keys; times t "
                                "after t different sets",
                                as_rate(info["overflow_bound"].get<double>())));
  }
  if (info.contains("epsilon")) {
    row("counts",
        fmt::format("too high by more than {} of the total in at most {} of all cases",
                    as_rate(info["epsilon"].get<double>()), as_rate(info["delta"].get<double>())));
  }
  for (const char* fact : {"layers", "doublings", "total", "strings"}) {
    if (info.contains(fact)) row(fact, with_commas(info[fact].get<std::uint64_t>()));
  }
  if (info.contains("window")) row("window", window_text(info));
  row("fill", fmt::format("{:.2f} %", info["fill"].get<double>() * 100));
  row("fpr",
      fmt::format("{} now{}", as_rate(info["fpr_now"].get<double>()),
                  info["fpr_target"].is_null()
                      ? ""
                      : ", at most " + as_rate(info["fpr_target"].get<double>()) + " asked for"));
  if (info.contains("kmer")) {
    row("form", fmt::format("k-mers of {} bases", info["kmer"].get<int>()));
  } else if (!info["form"].is_null()) {
    row("form", info["form"].get<std::string>());
  }
  row("hash", info.contains("key_id")
                  ? fmt::format("{}, key id {}", info["hash"].get<std::string>(),
                                info["key_id"].get<std::string>())
                  : fmt::format("{}, seed {}", info["hash"].get<std::string>(),
                                info["seed"].get<std::uint64_t>()) +
                        (info.contains("rows") ? "; rows by pairwise independent functions" : ""));
  row("format", fmt::format("version {}", info["format_version"].get<int>()));
  write_output(text);
}

// One object for each file. Among several it says which one it is about.
void print_info(const info_options& o, nlohmann::json info, const std::string& path) {
  if (o.paths.size() > 1) info["file"] = with_names(path);
  print_json(info);
}

// Prints what a text index is: it has documents where a filter has keys, and no picture.
void print_index_info(const info_options& o, const std::string& path) {
  if (!o.plot.empty()) {
    throw error(errc::unsupported, fmt::format("{}: a text index has no picture", path));
  }
  const text_index index(path);
  index.verify();
  const nlohmann::json info = info_json(*index);
  if (o.json) return print_info(o, info, path);
  const auto number = [&](const char* name) {
    return with_commas(info[name].get<std::uint64_t>());
  };
  const auto bits = static_cast<double>(index->bits());
  std::string text =
      fmt::format("{}: text index of {}\n", with_names(path), info["unit"].get<std::string>());
  text += fmt::format("  documents {} in {} and {}\n", number("documents"),
                      counted(info["files"].get<std::uint64_t>(), "file"),
                      counted(info["groups"].get<std::uint64_t>(), "group"));
  text += fmt::format("  {:<9} {}, each once for a document\n",
                      info.contains("kmer") ? number("kmer") + "-mers" : "words", number("keys"));
  text += fmt::format("  size      {} bytes, {:.2f} bits a word\n", number("bytes"),
                      bits / static_cast<double>(std::max<std::uint64_t>(1, index->words())));
  text += fmt::format("  probes    {}\n", number("probes"));
  text += fmt::format("  fpr       {} of the documents for each word, at most {} asked for\n",
                      as_rate(index->fpr()), as_rate(index->options().fpr));
  text += fmt::format("  hash      xxh3, seed {}\n", index->options().seed);
  text += fmt::format("  format    version {}\n", format_version);
  write_output(text);
}

void print_map_info(const info_options& o, const std::string& path, mapped_file file) {
  if (!o.plot.empty()) {
    throw error(errc::unsupported, fmt::format("{}: a map of strings has no picture", path));
  }
  const string_map_file map(std::move(file));
  map.verify(o.threads);
  const nlohmann::json info = info_json(*map, std::filesystem::file_size(path));
  if (o.json) return print_info(o, info, path);
  const image_view& image = map->image();
  print_text(with_names(path), info,
             contents_of(any_filter::copy_of({image.header(), image.words()})));
}

void print_filter_info(const info_options& o, const std::string& path) {
  if (is_text_index(path)) return print_index_info(o, path);
  if (mapped_file file(path); is_string_map(file.bytes())) {
    return print_map_info(o, path, std::move(file));
  }
  any_filter f = any_filter::open(path);
  f.verify(o.threads);
  f->advance(clock_now());
  const nlohmann::json info = info_json(f, std::filesystem::file_size(path));
  const std::string picture = o.plot.empty() ? "" : plot(fill_figure(f, with_names(path)), o.plot);
  if (o.json) {
    print_info(o, info, path);
  } else {
    print_text(with_names(path), info, contents_of(f));
  }
  write_output(picture);
}

int run_info(const info_options& o) {
  check_plot(o.plot, o.json);
  if (!o.plot.empty() && o.paths.size() > 1) {
    throw error(errc::bad_argument, "--plot draws one filter, not several");
  }
  if (!o.plot.empty() && o.plot != "-") output_file(o.plot, o.paths, false);
  return for_each_file(o.paths,
                       [&](const std::string& path) { print_filter_info(o, as_file(path)); });
}

}  // namespace

void add_info(command& app, int& status) {
  auto o = std::make_shared<info_options>();
  command* verb = app.add_subcommand("info", "Say what filter files are");
  verb->add_option("F", o->paths, "The filter files; - is standard input")
      ->required()
      ->type_name("");
  verb->add_flag("--json", o->json, "Print it as JSON");
  add_plot(*verb, o->plot);
  add_quiet(*verb, o->quiet);
  add_threads(*verb, o->threads);
  verb->footer(
      "Example:\n  bloomery info words.bloom\n  bloomery info --json words.bloom | jq .fpr_now\n"
      "  bloomery info --plot - words.bloom");
  verb->callback([o, &status] { status = run_info(*o); });
}

}  // namespace bloomery::cli
