// bloomery merge, intersect, fold and compare: filters as sets.
#include <fmt/format.h>

#include <cmath>

#include "bloomery/core/error.hpp"
#include "bloomery/format/combine.hpp"
#include "bloomery/set/estimate.hpp"
#include "cli/args/common.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct set_options {
  std::string output;
  std::vector<std::string> paths;
  std::uint64_t divisor = 2;
  unsigned threads = 1;
  bool quiet = false;
  bool json = false;
};

// Runs `step`; what it throws then names the two files that do not go together.
template <class Step>
void name_both(const std::string& first, const std::string& second, const Step& step) {
  try {
    step();
  } catch (const error& e) {
    throw error(e.code(), fmt::format("{} and {}: {}", first, second, e.what()));
  }
}

// Every one verified, and all of them alike. Filters that grow differ in size all the time; whether
// they can be merged is seen then.
std::vector<any_filter> open_alike(const std::vector<std::string>& paths, unsigned threads) {
  std::vector<any_filter> filters;
  for (const std::string& path : paths) {
    filters.push_back(any_filter::open(path));
    filters.back().verify(threads);
    require(abilities_of(filters.back().shape().kind).merge, filters.back(), path,
            "cannot be combined with others");
    const filter_kind first_kind = filters.front().shape().kind;
    if (abilities_of(first_kind).grow && filters.back().shape().kind == first_kind) continue;
    name_both(paths.front(), path,
              [&] { check_combinable(filters.front().header(), filters.back().header()); });
  }
  return filters;
}

// Says what was made, and warns when its rate is above what the parts were asked for.
void report(const set_options& o) {
  if (o.quiet && !o.json) return;
  const any_filter f = any_filter::open(o.output);
  if (!o.quiet) {
    print_summary(o.output, f);
    const double target = f.planned().fpr_target;
    const double now = f.fpr();
    if (target > 0 && now > target) {
      tell("bloomery: warning: the fpr of {} is {} now, above the {} asked for\n", o.output,
           as_rate(now), as_rate(target));
    }
  }
  if (o.json) print_json(info_json(f, std::filesystem::file_size(o.output)));
}

// Counters add up and cannot be combined word by word.
void run_merge(const set_options& o, const std::vector<any_filter>& filters) {
  any_filter sum = any_filter::copy_of(filters.front().version());
  for (std::size_t i = 1; i < filters.size(); ++i) {
    name_both(o.paths.front(), o.paths[i], [&] { sum.merge(filters[i]); });
  }
  sum.save(o.output);
  report(o);
}

void run_combine(const set_options& o, set_operation operation) {
  const std::vector<any_filter> filters = open_alike(o.paths, o.threads);
  if (operation == set_operation::merge && !is_of_bits(filters.front().shape().kind)) {
    return run_merge(o, filters);
  }
  std::vector<filter_version> parts;
  parts.reserve(filters.size());
  for (const any_filter& f : filters) parts.push_back(f.version());
  atomic_file file(o.output);
  combine(file, parts, operation);
  file.commit();
  report(o);
}

void run_fold(const set_options& o) {
  const any_filter f = any_filter::open(o.paths.front());
  f.verify(o.threads);
  const unpacked_filter folded = fold(f.version(), o.divisor);
  atomic_file file(o.output);
  write_image(file, folded.header, folded.words.words());
  file.commit();
  report(o);
}

// JSON has no infinity: an estimate that does not exist is null.
nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

void run_compare(const set_options& o) {
  const std::vector<any_filter> filters = open_alike(o.paths, o.threads);
  const any_filter& a = filters[0];
  const any_filter& b = filters[1];
  require(is_of_bits(a.shape().kind), a, o.paths[0], "has no bits to compare");
  const comparison c = compare_bits(a.shape(), count_bits(a.words()), count_bits(b.words()),
                                    detail::count_union(a.words(), b.words()));
  const std::vector<std::pair<std::string, estimate>> rows = {
      {"keys_a", c.keys_a},         {"keys_b", c.keys_b},
      {"keys_union", c.keys_union}, {"keys_intersection", c.keys_intersection},
      {"only_a", c.only_a},         {"only_b", c.only_b},
      {"jaccard", c.jaccard}};
  if (o.json) {
    nlohmann::json object = {{"shared_bits", c.shared_bits}};
    for (const auto& [name, e] : rows) {
      object[name] = number(e.value);
      object[name + "_standard_error"] = number(e.standard_error);
    }
    print_json(object);
    return;
  }
  std::string text =
      fmt::format("A is {}, B is {}; estimates by the bits set, with standard errors\n", o.paths[0],
                  o.paths[1]);
  for (const auto& [name, e] : rows) {
    text += name == "jaccard"
                ? fmt::format("  {:<18} {:>16.4f} +- {:.4f}\n", name, e.value, e.standard_error)
                : fmt::format("  {:<18} {:>16.0f} +- {:.0f}\n", name, e.value, e.standard_error);
  }
  text += fmt::format("  {:<18} {:>16}\n", "shared_bits", c.shared_bits);
  write_output(text);
}

command* add_verb(command& app, const char* name, const char* purpose,
                  const std::shared_ptr<set_options>& o, int filters) {
  command* verb = app.add_subcommand(name, purpose);
  verb->add_option("-o,--output", o->output, "The filter file to write")
      ->required()
      ->type_name("F");
  verb->add_option("FILTER", o->paths, "Filter files; packed ones too")
      ->required()
      ->expected(filters)
      ->type_name("");
  verb->add_flag("--json", o->json, "Print what was made as JSON");
  add_threads(*verb, o->threads);
  add_quiet(*verb, o->quiet);
  return verb;
}

}  // namespace

void add_sets(command& app, int& status) {
  auto merged = std::make_shared<set_options>();
  command* merge =
      add_verb(app, "merge", "The union of filters: contains what any of them does", merged, -1);
  merge->footer("Example:\n  bloomery merge -o all.bloom monday.bloom tuesday.bloom");
  merge->callback([merged, &status] {
    run_combine(*merged, set_operation::merge);
    status = exit_success;
  });

  auto shared = std::make_shared<set_options>();
  command* intersect = add_verb(
      app, "intersect", "The intersection of filters: contains what all of them do", shared, -1);
  intersect->footer("Example:\n  bloomery intersect -o both.bloom ours.bloom theirs.bloom");
  intersect->callback([shared, &status] {
    run_combine(*shared, set_operation::intersect);
    status = exit_success;
  });

  auto folded = std::make_shared<set_options>();
  command* fold =
      add_verb(app, "fold", "The same keys in a smaller filter with a higher fpr", folded, 1);
  fold->add_option("--by", folded->divisor, "Fold to 1/D of the size (default 2)")->type_name("D");
  fold->footer("Example:\n  bloomery fold --by 4 -o small.bloom large.bloom");
  fold->callback([folded, &status] {
    run_fold(*folded);
    status = exit_success;
  });

  auto compared = std::make_shared<set_options>();
  command* compare =
      app.add_subcommand("compare", "Estimate how many keys two filters have in common");
  compare->add_option("FILTER", compared->paths, "The two filter files A and B")
      ->required()
      ->expected(2)
      ->type_name("");
  compare->add_flag("--json", compared->json, "Print it as JSON");
  add_threads(*compare, compared->threads);
  add_quiet(*compare, compared->quiet);
  compare->footer("Example:\n  bloomery compare ours.bloom theirs.bloom");
  compare->callback([compared, &status] {
    run_compare(*compared);
    status = exit_success;
  });
}

}  // namespace bloomery::cli
