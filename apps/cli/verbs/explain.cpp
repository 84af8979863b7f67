// bloomery explain: what a filter looks at when it is asked for a key, and why it answers as it
// does.
#include "cli/verbs/explain.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bloomery/bits/counter_array.hpp"
#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/classic.hpp"
#include "bloomery/filter/counting.hpp"
#include "bloomery/filter/partitioned.hpp"
#include "bloomery/filter/shard.hpp"
#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/input/keys.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct explain_options {
  std::string path;
  std::string key;
  std::string key_file;
  bool integer = false;
  bool quiet = false;  // there is nothing to silence; scripts give it to every verb
  bool json = false;
};

// The 512 bits of a block, a line for each lane of 32. What the key asks for stands out.
std::string draw_block(std::span<const std::uint64_t> words, std::uint64_t first_bit,
                       const std::vector<place>& places) {
  std::string text = "          bit 0                            31\n";
  for (std::uint64_t lane = 0; lane < 16; ++lane) {
    text += fmt::format("  lane {:>2}  ", lane);
    for (std::uint64_t bit = 0; bit < 32; ++bit) {
      const std::uint64_t at = first_bit + lane * 32 + bit;
      const bool set = detail::test_bit(words.data(), at);
      const bool asked = std::any_of(places.begin(), places.end(),
                                     [&](const place& p) { return p.position == at; });
      text += asked ? (set ? "█" : "○") : (set ? "▪" : "·");
    }
    text += '\n';
  }
  return text + "          █ set and asked for   ○ asked for, not set   ▪ set   · not set\n";
}

template <class View>
explanation explain_bits(const any_filter& f, const typename View::hash_type& hash) {
  const View view(f.planned(), f.words(), f.keys());
  explanation e{.unit = "bit"};
  view.probes().all_of(hash, [&](std::uint64_t position) {
    const bool set = detail::test_bit(view.words().data(), position);
    std::string where = fmt::format("bit {}", with_commas(position));
    if (View::kind == filter_kind::blocked) {
      where += fmt::format(" (lane {}, bit {} of block {})", position % 512 / 32, position % 32,
                           with_commas(position / 512));
    }
    e.places.push_back({std::move(where), position, set ? 1U : 0U});
    return true;  // all of them, whatever the answer
  });
  if constexpr (sharded<typename View::probes_type>) {
    const std::uint64_t owner = shard_of(hash, f.shape().shard.count);
    if (!view.probes().owns(hash)) e.why = fmt::format("it belongs to shard {}", owner);
  }
  if (View::kind == filter_kind::blocked && !e.places.empty()) {
    e.picture = draw_block(view.words(), e.places.front().position / 512 * 512, e.places);
  }
  return e;
}

explanation explain_counting(const any_filter& f, std::uint64_t hash) {
  const counting_view view(f.planned(), f.words(), f.keys());
  explanation e{.unit = "counter"};
  view.probes().each(hash, [&](std::uint64_t position) {
    const std::uint32_t width = view.probes().width();
    e.places.push_back({fmt::format("counter {}", with_commas(position / width)), position / width,
                        detail::get_counter(view.words().data(), position, width)});
  });
  return e;
}

explanation explain_places(const any_filter& f, std::uint64_t hash) {
  if (std::optional<explanation> e = explain_mechanism(f, hash)) return *std::move(e);
  switch (f.shape().kind) {
    case filter_kind::blocked:
      return f.shape().shard.whole() ? explain_bits<blocked_view>(f, hash)
                                     : explain_bits<shard_view>(f, hash);
    case filter_kind::classic:
      return explain_bits<classic_view>(f, hash);
    case filter_kind::partitioned:
      return explain_bits<partitioned_view>(f, hash);
    case filter_kind::counting:
      return explain_counting(f, hash);
    default:
      return {};
  }
}

