// bloomery info: what a filter file is. It reads the whole file and so verifies all checksums.
#include <fmt/format.h>

#include <algorithm>

#include "bloomery/core/error.hpp"
#include "bloomery/format/delta.hpp"
#include "bloomery/format/describe.hpp"
#include "bloomery/format/version_name.hpp"
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
#include "cli/verbs/wire.hpp"

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
    return fmt::format("the last {} at least", counted(window, "key"));
  }
  const auto covered = info["window_covered"].get<std::uint64_t>();
  if (covered >= window) return fmt::format("the keys of the last {} at least", as_span(window));
  return fmt::format("{}, but it covers only {}: keys came faster than planned", as_span(window),
                     as_last(covered));
}

// The size of the file, and of the bits where the file has them packed.
std::string size_text(const nlohmann::json& info, std::uint64_t keys) {
  const auto with_share = [&](std::string text, std::uint64_t bits) {
    if (keys == 0) return text;
    return fmt::format("{}, {:.2f} bits a key", text,
                       static_cast<double>(bits) / static_cast<double>(keys));
  };
  const auto bytes = info["bytes"].get<std::uint64_t>();
  const auto bits = info["bits"].get<std::uint64_t>();
  if (!info.value("packed", false)) return with_share(counted(bytes, "byte"), bits);
  return with_share(counted(bytes, "byte") + " packed", 8 * bytes) + "; unpacked " +
         with_share(counted(bits / 8, "byte"), bits);
}

// What was asked for passwords, words and addresses is the rate of a lookup; the filter is made of
// strings, and the rate of its bits is theirs.
std::string rate_text(const nlohmann::json& info) {
  const bool derived = info.contains("keys_are");
  const std::string now =
      as_rate(info["fpr_now"].get<double>()) + (derived ? " now for one string" : " now");
  if (info["fpr_target"].is_null()) return now;
  return fmt::format("{}, at most {} asked for{}", now, as_rate(info["fpr_target"].get<double>()),
                     derived ? ", for a lookup, which may take several" : "");
}

// The lines under the name of the file, each with what it is about before it.
class info_lines {
 public:
  void row(std::string_view name, const std::string& value) {
    text_ += fmt::format("  {:<9} {}\n", name, value);
  }
  void add_keys(const nlohmann::json& info, const contents& now);
  void add_counts(const nlohmann::json& info);
  void add_hash(const nlohmann::json& info);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

void info_lines::add_keys(const nlohmann::json& info, const contents& now) {
  const auto planned = info["keys_planned"].get<std::uint64_t>();
  row("keys", fmt::format("{} {}{}", with_commas(info["keys"].get<std::uint64_t>()),
                          now.shared ? "in common" : "added",
                          planned != 0 ? ", planned for " + with_commas(planned) : ""));
  if (!info["keys_estimated"].is_null()) {
    const auto about = info["keys_estimated"].get<std::uint64_t>();
    row("", fmt::format("about {} {}", with_commas(about),
                        now.shared   ? "by its bits: an intersection has some that no key set"
                        : about == 1 ? "different one by what is in it"
                                     : "different ones by what is in it"));
  } else if (info["fill"].get<double>() == 1) {
    row("", "every bit is set: no estimate");
  }
}

void info_lines::add_counts(const nlohmann::json& info) {
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
}

void info_lines::add_hash(const nlohmann::json& info) {
  const bool pairwise_rows = info.contains("rows") && info["rows"] == pairwise_name;
  if (info.contains("rows") && !pairwise_rows) row("rows", info["rows"].get<std::string>());
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
                        (pairwise_rows ? "; rows by pairwise independent functions" : ""));
}

