// bloomery top: the most frequent keys of a stream, in memory that does not grow with it.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/sketch/frequent_keys.hpp"
#include "bloomery/sketch/top_k.hpp"
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

namespace fs = std::filesystem;

struct top_options {
  input_options input;
  std::uint32_t k = 10;
  std::string output;
  hash_options hash = {.usual = "xxh3-secret"};
  bool json = false;
};

// The counts that are certain, as a sketch that goes on from there.
void save_sketch(const std::string& path, std::uint32_t k, const frequent_keys& counts,
                 const any_hasher& hasher) {
  top_k sketch(top_k_options{.k = k});
  for (const frequent_key& e : counts.top(counts.held())) {
    sketch.add(e.key, e.hash, e.count - e.error);
  }
  sketch.set_keys(counts.total());
  const image_header header{
      .planned = sketch.planned(), .hash = hasher.spec(), .keys = sketch.keys()};
  atomic_file file(path);
  write_image(file, header, sketch.serialise().words());
  file.commit();
}

void print_rows(const top_options& o, const std::vector<frequent_key>& rows) {
  std::string text;
  bool exact = true;
  for (const frequent_key& e : rows) {
    append_readable(text, e.key, o.input.records);
    text += fmt::format("\t{}", e.count);
    if (e.error != 0) text += fmt::format("\t{}", e.error);
    text += o.input.records.line_end();
    exact = exact && e.error == 0;
  }
  write_output(text);
  const auto certain = std::ranges::count_if(rows, &frequent_key::certain);
  if (o.input.quiet || (exact && static_cast<std::size_t>(certain) == rows.size())) return;
  tell(
      "bloomery: {} of these {} ranks are certain; a count may be too high by the number behind "
      "it\n",
      certain, rows.size());
}

int print(const top_options& o, const frequent_keys& counts) {
  const std::vector<frequent_key> rows = counts.top(o.k);
  if (o.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const frequent_key& e : rows) {
      std::string key;
      append_readable(key, e.key, o.input.records);
      list.push_back(
          {{"key", key}, {"count", e.count}, {"error", e.error}, {"certain", e.certain}});
    }
    print_json({{"keys", counts.total()}, {"others_at_most", counts.floor()}, {"top", list}});
  } else {
    print_rows(o, rows);
  }
  return rows.empty() ? exit_no_match : exit_success;
}

// The filter that is the only input, if it lists keys; it takes the place of a stream.
std::optional<any_filter> saved_list(const top_options& o) {
  std::error_code none;
  if (o.input.paths.size() != 1 || !fs::is_regular_file(o.input.paths[0], none)) return {};
  const std::string& path = o.input.paths[0];
  if (mapped_file file(path); !begins_like_ours(file.bytes()) || is_text_index(path) ||
                              is_string_map(file.bytes()) || is_delta(file.bytes())) {
    return {};
  }
  any_filter f = open_verified(path, o.input.threads);
  if (!abilities_of(f.shape().kind).lists_top) return {};
  if (!agree(f.hash().form, o.input.records.form())) {
    throw error(errc::mismatch,
                fmt::format("{}: {}", path, wrong_form(f.hash().form, o.input.records.form())));
  }
  return f;
}

int print_saved(const top_options& o, const any_filter& f) {
  const top_k_view view(f.planned(), f.words(), f.keys());
  std::vector<frequent_key> rows;
  for (const top_k_entry& e : view.entries()) {
    if (rows.size() == o.k) break;
    rows.push_back({.key = e.key, .hash = e.hash, .count = e.count, .error = 0, .certain = true});
  }
  if (o.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const frequent_key& e : rows) {
      std::string key;
      append_readable(key, e.key, o.input.records);
      list.push_back({{"key", key}, {"count", e.count}});
    }
    print_json({{"keys", f.keys()}, {"top", list}});
  } else {
    print_rows(o, rows);
  }
  return rows.empty() ? exit_no_match : exit_success;
}

int run_top(const top_options& o) {
  if (const auto saved = saved_list(o)) {
    if (!o.output.empty()) {
      throw error(errc::bad_argument,
                  fmt::format("{} is such a sketch already; leave out -o", o.input.paths[0]));
    }
    return print_saved(o, *saved);
  }
  std::optional<output_file> out;
  if (o.output == "-") {
    throw error(errc::bad_argument, "the keys go to standard output; give -o a file");
  }
  if (!o.output.empty()) {
    std::vector<std::string> inputs = o.input.paths;
    if (!o.hash.key_file.empty()) inputs.push_back(o.hash.key_file);
    out.emplace(o.output, inputs, false);
  }
  progress meter("counting", o.input.show());
  key_source source(o.input.paths, o.input.records, meter);
  const auto hasher = make_hasher(o.hash, 1, o.input.records.form());
  frequent_options room;
  room.keys = std::max(room.keys, 2 * std::size_t{o.k});
  frequent_keys counts(room);
  hash_in_order(*hasher, source, o.input.threads,
                [&](const chunk& c, auto hashes) { counts.add_batch(c.keys, hashes); });
  meter.clear();
  if (out) {
    save_sketch(out->path(), o.k, counts, *hasher);
    out->finish(o.input.quiet);
  }
  if (counts.total() == 0 && !o.input.quiet) tell("bloomery: no keys were read\n");
  return print(o, counts);
}

}  // namespace

void add_top(command& app, int& status) {
  auto o = std::make_shared<top_options>();
  command* verb = app.add_subcommand("top", "Print the most frequent keys, with their counts");
  verb->add_option("-k", o->k, "How many (default 10)")->between(1U, 1U << 20U)->type_name("N");
  verb->add_option("-o,--output", o->output,
                   "Also write a top-k sketch of them, for 'top', 'count' and 'info'")
      ->type_name("F");
  add_hash_options(*verb, o->hash);
  verb->add_flag("--json", o->json, "Print them as JSON");
  add_reading_options(*verb, o->input);
  verb->footer(
      "Prints KEY, a tab and the count, the largest first. Counts are exact for up to 131,072\n"
      "different keys (or 2 N), in 64 MB of keys at most. Of more, a count that may be too high "
      "is\n"
      "followed by a tab and by how much at most, and a line on standard error says how many "
      "ranks\n"
      "are certain. A sketch of kind top-k as the only INPUT is listed instead.\n\n"
      "Example:\n  cut -d' ' -f1 access.log | bloomery top -k 20");
  verb->callback([o, &status] { status = run_top(*o); });
}

}  // namespace bloomery::cli