std::string verdict(const any_filter& f, const explanation& e, bool contained, double fpr) {
  if (!contained && !e.why.empty()) return "surely not in the set: " + e.why;
  const auto zero = static_cast<std::size_t>(
      std::count_if(e.places.begin(), e.places.end(), [](const place& p) { return p.value == 0; }));
  if (!contained && !e.places.empty()) {
    return fmt::format(
        "surely not in the set: {} of its {} {}s are 0, and a key that was added "
        "has none",
        zero, e.places.size(), e.unit);
  }
  if (!contained) return "surely not in the set";
  std::string why;
  if (!e.why.empty()) {
    why = ": " + e.why;
  } else if (!e.places.empty()) {
    why = fmt::format(": all {} {}s are set", e.places.size(), e.unit);
  }
  if (f.keys() == 0) return "probably in the set" + why;
  return fmt::format("probably in the set{}; of keys that are not in it, {} look so too", why,
                     as_rate(fpr));
}

nlohmann::json explain_json(const explain_options& o, const any_filter& f,
                            std::optional<std::uint64_t> hash, const explanation& e, bool contained,
                            double fpr) {
  nlohmann::json places = nlohmann::json::array();
  for (const place& p : e.places) places.push_back({{"position", p.position}, {"value", p.value}});
  nlohmann::json object = {
      {"kind", kind_name(f.shape().kind)},
      {"key", o.key},
      {"hash_function", hash_name(f.hash().id)},
      {"hash", hash ? nlohmann::json(fmt::format("{:016x}", *hash)) : nlohmann::json()},
      {"unit", e.unit},
      {"places", places},
      {"contained", contained},
      {"fpr_now", fpr}};
  object.update(e.details);
  return object;
}

int run_explain(const explain_options& o) {
  const key_form form = o.integer ? key_form::integers : key_form::bytes;
  any_filter f = open_filter(o.path, o.key_file, form);
  f.advance(clock_now());
  std::string key = o.key;
  if (o.integer) key = integer_key(o.key);
  const std::string_view view = key;
  std::optional<std::uint64_t> hash;
  if (!makes_digests(hash_name(f.hash().id))) {
    std::uint64_t made = 0;
    f.hasher()->hash({&view, 1}, {&made, 1});
    hash = made;
  }
  const explanation e = hash ? explain_places(f, *hash) : explanation{};
  const bool contained = f.contains(view);
  const double fpr = f.fpr();
  if (o.json) {
    print_json(explain_json(o, f, hash, e, contained, fpr));
    return contained ? exit_success : exit_no_match;
  }
  std::string text = fmt::format("key      {} ({} bytes)\n", o.key, key.size());
  text += fmt::format("filter   {}: {}, {} keys, {} probes\n", o.path, kind_name(f.shape().kind),
                      with_commas(f.keys()), f.shape().probes);
  text += fmt::format("hash     {}", hash_name(f.hash().id));
  if (f.hash().seed != 0) text += fmt::format(", seed {}", f.hash().seed);
  text += hash ? fmt::format(": {:016x}\n", *hash) : "\n";
  for (const place& p : e.places) text += fmt::format("         {} is {}\n", p.where, p.value);
  for (const std::string& note : e.notes) text += fmt::format("         {}\n", note);
  text += e.picture;
  text += fmt::format("verdict  {}\n", verdict(f, e, contained, fpr));
  write_output(text);
  return contained ? exit_success : exit_no_match;
}

}  // namespace

void add_explain(command& app, int& status) {
  auto o = std::make_shared<explain_options>();
  command* verb = app.add_subcommand("explain", "Show why a filter answers as it does for a key");
  verb->add_option("F", o->path, "The filter file to ask")->required()->type_name("");
  verb->add_option("KEY", o->key, "The key")->required()->type_name("");
  verb->add_flag("--integers", o->integer, "The key is a 64-bit integer");
  add_key_file(*verb, o->key_file);
  verb->add_flag("--json", o->json, "Print it as JSON");
  add_quiet(*verb, o->quiet);
  verb->footer(
      "Exit status: 0 when the key is probably in the set, 1 when it surely is not, 2 after an "
      "error.\n\nExample:\n  bloomery explain words.bloom mango");
  verb->callback([o, &status] { status = run_explain(*o); });
}

}  // namespace bloomery::cli
