#include "bloomery/filter/layered.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "block_rate.hpp"
#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/scratch.hpp"
#include "core/growth.hpp"
#include "kernel/blocked/blocked.hpp"
#include "kernel/blocked/layers.hpp"

namespace bloomery {

namespace {

constexpr std::size_t words_per_block = bits_per_block / 64;
// An image begins with a line for the number of layers, then blocks, capacity, keys and 0 of each.
constexpr std::size_t head_words = 8;
constexpr std::size_t entry_words = 4;
// Keys added together, in 50 KiB of stack: the more, the longer a layer is cached (layers.hpp).
constexpr std::size_t piece = 4096;

constexpr std::size_t directory_words(std::size_t layers) {
  return (head_words + layers * entry_words + words_per_block - 1) / words_per_block *
         words_per_block;
}

[[noreturn]] void throw_corrupt(const std::string& what) {
  detail::fail(errc::corrupt, "the filter is damaged: " + what);
}

std::shared_ptr<bit_array> empty_blocks(std::uint64_t blocks) {
  return std::make_shared<bit_array>(blocks * bits_per_block);
}

const plan& checked(const plan& p) {
  detail::check_kind(p.shape, filter_kind::layered);
  return p;
}

}  // namespace

layered_view::layered_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys)
    : plan_(checked(p)), probes_(p.shape), keys_(keys) {
  if (words.size() != p.shape.bits / 64 || words.size() < directory_words(1)) {
    throw_corrupt("its directory is cut off");
  }
  const std::uint64_t count = detail::little_endian(words[0]);
  if (count == 0 || count > growth::most_layers || words.size() < directory_words(count)) {
    throw_corrupt("it cannot have " + detail::to_text(count) + " layers");
  }
  read_layers(words, static_cast<std::size_t>(count));
}

void layered_view::read_layers(std::span<const std::uint64_t> words, std::size_t count) {
  const auto number = [&](std::size_t i) { return detail::little_endian(words[i]); };
  const std::size_t used = head_words + count * entry_words;
  const std::size_t start = directory_words(count);
  bool sound =
      std::all_of(&words[1], &words[head_words], [](auto word) { return word == 0; }) &&
      std::all_of(words.data() + used, words.data() + start, [](auto word) { return word == 0; });
  std::uint64_t blocks_left = (words.size() - start) / words_per_block;
  const std::uint64_t* at = words.data() + start;
  for (std::size_t i = head_words; i < used; i += entry_words) {
    const layer l{
        .words = at, .blocks = number(i), .capacity = number(i + 1), .keys = number(i + 2)};
    // No rate below 1 has more keys than that; the next layer would have room for as many.
    sound = sound && number(i + 3) == 0 && l.capacity != 0 &&
            l.capacity / (std::uint64_t{64} * bits_per_block) <= l.blocks;
    if (l.blocks == 0 || l.blocks > blocks_left) throw_corrupt("a layer does not fit into it");
    blocks_left -= l.blocks;
    at += l.blocks * words_per_block;
    layers_.push_back(l);
  }
  if (!sound || blocks_left != 0) throw_corrupt("its directory contradicts itself");
  directory_ = words.first(start);
}

template <class Keys>
void layered_view::ask_layers(const Keys& keys, std::span<std::uint64_t> bitmap) const noexcept {
  detail::scratch<kernel::const_blocks, growth::most_layers> all;
  std::size_t count = 0;
  for (const layer& l : layers_) {
    all[count++] = {.words = l.words, .blocks = l.blocks, .probes = shape().probes};
  }
  kernel::contains_any(kernel::blocked_kernels_chosen().contains, std::span(all).first(count),
                       kernel::run_of(keys), bitmap);
}

void layered_view::contains_bits(std::span<const std::uint64_t> hashes,
                                 std::span<std::uint64_t> bitmap) const noexcept {
  ask_layers(hashes, bitmap);
}

void layered_view::contains_bits(const mixed_integers& keys,
                                 std::span<std::uint64_t> bitmap) const noexcept {
  ask_layers(keys, bitmap);
}

std::uint64_t layered_view::keys_stored() const noexcept {
  std::uint64_t sum = 0;
  for (const layer& l : layers_) sum += l.keys;
  return sum;
}

// By the rule, where it has room for as many keys: a merged filter grows like one of its size.
layered_view::layer layered_view::next_layer() const noexcept {
  const growth::step first{.blocks = layers_.front().blocks, .keys = layers_.front().capacity};
  std::uint64_t capacity = 0;
  for (const layer& l : layers_) capacity += l.capacity;
  growth::step next;
  std::uint64_t whole = first.keys;
  for (std::size_t i = 1;; ++i) {
    next = growth::after(first, i, shape().variant);
    if (next.blocks == 0 || whole >= capacity) break;
    whole += next.keys;
  }
  const bool possible = next.blocks != 0 && layers_.size() < growth::most_layers &&
                        shape().bits / bits_per_block + next.blocks < max_bits / bits_per_block;
  return possible ? layer{.blocks = next.blocks, .capacity = next.keys} : layer{};
}

