#include "bloomery/detail/bits/cuckoo_table.hpp"

#include <algorithm>
#include <bit>

#include "bloomery/bits/counter_array.hpp"
#include "bloomery/hash/probe.hpp"

namespace bloomery {

namespace {

// The lowest bit of each of so many cells.
std::uint64_t ones_of(std::uint32_t cells, std::uint32_t bits) {
  std::uint64_t ones = 0;
  for (std::uint32_t i = 0; i < cells; ++i) ones |= std::uint64_t{1} << (i * bits);
  return ones;
}

// The bits of a fingerprint that decide where its partner is: the mixer of integers without a seed.
std::uint64_t mix_fingerprint(std::uint64_t fingerprint) noexcept {
  std::uint64_t mixed = fingerprint * 0x9fb21c651e98df25U;
  mixed ^= mixed >> 32U;
  return mixed * 0xd6e8feb86659fd93U;
}

}  // namespace

cuckoo_table::cuckoo_table(const shape& s, const std::uint64_t* words, std::uint64_t base_buckets,
                           std::uint32_t scale) noexcept
    : words_(words),
      base_(base_buckets),
      scale_(scale),
      cell_bits_(s.cell_bits),
      cells_(s.block_bits / s.cell_bits),
      bucket_bits_(s.block_bits),
      group_cells_(std::min(cells_, 64 / s.cell_bits)) {
  group_ones_ = ones_of(group_cells_, cell_bits_);
  group_tops_ = group_ones_ << (cell_bits_ - 1);
}

cuckoo_table::place cuckoo_table::place_of(std::uint64_t hash) const noexcept {
  // From other bits than the bucket, and from all of the hash. 1 to 2^f - 1: 0 is an empty cell.
  const std::uint64_t bits = (hash * next_probe_multiplier) >> 32U;
  const std::uint64_t fingerprint = 1 + ((bits * detail::low_mask(cell_bits_)) >> 32U);
  const std::uint64_t first = detail::multiply_high(hash, buckets());
  return {.first = first, .second = partner(first, fingerprint), .fingerprint = fingerprint};
}

std::uint64_t cuckoo_table::partner(std::uint64_t bucket,
                                    std::uint64_t fingerprint) const noexcept {
  const std::uint64_t mixed = mix_fingerprint(fingerprint);
  const std::uint64_t mirror = detail::multiply_high(mixed, base_);
  const std::uint64_t upper = bucket >> scale_;
  const std::uint64_t reflected = mirror - upper + (mirror < upper ? base_ : 0);
  const std::uint64_t flip = (mixed & UINT32_MAX) >> (32U - scale_);
  const std::uint64_t lower = bucket & ((std::uint64_t{1} << scale_) - 1);
  return reflected << scale_ | (lower ^ flip);
}

// visit(matches, first cell of the group): the highest bit of each cell that equals the fingerprint
// is set. A field of x = cells xor fingerprint is 0 where they are equal, and adding all ones but
// the highest to its lower bits then leaves the highest 0; no carry reaches the next field.
template <class Visit>
void cuckoo_table::for_each_group(std::uint64_t bucket, std::uint64_t fingerprint,
                                  Visit visit) const noexcept {
  std::uint64_t position = bucket * bucket_bits_;
  for (std::uint32_t done = 0; done < cells_; done += group_cells_) {
    const std::uint32_t width = std::min(group_cells_, cells_ - done) * cell_bits_;
    const std::uint64_t ones = group_ones_ & detail::low_mask(width);
    const std::uint64_t tops = ones << (cell_bits_ - 1);
    const std::uint64_t rest = tops - ones;
    const std::uint64_t x = detail::get_bits(words_, position, width) ^ (fingerprint * ones);
    visit(~(((x & rest) + rest) | x) & tops, done);
    position += width;
  }
}

std::uint32_t cuckoo_table::find(std::uint64_t bucket, std::uint64_t fingerprint) const noexcept {
  std::uint32_t found = nowhere;
  for_each_group(bucket, fingerprint, [&](std::uint64_t matches, std::uint32_t first) {
    if (matches == 0 || found != nowhere) return;
    found = first + static_cast<std::uint32_t>(std::countr_zero(matches)) / cell_bits_;
  });
  return found;
}

std::uint32_t cuckoo_table::occurrences(std::uint64_t bucket,
                                        std::uint64_t fingerprint) const noexcept {
  std::uint32_t count = 0;
  for_each_group(bucket, fingerprint, [&](std::uint64_t matches, std::uint32_t) {
    count += static_cast<std::uint32_t>(std::popcount(matches));
  });
  return count;
}

std::uint64_t cuckoo_table::cell(std::uint64_t bucket, std::uint32_t index) const noexcept {
  return detail::get_bits(words_, bucket * bucket_bits_ + std::uint64_t{index} * cell_bits_,
                          cell_bits_);
}

void cuckoo_table::set_cell(std::uint64_t* words, std::uint64_t bucket, std::uint32_t index,
                            std::uint64_t fingerprint) const noexcept {
  detail::set_bits(words, bucket * bucket_bits_ + std::uint64_t{index} * cell_bits_, cell_bits_,
                   fingerprint);
}

bool cuckoo_table::contains(std::uint64_t hash) const noexcept {
  const place p = place_of(hash);
  std::uint64_t any = 0;  // both buckets without a branch between: they are asked for together
  if (group_cells_ == cells_) {  // nearly always: 4 cells of up to 16 bits
    const std::uint64_t rest = group_tops_ - group_ones_;
    const std::uint64_t wanted = p.fingerprint * group_ones_;
    for (const std::uint64_t bucket : {p.first, p.second}) {
      const std::uint64_t x =
          detail::get_bits(words_, bucket * bucket_bits_, bucket_bits_) ^ wanted;
      any |= ~(((x & rest) + rest) | x) & group_tops_;
    }
    return any != 0;
  }
  const auto gather = [&](std::uint64_t matches, std::uint32_t) { any |= matches; };
  for_each_group(p.first, p.fingerprint, gather);
  for_each_group(p.second, p.fingerprint, gather);
  return any != 0;
}

std::uint64_t cuckoo_table::count(std::uint64_t hash) const noexcept {
  const place p = place_of(hash);
  const std::uint64_t in_first = occurrences(p.first, p.fingerprint);
  return p.second == p.first ? in_first : in_first + occurrences(p.second, p.fingerprint);
}

}  // namespace bloomery
