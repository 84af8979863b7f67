// bloomery quantiles: medians and percentiles of a stream of numbers, and counts of ranges.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/random_seed.hpp"
#include "bloomery/sketch/number_counts.hpp"
#include "bloomery/sketch/t_digest.hpp"
#include "cli/args/options.hpp"
#include "cli/input/source.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct quantile_options {
  input_options input;
  std::string at;
  std::vector<std::string> ranges;
  std::string epsilon = "0.1%";
  std::optional<double> digest;  // the compression of a t-digest
  bool json = false;
};

struct asked_share {
  std::string name;
  double share = 0;
};

struct asked_range {
  std::string name;
  double first = -std::numeric_limits<double>::infinity();
  double last = std::numeric_limits<double>::infinity();
};

// p50, 50%, 0.5, min or max.
asked_share share_of(std::string_view text) {
  if (text == "min") return {"min", 0};
  if (text == "max") return {"max", 1};
  const bool percent = text.starts_with('p');
  const std::string number = percent ? std::string(text.substr(1)) + "%" : std::string(text);
  const bool digits =
      !number.empty() && (number[0] == '.' || (number[0] >= '0' && number[0] <= '9'));
  const double share = digits ? parse_rate(number) : -1;
  if (share >= 0 && share <= 1) return {std::string(text), share};
  throw error(errc::bad_argument,
              fmt::format("'{}' is no quantile; write it like p99, 99% or 0.99, min or max", text));
}

std::vector<asked_share> shares_of(std::string_view list) {
  std::vector<asked_share> all;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t to = std::min(list.find(',', from), list.size());
    all.push_back(share_of(list.substr(from, to - from)));
    from = to + 1;
  }
  return all;
}

asked_range range_of(const std::string& text) {
  const auto number = [&](std::string_view part, double without) {
    if (part.empty()) return without;
    record_options spelling;
    spelling.numbers = true;
    const std::string bytes = spelled_key(part, spelling);
    double value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  };
  asked_range range;
  range.name = text;
  const std::size_t dots = text.find("..");
  try {
    if (dots == std::string::npos) throw error(errc::bad_argument, "no dots");
    range.first = number(std::string_view(text).substr(0, dots), range.first);
    range.last = number(std::string_view(text).substr(dots + 2), range.last);
  } catch (const error&) {
    throw error(errc::bad_argument,
                fmt::format("'{}' is no range; write it like 10..20, 10.. or ..20", text));
  }
  if (range.first > range.last) {
    throw error(errc::bad_argument, fmt::format("the range {} ends before it begins", text));
  }
  return range;
}

// What answers: exact counts or the sketch behind them, or a t-digest.
class quantile_source {
 public:
  explicit quantile_source(const quantile_options& o) {
    if (o.digest) {
      digest_.emplace(*o.digest);
    } else {
      counts_.emplace(number_options{.epsilon = parse_rate(o.epsilon), .seed = random_seed()});
    }
  }
  void add_batch(std::span<const double> numbers) {
    digest_ ? digest_->add_batch(numbers) : counts_->add_batch(numbers);
  }
  [[nodiscard]] double quantile(double share) {
    return digest_ ? digest_->quantile(share) : counts_->quantile(share);
  }
  [[nodiscard]] std::uint64_t count_range(double first, double last) {
    if (!digest_) return counts_->count_range(first, last);
    if (digest_->total() == 0) return 0;
    const double numbers = digest_->ranks(last).not_above - digest_->ranks(first).below;
    return static_cast<std::uint64_t>(std::llround(std::max(0.0, numbers)));
  }
  [[nodiscard]] std::uint64_t total() const {
    return digest_ ? static_cast<std::uint64_t>(digest_->total()) : counts_->total();
  }
  [[nodiscard]] bool exact() { return counts_ && counts_->exact(); }
  [[nodiscard]] bool has_bound() const { return counts_.has_value(); }
  [[nodiscard]] const number_options& options() const { return counts_->options(); }

 private:
  std::optional<number_counts> counts_;
  std::optional<t_digest> digest_;
};

void read_numbers(const quantile_options& o, quantile_source& counts) {
  progress meter("reading", o.input.show());
  key_source source(o.input.paths, o.input.records, meter);
  for_each_chunk_in_order(source, o.input.threads, [&](const chunk& c, auto in_turn) {
    thread_local std::vector<double> numbers;
    numbers.resize(c.keys.size());
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
      std::memcpy(&numbers[i], c.keys[i].data(), sizeof(double));
    }
    in_turn([&] { counts.add_batch(numbers); });
  });
  meter.clear();
}

