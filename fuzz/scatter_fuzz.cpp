// A sequence of calls of the kernels for keys with cells in several random lines, for every
// instruction set that this machine has at once, against a model: a map of cells, with positions
// computed once more from docs/format.md.
//
//     byte 0         bits, plain counters or conservative ones (mod 3)
//     byte 1         probes
//     byte 2         bits in a counter (mod 4: 8 to 64); 128 and more: rows of their own, as
//                    partitioned and count-min
//     bytes 3, 4     size; 65535 is an array that no cache holds
//     then calls     1 byte which, then what it needs

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "../src/kernel/dispatch.hpp"
#include "../src/kernel/wide/wide.hpp"
#include "bloomery/bloomery.hpp"
#include "input.hpp"

namespace {

using namespace bloomery;
using bloomery_fuzz::input;
using bloomery_fuzz::require;
using kernel::level;
using words_array = kernel::scatter_array<std::uint64_t>;

enum class rule : std::uint8_t { bits, plain, conservative };

// ---- the model --------------------------------------------------------------------------------

class model {
 public:
  model(const words_array& array, rule r) : array_(array), rule_(r) {}

  void add(std::uint64_t hash, std::uint64_t count) {
    const auto at = positions(hash);
    const std::uint64_t risen = sum(this->count(hash), count);
    for (const std::uint64_t p : at) {
      std::uint64_t& cell = cells_[p];
      cell = rule_ == rule::bits    ? 1
             : rule_ == rule::plain ? sum(cell, count)
                                    : std::max(cell, risen);
    }
  }
  [[nodiscard]] std::uint64_t count(std::uint64_t hash) const {
    std::uint64_t least = most();
    for (const std::uint64_t p : positions(hash)) {
      const auto cell = cells_.find(p);
      least = std::min(least, cell == cells_.end() ? 0 : cell->second);
    }
    return least;
  }
  void expect_same(const unsigned char* bytes, bool all) const {
    for (const auto& [position, value] : cells_) require(cell_in(bytes, position) == value);
    if (!all) return;
    const std::uint64_t size = array_.step == 0 ? array_.range : array_.step * array_.probes;
    for (std::uint64_t p = 0; p < size; ++p) {
      require(cell_in(bytes, p) == 0 || cells_.contains(p));
    }
  }

 private:
  [[nodiscard]] std::uint64_t most() const {
    return ~std::uint64_t{0} >> (64U - (1U << array_.cell_log));
  }
  [[nodiscard]] std::uint64_t sum(std::uint64_t a, std::uint64_t b) const {
    return a > most() - std::min(b, most()) ? most() : a + std::min(b, most());
  }
  // By halves of 32 bits, unlike the library.
  static std::uint64_t high64(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t middle =
        (a >> 32U) * (b & UINT32_MAX) + (((a & UINT32_MAX) * (b & UINT32_MAX)) >> 32U);
    return (a >> 32U) * (b >> 32U) + (middle >> 32U) +
           (((a & UINT32_MAX) * (b >> 32U) + (middle & UINT32_MAX)) >> 32U);
  }
  [[nodiscard]] std::vector<std::uint64_t> positions(std::uint64_t hash) const {
    std::vector<std::uint64_t> all;
    std::uint64_t power = 1;
    for (std::uint64_t j = 0; j < array_.probes; ++j) {
      all.push_back(j * array_.step + high64(hash * power, array_.range));
      power *= 0xd1342543de82ef95U;
    }
    return all;
  }
  // Bit p of a cell is bit p % 8 of byte p / 8.
  [[nodiscard]] std::uint64_t cell_in(const unsigned char* bytes, std::uint64_t position) const {
    const std::uint64_t width = std::uint64_t{1} << array_.cell_log;
    if (width == 1) return (bytes[position / 8] >> (position % 8)) & 1U;
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < width / 8; ++i) {
      value |= std::uint64_t{bytes[position * width / 8 + i]} << (8 * i);
    }
    return value;
  }

  words_array array_;
  rule rule_;
  std::map<std::uint64_t, std::uint64_t> cells_;
};

// ---- the kernels ------------------------------------------------------------------------------

struct free_memory {
  void operator()(std::uint64_t* words) const { std::free(words); }
};

struct machine {
  level l;
  std::unique_ptr<std::uint64_t, free_memory> words;
};

