// bloomery compare: how many keys two filters have in common, by their bits.
#include <cmath>

#include "bloomery/set/estimate.hpp"
#include "bloomery/sketch/count_min.hpp"
#include "cli/verbs/sets.hpp"

namespace bloomery::cli {

namespace {

// JSON has no infinity: an estimate that does not exist is null.
nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

// Two count-min sketches have the size of the join of their streams in common.
void compare_counts(const set_options& o, const any_filter& a, const any_filter& b) {
  const count_min_view left(a.planned(), a.words(), a.keys());
  const count_min_view right(b.planned(), b.words(), b.keys());
  const std::uint64_t product = left.inner_product(right);
  const double most =
      left.epsilon() * static_cast<double>(left.total()) * static_cast<double>(right.total());
  if (o.json) {
    return print_json({{"total_a", left.total()},
                       {"total_b", right.total()},
                       {"inner_product", product},
                       {"inner_product_error", most},
                       {"delta", left.delta()}});
  }
  write_output(fmt::format(
      "A is {}, with {} keys in all; B is {}, with {}\n"
      "  inner product  {}: the sum of count in A times count in B over all keys\n"
      "                 never too low, too high by more than {:.3g} in at most {} of all cases\n",
      o.paths[0], with_commas(left.total()), o.paths[1], with_commas(right.total()),
      with_commas(product), most, as_rate(left.delta())));
}

void run_compare(const set_options& o) {
  const std::vector<any_filter> filters = open_alike(o.paths, o.threads);
  const any_filter& a = filters[0];
  const any_filter& b = filters[1];
  if (a.shape().kind == filter_kind::count_min) {
    return name_both(o.paths[0], o.paths[1], [&] { compare_counts(o, a, b); });
  }
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

}  // namespace

void add_compare(command& app, int& /*status*/) {
  auto o = std::make_shared<set_options>();
  command* verb =
      app.add_subcommand("compare", "Estimate how many keys two filters have in common");
  verb->add_option("FILTER", o->paths, "The two filter files A and B")
      ->required()
      ->expected(2)
      ->type_name("");
  verb->add_flag("--json", o->json, "Print it as JSON");
  add_threads(*verb, o->threads);
  add_quiet(*verb, o->quiet);
  verb->footer("Example:\n  bloomery compare ours.bloom theirs.bloom");
  verb->callback([o] { run_compare(*o); });
}

}  // namespace bloomery::cli
