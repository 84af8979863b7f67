// How the kinds that are made of several filters, of fingerprints or of counters come to their
// answer. Where a key belongs comes from the library, by the calls that answer; here it is only put
// into words. The classes that look inside a view are for what it shows to nobody else.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "bloomery/bits/counter_array.hpp"
#include "bloomery/core/sizing_sketch.hpp"
#include "bloomery/filter/bloomier.hpp"
#include "bloomery/filter/cuckoo.hpp"
#include "bloomery/filter/fuse.hpp"
#include "bloomery/filter/ribbon.hpp"
#include "bloomery/filter/scalable.hpp"
#include "bloomery/filter/windowed.hpp"
#include "bloomery/hash/probe.hpp"
#include "bloomery/sketch/count_min.hpp"
#include "bloomery/sketch/spectral.hpp"
#include "bloomery/sketch/top_k.hpp"
#include "cli/input/keys.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/explain.hpp"

namespace bloomery::cli {

namespace {

using nlohmann::json;

std::uint32_t bits_set(const block_mask& mask, const std::uint64_t* block) {
  int set = 0;
  for (std::size_t i = 0; i < mask.words.size(); ++i)
    set += std::popcount(mask.words[i] & block[i]);
  return static_cast<std::uint32_t>(set);
}

// ---- several blocked filters ------------------------------------------------------------------

explanation explain_split(const scalable_view& view, std::uint64_t hash) {
  using detail::split_lines;
  const auto parts = view.parts();  // the directory, the lines, the stash if there is one
  split_lines table{.words = parts[1].data(),
                    .lines = parts[1].size() / split_lines::words_per_line};
  if (parts.size() > 2) table.stash = {.slots = parts[2].data(), .count = parts[2].size()};
  const std::uint64_t* const line = table.line_of(hash);
  const auto number = static_cast<std::uint64_t>(line - table.words) / split_lines::words_per_line;
  const std::uint32_t rest = table.rest_of(hash);
  std::size_t used = 0;
  std::size_t fitting = 0;
  std::string cell_text;
  for (std::size_t i = 0; i < detail::cells_per_line; ++i) {
    const std::uint32_t cell = split_lines::cell(line, i);
    if (cell == 0) continue;
    ++used;
    const int length = 15 - std::countr_zero(cell);
    if ((cell ^ rest) >> (16 - length) != 0) continue;
    ++fitting;
    cell_text = fmt::format("cell {} has the first {} bits of {:04x}", i, length, rest);
  }
  const bool stashed = split_lines::is_full(line) && table.stash.contains(hash);
  explanation e;
  e.notes.push_back(fmt::format("line {} of {}: {} of {} cells are in use", with_commas(number),
                                with_commas(table.lines), used, detail::cells_per_line));
  if (fitting != 0) e.notes.push_back(cell_text);
  e.details = {
      {"line", number}, {"cells_used", used}, {"cells_fitting", fitting}, {"stashed", stashed}};
  e.why = fitting != 0 ? "a fingerprint in its line fits"
          : stashed    ? "its line is full, and the stash has its hash"
                       : "no fingerprint in its line fits";
  return e;
}

explanation explain_scalable(const any_filter& f, std::uint64_t hash) {
  const scalable_view view(f.planned(), f.words(), f.keys());
  if (view.is_split()) return explain_split(view, hash);
  const std::uint32_t probes = view.shape().probes;
  const block_mask mask = blocked_probes(view.shape()).mask_of(hash);
  explanation e;
  std::vector<std::size_t> saying_yes;
  const auto parts = view.parts();  // the directory, then the layers
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const shape layer{.kind = filter_kind::blocked, .probes = probes, .bits = parts[i].size() * 64};
    const std::uint64_t block = blocked_probes(layer).block_of(hash);
    const std::uint32_t set = bits_set(mask, parts[i].data() + block * (bits_per_block / 64));
    if (set == probes) saying_yes.push_back(i - 1);
    e.notes.push_back(fmt::format("layer {}, block {} of {}: {} of {} bits are set", i - 1,
                                  with_commas(block), with_commas(layer.bits / bits_per_block), set,
                                  probes));
    e.details["layers"].push_back(
        {{"block", block}, {"bits_set", set}, {"contains", set == probes}});
  }
  e.why = saying_yes.empty()
              ? "no layer has all of its bits"
              : fmt::format("layer {} has all of its bits", fmt::join(saying_yes, ", "));
  return e;
}

class inside_windowed : public windowed_view {
 public:
  using windowed_view::windowed_view;