std::uint64_t layered_view::room() const noexcept {
  const layer& last = layers_.back();
  return last.keys < last.capacity ? last.capacity - last.keys : 0;
}

std::uint64_t layered_view::growth_bytes() const noexcept {
  return next_layer().blocks * (bits_per_block / 8);
}

std::vector<std::span<const std::uint64_t>> layered_view::parts() const {
  std::vector<std::span<const std::uint64_t>> all{directory_};
  all.reserve(1 + layers_.size());
  for (const layer& l : layers_) all.push_back(l.all());
  return all;
}

double layered_view::fill() const noexcept {
  std::uint64_t set = 0;
  std::uint64_t bits = 0;
  for (const layer& l : layers_) {
    set += count_bits(l.all());
    bits += l.blocks * bits_per_block;
  }
  return static_cast<double>(set) / static_cast<double>(bits);
}

double layered_view::fpr() const noexcept {
  double none = 1;
  for (const layer& l : layers_) none *= 1 - detail::block_rate(l.all(), shape().probes);
  return 1 - none;
}

double layered_view::fpr_at(std::uint64_t hash) const noexcept {
  double none = 1;
  for (const layer& l : layers_) {
    none *= 1 - detail::block_rate({l.block_of(hash), words_per_block}, shape().probes);
  }
  return 1 - none;
}

void layered_filter::write_directory() {
  own_directory_.assign(directory_words(layers_.size()), 0);
  own_directory_[0] = detail::little_endian(layers_.size());
  std::uint64_t words = own_directory_.size();
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    std::uint64_t* const entry = &own_directory_[head_words + i * entry_words];
    entry[0] = detail::little_endian(layers_[i].blocks);
    entry[1] = detail::little_endian(layers_[i].capacity);
    entry[2] = detail::little_endian(layers_[i].keys);
    words += layers_[i].all().size();
  }
  plan_.shape.bits = words * 64;
  directory_ = own_directory_;
}

layered_filter::layered_filter(made_tag, const plan& p) : view(checked(p)) {
  const std::uint64_t blocks = p.shape.bits / bits_per_block;
  constexpr std::uint64_t head_blocks = directory_words(1) / words_per_block;
  if (blocks <= head_blocks) {
    detail::throw_bad_argument("the number of bits", p.shape.bits, "more than the directory's");
  }
  append_layer(empty_blocks(blocks - head_blocks), std::max<std::uint64_t>(1, p.keys));
}

layered_filter::layered_filter(const view& other) : view(other) {
  arrays_.reserve(layers_.size());
  for (layer& l : layers_) {
    const auto& array = arrays_.emplace_back(std::make_shared<bit_array>(l.all()));
    l.words = array->words().data();
  }
  write_directory();
}

layered_filter::layered_filter(const layered_filter& other) : view(other), arrays_(other.arrays_) {
  if (!arrays_.empty()) {  // as they are in one that was moved away
    replace_array(arrays_.size() - 1, std::make_shared<bit_array>(*arrays_.back()));
  }
  write_directory();
}

void layered_filter::replace_array(std::size_t i, std::shared_ptr<bit_array> by) noexcept {
  arrays_[i] = std::move(by);
  layers_[i].words = arrays_[i]->words().data();
}

void layered_filter::append_layer(std::shared_ptr<bit_array> array, std::uint64_t capacity) {
  arrays_.reserve(arrays_.size() + 1);
  layers_.reserve(layers_.size() + 1);
  own_directory_.reserve(directory_words(layers_.size() + 1));
  const auto words = array->words();
  arrays_.push_back(std::move(array));
  layers_.push_back(
      {.words = words.data(), .blocks = words.size() / words_per_block, .capacity = capacity});
  write_directory();
}

std::uint64_t layered_filter::make_room() {
  if (const std::uint64_t left = room(); left != 0) return left;
  const layer next = next_layer();
  // With no further step, the last layer takes the keys and the rate rises.
  if (next.blocks == 0) return UINT64_MAX;
  append_layer(empty_blocks(next.blocks), next.capacity);
  return next.capacity;
}

void layered_filter::count_stored(std::uint64_t keys) noexcept {
  layer& last = layers_.back();
  last.keys += keys;
  own_directory_[head_words + (layers_.size() - 1) * entry_words + 2] =
      detail::little_endian(last.keys);
}

bool layered_filter::add_new(std::uint64_t hash) {
  if (contains(hash)) return false;
  make_room();
  const std::uint64_t block = detail::multiply_high(hash, layers_.back().blocks);
  probes_.lanes().set(hash, arrays_.back()->words().data() + block * words_per_block);
  count_stored(1);
  ++keys_;
  return true;
}

