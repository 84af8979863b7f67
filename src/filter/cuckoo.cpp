#include "bloomery/filter/cuckoo.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/core/sizing_removable.hpp"
#include "bloomery/detail/filter/batch.hpp"
#include "bloomery/filter/explanation.hpp"
#include "kernel/batch.hpp"
#include "kernel/wide/wide.hpp"

namespace bloomery {

using namespace cuckoo_geometry;

namespace {

constexpr std::uint32_t max_expansion = 32768;
constexpr std::uint32_t max_scale = 31;

[[noreturn]] void throw_corrupt(const std::string& what) {
  detail::fail(errc::corrupt, "a cuckoo filter's " + what);
}

bool is_expansion(std::uint64_t times) {
  return std::has_single_bit(times) && times <= max_expansion;
}

// Numbers that came from a file. Returns the number of layers.
std::uint64_t check_header(std::span<const std::uint64_t> words) {
  if (words.size() < preamble_words(1)) throw_corrupt("preamble is cut off");
  const std::uint64_t layers = detail::little_endian(words[layers_word]);
  if (layers == 0 || layers > max_layers) {
    throw_corrupt("number of layers is " + detail::to_text(layers) + ", not from 1 to 32");
  }
  const std::uint64_t most = detail::little_endian(words[max_layers_word]);
  if (most == 0 || most > max_layers) {
    throw_corrupt("greatest number of layers is " + detail::to_text(most) + ", not from 1 to 32");
  }
  const std::uint64_t times = detail::little_endian(words[expansion_word]);
  if (!is_expansion(times)) {
    throw_corrupt("expansion is " + detail::to_text(times) + ", not a power of two up to 32768");
  }
  if (words.size() < preamble_words(layers)) throw_corrupt("directory is cut off");
  const auto is_zero = [](std::uint64_t word) { return word == 0; };
  const auto reserved = words.subspan(expansion_word + 1, header_words - expansion_word - 1);
  const auto padding = words.first(preamble_words(layers)).subspan(buckets_word(layers));
  if (!std::all_of(reserved.begin(), reserved.end(), is_zero) ||
      !std::all_of(padding.begin(), padding.end(), is_zero)) {
    throw_corrupt("preamble has bits set that are reserved");
  }
  return layers;
}

// One entry of the directory; returns the words of the layer.
std::uint64_t check_layer(const shape& s, std::uint64_t base, std::uint64_t buckets,
                          std::uint64_t used) {
  // The first layer always divides itself; 0 is refused before the division.
  if (base == 0 || buckets == 0 || buckets > max_bits / s.block_bits || buckets % base != 0 ||
      !std::has_single_bit(buckets / base) || buckets / base > std::uint64_t{1} << max_scale) {
    throw_corrupt("layer has " + detail::to_text(buckets) +
                  " buckets, which is no power of two times those of the first");
  }
  const std::uint64_t slots = buckets * (s.block_bits / s.cell_bits);
  if (used > slots) {
    throw_corrupt("layer uses " + detail::to_text(used) + " of " + detail::to_text(slots) +
                  " cells");
  }
  return layer_words(buckets, s.block_bits);
}

// ---- many keys, in one layer ------------------------------------------------------------------

const kernel::cuckoo_kernels& kernels_for(const cuckoo_table& layer) noexcept {
  return (layer.buckets() >> 32U == 0 ? kernel::wide_kernels_chosen() : kernel::wide_portable)
      .cuckoo;
}

void answer(const cuckoo_table& layer, std::span<const std::uint64_t> hashes,
            std::span<std::uint64_t> bitmap) noexcept {
  if (layer.numbers().in_one_load) {
    kernels_for(layer).contains(layer.numbers(), kernel::hashes_of(hashes), bitmap.data());
    return;
  }
  kernel::answer_loop(layer, layer.words(), hashes, bitmap,
                      [&](std::size_t i) { return layer.contains(hashes[i]); });
}

void fetch(const cuckoo_table& layer, std::uint64_t position) noexcept {
  __builtin_prefetch(layer.words().data() + (position >> 6U), 0, 2);
  asm volatile("");  // GCC 12 would drop it, see kernel/pipeline.hpp
}

// Larger tables are taken for ones out of a shared cache, too. On a Zen 5 fetching partners ahead
// adds 20 million keys in 55 instead of 62 ns each, and 3 million in 21 instead of 18.
constexpr std::size_t far_words = (std::size_t{16} << 20U) / 8;

// Calls visit(index, place) for every hash, in order, until it returns false. The places of a piece
// are found together, and their lines fetched while the piece before it is visited. In a far table
// look(place) is called half a piece before visit, when the lines have come. Returns how many were
// visited, but for the one that ended it.
template <class Look, class Visit>
std::size_t for_each_place(const cuckoo_table& layer, std::span<const std::uint64_t> hashes,
                           Look look, Visit visit) noexcept {
  constexpr std::size_t piece = kernel::cuckoo_places::most;
  const kernel::cuckoo_kernels& kernels = kernels_for(layer);
  const bool is_near = layer.words().size() <= kernel::near_words;
  const bool is_far = layer.words().size() > far_words;
  kernel::cuckoo_places places[2];
  const auto place_at = [&](std::size_t i) -> cuckoo_table::place {
    const kernel::cuckoo_places& from = places[i / piece % 2];
    return {.first = from.first[i % piece],
            .second = from.second[i % piece],
            .fingerprint = from.fingerprint[i % piece]};
  };
  const auto stage = [&](std::size_t first) {
    if (first >= hashes.size()) return;
    const auto some = hashes.subspan(first, std::min(piece, hashes.size() - first));
    kernels.places(layer.numbers(), kernel::hashes_of(some), places[first / piece % 2]);
    if (is_near) return;
    for (std::size_t i = 0; i < some.size(); ++i) {
      layer.lines(place_at(first + i), [&](std::uint64_t position) { fetch(layer, position); });
    }
  };
  stage(0);
  for (std::size_t first = 0; first < hashes.size(); first += piece) {
    stage(first + piece);
    const std::size_t end = std::min(first + piece, hashes.size());
    for (std::size_t i = first; i < end; ++i) {
      if (is_far && i + piece / 2 < hashes.size()) look(place_at(i + piece / 2));
      if (!visit(i, place_at(i))) return i;
    }
  }
  return hashes.size();
}

void no_look(const cuckoo_table::place& /*p*/) noexcept {}

// Where the fingerprints of a key's buckets could move, if both are full.
void fetch_partners(const cuckoo_table& layer, const cuckoo_table::place& p) noexcept {
  if (layer.find_empty(p).bit != cuckoo_table::nowhere) return;
  for (const std::uint64_t bucket : {p.first, p.second}) {
    layer.any_cell(bucket, [&](std::uint32_t, std::uint64_t fingerprint) {
      fetch(layer, layer.position_of(layer.partner(bucket, fingerprint)));
      return false;
    });
  }
}

}  // namespace

// ---- the view ---------------------------------------------------------------------------------

cuckoo_view::cuckoo_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys)
    : plan_(detail::checked_plan(p, words, kind)), keys_(keys) {
  const std::uint64_t count = check_header(words);
  preamble_ = words.first(static_cast<std::size_t>(preamble_words(count)));
  const std::uint64_t base = detail::little_endian(words[buckets_word(0)]);
  std::uint64_t at = preamble_.size();
  layers_.reserve(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t buckets = detail::little_endian(words[buckets_word(i)]);
    const std::uint64_t size = check_layer(p.shape, base, buckets, used(i));
    if (size > words.size() - at) throw_corrupt("layers are longer than its words");
    layers_.emplace_back(p.shape, words.data() + at, base,
                         static_cast<std::uint32_t>(std::countr_zero(buckets / base)));
    at += size;
  }
  if (at != words.size()) throw_corrupt("layers are shorter than its words");
  layers_changed();
}

