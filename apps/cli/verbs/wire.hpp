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
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

struct wire_options {
  std::string output;
  std::string first;
  std::string second;
  std::string limit = "8G";
  unsigned threads = 1;
  bool quiet = false;
  bool json = false;
};

inline any_filter open_verified(const std::string& path, unsigned threads) {
  any_filter f = any_filter::open(path);
  f.verify(threads);
  return f;
}

inline void say(const wire_options& o, const std::string& text) {
  if (!o.quiet) tell("{}: {}\n", o.output, text);
}

inline double percent(std::uint64_t part, std::uint64_t whole) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
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
inline void report_written(const wire_options& o) {
  if (o.quiet && !o.json) return;
  const any_filter f = any_filter::open(o.output);
  if (!o.quiet) print_summary(o.output, f);
  if (o.json) print_json(info_json(f, std::filesystem::file_size(o.output)));
}

inline void add_limit(command& verb, const std::shared_ptr<wire_options>& o) {
  verb.add_option(
          "--limit", o->limit,
          "Refuse files that claim to hold more: a few bytes can claim terabytes (default 8G)")
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