// Only the last layer changes while the piece is added. So a key that no layer has now is new
// unless an earlier one of the piece has set all its bits there: unless it changes no bit.
std::size_t layered_filter::add_piece(std::span<const std::uint64_t> hashes) {
  detail::scratch<std::uint64_t, piece / 64> known;
  contains_bits(hashes, known);
  detail::scratch<std::uint64_t, piece> absent;
  detail::scratch<std::uint32_t, piece> places;
  std::size_t count = 0;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    absent[count] = hashes[i];
    places[count] = static_cast<std::uint32_t>(i);
    count += std::size_t{((known[i / 64] >> (i % 64)) & 1U) == 0};
  }
  if (count == 0) return hashes.size();
  // Appending a layer may fail: then the keys before the first that needs it are done with.
  if (places[0] != 0 && layers_.back().keys >= layers_.back().capacity) return places[0];
  const std::uint64_t room = make_room();
  const std::size_t taken = static_cast<std::size_t>(std::min<std::uint64_t>(count, room));
  count_stored(kernel::blocked_kernels_chosen().add_new(
      {.words = arrays_.back()->words().data(),
       .blocks = layers_.back().blocks,
       .probes = shape().probes},
      kernel::run_of(std::span<const std::uint64_t>(absent).first(taken))));
  return taken < count ? places[taken] : hashes.size();
}

void layered_filter::add_batch(std::span<const std::uint64_t> hashes) {
  while (!hashes.empty()) {
    const std::size_t done = add_piece(hashes.first(std::min(piece, hashes.size())));
    keys_ += done;
    hashes = hashes.subspan(done);
  }
}

void layered_filter::clear() {
  if (arrays_.size() > 1) {  // the first may be another filter's, too
    replace_array(0, empty_blocks(layers_.front().blocks));
  } else {
    std::ranges::fill(arrays_.front()->words(), 0);
  }
  layers_.erase(layers_.begin() + 1, layers_.end());
  arrays_.erase(arrays_.begin() + 1, arrays_.end());
  layers_.front().keys = 0;
  keys_ = 0;
  write_directory();  // shorter than before, so that it needs no memory
}

std::size_t layered_filter::place_for(const layer& other) const noexcept {
  std::size_t i = 0;
  for (; i < layers_.size(); ++i) {
    const layer& l = layers_[i];
    if (l.blocks == other.blocks && l.keys <= l.capacity && other.keys <= l.capacity - l.keys)
      break;
  }
  return i;
}

void layered_filter::merge(const view& other) {
  if (other.shape().probes != shape().probes) {
    detail::fail(errc::mismatch, "the filters differ in their probes: " +
                                     detail::to_text(std::uint64_t{shape().probes}) + " and " +
                                     detail::to_text(std::uint64_t{other.shape().probes}));
  }
  layered_filter result(static_cast<const view&>(*this));
  for (const layer& l : layers_of(other)) {
    const std::size_t place = result.place_for(l);
    if (place == result.layers_.size()) {
      if (place == growth::most_layers) {
        detail::fail(errc::full, "the union would have more than 32 layers");
      }
      result.append_layer(std::make_shared<bit_array>(l.all()), l.capacity);
    } else {
      const auto words = result.arrays_[place]->words();
      std::transform(words.begin(), words.end(), l.words, words.begin(),
                     [](std::uint64_t a, std::uint64_t b) { return a | b; });
    }
    result.layers_[place].keys += l.keys;
  }
  // New keys go to the last layer: that with the most room. The first stays: the rule starts there.
  const auto room_in = [](const layer& l) { return l.capacity - std::min(l.capacity, l.keys); };
  for (std::size_t i = 1; i < result.layers_.size(); ++i) {
    if (room_in(result.layers_[i]) <= room_in(result.layers_.back())) continue;
    std::swap(result.layers_[i], result.layers_.back());
    std::swap(result.arrays_[i], result.arrays_.back());
  }
  result.write_directory();
  result.keys_ += other.keys();
  *this = std::move(result);
}

explanation layered_view::explain(std::uint64_t hash) const {
  const block_mask mask = probes_.mask_of(hash);
  explanation e;
  std::vector<std::uint64_t> saying_yes;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const std::uint64_t* const block = layers_[i].block_of(hash);
    const std::uint64_t set = mask.bits_set(block);
    const bool all = set == shape().probes;
    if (all) saying_yes.push_back(i);
    const auto number =
        static_cast<std::uint64_t>(block - layers_[i].words) / (bits_per_block / 64);
    e.findings.push_back(
        {.text = "layer {layer}, block {block} of {blocks}: {bits_set} of {probes} bits are set",
         .numbers = {{"layer", std::uint64_t{i}},
                     {"block", number},
                     {"blocks", layers_[i].blocks},
                     {"bits_set", set},
                     {"probes", std::uint64_t{shape().probes}},
                     {"contains", all}},
         .list = "layers"});
  }
  e.why.text = "no layer has all of its bits";
  if (!saying_yes.empty()) {
    e.why = {.text = "layer {saying_yes} has all of its bits",
             .numbers = {{"saying_yes", std::move(saying_yes)}}};
  }
  return e;
}

cell_array layered_view::cells() const {
  const auto all = parts();  // the first is the directory
  return {.unit = "bits of all layers", .parts = {all.begin() + 1, all.end()}};
}

}  // namespace bloomery
