// bloomery top: the most frequent keys of a stream, in memory that does not grow with it.
#include <fmt/format.h>

#include "bloomery/format/file.hpp"
#include "bloomery/sketch/top_k.hpp"
#include "cli/args/options.hpp"
#include "cli/input/keys.hpp"
#include "cli/input/source.hpp"
#include "cli/output/report.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct top_options {
  input_options input;
  std::uint32_t k = 10;
  std::string output;
  std::string from;
  bool json = false;
};

int print(const top_options& o, const top_k& sketch) {
  const auto entries = sketch.entries();
  if (o.json) {
    nlohmann::json rows = nlohmann::json::array();
    for (const top_k_entry& e : entries) {
      std::string key;
      append_readable(key, e.key, o.input.records);
      rows.push_back({{"key", key}, {"count", e.count}});
    }
    print_json({{"keys", sketch.total()}, {"top", rows}});
  } else {
    std::string text;
    for (const top_k_entry& e : entries) {
      append_readable(text, e.key, o.input.records);
      text.append(fmt::format("\t{}{}", e.count, o.input.records.line_end()));
    }
    write_output(text);
  }
  return entries.empty() ? exit_no_match : exit_success;
}

int run_top(const top_options& o) {
  progress meter("counting", o.input.show());
  key_source source(o.input.paths, o.input.records, meter);
  const xxh3_hasher hasher(0);
  top_k sketch(top_k_options{.k = o.k});
  hash_in_order(*erase(hasher), source, o.input.threads,
                [&](const chunk& c, auto hashes) { sketch.add_batch(c.keys, hashes); });
  meter.clear();
  if (!o.output.empty()) {
    const image_header header{
        .planned = sketch.planned(), .hash = hasher.spec(), .keys = sketch.keys()};
    atomic_file file(o.output);
    write_image(file, header, sketch.serialise().words());
    file.commit();
  }
  return print(o, sketch);
}

}  // namespace

void add_top(command& app, int& status) {
  auto o = std::make_shared<top_options>();
  command* verb = app.add_subcommand("top", "Print the most frequent keys, with their counts");
  verb->add_option("-k", o->k, "How many (default 10)")->between(1U, 1U << 20U)->type_name("N");
  verb->add_option("-o,--output", o->output, "Also write the sketch, for 'count' and 'info'")
      ->type_name("F");
  verb->add_flag("--json", o->json, "Print them as JSON");
  add_input_options(*verb, o->input);
  verb->footer(
      "Prints KEY, a tab and the count, the largest first. Memory depends on N alone; counts of "
      "keys that\n"
      "come and go can be too low.\n\n"
      "Example:\n  cut -d' ' -f1 access.log | bloomery top -k 20");
  verb->callback([o, &status] { status = run_top(*o); });
}

}  // namespace bloomery::cli
