// A sequence of calls on a filter, against a model: a set of the hashes, and a plain array of bits
// with positions computed once more from docs/format.md. Every way to add gives the model's bits,
// every way to ask the same answer, and nothing that was added is ever missed.
//
//     byte 0         kind (mod 4)
//     byte 1         probes
//     bytes 2, 3     size
//     then calls     1 byte which, then what it needs

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "bloomery/bloomery.hpp"
#include "input.hpp"

namespace {

using namespace bloomery;
using bloomery_fuzz::input;
using bloomery_fuzz::require;

// A batch: its length and one hash, from which the others follow.
std::vector<std::uint64_t> take_batch(input& in) {
  std::vector<std::uint64_t> hashes(in.take(2) % 300);
  std::uint64_t hash = in.take(8);
  for (std::uint64_t& h : hashes) h = std::exchange(hash, splitmix64(hash));
  return hashes;
}

// ---- docs/format.md, once more ----------------------------------------------------------------

std::uint64_t high64(std::uint64_t a, std::uint64_t b) {
  // By halves of 32 bits, unlike the library.
  const std::uint64_t a0 = a & UINT32_MAX;
  const std::uint64_t a1 = a >> 32U;
  const std::uint64_t b0 = b & UINT32_MAX;
  const std::uint64_t b1 = b >> 32U;
  const std::uint64_t middle = a1 * b0 + ((a0 * b0) >> 32U);
  return a1 * b1 + (middle >> 32U) + ((a0 * b1 + (middle & UINT32_MAX)) >> 32U);
}

constexpr std::uint16_t patterns[] = {0x0001, 0x0003, 0x000b, 0x0053, 0x0153, 0x02b3,
                                      0x053b, 0x0a6f, 0x0b77, 0x177b, 0x1dbf, 0x2eff,
                                      0x5dff, 0x3fff, 0x7fff, 0xffff};
constexpr std::uint32_t multipliers[] = {
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
    0xd1b54a33, 0x6c8e944d, 0xb5297a4d, 0x1b56c4e9, 0xe7037ed1, 0x3c6ef373, 0xf39cc061, 0x82a2b175};

std::vector<std::uint64_t> positions(const shape& s, std::uint64_t h) {
  std::vector<std::uint64_t> all;
  if (s.kind == filter_kind::blocked) {
    const std::uint64_t block = high64(h, s.bits / 512);
    const auto x = static_cast<std::uint32_t>(h);
    const std::uint32_t r = x / 65536 % 16;
    for (std::uint32_t l = 0; l < 16; ++l) {
      if (((patterns[s.probes - 1] >> ((l + r) % 16)) & 1) == 0) continue;
      all.push_back(512 * block + 32 * l + x * multipliers[l] / (1U << 27U));
    }
    return all;
  }
  if (s.kind == filter_kind::split_block) {
    const std::uint64_t block = high64(h, s.bits / 256);
    for (std::uint32_t l = 0; l < 8; ++l) {
      const std::uint32_t product = static_cast<std::uint32_t>(h) * multipliers[l];
      all.push_back(256 * block + 32 * l + product / (1U << 27U));
    }
    return all;
  }
  const bool sliced = s.kind == filter_kind::partitioned;
  const std::uint64_t range = sliced ? s.bits / s.probes : s.bits;
  std::uint64_t power = 1;
  for (std::uint64_t j = 0; j < s.probes; ++j) {
    all.push_back((sliced ? j * range : 0) + high64(h * power, range));
    power *= 0xd1342543de82ef95U;
  }
  return all;
}

class model {
 public:
  explicit model(const shape& s) : shape_(s), bits_(s.bits) {}

