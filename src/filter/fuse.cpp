#include "bloomery/filter/fuse.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>

#include "kernel/wide/wide.hpp"
#include "peel.hpp"
#include "static_shards.hpp"

namespace bloomery {

namespace {

class fuse_solver {
 public:
  using item = std::uint64_t;
  using entry = std::array<std::uint64_t, sizing::fuse_entry_words>;

  explicit fuse_solver(const shape& s) : shape_(s) {}

  [[nodiscard]] std::uint64_t array_words(std::uint64_t keys) const noexcept {
    return array_words(sizing::fuse_size_for(keys, shape_.probes));
  }
  [[nodiscard]] std::uint64_t array_words(const sizing::fuse_size& size) const noexcept {
    return sizing::array_words(size.cells(shape_.probes) * shape_.cell_bits);
  }

  std::uint64_t solve(std::uint64_t shard, std::span<std::uint64_t> hashes, std::uint64_t* out,
                      entry& e) {
    const auto found = detail::peel_shard(peeler_, shape_, shard, hashes);
    with_cells([&](const auto& cells) {
      peeler_.fill(cells, out, found.size, shape_.probes,
                   [bits = shape_.cell_bits](std::uint64_t mixed, std::uint32_t) {
                     return detail::fuse_print(mixed, bits);
                   });
    });
    e = {0, found.seed, found.size.starts, found.size.segment};
    return found.keys;
  }

 private:
  template <class Work>
  void with_cells(Work work) const {
    if constexpr (std::endian::native == std::endian::little) {
      if (shape_.cell_bits == 8) return work(detail::plain_cells<std::uint8_t>{});
      if (shape_.cell_bits == 16) return work(detail::plain_cells<std::uint16_t>{});
      if (shape_.cell_bits == 32) return work(detail::plain_cells<std::uint32_t>{});
    }
    work(detail::even_cells{shape_.cell_bits});
  }

  shape shape_;
  detail::peeler peeler_;
};

kernel::fuse_array fuse_array_of(const detail::static_directory& d, const shape& s) noexcept {
  return {.directory = d, .probes = s.probes, .cell_bits = s.cell_bits};
}

}  // namespace

fuse_view::fuse_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys)
    : static_view(p, detail::open_static(p, kind, words, keys, sizing::fuse_entry_words)) {
  const fuse_solver sizes(p.shape);
  detail::check_fuse_shards(directory(), p.shape,
                            [&](const sizing::fuse_size& size) { return sizes.array_words(size); });
}

void fuse_view::contains_bits(std::span<const std::uint64_t> hashes,
                              std::span<std::uint64_t> bitmap) const noexcept {
  kernel::wide_kernels_chosen().fuse.contains(fuse_array_of(directory(), shape()),
                                              kernel::run_of(hashes), bitmap.data());
}

void fuse_view::contains_bits(const mixed_integers& keys,
                              std::span<std::uint64_t> bitmap) const noexcept {
  kernel::wide_kernels_chosen().fuse.contains(fuse_array_of(directory(), shape()),
                                              kernel::run_of(keys), bitmap.data());
}

double fuse_view::fpr() const noexcept {
  if (keys() == 0) return 0.0;
  return std::ldexp(1.0, -static_cast<int>(shape().cell_bits)) +
         static_cast<double>(keys()) * 0x1p-64;
}

fuse_filter::fuse_filter(const plan& p, std::span<const std::uint64_t> hashes, unsigned threads)
    : owned(detail::build_set<fuse_solver>(detail::checked_static_plan(p, kind), hashes, threads)) {
}

fuse_builder::fuse_builder(const plan& p)
    : static_builder(std::make_unique<detail::shard_writer<fuse_solver>>(
          detail::checked_static_plan(p, filter_kind::fuse))) {}

explanation fuse_view::explain(std::uint64_t hash) const {
  const detail::fuse_shard shard(directory().entry_of(hash, sizing::fuse_entry_words));
  if (shard.size.starts == 0) return detail::no_keys_in_shard();
  const detail::even_cells cells{shape().cell_bits};
  const std::uint64_t mixed = shard.mixed(hash);
  explanation e{.unit = "cell"};
  e.places.reserve(shape().probes);  // fuse_cells must not throw
  std::uint64_t found = 0;
  detail::fuse_cells(mixed, shard.size, shape().probes, [&](std::uint64_t cell) {
    e.places.push_back({cell, cells.get(directory().words + shard.first_word, cell)});
    found ^= e.places.back().value;
  });
  detail::compare_prints(e, detail::fuse_print(mixed, shape().cell_bits), found);
  return e;
}

}  // namespace bloomery
