#include "bloomery/format/shard_files.hpp"

#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/core/kinds.hpp"
#include "bloomery/set/algebra.hpp"

namespace bloomery {

namespace {

// The part of a number that a shard gets; the first ones get what does not divide.
std::uint64_t part_of(std::uint64_t number, shard_number which) {
  return number / which.count + (which.index < number % which.count ? 1 : 0);
}

std::string name_of(std::uint32_t index, std::uint32_t count) {
  return detail::to_text(std::uint64_t{index}) + " of " + detail::to_text(std::uint64_t{count});
}

}  // namespace

filter_version shard_of(const filter_version& whole, shard_number which) {
  const shape& s = whole.header.planned.shape;
  if (!is_of_bits(s.kind) || layout_of(s) != position_layout::blocks || !s.shard.whole()) {
    detail::fail(errc::unsupported, s.shard.whole()
                                        ? "only blocked and split-block filters have shards"
                                        : "the filter is a shard already");
  }
  const std::uint64_t blocks = s.bits / s.block_bits;
  if (which.count == 0 || blocks % which.count != 0) {
    detail::throw_bad_argument(
        "the number of shards", std::uint64_t{which.count},
        "a divisor of " + detail::to_text(blocks) + ", the number of the filter's blocks");
  }
  filter_version shard = whole;
  plan& p = shard.header.planned;
  p.shape.bits = s.bits / which.count;
  p.shape.shard = which;
  check_shape(p.shape);
  p.keys = part_of(p.keys, which);
  shard.header.keys = part_of(shard.header.keys, which);
  const auto words = static_cast<std::size_t>(p.shape.bits / 64);
  shard.words = whole.words.subspan(words * which.index, words);
  return shard;
}

void shard_joiner::add(const filter_version& shard) {
  image_header header = shard.header;
  shape& s = header.planned.shape;
  if (!out_) count_ = s.shard.count;
  if (s.shard != shard_number{.index = next_, .count = count_}) {
    detail::fail(errc::mismatch, "this is shard " + name_of(s.shard.index, s.shard.count) +
                                     ", where shard " + name_of(next_, count_) + " is needed");
  }
  s.bits *= s.shard.count;  // at most 2^48, which check_shape has seen
  s.shard = {};
  if (!out_) {
    header_ = header;
    out_.emplace(*file_, header_);
  } else {
    check_combinable(header_.planned.shape, s);
    check_combinable(header_.hash, header.hash);
    header_.hash.form = common_form(header_.hash.form, header.hash.form);
    header_.keys += header.keys;
    header_.planned.keys += header.planned.keys;
  }
  out_->append(shard.words);
  ++next_;
}

void shard_joiner::finish() {
  if (!out_ || next_ != count_) {
    detail::fail(errc::mismatch, "shard " + name_of(next_, count_) + " is missing");
  }
  out_->finish(header_);
}

void join(atomic_file& file, std::span<const filter_version> shards) {
  shard_joiner joiner(file);
  for (const filter_version& shard : shards) joiner.add(shard);
  joiner.finish();
}

}  // namespace bloomery