  [[nodiscard]] explanation explain(std::uint64_t hash) const {
    const block_mask mask = probes_.mask_of(hash);
    const std::uint64_t newest = generation_of(now());
    explanation e;
    std::vector<std::uint64_t> saying_yes;
    for (std::uint64_t age = 0; age <= std::min<std::uint64_t>(generations(), newest); ++age) {
      const std::size_t slot = slot_of(newest - age);
      if (((alive_ >> slot) & 1U) == 0) continue;
      const std::uint32_t set = bits_set(mask, words_ + line_of(hash) + slot * line_words);
      const bool all = set == shape().probes;
      if (all) saying_yes.push_back(age);
      e.notes.push_back(fmt::format("{}, {} keys: {} of {} bits are set", generation_name(age),
                                    with_commas(slot_keys(slot)), set, shape().probes));
      e.details["generations"].push_back(
          {{"age", age}, {"keys", slot_keys(slot)}, {"bits_set", set}, {"contains", all}});
    }
    e.why = saying_yes.empty() ? "no generation that is remembered has all of its bits"
                               : generation_name(saying_yes.front()) + " has all of its bits";
    return e;
  }

 private:
  static std::string generation_name(std::uint64_t age) {
    return age == 0 ? "the current generation" : fmt::format("the generation {} before", age);
  }
};

explanation explain_windowed(const any_filter& f, std::uint64_t hash) {
  inside_windowed view(f.planned(), f.words(), f.keys());
  view.advance(clock_now());
  return view.explain(hash);
}

// ---- fingerprints -----------------------------------------------------------------------------

class inside_cuckoo : public cuckoo_view {
 public:
  using cuckoo_view::cuckoo_view;

  [[nodiscard]] explanation explain(std::uint64_t hash) const {
    explanation e;
    const std::uint64_t fingerprint = layers_.front().place_of(hash).fingerprint;
    e.notes.push_back(fmt::format("fingerprint {:x}", fingerprint));
    e.details["fingerprint"] = fingerprint;
    for (std::size_t i = 0; i < layers_.size(); ++i) add_layer(e, i, layers_[i].place_of(hash));
    const std::uint64_t found = count(hash);
    e.why = found == 0 ? "neither of its buckets holds its fingerprint"
                       : fmt::format("its buckets hold its fingerprint {}", times(found));
    e.details["count"] = found;
    return e;
  }

 private:
  static std::string times(std::uint64_t n) { return n == 1 ? "once" : fmt::format("{} times", n); }

