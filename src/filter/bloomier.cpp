#include "bloomery/filter/bloomier.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "fuse_batch.hpp"
#include "peel.hpp"
#include "shards.hpp"

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
  detail::check_static_plan(p, filter_kind::bloomier);
  sizing::check_bloomier(p.shape);
  return p;
}

detail::built_payload build(const plan& p, std::span<const std::uint64_t> hashes,
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

// Which cell of a looked-up key is its own; `probes` or more when it is absent.
template <std::uint32_t Probes>
std::uint64_t tag_of(const detail::packed_cells& tags, const detail::fuse_probe<Probes>& probe) {
  std::uint64_t tag = detail::fuse_print(probe.mixed, tags.width);
  for (const std::uint64_t cell : probe.cells) tag ^= tags.get(probe.words, cell);
  return tag;
}

// Calls visit with a constant 3 or 4.
template <class Visit>
void with_probes(std::uint32_t probes, Visit visit) {
  if (probes == 3) {
    visit.template operator()<3>();
  } else {
    visit.template operator()<4>();
  }
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
  const detail::packed_cells tags{sizing::bloomier_tag_bits(shape())};
  with_probes(shape().probes, [&]<std::uint32_t Probes>() {
    detail::fuse_answers<Probes>(
        directory(), tags.width, hashes, bitmap,
        [&](const detail::fuse_probe<Probes>& probe) { return tag_of(tags, probe) < Probes; });
  });
}

// Two steps ahead: the lines of the tags, and when those are there, that of the value.
void bloomier_view::value_batch(std::span<const std::uint64_t> hashes,
                                std::span<std::uint64_t> values,
                                std::span<std::uint64_t> bitmap) const noexcept {
  constexpr std::size_t ahead = 32;
  struct pending {
    const std::uint64_t* table;
    std::uint64_t cell;
  };
  std::array<pending, ahead> ring{};
  const detail::packed_cells tags{sizing::bloomier_tag_bits(shape())};
  const detail::packed_cells cells{value_bits()};
  const auto answer = [&](std::size_t i) {
    const pending& p = ring[i % ahead];
    values[i] = p.table == nullptr ? 0 : cells.get(p.table, p.cell);
    bitmap[i / 64] |= std::uint64_t{p.table != nullptr} << (i % 64);
  };
  std::fill_n(bitmap.begin(), (hashes.size() + 63) / 64, 0);
  with_probes(shape().probes, [&]<std::uint32_t Probes>() {
    detail::fuse_look_ahead<Probes>(
        directory(), tags.width, hashes,
        [&](std::size_t i, const detail::fuse_probe<Probes>& probe) {
          if (i >= ahead) answer(i - ahead);
          pending& p = ring[i % ahead];
          p.table = nullptr;
          const std::uint64_t tag = probe.words == nullptr ? Probes : tag_of(tags, probe);
          if (tag >= Probes) return;
          p = {probe.words + sizing::bloomier_tag_words(shape(), probe.size), probe.cells[tag]};
          __builtin_prefetch(p.table + ((p.cell * cells.width) >> 6U), 0, 2);
        });
  });
  for (std::size_t i = hashes.size() - std::min(ahead, hashes.size()); i < hashes.size(); ++i) {
    answer(i);
  }
}

double bloomier_view::fpr() const noexcept {
  if (keys() == 0) return 0.0;
  return std::min(1.0, std::ldexp(shape().probes, -static_cast<int>(check_bits()) - 2) +
                           static_cast<double>(keys()) * 0x1p-64);
}

bloomier_filter::bloomier_filter(const plan& p, std::span<const std::uint64_t> hashes,
                                 std::span<const std::uint64_t> values, unsigned threads)
    : static_owner(build(checked(p), hashes, values, threads)) {}

bool bloomier_filter::update(std::uint64_t hash, std::uint64_t value) {
  check_value(shape(), value);
  const std::uint64_t own = own_cell(hash);
  if (own == nowhere) return false;
  detail::packed_cells{value_bits()}.set(mutable_words() + value_table(hash), own, value);
  return true;
}

bloomier_builder::bloomier_builder(const plan& p)
    : static_builder(std::make_unique<detail::shard_writer<bloomier_solver>>(checked(p))) {}

}  // namespace bloomery