void print_text(const std::string& path, const nlohmann::json& info, const contents& now) {
  info_lines lines;
  lines.add_keys(info, now);
  lines.row("size", size_text(info, now.keys));
  if (info.contains("shard")) {
    lines.row("shard", fmt::format("{} of {}, counted from 0: a slice of a larger filter",
                                   info["shard"].get<std::uint64_t>(),
                                   with_commas(info["shards"].get<std::uint64_t>())));
  }
  lines.row("probes", fmt::format("{}", info["probes"].get<std::uint32_t>()));
  lines.add_counts(info);
  for (const char* fact : {"layers", "doublings", "total", "strings"}) {
    if (info.contains(fact)) lines.row(fact, with_commas(info[fact].get<std::uint64_t>()));
  }
  if (info.contains("window")) lines.row("window", window_text(info));
  lines.row("fill", fmt::format("{:.2f} %", info["fill"].get<double>() * 100));
  lines.row("fpr", rate_text(info));
  lines.add_hash(info);
  lines.row("format", fmt::format("version {}", info["format_version"].get<int>()));
  if (info.contains("name")) lines.row("name", info["name"].get<std::string>() + ", for deltas");
  const std::string of =
      info.contains("keys_are") ? " of " + info["keys_are"].get<std::string>() : "";
  write_output(
      fmt::format("{}: {} filter{}\n{}", path, info["kind"].get<std::string>(), of, lines.text()));
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
  const nlohmann::json info = info_json(*index);
  if (o.json) return print_info(o, info, path);
  const auto number = [&](const char* name) {
    return with_commas(info[name].get<std::uint64_t>());
  };
  const auto bits = static_cast<double>(index->bits());
  std::string text = fmt::format("{}: text index of {}\n", escaped(with_names(path)),
                                 info["unit"].get<std::string>());
  text += fmt::format("  documents {} in {} and {}\n", number("documents"),
                      counted(info["files"].get<std::uint64_t>(), "file"),
                      counted(info["groups"].get<std::uint64_t>(), "group"));
  if (info["replaced"] != 0) {
    text += fmt::format("            {} more replaced: a new index would be without them\n",
                        number("replaced"));
  }
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
  const string_map_file map(std::move(file), {.threads = o.threads});
  const nlohmann::json info = info_json(*map, std::filesystem::file_size(path));
  if (o.json) return print_info(o, info, path);
  const image_view& image = map->image();
  print_text(escaped(with_names(path)), info,
             contents_of(any_filter::copy_of({image.header(), image.words()})));
}

// Prints what a delta leads from and to: its versions are told by the names that info gives them.
void print_delta_info(const info_options& o, const std::string& path, const mapped_file& file) {
  if (!o.plot.empty()) {
    throw error(errc::unsupported, fmt::format("{}: a delta has no picture", path));
  }
  const delta_description d = naming(path, [&] { return describe_delta(file.bytes()); });
  const shape& s = d.header.planned.shape;
  const auto bits_bytes = (s.bits + 63) / 64 * 8;
  if (o.json) {
    return print_info(o,
                      {{"kind", "delta"},
                       {"of", kind_name(s.kind)},
                       {"from", version_name(d.from)},
                       {"to", version_name(d.to)},
                       {"content", d.whole ? "whole" : "changes"},
                       {"keys", d.header.keys},
                       {"keys_planned", d.header.planned.keys},
                       {"bits", bits_bytes * 8},
                       {"bytes", file.bytes().size()},
                       {"hash", hash_name(d.header.hash.id)},
                       {"seed", d.header.hash.seed},
                       {"format_version", format_version}},
                      path);
  }
  write_output(fmt::format(
      "{}: delta between two versions of a {} filter\n"
      "  from      {}\n"
      "  to        {}\n"
      "  keys      {} added in the new version\n"
      "  size      {}\n"
      "  content   {}\n"
      "  format    version {}\n",
      escaped(with_names(path)), kind_name(s.kind), version_name(d.from), version_name(d.to),
      with_commas(d.header.keys), beside_bits(file.bytes().size(), bits_bytes),
      d.whole ? "all of the new version, packed" : "the bits that change", format_version));
}

void print_filter_info(const info_options& o, const std::string& path) {
  if (is_text_index(path)) return print_index_info(o, path);
  bool packed = false;
  {
    mapped_file file(path);
    if (is_string_map(file.bytes())) return print_map_info(o, path, std::move(file));
    if (is_delta(file.bytes())) return print_delta_info(o, path, file);
    packed = is_packed(file.bytes());
  }
  any_filter f = open_verified(path, o.threads);
  const std::string name =
      version_name(content_name(f));  // before the clock makes another version of it
  f->advance(clock_now());
  nlohmann::json info = info_json(f, std::filesystem::file_size(path));
  info["packed"] = packed;
  info["name"] = name;
  const std::string picture = o.plot.empty() ? "" : plot(fill_figure(f, with_names(path)), o.plot);
  if (o.json) {
    print_info(o, info, path);
  } else {
    print_text(escaped(with_names(path)), info, contents_of(f));
  }
  write_output(picture);
}

int run_info(const info_options& o) {
  check_plot(o.plot, o.json);
  if (!o.plot.empty() && o.paths.size() > 1) {
    throw error(errc::bad_argument, "--plot draws one filter, not several");
  }
  if (!o.plot.empty() && o.plot != "-") output_file(o.plot, o.paths, false);
  return for_each_file(o.paths, o.json,
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
  add_limit(*verb);
  add_quiet(*verb, o->quiet);
  add_threads(*verb, o->threads);
  verb->footer(
      "Example:\n  bloomery info words.bloom\n  bloomery info --json words.bloom | jq .fpr_now\n"
      "  bloomery info --plot - words.bloom");
  verb->callback([o, &status] { status = run_info(*o); });
}

}  // namespace bloomery::cli
