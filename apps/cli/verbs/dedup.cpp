// bloomery dedup: each line the first time that it is seen, in the memory of a filter instead of
// that of the lines. A false positive drops a line that was never seen, so the rate is low by
// default, and how many lines that must have been is printed at the end.
#include <fmt/format.h>

#include <optional>
#include <utility>
#include <variant>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/format/loss_meter.hpp"
#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/input/keys.hpp"
#include "cli/input/source.hpp"
#include "cli/input/state_file.hpp"
#include "cli/output/header_row.hpp"
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
  std::string state;
  hash_options hash = {.usual = "xxh3-secret"};
  std::string checkpoint = "30s";
  bool count = false;
  bool no_header = false;
  bool no_wait = false;
  bool json = false;
};

struct window_span {  // of time, or a number of lines
  std::uint64_t length = 0;
  bool by_time = false;
};

window_span parse_window(const std::string& text) {
  constexpr std::string_view units = "smhdw";
  const bool by_time = !text.empty() && units.find(text.back()) != std::string_view::npos;
  try {
    const std::uint64_t length = by_time ? parse_span(text) : parse_count(text);
    if (length == 0) throw error(errc::bad_argument, fmt::format("'{}' forgets at once", text));
    return {.length = length, .by_time = by_time};
  } catch (const error& e) {
    throw error(e.code(), fmt::format("--window takes a number of lines, such as 10M, or a time, "
                                      "such as 1h: {}",
                                      e.what()));
  }
}

// The error for a rate that a scalable filter does not keep, in options of dedup.
plan plan_of(const sizing::request& r) {
  try {
    return sizing::make_plan(r);
  } catch (const error& e) {
    if (r.kind != filter_kind::scalable || e.code() != errc::unreachable) throw;
    throw error(e.code(), fmt::format("{}, and --keys N makes one here", e.what()));
  }
}

