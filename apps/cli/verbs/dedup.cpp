// bloomery dedup: each line the first time that it is seen, in the memory of a filter instead of
// that of the lines. A false positive drops a line that was never seen, so the rate is low by
// default, and the expected number of lost lines is printed at the end.
#include <fmt/format.h>

#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/input/keys.hpp"
#include "cli/input/source.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct dedup_options {
  input_options input;
  std::string fpr;
  std::string keys;
  std::string window;
  std::string save;
  std::string resume;
  bool count = false;
  bool no_header = false;
  bool json = false;
};

struct window_span {  // of time, or a number of lines
  std::uint64_t length = 0;
  bool by_time = false;
};

window_span parse_window(const std::string& text) {
  if (!text.empty() && std::string_view("smhdw").find(text.back()) != std::string_view::npos) {
    return {.length = parse_span(text), .by_time = true};
  }
  return {.length = parse_count(text)};
}

any_filter make_filter(const dedup_options& o) {
  constexpr std::uint64_t first_layer = 50'000;
  sizing::request r;
  r.fpr = o.fpr.empty() ? 1e-6 : parse_rate(o.fpr);
  r.kind = filter_kind::scalable;
  r.keys = first_layer;
  if (!o.keys.empty()) {
    r.kind = filter_kind::blocked;
    r.keys = parse_count(o.keys);
  }
  const window_span window = o.window.empty() ? window_span{} : parse_window(o.window);
  if (!o.window.empty()) {
    r.kind = filter_kind::windowed;
    if (!window.by_time) r.keys = window.length;
    if (window.by_time && o.keys.empty()) {
      throw error(errc::bad_argument,
                  "with a --window of time, say with --keys how many lines it may hold");
    }
  }
  any_filter f(sizing::make_plan(r), make_hasher("xxh3", 0, "", 1, o.input.records.form()));
  if (window.by_time) f->set_window(window.length);
  return f;
}

class dedup {
 public:
  explicit dedup(const dedup_options& o)
      : o_(o),
        filter_(o.resume.empty() ? make_filter(o) : resumed(o)),
        meter_("reading", o.input.show().unless(!o.count && !o.json)),
        source_(o.input.paths, o.input.records, meter_),
        header_(!o.no_header) {}

  void run() {
    hash_in_order(*filter_.hasher(), source_, o_.input.threads,
                  [&](const chunk& c, auto hashes) { take(c, hashes); });
    meter_.clear();
    if (!o_.save.empty()) filter_.save(o_.save);
    report();
  }

 private:
  static any_filter resumed(const dedup_options& o) {
    if (!o.fpr.empty() || !o.keys.empty() || !o.window.empty()) {
      throw error(
          errc::bad_argument,
          "--resume goes on with a filter as it is; --fpr, --keys and --window are for new ones");
    }
    any_filter f = load_filter(o.resume, "", o.input.records.form());
    require(f.can().add, f, o.resume, "cannot take more lines");
    return f;
  }

  void take(const chunk& c, std::span<const std::uint64_t> hashes) {  // in the order of the input
    filter_->advance(clock_now());
    new_bits_.assign((hashes.size() + 63) / 64, 0);
    const double rate = rate_now();
    const std::size_t fresh = filter_->add_new(hashes, new_bits_);
    lines_ += hashes.size();
    printed_ += fresh;
    // Nearly all lines not printed were seen before; the others are a share `rate` of unseen lines.
    lost_ += rate / (1 - rate) * static_cast<double>(fresh);
    if (o_.count || o_.json) return;
    text_.clear();
    if (!c.header.empty() && std::exchange(header_, false)) {
      text_.append(c.header);
      if (!text_.ends_with('\n')) text_ += '\n';
    }
    auto keyless = c.keyless.begin();  // what has no key is no repetition
    for (std::size_t i = 0; i <= hashes.size(); ++i) {
      for (; keyless != c.keyless.end() && keyless->before <= i; ++keyless) {
        text_.append(keyless->text).append(source_.terminator());
      }
      if (i == hashes.size() || ((new_bits_[i / 64] >> (i % 64)) & 1U) == 0) continue;
      text_.append(c.records[i]).append(source_.terminator());
    }
    write_output(text_);
  }

