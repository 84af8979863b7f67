#include "bloomery/filter/bloomier.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "kernel/wide/wide.hpp"
#include "peel.hpp"
#include "static_shards.hpp"

namespace bloomery {

namespace {

void check_value(const shape& s, std::uint64_t value) {
  if (s.variant < 64 && value >> s.variant != 0) {
    detail::throw_bad_argument("the value", value,
                               "below 2^" + detail::to_text(std::uint64_t{s.variant}));
  }
}

class bloomier_solver {
 public:
  using item = valued_hash;
  using entry = std::array<std::uint64_t, sizing::fuse_entry_words>;

  explicit bloomier_solver(const shape& s) : shape_(s) {}

  [[nodiscard]] std::uint64_t array_words(std::uint64_t keys) const noexcept {
    const sizing::fuse_size size = sizing::fuse_size_for(keys, shape_.probes);
    return sizing::bloomier_tag_words(shape_, size) + sizing::bloomier_value_words(shape_, size);
  }

  std::uint64_t solve(std::uint64_t shard, std::span<valued_hash> items, std::uint64_t* out,
                      entry& e) {
    for (const valued_hash& i : items) check_value(shape_, i.value);
    const auto found = detail::peel_shard(peeler_, shape_, shard, items);
    const detail::packed_cells tags{sizing::bloomier_tag_bits(shape_)};
    peeler_.fill(tags, out, found.size, shape_.probes,
                 [&](std::uint64_t mixed, std::uint32_t place) {
                   return detail::fuse_print(mixed, tags.width) ^ place;
                 });
    // Each key finds its own cell with the tags that were just made, and so does every lookup.
    const detail::packed_cells values{shape_.variant};
    std::uint64_t* const table = out + sizing::bloomier_tag_words(shape_, found.size);
    for (const valued_hash& i : items) {
      const std::uint64_t own = detail::bloomier_own_cell(out, tags, mix64(i.hash, found.seed),
                                                          found.size, shape_.probes);
      values.set(table, own, i.value);
    }
    e = {0, found.seed, found.size.starts, found.size.segment};
    return found.keys;
  }

 private:
  shape shape_;
  detail::peeler peeler_;
};

const plan& checked(const plan& p) {
  detail::checked_static_plan(p, filter_kind::bloomier);
  sizing::check_bloomier(p.shape);
  return p;
}

detail::payload build(const plan& p, std::span<const std::uint64_t> hashes,
                      std::span<const std::uint64_t> values, unsigned threads) {
  if (values.size() != hashes.size()) {
    detail::throw_bad_argument(
        "the number of values", std::uint64_t{values.size()},
        "that of the keys, " + detail::to_text(std::uint64_t{hashes.size()}));
  }
  const std::uint64_t shards = sizing::static_shards(p.keys != 0 ? p.keys : hashes.size());
  detail::shard_parts<valued_hash> parts(hashes.size(), shards, threads, [&](std::size_t i) {
    return valued_hash{.hash = hashes[i], .value = values[i]};
  });
  return detail::build_shards<bloomier_solver>(p, shards, parts, threads);
}

kernel::fuse_array array_of(const detail::static_directory& d, const shape& s) noexcept {
  return {.directory = d,
          .probes = s.probes,
          .cell_bits = sizing::bloomier_tag_bits(s),
          .value_bits = s.variant};
}

}  // namespace

bloomier_view::bloomier_view(const plan& p, std::span<const std::uint64_t> words,
                             std::uint64_t keys)
    : static_view(p, detail::open_static(p, kind, words, keys, sizing::fuse_entry_words)) {
  sizing::check_bloomier(p.shape);
  detail::check_fuse_shards(directory(), p.shape, [&](const sizing::fuse_size& size) {
    return sizing::bloomier_tag_words(p.shape, size) + sizing::bloomier_value_words(p.shape, size);
  });
}

void bloomier_view::contains_bits(std::span<const std::uint64_t> hashes,
                                  std::span<std::uint64_t> bitmap) const noexcept {
  kernel::wide_kernels_chosen().fuse.tagged(array_of(directory(), shape()), kernel::run_of(hashes),
                                            bitmap.data());
}

void bloomier_view::contains_bits(const mixed_integers& keys,
                                  std::span<std::uint64_t> bitmap) const noexcept {
  kernel::wide_kernels_chosen().fuse.tagged(array_of(directory(), shape()), kernel::run_of(keys),
                                            bitmap.data());
}

void bloomier_view::value_batch(std::span<const std::uint64_t> hashes,
                                std::span<std::uint64_t> values,
                                std::span<std::uint64_t> bitmap) const noexcept {
  kernel::wide_kernels_chosen().fuse.values(array_of(directory(), shape()), hashes, values.data(),
                                            bitmap.data());
}

double bloomier_view::fpr() const noexcept {
  if (keys() == 0) return 0.0;
  return std::min(1.0, std::ldexp(shape().probes, -static_cast<int>(check_bits()) - 2) +
                           static_cast<double>(keys()) * 0x1p-64);
}

bloomier_filter::bloomier_filter(const plan& p, std::span<const std::uint64_t> hashes,
                                 std::span<const std::uint64_t> values, unsigned threads)
    : owned(build(checked(p), hashes, values, threads)) {}

bool bloomier_filter::update(std::uint64_t hash, std::uint64_t value) {
  check_value(shape(), value);
  const std::uint64_t own = own_cell(hash);
  if (own == nowhere) return false;
  detail::packed_cells{value_bits()}.set(mutable_words().data() + value_table(hash), own, value);
  return true;
}

bloomier_builder::bloomier_builder(const plan& p)
    : static_builder(std::make_unique<detail::shard_writer<bloomier_solver>>(checked(p))) {}

explanation bloomier_view::explain(std::uint64_t hash) const {
  const detail::fuse_shard shard(directory().entry_of(hash, sizing::fuse_entry_words));
  if (shard.size.starts == 0) return detail::no_keys_in_shard();
  const detail::packed_cells tags{sizing::bloomier_tag_bits(shape())};
  const std::uint64_t mixed = shard.mixed(hash);
  explanation e{.unit = "cell"};
  e.places.reserve(shape().probes);  // fuse_cells must not throw
  std::uint64_t number = detail::fuse_print(mixed, tags.width);
  detail::fuse_cells(mixed, shard.size, shape().probes, [&](std::uint64_t cell) {
    e.places.push_back({cell, tags.get(directory().words + shard.first_word, cell)});
    number ^= e.places.back().value;
  });
  e.findings.push_back({.text = "the XOR of the tags and the fingerprint is {fingerprint_xor_tags}",
                        .numbers = {{"fingerprint_xor_tags", number}}});
  if (const std::optional<std::uint64_t> there = value(hash)) {
    e.why = {.text = "cell {cell} is its own, with the value {value}",
             .numbers = {{"cell", e.places[static_cast<std::size_t>(number)].position},
                         {"value", *there}}};
  } else {
    e.why = {.text = "none of its {probes} cells has this number",
             .numbers = {{"probes", std::uint64_t{shape().probes}}}};
  }
  return e;
}

}  // namespace bloomery