std::uint32_t cuckoo_view::max_layers() const noexcept {
  return static_cast<std::uint32_t>(detail::little_endian(preamble_[max_layers_word]));
}

std::uint32_t cuckoo_view::expansion() const noexcept {
  return static_cast<std::uint32_t>(detail::little_endian(preamble_[expansion_word]));
}

std::vector<std::span<const std::uint64_t>> cuckoo_view::parts() const {
  std::vector<std::span<const std::uint64_t>> all;
  all.reserve(layers_.size() + 1);
  all.push_back(preamble_);
  for (const cuckoo_table& layer : layers_) all.push_back(layer.words());
  return all;
}

std::uint64_t cuckoo_view::slots() const noexcept {
  std::uint64_t sum = 0;
  for (const cuckoo_table& layer : layers_) sum += layer.buckets() * layer.cells();
  return sum;
}

// A key that nobody takes is one of two things. Either the layers are full, and the next is larger;
// or it was added more than 2b times to layers with room, and the smallest layer will do.
std::optional<std::uint32_t> cuckoo_view::next_scale() const noexcept {
  if (layers() >= max_layers()) return std::nullopt;
  std::uint64_t held = 0;
  std::uint64_t planned = 0;
  std::uint32_t scale = 0;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    held += used(i);
    planned += planned_slots(layers_[i].buckets(), bucket_cells());
    scale = std::max(scale, layers_[i].scale());
  }
  scale += static_cast<std::uint32_t>(std::countr_zero(expansion()));
  scale = held < planned / 2 ? 0 : std::min(scale, max_scale);
  const std::uint64_t room = (max_bits - shape().bits) / 2 / shape().block_bits;
  if (layers_.front().buckets() > room >> scale) return std::nullopt;
  return scale;
}