  // The rate with the present keys. A filter that grows or forgets stays below its target.
  double rate_now() {
    const plan& p = filter_.planned();
    if (!is_of_bits(p.shape.kind)) return p.fpr_target > 0 ? p.fpr_target : filter_.fpr();
    // This is not computed for each chunk, because the exact model takes longer than a chunk.
    if (filter_.keys() > rated_keys_ + rated_keys_ / 64 + 1000) {
      rated_keys_ = filter_.keys();
      rate_ = sizing::fpr(p.shape, rated_keys_);
    }
    return rate_;
  }

  void report() {
    if (o_.json) {
      print_json({{"lines", lines_},
                  {"printed", printed_},
                  {"dropped", lines_ - printed_},
                  {"keyless", source_.report().keyless()},
                  {"bad", source_.report().bad()},
                  {"expected_lost", lost_},
                  {"filter", kind_name(filter_.shape().kind)},
                  {"bytes", bytes()}});
    } else if (o_.count) {
      write_output(fmt::format("{}\n", printed_));
    }
    if (o_.input.quiet) return;
    tell(
        "bloomery: {} lines, {} printed, {} dropped; expect {:.2g} of the dropped to be no "
        "repetition; {} filter of {}\n",
        with_commas(lines_), with_commas(printed_), with_commas(lines_ - printed_), lost_,
        kind_name(filter_.shape().kind), as_bytes(static_cast<double>(bytes())));
    const plan& p = filter_.planned();
    if (is_of_bits(p.shape.kind) && filter_.keys() > p.keys && p.keys != 0) {
      tell(
          "bloomery: warning: {} different lines, but --keys was {}; leave it out and the "
          "filter grows\n",
          with_commas(filter_.keys()), with_commas(p.keys));
    }
  }

  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto part : filter_->parts()) sum += part.size_bytes();
    return sum;
  }

  const dedup_options& o_;
  any_filter filter_;
  progress meter_;
  key_source source_;
  bool header_;  // whether it is still to be printed
  std::vector<std::uint64_t> new_bits_;
  std::string text_;
  std::uint64_t lines_ = 0;
  std::uint64_t printed_ = 0;
  double lost_ = 0;
  std::uint64_t rated_keys_ = 0;
  double rate_ = 0;
};

}  // namespace

void add_dedup(command& app, int& /*status*/) {
  auto o = std::make_shared<dedup_options>();
  command* verb =
      app.add_subcommand("dedup", "Print each line the first time it is seen, in little memory");
  verb->add_option("--fpr", o->fpr,
                   "Highest chance that a line is dropped that was never seen (default 1e-6)")
      ->type_name("P");
  verb->add_option("--keys", o->keys,
                   "Different lines to make room for; without it the filter grows")
      ->type_name("N");
  verb->add_option("--window", o->window,
                   "Forget lines after so many (10M) or after a time (1h, with --keys)")
      ->type_name("W");
  verb->add_option("--save", o->save, "Write the filter there at the end")->type_name("F");
  verb->add_option("--resume", o->resume, "Begin with the lines that this filter has seen")
      ->type_name("F");
  verb->add_flag("-c,--count", o->count, "Print only how many different lines there are");
  verb->add_flag("--json", o->json, "Print only the numbers, as JSON");
  add_no_header(*verb, o->no_header);
  add_reading_options(*verb, o->input);
  verb->footer(
      "Example:\n  bloomery dedup access.log > once.log\n"
      "  bloomery dedup --column mail --save seen.bloom monday.csv > new.csv\n"
      "  bloomery dedup --column mail --resume seen.bloom --save seen.bloom --no-header \\\n"
      "    tuesday.csv >> new.csv\n"
      "  tail -f events.log | bloomery dedup --window 1h --keys 10M");
  verb->callback([o] { dedup(*o).run(); });
}

}  // namespace bloomery::cli
