// bloomery compare: how many keys two filters have in common, by their bits.
#include <cmath>
#include <optional>

#include "bloomery/set/estimate.hpp"
#include "cli/verbs/sets.hpp"

namespace bloomery::cli {

namespace {

// JSON has no infinity: an estimate that does not exist is null.
nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

// Two sketches of streams have the size of the join of these in common.
void print_product(const set_options& o, const stream_product& joined) {
  if (o.json) {
    return print_json({{"total_a", joined.total},
                       {"total_b", joined.other_total},
                       {"inner_product", joined.product},
                       {"inner_product_error", joined.error},
                       {"delta", joined.delta}});
  }
  write_output(fmt::format(
      "A is {}, with {} in all; B is {}, with {}\n"
      "  inner product  {}: the sum of count in A times count in B over all keys\n"
      "                 never too low, too high by more than {:.3g} in at most {} of all cases\n",
      o.paths[0], counted(joined.total, "key"), o.paths[1], with_commas(joined.other_total),
      with_commas(joined.product), joined.error, as_rate(joined.delta)));
}

struct compared {
  const char* name;   // in JSON
  const char* words;  // for people
  estimate value;
};

// Bits tell for sure when a set is no part of another; that it is one they can only make likely.
std::string subset_text(std::uint64_t bits_a, std::uint64_t bits_b, std::uint64_t bits_union) {
  const bool a_in_b = bits_union == bits_b;
  const bool b_in_a = bits_union == bits_a;
  if (a_in_b && b_in_a) return "A and B have the same bits: probably the same keys";
  if (a_in_b) return "every bit of A is in B: A is probably a subset of B";
  if (b_in_a) return "every bit of B is in A: B is probably a subset of A";
  return fmt::format("neither is a subset of the other, for sure: only in A {}, only in B {}",
                     counted(bits_union - bits_b, "bit"), with_commas(bits_union - bits_a));
}

void print_comparison(const set_options& o, const any_filter& a, const any_filter& b) {
  const std::uint64_t bits_a = count_bits(a.words());
  const std::uint64_t bits_b = count_bits(b.words());
  const std::uint64_t bits_union = detail::count_union(a.words(), b.words());
  const comparison c = compare_bits(a.shape(), bits_a, bits_b, bits_union);
  const std::vector<compared> rows = {{"keys_a", "keys in A", c.keys_a},
                                      {"keys_b", "keys in B", c.keys_b},
                                      {"keys_union", "keys in A or B", c.keys_union},
                                      {"keys_intersection", "keys in both", c.keys_intersection},
                                      {"only_a", "keys only in A", c.only_a},
                                      {"only_b", "keys only in B", c.only_b},
                                      {"jaccard", "in both, of all", c.jaccard}};
  if (o.json) {
    nlohmann::json object = {{"shared_bits", c.shared_bits},
                             {"a_may_be_in_b", bits_union == bits_b},
                             {"b_may_be_in_a", bits_union == bits_a}};
    for (const compared& row : rows) {
      object[row.name] = number(row.value.value);
      object[std::string(row.name) + "_standard_error"] = number(row.value.standard_error);
    }
    return print_json(object);
  }
  std::string text =
      fmt::format("A is {}, B is {}; estimates by the bits set, with standard errors\n",
                  escaped(name_of_input(o.paths[0])), escaped(name_of_input(o.paths[1])));
  for (const compared& row : rows) {
    const bool share = std::string_view(row.name) == "jaccard";
    text += share ? fmt::format("  {:<16} {:>16.2f} +- {:.2f} %\n", row.words,
                                row.value.value * 100, row.value.standard_error * 100)
                  : fmt::format("  {:<16} {:>16} +- {}\n", row.words, as_whole(row.value.value),
                                as_whole(row.value.standard_error));
  }
  text += fmt::format("  {:<16} {:>16}\n", "bits in both", with_commas(c.shared_bits));
  text += subset_text(bits_a, bits_b, bits_union) + "\n";
  write_output(text);
}

void run_compare(const set_options& o) {
  if (o.paths.size() != 2) {
    throw error(errc::bad_argument,
                fmt::format("compare takes two filters, not {}", o.paths.size()));
  }
  const std::vector<any_filter> filters = open_alike(o.paths, o.threads);
  const any_filter& a = filters[0];
  const any_filter& b = filters[1];
  std::optional<stream_product> joined;
  name_both(o.paths[0], a, o.paths[1], b, [&] { joined = a.inner_product(b); });
  if (joined) return print_product(o, *joined);
  require(is_of_bits(a.shape().kind), a, o.paths[0], "has no bits to compare");
  print_comparison(o, a, b);
}

}  // namespace

void add_compare(command& app, int& /*status*/) {
  auto o = std::make_shared<set_options>();
  command* verb =
      app.add_subcommand("compare", "Estimate how many keys two filters have in common");
  verb->add_option("FILTER", o->paths, "The two filter files A and B; - is standard input")
      ->required()
      ->type_name("");
  verb->add_flag("--json", o->json, "Print it as JSON");
  add_limit(*verb);
  add_threads(*verb, o->threads);
  add_quiet(*verb, o->quiet);
  verb->footer(
      "Also says whether one may be a subset of the other, or surely is not.\n\n"
      "Example:\n  bloomery compare ours.bloom theirs.bloom");
  verb->callback([o] { run_compare(*o); });
}

}  // namespace bloomery::cli