std::uint64_t cuckoo_view::growth_bytes() const noexcept {
  const std::optional<std::uint32_t> scale = next_scale();
  if (!scale) return 0;
  return layer_words(layers_.front().buckets() << *scale, shape().block_bits) * 8;
}

void cuckoo_view::check() const {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    std::uint64_t found = 0;
    for (std::uint64_t bucket = 0; bucket < layers_[i].buckets(); ++bucket) {
      for (std::uint32_t cell = 0; cell < layers_[i].cells(); ++cell) {
        found += layers_[i].cell(bucket, cell) != 0 ? 1U : 0U;
      }
    }
    if (found == used(i)) continue;
    throw_corrupt("layer says that " + detail::to_text(used(i)) + " of its cells are in use, and " +
                  detail::to_text(found) + " are");
  }
}

double cuckoo_view::fill() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < layers_.size(); ++i) sum += used(i);
  return static_cast<double>(sum) / static_cast<double>(slots());
}

double cuckoo_view::fpr() const noexcept {
  double log_none = 0;  // of the chance that no layer errs
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    // A mapped file may have been overwritten since it was checked.
    const double load =
        std::min(1.0, static_cast<double>(used(i)) /
                          static_cast<double>(layers_[i].buckets() * layers_[i].cells()));
    log_none += std::log1p(-sizing::cuckoo_fpr(shape().cell_bits, bucket_cells(), load));
  }
  return -std::expm1(log_none);
}

// Every layer is asked: a branch on the outcome would often be mispredicted, and then the misses of
// one key are not taken together with those of the next.
bool cuckoo_view::any_contains(std::uint64_t hash) const noexcept {
  bool found = false;
  for (const cuckoo_table& layer : layers_) found |= layer.contains(hash);
  return found;
}

// Layer by layer, so that each pass looks ahead in one array.
void cuckoo_view::contains_bits(std::span<const std::uint64_t> hashes,
                                std::span<std::uint64_t> bitmap) const noexcept {
  answer(layers_.front(), hashes, bitmap);
  for (std::size_t i = 1; i < layers_.size(); ++i) {
    detail::for_each_piece(
        hashes.size(),
        [&](std::size_t first, std::size_t count, std::span<std::uint64_t> bits) {
          answer(layers_[i], hashes.subspan(first, count), bits);
        },
        [&](std::size_t first, std::size_t, std::span<const std::uint64_t> bits) {
          for (std::size_t w = 0; w < bits.size(); ++w) bitmap[first / 64 + w] |= bits[w];
        });
  }
}

void cuckoo_view::count_batch(std::span<const std::uint64_t> hashes,
                              std::span<std::uint64_t> counts) const noexcept {
  std::fill_n(counts.begin(), hashes.size(), 0);
  for (const cuckoo_table& layer : layers_) {
    for_each_place(layer, hashes, no_look, [&](std::size_t i, const cuckoo_table::place& p) {
      counts[i] += layer.count(p);
      return true;
    });
  }
}

// ---- the owner --------------------------------------------------------------------------------

cuckoo_filter::cuckoo_filter(const options& o)
    : cuckoo_filter(
          sizing::make_plan({.kind = filter_kind::cuckoo, .keys = o.keys, .fpr = o.fpr})) {}

cuckoo_filter::cuckoo_filter(const plan& p, one_layer /*tag*/) : cuckoo_view(p, 0) {
  detail::check_kind(p.shape, kind);
  const std::uint64_t least = preamble_words(1) + layer_words(1, p.shape.block_bits);
  const std::uint64_t words = p.shape.bits / 64 / line_words * line_words;
  if (words < least) {
    detail::throw_bad_argument("the number of bits", p.shape.bits,
                               "at least " + detail::to_text(least * 64) + " with such a bucket");
  }
  arrays_.emplace_back(preamble_words(0) * 64);
  arrays_[0].words()[max_layers_word] = detail::little_endian(cuckoo_geometry::max_layers);
  arrays_[0].words()[expansion_word] = detail::little_endian(2);
  append_layer(buckets_in((words - preamble_words(1)) * 64, p.shape.block_bits), 0);
}

