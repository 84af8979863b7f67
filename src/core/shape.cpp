#include "bloomery/core/shape.hpp"

#include <algorithm>
#include <string>

#include "bloomery/core/error.hpp"
#include "checks.hpp"
#include "kind_table.hpp"

namespace bloomery {

namespace {

using sizing::check_range;

bool in_lines(const shape& s, block_use use) {
  return use == block_use::lines || (use == block_use::lines_or_none && s.block_bits != 0);
}

void check_blocks(const shape& s, block_use use) {
  if (use == block_use::buckets) {
    if (s.block_bits == 0 || s.block_bits % s.cell_bits != 0 || s.block_bits / s.cell_bits > 255) {
      detail::throw_bad_argument("the number of bits in a bucket", std::uint64_t{s.block_bits},
                                 "from 1 to 255 fingerprints");
    }
    return;
  }
  const std::uint32_t block_bits = in_lines(s, use)               ? bits_per_block
                                   : use == block_use::half_lines ? bits_per_split_block
                                                                  : 0;
  if (s.block_bits != block_bits) {
    detail::throw_bad_argument("the number of bits in a block", std::uint64_t{s.block_bits},
                               block_bits == 0 ? "0 in a filter without blocks"
                                               : detail::to_text(std::uint64_t{block_bits}));
  }
  if (block_bits != 0 && s.bits % block_bits != 0) {
    detail::throw_bad_argument("the number of bits", s.bits,
                               "a multiple of " + detail::to_text(std::uint64_t{block_bits}));
  }
}

void check_digests(const shape& s) {
  if (!is_of_bits(s.kind) || layout_of(s) != position_layout::anywhere) {
    detail::fail(errc::bad_argument,
                 "digests modulo the size are positions of classic filters only");
  }
  // A word of a digest has 32 bits; it would never reach the rest of a longer array.
  if (s.bits > std::uint64_t{1} << 32U) {
    detail::throw_bad_argument("the number of bits", s.bits,
                               "at most 2^32 in a filter of foreign digests");
  }
}

void check_shard(const shape& s) {
  if (s.shard.count < 1 || s.shard.count > max_shards) {
    detail::throw_bad_argument("the number of shards", std::uint64_t{s.shard.count},
                               "from 1 to 65536");
  }
  if (s.shard.index >= s.shard.count) {
    detail::throw_bad_argument("the number of a shard", std::uint64_t{s.shard.index},
                               "below the number of shards");
  }
  if (s.shard.whole()) return;
  if (!is_of_bits(s.kind) || layout_of(s) != position_layout::blocks) {
    detail::fail(errc::bad_argument, "only blocked and split-block filters have shards");
  }
  if (s.bits > max_bits / s.shard.count) {
    detail::throw_bad_argument("the number of bits", s.bits, "at most 2^48 in all shards together");
  }
}

}  // namespace

void check_shape(const shape& s) {
  const kind_row& row = row_of(s.kind);
  if (s.bits == 0 || s.bits > max_bits) {
    detail::throw_bad_argument("the number of bits", s.bits, "from 1 to 2^48");
  }
  const std::uint32_t most =
      std::min(row.probes.most, in_lines(s, row.blocks) ? max_blocked_probes : max_probes);
  check_range("the number of probes", s.probes, row.probes.least, most, row.name);
  check_range("the number of bits in a cell", s.cell_bits, row.cell_bits.least, row.cell_bits.most,
              row.name);
  if (row.cell_is_power && (s.cell_bits & (s.cell_bits - 1)) != 0) {
    detail::throw_bad_argument("the number of bits in a cell", std::uint64_t{s.cell_bits},
                               "a power of two in a " + std::string(row.name) + " filter");
  }
  check_range("the variant", s.variant, row.variant.least, row.variant.most, row.name);
  check_blocks(s, row.blocks);
  if (s.bits % row.unit_bits != 0) {
    detail::throw_bad_argument("the number of bits", s.bits,
                               "a multiple of " + detail::to_text(row.unit_bits));
  }
  if (row.layout == position_layout::slices && s.bits % s.probes != 0) {
    detail::throw_bad_argument("the number of bits", s.bits,
                               "a multiple of the number of probes in a partitioned filter");
  }
  if (row.check != nullptr) row.check(s);
  if (s.scheme == probe_scheme::modulo) check_digests(s);
  check_shard(s);
}

}  // namespace bloomery
