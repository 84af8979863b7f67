// bloomery compact: a filter that has grown becomes one blocked filter of the right size.
#include <fmt/format.h>

#include "bloomery/core/error.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/format/key_cover.hpp"
#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/input/source.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct compact_options {
  input_options input;
  std::string output;
  std::string path;
  std::string key_file;
  bool no_wait = false;
  bool json = false;
};

// Throws if a key is not in the old filter: then the input is another set, and keys would be lost.
void check_known(const any_filter& old, const chunk& c, const std::string& path) {
  std::vector<std::uint64_t> bitmap((c.keys.size() + 63) / 64);
  old.contains_bits(c.keys, bitmap);
  for (std::size_t i = 0; i < c.keys.size(); ++i) {
    if (((bitmap[i / 64] >> (i % 64)) & 1U) != 0) continue;
    throw error(errc::mismatch, fmt::format("the input has the key '{}', which {} does not contain",
                                            c.keys[i].substr(0, 60), path));
  }
}

void run_compact(const compact_options& o) {
  std::vector<std::string> inputs = o.input.paths;
  if (!o.key_file.empty()) inputs.push_back(o.key_file);
  output_file out(o.output, inputs, o.json);
  out.hold({o.path}, {.quiet = o.input.quiet, .wait = !o.no_wait});
  const any_filter old = open_filter(as_file(o.path), o.key_file, o.input.records.form());
  const std::optional<plan> right_size = old->compact_plan();
  require(right_size.has_value(), old, o.path,
          "has one size; only filters that grow can be compacted");
  within_limit([&] {  // the file says how many keys it has
    const std::uint64_t bytes = old.shape().bits / 8;
    check_memory(right_size->shape.bits / 8, opening_asked().memory, bytes);
  });
  any_filter one(*right_size, old.hasher());
  progress meter("reading", o.input.show());
  key_source source(o.input.paths, o.input.records, meter);
  key_cover came_again(old);
  for_each_chunk(source, o.input.threads, [&](const chunk& c) {
    check_known(old, c, o.path);
    thread_local std::vector<std::uint64_t> hashes;
    hashes.resize(c.keys.size());
    old.hasher()->hash(c.keys, hashes);
    came_again.take(hashes);
    one->add_hashes_concurrent(hashes);
  });
  meter.clear();
  if (const std::uint64_t lacking = came_again.lacking(); lacking != 0) {
    throw error(errc::mismatch,
                fmt::format("the input lacks at least {} that {} holds: it must have all of them",
                            counted(lacking, "key"), o.path));
  }
  one.save(out.path());
  out.finish(o.input.quiet);
  if (!o.input.quiet) print_summary(out.name(), one);
  if (o.json) print_json(info_json(one, out.bytes()));
}

}  // namespace

void add_compact(command& app, int& /*status*/) {
  auto o = std::make_shared<compact_options>();
  command* verb =
      app.add_subcommand("compact", "Make one filter of one that has grown, from its keys");
  verb->add_option("-o,--output", o->output, "The blocked filter to write; - is standard output")
      ->required()
      ->type_name("F");
  verb->add_option("A", o->path, "The scalable or layered filter; - is standard input")
      ->required()
      ->type_name("");
  add_key_file(*verb, o->key_file);
  add_opening_options(*verb);
  add_no_wait(*verb, o->no_wait);
  verb->add_flag("--json", o->json, "Print what was made as JSON");
  add_input_options(*verb, o->input);
  verb->footer(
      "A filter does not hold its keys, so all of them must come again. An input that lacks some "
      "is "
      "refused: one key goes unnoticed as rarely as the filter is wrong, several hardly ever. The "
      "result has the rate that was asked for and about half the size.\n\n"
      "Example:\n  bloomery compact -o urls.bloom grown.bloom urls.txt");
  verb->callback([o] { run_compact(*o); });
}

}  // namespace bloomery::cli
