// A payload of a static kind with any sizes and any words in its arrays: the kernels of every
// instruction set that this machine has give the answers and values of the one-key calls.
//
//     byte 0       kind (mod 3), the shards (1 to 8) from the upper bits
//     byte 1       width of the cells, or check bits
//     byte 2       probes from the lowest bit; value bits of a map
//     bytes 3, 4   how many hashes are asked
//     bytes 5-12   what the words and the hashes come from
//     then each shard: a map or fuse filter has 1 byte of segments and 2 of cells, a ribbon 4 of
//                  slots in units of 64

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../src/kernel/dispatch.hpp"
#include "../src/kernel/ribbon/ribbon.hpp"
#include "../src/kernel/wide/wide.hpp"
#include "bloomery/core/sizing_static.hpp"
#include "bloomery/filter/bloomier.hpp"
#include "bloomery/filter/fuse.hpp"
#include "bloomery/filter/ribbon.hpp"
#include "input.hpp"

namespace {

using namespace bloomery;
using bloomery_fuzz::input;
using bloomery_fuzz::require;

template <class View>
struct opened : View {
  using View::directory;
  using View::View;
};

struct question {
  shape s;
  std::vector<std::uint64_t> hashes;
  std::uint64_t shards = 1;
  std::uint64_t seed = 0;
};

question take_question(input& in) {
  question q;
  const std::uint64_t first = in.take(1);
  const auto width = static_cast<std::uint32_t>(in.take(1));
  const auto third = static_cast<std::uint32_t>(in.take(1));
  q.shards = 1 + first / 3 % 8;
  q.s.probes = 3 + third % 2;
  if (first % 3 == 0) {
    q.s.kind = filter_kind::fuse;
    q.s.cell_bits = 8U << (width % 3);
  } else if (first % 3 == 1) {
    q.s.kind = filter_kind::ribbon;
    q.s.probes = 1;
    q.s.cell_bits = 1 + width % 32;
  } else {
    q.s.kind = filter_kind::bloomier;
    q.s.variant = 1 + third / 2 % 64;
    q.s.cell_bits = q.s.variant + width % (sizing::max_check_bits + 1);
  }
  q.hashes.resize(static_cast<std::size_t>(in.take(2) % 2500));
  q.seed = in.take(8);
  for (std::size_t i = 0; i < q.hashes.size(); ++i) q.hashes[i] = splitmix64(q.seed + i);
  return q;
}

// Adds an entry to the directory; returns the words of the shard's arrays.
std::uint64_t take_shard(const question& q, std::uint64_t first_word, input& in,
                         std::vector<std::uint64_t>& directory) {
  const std::uint64_t seed = splitmix64(q.seed ^ first_word);
  if (q.s.kind == filter_kind::ribbon) {
    sizing::ribbon_size size{};
    for (std::uint64_t& slots : size) {
      const std::uint64_t units = in.take(1) % 64;
      slots = units < 3 ? 0 : units * 64;
    }
    directory.insert(directory.end(), {first_word, seed, size[0], size[1], size[2], size[3],
                                       sizing::ribbon_column_words(size, q.s.cell_bits), 0});
    return sizing::ribbon_array_words(size, q.s.cell_bits);
  }
  sizing::fuse_size size{.starts = in.take(1), .segment = in.take(2) % 1000};
  if (size.starts == 0 || size.segment == 0) size = {};
  directory.insert(directory.end(), {first_word, seed, size.starts, size.segment});
  if (q.s.kind == filter_kind::fuse) {
    return sizing::array_words(size.cells(q.s.probes) * q.s.cell_bits);
  }
  return sizing::bloomier_tag_words(q.s, size) + sizing::bloomier_value_words(q.s, size);
}

std::vector<std::uint64_t> take_payload(question& q, input& in) {
  std::vector<std::uint64_t> directory;
  std::uint64_t words = 0;
  for (std::uint64_t i = 0; i < q.shards; ++i) words += take_shard(q, words, in, directory);
  std::vector<std::uint64_t> payload(static_cast<std::size_t>(words));
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = splitmix64(~q.seed + i);
  payload.insert(payload.end(), directory.begin(), directory.end());
  payload.insert(payload.end(), {q.shards, 0, 0, 0, 0, 0, 0, 0});
  for (std::size_t i = static_cast<std::size_t>(words); i < payload.size(); ++i) {
    payload[i] = detail::little_endian(payload[i]);
  }
  q.s.bits = payload.size() * 64;
  return payload;
}

template <class View>
void require_same(const View& view, std::span<const std::uint64_t> hashes,
                  std::span<const std::uint64_t> bitmap) {
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    require(view.contains(hashes[i]) == (((bitmap[i / 64] >> (i % 64)) & 1U) != 0));
  }
}

void compare(kernel::level l, const question& q, std::span<const std::uint64_t> payload) {
  const plan p{.shape = q.s};
  std::vector<std::uint64_t> bitmap((q.hashes.size() + 63) / 64);
  if (q.s.kind == filter_kind::ribbon) {
    const opened<ribbon_view> view(p, payload, 0);
    kernel::ribbon_kernels_of(l).contains({.directory = view.directory(), .bits = q.s.cell_bits},
                                          q.hashes, bitmap.data());
    require_same(view, q.hashes, bitmap);
    return;
  }
  const kernel::fuse_kernels& kernels = kernel::wide_kernels_of(l).fuse;
  if (q.s.kind == filter_kind::fuse) {
    const opened<fuse_view> view(p, payload, 0);
    kernels.contains(
        {.directory = view.directory(), .probes = q.s.probes, .cell_bits = q.s.cell_bits},
        kernel::run_of(q.hashes), bitmap.data());
    require_same(view, q.hashes, bitmap);
    return;
  }
  const opened<bloomier_view> view(p, payload, 0);
  const kernel::fuse_array array{.directory = view.directory(),
                                 .probes = q.s.probes,
                                 .cell_bits = sizing::bloomier_tag_bits(q.s),
                                 .value_bits = q.s.variant};
  kernels.tagged(array, kernel::run_of(q.hashes), bitmap.data());
  require_same(view, q.hashes, bitmap);
  std::vector<std::uint64_t> values(q.hashes.size());
  kernels.values(array, q.hashes, values.data(), bitmap.data());
  require_same(view, q.hashes, bitmap);
  for (std::size_t i = 0; i < values.size(); ++i) {
    require(values[i] == view.value(q.hashes[i]).value_or(0));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input in(data, size);
  question q = take_question(in);
  const std::vector<std::uint64_t> payload = take_payload(q, in);
  for (const kernel::level l : kernel::levels) {
    if (kernel::available(l)) compare(l, q, payload);
  }
  return 0;
}