// Some hashes, which come again and again.
std::vector<std::uint64_t> take_batch(input& in) {
  std::vector<std::uint64_t> hashes(in.take(2) % 1300);
  const std::size_t different = in.take(1) + 1;
  std::uint64_t hash = in.take(8);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    hashes[i] = i < different ? std::exchange(hash, splitmix64(hash)) : hashes[i - different];
  }
  return hashes;
}

class player {
 public:
  player(const words_array& array, rule r) : array_(array), rule_(r), expected_(array, r) {
    for (const level l : kernel::levels) {
      if (!kernel::available(l)) continue;
      const auto size = static_cast<std::size_t>(array.bytes() / 8 + 1);
      machines_.push_back({l, {static_cast<std::uint64_t*>(std::calloc(size, 8)), {}}});
      require(machines_.back().words != nullptr);
    }
  }

  void add(const std::vector<std::uint64_t>& hashes, const std::uint64_t* counts) {
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      expected_.add(hashes[i], counts == nullptr ? 1 : counts[i]);
    }
    for (const machine& m : machines_) {
      const auto& kernels = kernel::wide_kernels_of(m.l);
      if (rule_ == rule::bits) {
        kernels.scatter.add(of(m), {hashes.data(), hashes.size()});
      } else {
        const auto call = rule_ == rule::plain ? kernels.count_min.add : kernels.count_min.raise;
        call(of(m), {hashes.data(), hashes.size()}, counts);
      }
    }
  }
  void ask(const std::vector<std::uint64_t>& hashes) const {
    std::vector<std::uint64_t> expected;
    expected.reserve(hashes.size());
    for (const std::uint64_t hash : hashes) expected.push_back(expected_.count(hash));
    for (const machine& m : machines_) {
      const auto& kernels = kernel::wide_kernels_of(m.l);
      const kernel::scatter_array<const std::uint64_t> array = {
          m.words.get(), array_.range, array_.step, array_.probes, array_.cell_log};
      std::vector<std::uint64_t> bitmap((hashes.size() + 63) / 64, ~std::uint64_t{0});
      std::vector<std::uint64_t> counts(hashes.size());
      kernels.scatter.contains(array, {hashes.data(), hashes.size()}, bitmap.data());
      if (rule_ != rule::bits) {
        kernels.count_min.count(array, {hashes.data(), hashes.size()}, counts.data());
      }
      for (std::size_t i = 0; i < bitmap.size() * 64; ++i) {
        const bool found = i < hashes.size() && expected[i] > 0;
        require(((bitmap[i / 64] >> (i % 64)) & 1U) == (found ? 1U : 0U));
      }
      require(rule_ == rule::bits || counts == expected);
    }
  }
  void finish(bool all) const {
    for (const machine& m : machines_) {
      expected_.expect_same(reinterpret_cast<const unsigned char*>(m.words.get()), all);
    }
  }

 private:
  [[nodiscard]] words_array of(const machine& m) const {
    words_array array = array_;
    array.words = m.words.get();
    return array;
  }

  words_array array_;
  rule rule_;
  model expected_;
  std::vector<machine> machines_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input in(data, size);
  const auto r = static_cast<rule>(in.take(1) % 3);
  const auto probes = static_cast<std::uint32_t>(in.take(1) % 64 + 1);
  const auto layout = static_cast<std::uint32_t>(in.take(1));
  const std::uint64_t units = in.take(2);
  const bool far = units == 65535;
  words_array array;
  array.cell_log = r == rule::bits ? 0 : 3 + layout % 4;
  array.probes = probes;
  const std::uint64_t cells = far ? (std::uint64_t{80} << 20U) >> array.cell_log : units % 4096 + 1;
  // Plain counters of a key are all different ones, in rows of their own.
  const bool sliced = layout >= 128 || r == rule::plain;
  array.range = sliced ? cells / probes + 1 : cells;
  array.step = sliced ? array.range : 0;

  player p(array, r);
  while (!in.empty()) {
    const std::uint64_t which = in.take(1) % 3;
    const std::vector<std::uint64_t> hashes = take_batch(in);
    if (which == 0) {
      p.add(hashes, nullptr);
    } else if (which == 1) {
      std::vector<std::uint64_t> counts(hashes.size());
      std::uint64_t count = in.take(8);
      for (std::uint64_t& c : counts) c = std::exchange(count, splitmix64(count) >> (count % 64));
      p.add(hashes, counts.data());
    } else {
      p.ask(hashes);
    }
  }
  p.finish(!far);
  return 0;
}
