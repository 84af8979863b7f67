#include "bloomery/route/summary.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "bloomery/core/error.hpp"
#include "bloomery/set/algebra.hpp"

namespace bloomery {

namespace {

void flip_bit(std::span<std::uint64_t> words, std::uint64_t position) {
  words[position / 64] ^= detail::bit_mask(position);
}

}  // namespace

// ---- ours -------------------------------------------------------------------------------------

announced_summary::announced_summary(const plan& p, std::uint32_t level)
    : level_(level), sent_(p) {}

announcement announced_summary::whole() const {
  const bit_array nothing(sent_.shape().bits);
  return {.level = level_,
          .whole = true,
          .check = check_,
          .bytes = encode_change(nothing.words(), sent_.words(), sent_.shape().bits)};
}

std::optional<announcement> announced_summary::next(std::span<const std::uint64_t> now,
                                                    std::uint64_t least) {
  const std::span<const std::uint64_t> before = sent_.words();
  std::uint64_t differing = 0;
  std::uint32_t check = check_;
  for (std::size_t w = 0; w < now.size(); ++w) {
    for (std::uint64_t x = detail::little_endian(before[w] ^ now[w]); x != 0; x &= x - 1) {
      check ^= check_of_bit(64 * w + static_cast<std::uint64_t>(std::countr_zero(x)));
      ++differing;
    }
  }
  if (differing == 0 || differing < least) return std::nullopt;
  announcement a{.level = level_,
                 .whole = false,
                 .check = check,
                 .bytes = encode_change(before, now, sent_.shape().bits)};
  std::ranges::copy(now, sent_.mutable_words().begin());
  check_ = check;
  return a;
}

// ---- theirs -----------------------------------------------------------------------------------

bool route_query::may_match(const classic_view& f) const {
  return std::ranges::all_of(hashes, [&](std::uint64_t h) { return f.contains(h); }) &&
         (!covered || may_cover(f, *covered));
}

const summary_table::entry* summary_table::find(link_id link) const noexcept {
  const auto at = std::ranges::find(entries_, link, &entry::link);
  return at == entries_.end() ? nullptr : &*at;
}

void summary_table::add_link(link_id link) {
  if (!has_link(link)) entries_.push_back({.link = link, .check = 0, .filter = {}});
}

void summary_table::remove_link(link_id link) {
  const auto at = std::ranges::find(entries_, link, &entry::link);
  if (at == entries_.end()) return;
  const bool known = at->filter.has_value();
  entries_.erase(at);
  if (known) unite();
}

const classic_filter* summary_table::filter_of(link_id link) const noexcept {
  const entry* const e = find(link);
  return e == nullptr || !e->filter ? nullptr : &*e->filter;
}

std::uint64_t summary_table::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const entry& e : entries_) sum += e.filter ? e.filter->bytes() : 0;
  return sum;
}

void summary_table::unite() {
  std::ranges::fill(merged_.mutable_words(), 0);
  for (const entry& e : entries_) {
    if (e.filter) detail::or_words(merged_.mutable_words(), e.filter->words());
  }
}

void summary_table::forget(entry& e) {
  e.filter.reset();
  e.check = 0;
  unite();
}

// Also in the union: a bit that no other link has goes with its last owner.
void summary_table::flip(entry& e, std::uint64_t position) {
  flip_bit(e.filter->mutable_words(), position);
  e.check ^= check_of_bit(position);
  const auto has = [position](const entry& other) {
    return other.filter && detail::test_bit(other.filter->words().data(), position);
  };
  const bool now = std::ranges::any_of(entries_, has);
  if (now != detail::test_bit(merged_.words().data(), position)) {
    flip_bit(merged_.mutable_words(), position);
  }
}

void summary_table::take(link_id link, const announcement& a) {
  const auto at = std::ranges::find(entries_, link, &entry::link);
  if (at == entries_.end()) detail::fail(errc::bad_argument, "an announcement for an unknown link");
  if (!a.whole && !at->filter) {
    detail::fail(errc::corrupt, "a change was announced before what it changes");
  }
  const std::uint64_t bits = merged_.shape().bits;
  if (a.whole) {
    classic_filter whole(merged_.planned());
    std::uint32_t check = 0;
    each_change(a.bytes, bits, [&](std::uint64_t p) {
      detail::set_bit(whole.mutable_words().data(), p);
      check ^= check_of_bit(p);
    });
    if (at->filter) forget(*at);
    detail::or_words(merged_.mutable_words(), whole.words());
    at->filter.emplace(std::move(whole));
    at->check = check;
  } else {
    each_change(a.bytes, bits, [&](std::uint64_t p) { flip(*at, p); });
  }
  if (at->check == a.check) return;
  forget(*at);
  detail::fail(errc::corrupt, "the announced change does not lead to the filter that it names");
}

// All filters have one shape, so a key's positions are the same in each. The words of one probe are
// fetched for all links before the first is looked at: their misses overlap.
void summary_table::keep_matching(std::uint64_t hash, std::vector<const entry*>& left) const {
  merged_.probes().all_of(hash, [&](std::uint64_t position) {
    for (const entry* e : left) __builtin_prefetch(e->filter->words().data() + position / 64);
    std::erase_if(left, [position](const entry* e) {
      return !detail::test_bit(e->filter->words().data(), position);
    });
    return !left.empty();
  });
}

std::vector<link_id> summary_table::matching(const route_query& q, bool unknown_too) const {
  std::vector<const entry*> left;
  std::vector<link_id> found;
  left.reserve(entries_.size());
  for (const entry& e : entries_) {
    if (e.filter) left.push_back(&e);
    if (!e.filter && unknown_too) found.push_back(e.link);
  }
  for (const std::uint64_t hash : q.hashes) keep_matching(hash, left);
  for (const entry* e : left) {
    if (!q.covered || may_cover(*e->filter, *q.covered)) found.push_back(e->link);
  }
  return found;
}

}  // namespace bloomery
