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
  std::string limit = "8Gi";
  unsigned threads = 1;
  bool quiet = false;
  bool json = false;
};

inline any_filter open_verified(const std::string& path, unsigned threads) {
  any_filter f = any_filter::open(as_file(path));
  f.verify(threads);
  return f;
}

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

inline std::uint64_t most_bits(const wire_options& o) {
  const std::uint64_t bytes = parse_bytes(o.limit);
  return bytes > max_bits / 8 ? max_bits : bytes * 8;
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
  const any_filter f = any_filter::open(out.path());
  if (!o.quiet) print_summary(out.name(), f);
  if (o.json) print_json(info_json(f, out.bytes()));
}

inline void add_limit(command& verb, const std::shared_ptr<wire_options>& o) {
  verb.add_option(
          "--limit", o->limit,
          "Refuse files that claim to hold more: a few bytes can claim terabytes (default 8Gi)")
      ->type_name("M");
}

inline command* add_wire_verb(command& app, const char* name, const char* purpose,
                              const char* written, const std::shared_ptr<wire_options>& o) {
  command* verb = app.add_subcommand(name, purpose);
  verb->add_option("-o,--output", o->output, written)->required()->type_name("F");
  verb->add_flag("--json", o->json, "Print what was written as JSON");
  add_quiet(*verb, o->quiet);
  return verb;
}

}  // namespace bloomery::cli