  void add_layer(explanation& e, std::size_t layer, const cuckoo_table::place& p) const {
    json buckets = json::array();
    for (const std::uint64_t bucket : {p.first, p.second}) {
      std::vector<std::uint64_t> cells;
      for (std::uint32_t i = 0; i < bucket_cells(); ++i) {
        cells.push_back(layers_[layer].cell(bucket, i));
      }
      e.notes.push_back(fmt::format("layer {}, bucket {}: {:x}", layer, with_commas(bucket),
                                    fmt::join(cells, " ")));
      buckets.push_back({{"bucket", bucket}, {"cells", cells}});
      if (p.first == p.second) break;
    }
    e.details["layers"].push_back({{"buckets", buckets}});
  }
};

// The reason of a static kind: what the key must find, and what is there.
void compare_prints(explanation& e, std::uint64_t expected, std::uint64_t found) {
  e.notes.push_back(fmt::format("expected {:x}, found {:x}", expected, found));
  e.details["fingerprint"] = expected;
  e.details["found"] = found;
  e.why = expected == found ? "what is stored for it is its fingerprint"
                            : "what is stored for it is not its fingerprint";
}

explanation no_keys_here() { return {.why = "its shard has no keys"}; }

// The cells of a key as places; their XOR is returned.
template <class Get>
std::uint64_t add_cells(explanation& e, const detail::fuse_shard& shard, std::uint64_t hash,
                        std::uint32_t probes, Get get) {
  std::uint64_t all = 0;
  e.unit = "cell";
  detail::fuse_cells(shard.mixed(hash), shard.size, probes, [&](std::uint64_t cell) {
    const std::uint64_t value = get(cell);
    all ^= value;
    e.places.push_back({fmt::format("cell {}", with_commas(cell)), cell, value});
  });
  return all;
}

class inside_fuse : public fuse_view {
 public:
  using fuse_view::fuse_view;

  [[nodiscard]] explanation explain(std::uint64_t hash) const {
    const detail::fuse_shard shard(directory().entry_of(hash, sizing::fuse_entry_words));
    if (shard.size.starts == 0) return no_keys_here();
    explanation e;
    const detail::even_cells cells{shape().cell_bits};
    const std::uint64_t found = add_cells(e, shard, hash, shape().probes, [&](std::uint64_t cell) {
      return cells.get(directory().words + shard.first_word, cell);
    });
    compare_prints(e, detail::fuse_print(shard.mixed(hash), shape().cell_bits), found);
    return e;
  }
};

class inside_bloomier : public bloomier_view {
 public:
  using bloomier_view::bloomier_view;

  [[nodiscard]] explanation explain(std::uint64_t hash) const {
    const detail::fuse_shard shard(directory().entry_of(hash, sizing::fuse_entry_words));
    if (shard.size.starts == 0) return no_keys_here();
    explanation e;
    const detail::packed_cells tags{sizing::bloomier_tag_bits(shape())};
    const std::uint64_t found = add_cells(e, shard, hash, shape().probes, [&](std::uint64_t cell) {
      return tags.get(directory().words + shard.first_word, cell);
    });
    const std::uint64_t number = found ^ detail::fuse_print(shard.mixed(hash), tags.width);
    e.details["fingerprint_xor_tags"] = number;
    e.notes.push_back(
        fmt::format("the XOR of the tags and the fingerprint is {}", with_commas(number)));
    const std::optional<std::uint64_t> there = value(hash);
    if (there) {
      e.details["value"] = *there;
      e.why = fmt::format("cell {} is its own, with the value {}",
                          with_commas(e.places[static_cast<std::size_t>(number)].position), *there);
    } else {
      e.why = fmt::format("none of its {} cells has this number", shape().probes);
    }
    return e;
  }
};

class inside_ribbon : public ribbon_view {
 public:
  using ribbon_view::ribbon_view;

