// What merge, intersect, fold and compare share: filters as sets.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing_sketch.hpp"
#include "bloomery/format/combine.hpp"
#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

struct set_options {
  std::string output;
  std::vector<std::string> paths;
  std::uint64_t divisor = 2;
  unsigned threads = 1;
  bool no_wait = false;
  bool quiet = false;
  bool json = false;
};

// Where the result goes. It may be one of the filters: they stay as they were until it is whole,
// and nobody else changes it meanwhile. To be made before they are opened.
struct set_output : output_file {
  explicit set_output(const set_options& o) : output_file(o.output, {}, o.json) {
    hold(o.paths, {.quiet = o.quiet, .wait = !o.no_wait});
  }
};

// The options that made the layouts of two filters of one kind differ, or the likeliest ones.
inline std::string_view options_apart(const shape& a, const shape& b) {
  if (a.kind == filter_kind::count_min &&
      ((a.variant ^ b.variant) & sizing::count_min_one_line) != 0) {
    return "--layout";
  }
  shape as_b = a;
  as_b.variant = b.variant;
  if (as_b != b || a.kind != filter_kind::count_min) return "--keys and --fpr";
  return ((a.variant ^ b.variant) & 2U) != 0 ? "--hash" : "--update";
}

// Runs `step`, which combines two filters; its errors get the names of their files, and say how to
// make filters of one kind alike.
template <class Step>
void name_both(const std::string& first, const any_filter& a, const std::string& second,
               const any_filter& b, const Step& step) {
  try {
    step();
  } catch (const error& e) {
    const bool planned = e.code() == errc::mismatch && a.shape().kind == b.shape().kind &&
                         a.shape().shard == b.shape().shard && a.shape() != b.shape();
    throw error(e.code(), fmt::format("{} and {}: {}{}{}", first, second, e.what(),
                                      planned ? "; build both with the same " : "",
                                      planned ? options_apart(a.shape(), b.shape()) : ""));
  }
}

// Opens and verifies all files, and checks that the filters are compatible. Filters that grow may
// differ in size; merging them checks whether it is possible.
inline std::vector<any_filter> open_alike(const std::vector<std::string>& paths, unsigned threads) {
  std::vector<any_filter> filters;
  for (const std::string& path : paths) {
    filters.push_back(open_verified(as_file(path), threads));
    require(abilities_of(filters.back().shape().kind).merge, filters.back(), path,
            "cannot be combined with others");
    const filter_kind first_kind = filters.front().shape().kind;
    if (abilities_of(first_kind).grow && filters.back().shape().kind == first_kind) continue;
    name_both(paths.front(), filters.front(), path, filters.back(),
              [&] { check_combinable(filters.front().header(), filters.back().header()); });
  }
  return filters;
}

inline void report_set(const set_options& o, const output_file& out) {
  if (o.quiet && !o.json) return;
  const any_filter f = any_filter::open(out.path(), nullptr, {.verify = false});
  if (!o.quiet) print_summary(out.name(), f);
  if (o.json) print_json(info_json(f, out.bytes()));
}

// Word by word, for filters of bits.
inline void combine_words(const set_options& o, const std::vector<any_filter>& filters,
                          set_operation operation, output_file& out) {
  std::vector<filter_version> parts;
  parts.reserve(filters.size());
  for (const any_filter& f : filters) parts.push_back(f.version());
  atomic_file file(out.path());
  combine(file, parts, operation);
  file.commit();
  out.finish(o.quiet);
  report_set(o, out);
}

inline command* add_set_verb(command& app, const char* name, const char* purpose,
                             const std::shared_ptr<set_options>& o, int filters) {
  command* verb = app.add_subcommand(name, purpose);
  verb->add_option("-o,--output", o->output, "The filter file to write; - is standard output")
      ->required()
      ->type_name("F");
  verb->add_option("FILTER", o->paths, "Filter files; packed ones too. - is standard input")
      ->required()
      ->expected(filters)
      ->type_name("");
  verb->add_flag("--json", o->json, "Print what was made as JSON");
  add_limit(*verb);
  add_no_wait(*verb, o->no_wait);
  add_threads(*verb, o->threads);
  add_quiet(*verb, o->quiet);
  return verb;
}

}  // namespace bloomery::cli