// Whole numbers without an exponent, others as short as they can be.
std::string number_text(double number) {
  const bool whole =
      number == static_cast<double>(static_cast<std::int64_t>(std::clamp(number, -1e15, 1e15)));
  return whole ? fmt::format("{:.0f}", number) : fmt::format("{}", number);
}

void print_answers(quantile_source& counts, const std::vector<asked_share>& shares,
                   const std::vector<asked_range>& ranges) {
  std::string text;
  for (const asked_share& s : shares) {
    if (counts.total() == 0) break;
    text += fmt::format("{}\t{}\n", s.name, number_text(counts.quantile(s.share)));
  }
  for (const asked_range& r : ranges) {
    text += fmt::format("{}\t{}\n", r.name, counts.count_range(r.first, r.last));
  }
  write_output(text);
}

void print_answers_json(quantile_source& counts, const std::vector<asked_share>& shares,
                        const std::vector<asked_range>& ranges) {
  nlohmann::json object = {{"numbers", counts.total()},
                           {"exact", counts.exact()},
                           {"quantiles", nlohmann::json::array()},
                           {"ranges", nlohmann::json::array()}};
  if (counts.has_bound()) {  // a t-digest has none
    object["rank_error"] = counts.exact() ? 0.0 : counts.options().epsilon;
    object["delta"] = counts.exact() ? 0.0 : counts.options().delta;
  }
  for (const asked_share& s : shares) {
    if (counts.total() == 0) break;
    object["quantiles"].push_back(
        {{"name", s.name}, {"share", s.share}, {"value", counts.quantile(s.share)}});
  }
  for (const asked_range& r : ranges) {
    object["ranges"].push_back({{"range", r.name}, {"count", counts.count_range(r.first, r.last)}});
  }
  print_json(object);
}

int run_quantiles(const quantile_options& o) {
  std::vector<asked_range> ranges;
  for (const std::string& text : o.ranges) ranges.push_back(range_of(text));
  const std::string all = ranges.empty() ? "min,p50,p90,p99,max" : "";
  std::vector<asked_share> shares;
  if (!o.at.empty() || !all.empty()) shares = shares_of(o.at.empty() ? all : o.at);
  quantile_source counts(o);
  read_numbers(o, counts);
  if (o.json) {
    print_answers_json(counts, shares, ranges);
  } else {
    print_answers(counts, shares, ranges);
  }
  if (counts.total() == 0 && !o.input.quiet) tell("bloomery: no numbers were read\n");
  if (!o.input.quiet && counts.has_bound() && !counts.exact()) {
    const double most = counts.options().epsilon * static_cast<double>(counts.total());
    tell(
        "bloomery: {}, too many different ones to keep: in 99 of 100 cases a quantile is at most "
        "{} ranks too low, and a count too high by as much\n",
        counted(counts.total(), "number"), with_commas(static_cast<std::uint64_t>(most)));
  }
  return counts.total() == 0 ? exit_no_match : exit_success;
}

}  // namespace

void add_quantiles(command& app, int& status) {
  auto o = std::make_shared<quantile_options>();
  command* verb = app.add_subcommand("quantiles", "Print the quantiles of numbers, one a line");
  verb->add_option("--at", o->at,
                   "Which ones: a list of p99.9, 99.9%, 0.999, min or max (default: min, p50, p90, "
                   "p99 and max, or none with --range)")
      ->type_name("LIST");
  verb->add_option("--range", o->ranges,
                   "Print how many numbers are from A to B, both included; A.. and ..B leave an "
                   "end open. May be given several times")
      ->one_a_time()
      ->type_name("A..B");
  option* const epsilon =
      verb->add_option("--epsilon", o->epsilon,
                       "The most that ranks may be wrong, as a share of all numbers (default 0.1%)")
          ->type_name("E");
  verb->add_option("--digest", o->digest,
                   "Use a t-digest of this compression, such as 100 or 1000: a few kilobytes, and "
                   "most exact near the ends, but without a bound")
      ->excludes(epsilon)
      ->type_name("C");
  verb->add_flag("--json", o->json, "Print them as JSON");
  o->input.records.numbers = true;
  add_reading_options(*verb, o->input);
  verb->footer(
      "Numbers are doubles: whole ones are exact up to 2^53. Up to 1,048,576 different numbers all "
      "answers are exact. Of more, ranks and counts are within "
      "--epsilon in 99 of 100 cases, and numbers within a millionth; that takes 160 MB, or 1 GB "
      "at 0.01%.\n"
      "Exit status: 0 when there were numbers, 1 when there were none, 2 after an error.\n\n"
      "Example:\n  cut -d' ' -f2 times.log | bloomery quantiles --at p50,p99.9\n"
      "  bloomery quantiles --range 500.. --column milliseconds requests.csv");
  verb->callback([o, &status] { status = run_quantiles(*o); });
}

}  // namespace bloomery::cli