  [[nodiscard]] explanation explain(std::uint64_t hash) const {
    const std::uint32_t bits = shape().cell_bits;
    const std::uint64_t* const entry = directory().entry_of(hash, sizing::ribbon_entry_words);
    const auto place = detail::ribbon_place::of(hash, directory().words, entry, bits);
    if (place.columns == nullptr) return no_keys_here();
    explanation e;
    const detail::ribbon_equation equation(place.mixed);
    const detail::ribbon_cover cover(equation, place.shift);
    std::uint64_t found = 0;
    for (std::uint32_t j = 0; j < bits; ++j) {
      const int chosen = std::popcount(cover.chosen(place.columns, bits, j));
      found |= static_cast<std::uint64_t>(chosen % 2) << j;
    }
    const auto first = static_cast<std::uint64_t>(place.columns - directory().words);
    const std::uint64_t slot = first / bits * 64 + place.shift;
    const int chosen = std::popcount(equation.low) + std::popcount(equation.high);
    e.notes.push_back(
        fmt::format("the XOR of {} of the 128 slots from {} on", chosen, with_commas(slot)));
    e.details["slot"] = slot;
    e.details["slots_chosen"] = chosen;
    compare_prints(e, detail::ribbon_print(place.mixed, bits), found);
    return e;
  }
};

template <class Inside>
explanation explain_inside(const any_filter& f, std::uint64_t hash) {
  return Inside(f.planned(), f.words(), f.keys()).explain(hash);
}

// ---- counters ---------------------------------------------------------------------------------

template <class View, class Probes>
explanation explain_counters(const View& view, const Probes& probes, std::uint64_t first_word,
                             std::uint64_t hash) {
  explanation e{.unit = "counter"};
  const std::uint32_t width = view.shape().cell_bits;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  probes.all_of(hash, [&](std::uint64_t counter) {
    const std::uint64_t value =
        detail::get_cell(view.words().data() + first_word, counter * width, width);
    least = std::min(least, value);
    e.places.push_back({fmt::format("counter {}", with_commas(counter)), counter, value});
    return true;
  });
  const std::uint64_t count = view.count(hash);
  e.notes.push_back(fmt::format("the least of them is {}, the count is {}", with_commas(least),
                                with_commas(count)));
  e.details["least"] = least;
  e.details["count"] = count;
  return e;
}

// A counter in each row, as a partitioned filter has a bit in each slice.
explanation explain_count_min(const any_filter& f, std::uint64_t hash) {
  const count_min_view view(f.planned(), f.words(), f.keys());
  const shape rows{.kind = filter_kind::partitioned,
                   .probes = view.depth(),
                   .bits = view.width() * view.depth()};
  return explain_counters(view, partitioned_probes(rows), sizing::count_min_preamble_bits / 64,
                          hash);
}

explanation explain_spectral(const any_filter& f, std::uint64_t hash) {
  const spectral_view view(f.planned(), f.words(), f.keys());
  const shape primary{
      .kind = filter_kind::classic, .probes = view.shape().probes, .bits = view.counters().primary};
  return explain_counters(view, classic_probes(primary), 0, hash);
}

explanation explain_top_k(const any_filter& f, std::uint64_t hash) {
  const top_k_view view(f.planned(), f.words(), f.keys());
  const std::uint64_t count = view.count(hash);
  const auto entries = view.entries();
  explanation e;
  e.details["count"] = count;
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const top_k_entry& entry) { return entry.hash == hash; });
  if (found != entries.end()) {
    const auto rank = static_cast<std::uint64_t>(found - entries.begin()) + 1;
    e.details["rank"] = rank;
    e.why = fmt::format("it is number {} of the {} that are listed, with a count of {}", rank,
                        entries.size(), with_commas(count));
  } else {
    e.why = fmt::format("it is not one of the {} that are listed; its buckets say {}",
                        entries.size(), with_commas(count));
  }
  return e;
}

}  // namespace

std::optional<explanation> explain_mechanism(const any_filter& f, std::uint64_t hash) {
  switch (f.shape().kind) {
    case filter_kind::scalable:
      return explain_scalable(f, hash);
    case filter_kind::windowed:
      return explain_windowed(f, hash);
    case filter_kind::cuckoo:
      return explain_inside<inside_cuckoo>(f, hash);
    case filter_kind::fuse:
      return explain_inside<inside_fuse>(f, hash);
    case filter_kind::ribbon:
      return explain_inside<inside_ribbon>(f, hash);
    case filter_kind::bloomier:
      return explain_inside<inside_bloomier>(f, hash);
    case filter_kind::count_min:
      return explain_count_min(f, hash);
    case filter_kind::spectral:
      return explain_spectral(f, hash);
    case filter_kind::top_k:
      return explain_top_k(f, hash);
    default:
      return std::nullopt;
  }
}

}  // namespace bloomery::cli
