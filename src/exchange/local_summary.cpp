#include "bloomery/exchange/local_summary.hpp"

namespace bloomery {

namespace {

constexpr std::uint32_t counter_width = 4;

plan counting_plan(plan p) {
  detail::check_kind(p.shape, filter_kind::classic);
  p.shape.kind = filter_kind::counting;
  p.shape.cell_bits = counter_width;
  p.shape.bits *= counter_width;
  return p;
}

}  // namespace

local_summary::local_summary(const plan& p) : counters_(counting_plan(p)), plain_(p) {}

void local_summary::add(std::uint64_t hash) {
  counters_.add(hash);
  plain_.add(hash);
}

bool local_summary::remove(std::uint64_t hash) {
  if (!counters_.remove(hash)) return false;
  const std::uint64_t* const cells = counters_.words().data();
  const std::span<std::uint64_t> bits = plain_.mutable_words();
  counters_.probes().all_of(hash, [&](std::uint64_t cell) {
    if (detail::get_counter(cells, cell, counter_width) == 0) {
      const std::uint64_t position = cell / counter_width;
      bits[position / 64] &= ~detail::bit_mask(position);
    }
    return true;
  });
  if (plain_.keys() != 0) plain_.set_keys(plain_.keys() - 1);
  return true;
}

}  // namespace bloomery