cuckoo_filter::cuckoo_filter(const view& other) : cuckoo_view(other) {
  check();
  for (const std::span<const std::uint64_t> part : other.parts()) arrays_.emplace_back(part);
  rebind();
}

cuckoo_filter::cuckoo_filter(const cuckoo_filter& other)
    : cuckoo_view(other), arrays_(other.arrays_), longest_path_(other.longest_path_) {
  rebind();
}

cuckoo_filter& cuckoo_filter::operator=(cuckoo_filter other) noexcept {
  // The arrays' memory stays where it is, so that what points into it stays right.
  std::swap(plan_, other.plan_);
  std::swap(keys_, other.keys_);
  std::swap(preamble_, other.preamble_);
  std::swap(layers_, other.layers_);
  std::swap(is_plain_, other.is_plain_);
  std::swap(arrays_, other.arrays_);
  std::swap(longest_path_, other.longest_path_);
  return *this;
}

void cuckoo_filter::rebind() {
  preamble_ = arrays_[0].words();
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layers_[i] = cuckoo_table(shape(), words_of(i), layers_.front().buckets(), layers_[i].scale());
  }
}

// All that can fail is done first.
void cuckoo_filter::append_layer(std::uint64_t base, std::uint32_t scale) {
  const std::size_t layer = layers_.size();
  const std::uint64_t buckets = base << scale;
  bit_array cells(layer_words(buckets, shape().block_bits) * 64);
  bit_array preamble(preamble_words(layer + 1) * 64);
  arrays_.reserve(layer + 2);
  layers_.reserve(layer + 1);

  const std::span<const std::uint64_t> old = std::as_const(arrays_[0]).words();
  const std::span<std::uint64_t> words = preamble.words();
  std::copy(old.begin(), old.end(), words.begin());
  words[layers_word] = detail::little_endian(layer + 1);
  words[buckets_word(layer)] = detail::little_endian(buckets);
  arrays_[0] = std::move(preamble);
  preamble_ = arrays_[0].words();
  arrays_.push_back(std::move(cells));
  layers_.emplace_back(shape(), words_of(layer), base, scale);
  update_size();
}

void cuckoo_filter::update_size() noexcept {
  plan_.shape.bits = 0;
  for (const bit_array& array : arrays_) plan_.shape.bits += array.words().size() * 64;
  layers_changed();
}

bool cuckoo_filter::grow() {
  const std::optional<std::uint32_t> scale = next_scale();
  if (scale) append_layer(layers_.front().buckets(), *scale);
  return scale.has_value();
}

void cuckoo_filter::put(std::size_t layer, std::uint64_t bucket, std::uint32_t index,
                        std::uint64_t fingerprint) noexcept {
  layers_[layer].set_cell(words_of(layer), bucket, index, fingerprint);
}

bool cuckoo_filter::try_add(std::uint64_t hash, const cuckoo_table::place& newest) noexcept {
  const auto added_to = [this](std::size_t layer) {
    set_used(layer, used(layer) + 1);
    ++keys_;
    return true;
  };
  const std::size_t last = layers_.size() - 1;
  if (put_in_free_cell(last, newest)) [[likely]] {
    return added_to(last);
  }
  for (std::size_t i = last; i-- > 0;) {
    if (put_in_free_cell(i, layers_[i].place_of(hash))) return added_to(i);
  }
  if (put_by_moving(last, newest)) return added_to(last);
  // Older layers are searched only while emptier than planned: failing takes 512 cache misses.
  for (std::size_t i = last; i-- > 0;) {
    const bool worth_it = used(i) < planned_slots(layers_[i].buckets(), bucket_cells());
    if (worth_it && put_by_moving(i, layers_[i].place_of(hash))) return added_to(i);
  }
  return false;
}

bool cuckoo_filter::try_add_by_moving(std::uint64_t hash) noexcept {
  return try_add(hash, layers_.back().place_of(hash));
}

bool cuckoo_filter::add_by_moving(std::uint64_t hash) {
  return try_add_by_moving(hash) || (grow() && try_add_by_moving(hash));
}

bool cuckoo_filter::remove_at(std::size_t layer, const cuckoo_table::spot& s,
                              std::uint64_t fingerprint) noexcept {
  if (s.bit == cuckoo_table::nowhere) return false;
  layers_[layer].toggle(words_of(layer), s, fingerprint);
  count_removed(layer);
  return true;
}