  void add(std::span<const std::uint64_t> hashes) {
    for (const std::uint64_t h : hashes) {
      for (const std::uint64_t p : positions(shape_, h)) bits_.at(p) = true;
      added_.insert(h);
    }
    keys_ += hashes.size();
  }
  [[nodiscard]] bool contains(std::uint64_t h) const {
    bool all = true;
    for (const std::uint64_t p : positions(shape_, h)) all = all && bits_.at(p);
    require(all || !added_.contains(h));
    return all;
  }
  void expect_same(std::span<const std::uint64_t> words, std::uint64_t keys) const {
    require(words.size() == (bits_.size() + 63) / 64);
    const auto bytes = std::as_bytes(words);
    for (std::size_t p = 0; p < words.size() * 64; ++p) {
      const bool expected = p < bits_.size() && bits_[p];
      require((std::to_integer<unsigned>(bytes[p / 8] >> (p % 8)) & 1U) == (expected ? 1U : 0U));
    }
    require(keys == keys_);
  }

 private:
  shape shape_;
  std::vector<bool> bits_;
  std::set<std::uint64_t> added_;
  std::uint64_t keys_ = 0;
};

// ---- calls ------------------------------------------------------------------------------------

template <class Filter>
void ask_every_way(const Filter& f, const model& expected, std::span<const std::uint64_t> hashes) {
  std::vector<std::uint64_t> bitmap((hashes.size() + 63) / 64, ~std::uint64_t{0});
  std::vector<std::uint8_t> bytes(hashes.size());
  std::vector<std::uint32_t> indexes(hashes.size());
  f.contains_bits(hashes, bitmap);
  f.contains_bytes(hashes, bytes);
  indexes.resize(f.contains_indexes(hashes, indexes));
  std::size_t found = 0;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const bool answer = expected.contains(hashes[i]);
    require(f.contains(hashes[i]) == answer);
    require(((bitmap[i / 64] >> (i % 64)) & 1U) == (answer ? 1U : 0U));
    require(bytes[i] == (answer ? 1U : 0U));
    if (!answer) continue;
    require(found < indexes.size() && indexes[found] == i);
    ++found;
  }
  require(found == indexes.size() && f.contains_count(hashes) == found);
}

template <class Filter>
void play(const shape& s, input in) {
  Filter f(plan{.shape = s});
  model expected(s);
  while (!in.empty()) {
    switch (in.take(1) % 6) {
      case 0: {
        const std::uint64_t hash = in.take(8);
        f.add(hash);
        expected.add({&hash, 1});
        break;
      }
      case 1: {
        const auto hashes = take_batch(in);
        f.add_batch(hashes);
        expected.add(hashes);
        break;
      }
      case 2: {
        const auto hashes = take_batch(in);
        auto handle = f.concurrent();
        handle.add_batch(hashes);
        for (const std::uint64_t h : hashes) require(handle.contains(h));
        expected.add(hashes);
        break;
      }
      case 3: ask_every_way(f, expected, take_batch(in)); break;
      case 4: {
        Filter copy(f);
        f = std::move(copy);
        break;
      }
      default: f = Filter(typename Filter::view(f.planned(), f.words(), f.keys())); break;
    }
  }
  expected.expect_same(f.words(), f.keys());
  require(f.fpr() >= 0 && f.fpr() <= 1.0000001);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input in(data, size);
  const std::uint64_t kind = in.take(1) % 4;
  const auto probes = static_cast<std::uint32_t>(in.take(1));
  const std::uint64_t units = in.take(2) % 4096 + 1;
  if (kind == 0) {
    play<classic_filter>({.kind = filter_kind::classic, .probes = probes % 64 + 1, .bits = units},
                         in);
  } else if (kind == 1) {
    const std::uint32_t k = probes % 64 + 1;
    play<partitioned_filter>(
        {.kind = filter_kind::partitioned, .probes = k, .bits = (units % 64 + 1) * k}, in);
  } else if (kind == 3) {
    play<split_block_filter>({.kind = filter_kind::split_block,
                              .probes = split_probes,
                              .block_bits = 256,
                              .bits = (units % 16 + 1) * 256},
                             in);
  } else {
    play<blocked_filter>({.kind = filter_kind::blocked,
                          .probes = probes % 16 + 1,
                          .block_bits = 512,
                          .bits = (units % 8 + 1) * 512},
                         in);
  }
  return 0;
}
