// What pack, unpack, diff and patch share: filters and their changes in as few bytes as they need.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/format/codec.hpp"
#include "bloomery/format/delta.hpp"
#include "bloomery/format/file.hpp"
#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

struct wire_options {
  std::string output;
  std::string first;
  std::string second;
  unsigned threads = 1;
  bool no_wait = false;
  bool quiet = false;
  bool json = false;
};

// Where the result goes, which may be in place of the first file: see output_file::hold.
struct wire_output : output_file {
  wire_output(const wire_options& o, const std::vector<std::string>& inputs)
      : output_file(o.output, inputs, o.json) {
    hold({o.first}, {.quiet = o.quiet, .wait = !o.no_wait});
  }
};

inline void say(const wire_options& o, const output_file& out, const std::string& text) {
  if (!o.quiet) tell("{}: {}\n", out.name(), text);
}

// "832 bytes, 10.4 % of the 8,000 bytes of the bits"; of small filters it can be more than all.
inline std::string beside_bits(std::uint64_t bytes, std::uint64_t bits_bytes) {
  const double ratio = static_cast<double>(bytes) / static_cast<double>(bits_bytes);
  return fmt::format("{}, {} the {} of the bits", counted(bytes, "byte"),
                     ratio < 1 ? fmt::format("{:.{}f} % of", 100 * ratio, ratio < 0.1 ? 2 : 1)
                               : fmt::format("{:.1f} times", ratio),
                     counted(bits_bytes, "byte"));
}

// Runs `work`; its errors get the name of the file.
template <class Work>
auto naming(const std::string& path, Work work) {
  try {
    return work();
  } catch (const error& e) {
    throw error(e.code(), fmt::format("{}: {}", path, e.what()));
  }
}

// Prints what was written, as build does.
inline void report_written(const wire_options& o, const output_file& out) {
  if (o.quiet && !o.json) return;
  const any_filter f = any_filter::open(out.path(), nullptr, {.verify = false});
  if (!o.quiet) print_summary(out.name(), f);
  if (o.json) print_json(info_json(f, out.bytes()));
}

inline command* add_wire_verb(command& app, const char* name, const char* purpose,
                              const char* written, const std::shared_ptr<wire_options>& o) {
  command* verb = app.add_subcommand(name, purpose);
  verb->add_option("-o,--output", o->output, written)->required()->type_name("F");
  verb->add_flag("--json", o->json, "Print what was written as JSON");
  add_limit(*verb);
  add_quiet(*verb, o->quiet);
  return verb;
}

}  // namespace bloomery::cli