// From the layer with the largest scale that has a match: the head of cuckoo.hpp says why.
bool cuckoo_filter::remove_from_largest(std::uint64_t hash) noexcept {
  std::size_t layer = 0;
  const cuckoo_table::place p = layers_.front().place_of(hash);
  cuckoo_table::spot s = layers_.front().find_in_either(p);
  for (std::size_t i = 1; i < layers_.size(); ++i) {
    if (s.bit != cuckoo_table::nowhere && layers_[i].scale() < layers_[layer].scale()) continue;
    const cuckoo_table::spot found = layers_[i].find_in_either(layers_[i].place_of(hash));
    if (found.bit == cuckoo_table::nowhere) continue;
    layer = i;
    s = found;
  }
  return remove_at(layer, s, p.fingerprint);
}

std::size_t cuckoo_filter::add_batch(std::span<const std::uint64_t> hashes) {
  std::size_t added = 0;
  while (!hashes.empty()) {
    const std::size_t done = try_add_batch(hashes);
    added += done;
    if (done == hashes.size()) break;
    added += std::size_t{grow() && try_add(hashes[done])};
    hashes = hashes.subspan(done + 1);
  }
  return added;
}

std::size_t cuckoo_filter::try_add_batch(std::span<const std::uint64_t> hashes) noexcept {
  const cuckoo_table& newest = layers_.back();
  const std::size_t last = layers_.size() - 1;
  const std::uint64_t many = newest.buckets() * newest.cells() / 4 * 3;  // before, few are full
  return for_each_place(
      newest, hashes,
      [&](const cuckoo_table::place& p) {
        if (used(last) >= many) fetch_partners(newest, p);
      },
      [&](std::size_t i, const cuckoo_table::place& p) { return try_add(hashes[i], p); });
}

std::size_t cuckoo_filter::remove_batch(std::span<const std::uint64_t> hashes) noexcept {
  std::size_t removed = 0;
  // With several layers the places of the largest one are on their way, where most keys are.
  const auto largest = std::ranges::max_element(layers_, {}, &cuckoo_table::scale);
  for_each_place(*largest, hashes, no_look, [&](std::size_t i, const cuckoo_table::place& p) {
    removed +=
        std::size_t{layers_.size() == 1 ? remove_at(0, layers_[0].find_in_either(p), p.fingerprint)
                                        : remove(hashes[i])};
    return true;
  });
  return removed;
}

void cuckoo_filter::set_max_layers(std::uint32_t layers) {
  if (layers == 0 || layers > cuckoo_geometry::max_layers) {
    detail::throw_bad_argument("the greatest number of layers", std::uint64_t{layers},
                               "from 1 to 32");
  }
  arrays_[0].words()[max_layers_word] = detail::little_endian(layers);
}

void cuckoo_filter::set_expansion(std::uint32_t times) {
  if (!is_expansion(times)) {
    detail::throw_bad_argument("the expansion", std::uint64_t{times},
                               "a power of two from 1 to 32768");
  }
  arrays_[0].words()[expansion_word] = detail::little_endian(times);
}

explanation cuckoo_view::explain(std::uint64_t hash) const {
  explanation e;
  e.findings.push_back({.text = "fingerprint {fingerprint:x}",
                        .numbers = {{"fingerprint", layers_.front().place_of(hash).fingerprint}}});
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const cuckoo_table::place p = layers_[i].place_of(hash);
    for (const std::uint64_t bucket : {p.first, p.second}) {
      std::vector<std::uint64_t> cells;
      for (std::uint32_t j = 0; j < bucket_cells(); ++j) {
        cells.push_back(layers_[i].cell(bucket, j));
      }
      e.findings.push_back({.text = "layer {layer}, bucket {bucket}: {cells:x}",
                            .numbers = {{"layer", std::uint64_t{i}},
                                        {"bucket", bucket},
                                        {"cells", std::move(cells)}},
                            .list = "buckets"});
      if (p.first == p.second) break;
    }
  }
  const std::uint64_t found = count(hash);
  e.why = {.text = found == 0   ? "neither of its buckets holds its fingerprint"
                   : found == 1 ? "its buckets hold its fingerprint once"
                                : "its buckets hold its fingerprint {count} times",
           .numbers = {{"count", found}}};
  return e;
}

cell_array cuckoo_view::cells() const {
  const auto all = parts();  // the first is the preamble
  return {.unit = "cells", .parts = {all.begin() + 1, all.end()}, .cell_bits = shape().cell_bits};
}

}  // namespace bloomery