any_filter make_filter(const dedup_options& o) {
  constexpr std::uint64_t first_lines = 50'000;
  sizing::request r;
  r.fpr = o.fpr.empty() ? 1e-6 : parse_rate(o.fpr);
  r.kind = filter_kind::scalable;
  r.keys = first_lines;
  if (!o.keys.empty()) {
    r.kind = filter_kind::layered;  // as small as the blocked filter, and grows if it must
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
  any_filter f(plan_of(r), make_hasher(o.hash, 1, o.input.records.form()));
  if (window.by_time) f->set_window(window.length);
  return f;
}

// One of the numbers of a filter that forgets.
std::optional<std::uint64_t> fact_of(const any_filter& f, std::string_view name) {
  if (!f.can().forget) return std::nullopt;  // the facts of others may read all of the filter
  for (const fact& told : f->facts()) {
    if (told.name == name) return std::get<std::uint64_t>(told.value);
  }
  return std::nullopt;
}

// What is in the state. Options that were given must be those that it was begun with, and so must
// the rate also if it was not: nobody should lose lines at the 1 % of a filter that was built.
any_filter resumed(const dedup_options& o, const state_file& state, const any_filter& as_new) {
  any_filter f = state.load(o.hash.key_file, o.input.records.form());
  require(f.can().add && !f.can().lists_top, f, state.path(), "cannot take more lines");
  require(f.can().grow || f.can().forget, f, state.path(),
          "neither grows nor forgets, and is soon full; let dedup make the state");
  const plan& was = f.planned();
  const plan& wanted = as_new.planned();
  const bool given = !o.keys.empty() || !o.window.empty();
  const bool same = was.shape.kind == wanted.shape.kind && was.keys == wanted.keys &&
                    fact_of(f, "window") == fact_of(as_new, "window");
  if (given && !same) {
    throw error(errc::bad_argument,
                fmt::format("{}: it was begun with other values of --keys or --window; leave them "
                            "out to go on with it, or begin another",
                            state.path()));
  }
  if (was.fpr_target != wanted.fpr_target) {
    throw error(errc::bad_argument,
                fmt::format("{}: it was begun with --fpr {:.6g}, not {:.6g}; give that to go on "
                            "with it, or begin another",
                            state.path(), was.fpr_target, wanted.fpr_target));
  }
  const hash_spec& hash = f.hash();
  if ((o.hash.seed && *o.hash.seed != hash.seed) ||
      (!o.hash.name.empty() && o.hash.name != hash_name(hash.id))) {
    throw error(errc::bad_argument,
                fmt::format("{}: it was begun with --hash {}{}; leave out --hash and --seed to go "
                            "on with it, or begin another",
                            state.path(), hash_name(hash.id),
                            takes_seed(hash.id) ? fmt::format(" --seed {}", hash.seed) : ""));
  }
  return f;
}

struct new_records {                // of a chunk
  std::vector<std::uint64_t> bits;  // of its keys, those that are new
  std::string header;               // the names of columns, where they belong before these
  std::string text;

  const std::string& put_together(const chunk& c, std::string_view terminator) {
    text.assign(header);
    auto keyless = c.keyless.begin();  // what has no key is no repetition
    for (std::size_t i = 0; i <= c.keys.size(); ++i) {
      for (; keyless != c.keyless.end() && keyless->before <= i; ++keyless) {
        text.append(keyless->text).append(terminator);
      }
      if (i == c.keys.size() || ((bits[i / 64] >> (i % 64)) & 1U) == 0) continue;
      text.append(c.records[i]).append(terminator);
    }
    return text;
  }
};

class dedup {
 public:
  explicit dedup(const dedup_options& o)
      : o_(o),
        filter_(make_filter(o)),
        meter_("reading", o.input.show().unless(!o.count && !o.json)),
        source_(o.input.paths, o.input.records, meter_),
        header_(!o.no_header, meter_) {}

  void run() {
    if (o_.state.empty()) {
      read_all();
    } else {
      const std::uint64_t every = std::max<std::uint64_t>(1, parse_span(o_.checkpoint));
      state_.emplace(o_.state, change_manners{.quiet = o_.input.quiet, .wait = !o_.no_wait});
      if (!state_->is_new()) filter_ = resumed(o_, *state_, filter_);
      state_->save(filter_);
      checkpoints saving(std::chrono::seconds(every), [this](bool last) { save(last); });
      mutex_ = &saving.mutex();
      read_all();
      const std::lock_guard lock(*mutex_);
      save(false);
    }
    meter_.clear();
    report();
  }

 private:
  void read_all() {
    for_each_chunk_in_two_turns(source_, o_.input.threads,
                                [this](const chunk& c, auto in_turn, auto in_second_turn) {
                                  work_on(c, in_turn, in_second_turn);
                                });
  }

  // One thread at a time asks the filter, and one at a time prints; what they print they put
  // together side by side. With a state they print in the first turn, so that between two chunks
  // all that is in the filter was printed.
  template <class Turn, class SecondTurn>
  void work_on(const chunk& c, const Turn& in_turn, const SecondTurn& in_second_turn) {
    thread_local std::vector<std::uint64_t> hashes;
    thread_local new_records found;
    const bool prints = !o_.count && !o_.json;
    const bool has_state = mutex_ != nullptr;
    hashes.resize(c.keys.size());
    filter_.hasher()->hash(c.keys, hashes);
    found.bits.assign((hashes.size() + 63) / 64, 0);
    in_turn([&] {
      std::unique_lock<std::mutex> lock;
      if (has_state) lock = std::unique_lock(*mutex_);
      changed_ = true;
      printed_all_ = false;
      take(hashes, found.bits);
      if (prints) found.header = header_.before(c);
      if (prints && has_state) write_output(found.put_together(c, source_.terminator()));
      printed_all_ = true;
    });
    if (!prints || has_state) return;
    const std::string& text = found.put_together(c, source_.terminator());
    in_second_turn([&] { write_output(text); });
  }

  // Called between two chunks, so that what was printed is in the state, and nothing else. When
  // printing failed, the state stays what it was: lines may come again, and none is missing.
  void save(bool last) {
    if (changed_ && printed_all_) state_->save(filter_);
    changed_ = false;
    if (!last) return;
    meter_.clear();
    report();
  }

  // Adds the keys of a chunk, in the order of the input; `bits` become 1 for those that are new.
  void take(std::span<const std::uint64_t> hashes, std::span<std::uint64_t> bits) {
    filter_->advance(clock_now());
    printed_ += filter_->add_new(hashes, bits, &losses_);
    lines_ += hashes.size();
    if (const auto covered = fact_of(filter_, "window_covered")) {
      covered_ = std::min(covered_.value_or(UINT64_MAX), *covered);
    }
  }

  [[nodiscard]] double lost() const {
    return std::min(losses_.expected(), static_cast<double>(lines_ - printed_));
  }

  void report() {
    if (o_.json) {
      nlohmann::json object = {{"lines", lines_},
                               {"printed", printed_},
                               {"dropped", lines_ - printed_},
                               {"keyless", source_.report().keyless()},
                               {"bad", source_.report().bad()},
                               {"expected_lost", lost()},
                               {"filter", kind_name(filter_.shape().kind)},
                               {"bytes", bytes()}};
      if (covered_) object["window_covered"] = *covered_;
      print_json(object);
    } else if (o_.count) {
      write_output(fmt::format("{}\n", printed_));
    }
    if (o_.input.quiet) return;
    tell(
        "bloomery: {}, {} printed, {} dropped; expect {} of the dropped to be no "
        "repetition; {} filter of {}\n",
        counted(lines_, "line"), with_commas(printed_), with_commas(lines_ - printed_),
        as_number(lost()), kind_name(filter_.shape().kind), as_bytes(static_cast<double>(bytes())));
    if (const std::uint64_t keyless = source_.report().keyless(); keyless != 0) {
      tell("bloomery: {} without a key, printed besides\n", counted(keyless, "record"));
    }
    warn();
    if (!o_.state.empty() && (o_.count || o_.json) && printed_ != 0) {
      tell(
          "bloomery: warning: no line was printed, but {} has seen them, so that no later run "
          "prints them\n",
          o_.state);
    }
  }

  void warn() const {
    const plan& p = filter_.planned();
    const bool planned = p.shape.kind != filter_kind::scalable && filter_.can().grow;
    if (planned && filter_.keys() > p.keys) {
      tell("bloomery: warning: {}, but the filter was planned for {}; it has grown\n",
           counted(filter_.keys(), "different line"), with_commas(p.keys));
    }
    const std::uint64_t window = fact_of(filter_, "window").value_or(0);
    if (covered_ && *covered_ < window) {
      tell(
          "bloomery: warning: there were times with more different lines than --keys {} in {}; "
          "those of {} were remembered then, and no more\n",
          with_commas(p.keys), as_span(window), as_last(*covered_));
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
  header_row header_;
  std::optional<state_file> state_;
  std::mutex* mutex_ = nullptr;  // of what saves the state meanwhile
  bool changed_ = false;         // since it was saved
  bool printed_all_ = true;      // that is new in the filter
  std::uint64_t lines_ = 0;
  std::uint64_t printed_ = 0;
  loss_meter losses_;
  std::optional<std::uint64_t> covered_;  // the least, of a filter that forgets by time
};

}  // namespace

void add_dedup(command& app, int& /*status*/) {
  auto o = std::make_shared<dedup_options>();
  command* verb =
      app.add_subcommand("dedup", "Print each line the first time it is seen, in little memory");
  verb->add_option("--fpr", o->fpr,
                   "Highest chance that a line is dropped that was never seen (default 1e-6)")
      ->type_name("P");
  verb->add_option(
          "--keys", o->keys,
          "Different lines to make room for (default: 50,000); the filter grows when more come")
      ->type_name("N");
  verb->add_option(
          "--window", o->window,
          "Forget a line when so many others were printed (10M), or some time (1h, with --keys) "
          "after it was")
      ->type_name("W");
  verb->add_option(
          "--state", o->state,
          "Go on with the lines that this file has seen, at the same --fpr, and keep it up to "
          "date; it is made if it is not there")
      ->type_name("F");
  verb->add_option("--checkpoint", o->checkpoint,
                   "Write the state after so much time, and at the end (default 30s)")
      ->type_name("T");
  add_hash_options(*verb, o->hash);
  add_limit(*verb);
  add_no_wait(*verb, o->no_wait);
  verb->add_flag("-c,--count", o->count, "Print only how many different lines there are");
  verb->add_flag("--json", o->json, "Print only the numbers, as JSON");
  add_no_header(*verb, o->no_header);
  add_reading_options(*verb, o->input);
  verb->footer(
      "Example:\n  bloomery dedup access.log > once.log\n"
      "  bloomery dedup --column mail --state seen.bloom monday.csv > new.csv\n"
      "  bloomery dedup --column mail --state seen.bloom --no-header tuesday.csv >> new.csv\n"
      "  tail -f events.log | bloomery dedup --window 1h --keys 10M");
  verb->callback([o] {
    o->input.records.take_empty_lines();
    within_limit([&] { dedup(*o).run(); });
  });
}

}  // namespace bloomery::cli
