#include "bloomery/detail/bits/cuckoo_table.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "bloomery/bits/counter_array.hpp"

namespace bloomery {

namespace {

// The lowest bit of each of so many cells.
std::uint64_t ones_of(std::uint32_t cells, std::uint32_t bits) {
  std::uint64_t ones = 0;
  for (std::uint32_t i = 0; i < cells; ++i) ones |= std::uint64_t{1} << (i * bits);
  return ones;
}

// Whether eight bytes from the one where a bucket begins hold all of it. It begins at a multiple of
// the greatest common divisor of its bits and 8: buckets of 60 and 64 bits fit too.
bool fits_into_a_load(std::uint32_t bucket_bits) {
  return 8 - std::gcd(bucket_bits, 8U) + bucket_bits <= 64;
}

}  // namespace

cuckoo_table::cuckoo_table(const shape& s, const std::uint64_t* words, std::uint64_t base_buckets,
                           std::uint32_t scale) noexcept {
  const std::uint32_t cells = s.block_bits / s.cell_bits;
  const std::uint32_t group_cells = std::min(cells, 64 / s.cell_bits);
  const std::uint64_t ones = ones_of(group_cells, s.cell_bits);
  const bool in_one_load = group_cells == cells && fits_into_a_load(s.block_bits);
  t_ = {.words = words,
        .base = base_buckets,
        .buckets = base_buckets << scale,
        .most = detail::low_mask(s.cell_bits),
        .group_ones = ones,
        .group_tops = ones << (s.cell_bits - 1),
        .group_rest = (ones << (s.cell_bits - 1)) - ones,
        .bytes = cuckoo_geometry::layer_words(base_buckets << scale, s.block_bits) * 8,
        .scale = scale,
        .cell_bits = s.cell_bits,
        .cells = cells,
        .bucket_bits = s.block_bits,
        .bucket_bytes = s.block_bits % 8 == 0 ? s.block_bits / 8 : 0,
        .group_cells = group_cells,
        .in_one_load = in_one_load,
        .is_plain = in_one_load && scale == 0};
}

// visit(matches, first cell of the group): the highest bit of each cell that equals the fingerprint
// is set.
template <class Visit>
void cuckoo_table::for_each_group(std::uint64_t bucket, std::uint64_t fingerprint,
                                  Visit visit) const noexcept {
  std::uint64_t position = position_of(bucket);
  for (std::uint32_t done = 0; done < t_.cells; done += t_.group_cells) {
    const std::uint32_t width = std::min(t_.group_cells, t_.cells - done) * t_.cell_bits;
    const std::uint64_t ones = t_.group_ones & detail::low_mask(width);
    const std::uint64_t x = detail::get_bits(t_.words, position, width) ^ (fingerprint * ones);
    const std::uint64_t tops = ones << (t_.cell_bits - 1);
    visit(equal_fields(x, tops - ones, tops), done);
    position += width;
  }
}

std::uint32_t cuckoo_table::find(std::uint64_t bucket, std::uint64_t fingerprint) const noexcept {
  std::uint32_t found = nowhere;
  for_each_group(bucket, fingerprint, [&](std::uint64_t matches, std::uint32_t first) {
    if (matches == 0 || found != nowhere) return;
    found = first + static_cast<std::uint32_t>(std::countr_zero(matches)) / t_.cell_bits;
  });
  return found;
}

cuckoo_table::spot cuckoo_table::search_empty(const place& p) const noexcept {
  const std::uint32_t in_first = find(p.first, 0);
  const std::uint32_t in_second = find(p.second, 0);
  const std::uint32_t found = std::min(in_first, in_second);  // nowhere is the greatest
  return {.bucket = in_second < in_first ? p.second : p.first,
          .bit = found != nowhere ? found * t_.cell_bits : nowhere};
}

// Both buckets are searched, so that they are asked for together.
cuckoo_table::spot cuckoo_table::search_either(const place& p) const noexcept {
  const std::uint32_t in_first = find(p.first, p.fingerprint);
  const std::uint32_t in_second = find(p.second, p.fingerprint);
  const std::uint32_t found = in_first != nowhere ? in_first : in_second;
  return {.bucket = in_first != nowhere ? p.first : p.second,
          .bit = found != nowhere ? found * t_.cell_bits : nowhere};
}

std::uint32_t cuckoo_table::occurrences(std::uint64_t bucket,
                                        std::uint64_t fingerprint) const noexcept {
  if (t_.in_one_load) {
    return static_cast<std::uint32_t>(std::popcount(equal_cells(load(bucket), fingerprint)));
  }
  std::uint32_t count = 0;
  for_each_group(bucket, fingerprint, [&](std::uint64_t matches, std::uint32_t) {
    count += static_cast<std::uint32_t>(std::popcount(matches));
  });
  return count;
}

}  // namespace bloomery
