#include "bloomery/sketch/frequent_keys.hpp"

#include <algorithm>
#include <tuple>

#include "bloomery/core/error.hpp"
#include "cells.hpp"

namespace bloomery {

using sketch_detail::saturating_sum;

namespace {

constexpr std::size_t longest_name = 65536;  // bytes

}  // namespace

frequent_keys::frequent_keys(const frequent_options& o) : room_(o) {
  if (o.keys < 2) {
    detail::throw_bad_argument("the number of keys held", std::uint64_t{o.keys}, "at least 2");
  }
  if (o.key_bytes == 0) {
    detail::throw_bad_argument("the bytes of keys held", std::uint64_t{0}, "at least 1");
  }
}

void frequent_keys::add(std::string_view key, std::uint64_t hash, std::uint64_t count) {
  if (count == 0) return;
  total_ = saturating_sum(total_, count);
  const auto found = held_.find(hash);
  if (found != held_.end()) {
    found->second.count = saturating_sum(found->second.count, count);
    return;
  }
  const std::size_t kept = std::max<std::size_t>(1, std::min(longest_name, room_.key_bytes / 16));
  const std::string_view name = key.substr(0, kept);
  held_.emplace(hash, tally{std::string(name), saturating_sum(floor_, count), floor_});
  key_bytes_ += name.size();
  while (held_.size() > room_.keys || key_bytes_ > room_.key_bytes) make_room();
}

void frequent_keys::add_batch(std::span<const std::string_view> keys,
                              std::span<const std::uint64_t> hashes) {
  for (std::size_t i = 0; i < keys.size(); ++i) add(keys[i], hashes[i]);
}

void frequent_keys::make_room() {
  std::vector<std::uint64_t> counts;
  counts.reserve(held_.size());
  for (const auto& one : held_) counts.push_back(one.second.count);
  const auto median = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
  std::nth_element(counts.begin(), median, counts.end());
  floor_ = *median;  // above what it was: every count began above that
  std::erase_if(held_, [this](const auto& one) {
    if (one.second.count > floor_) return false;
    key_bytes_ -= one.second.key.size();
    return true;
  });
}

std::vector<frequent_key> frequent_keys::top(std::size_t most) const {
  std::vector<frequent_key> list;
  list.reserve(held_.size());
  for (const auto& [hash, held] : held_) {
    list.push_back({.key = held.key, .hash = hash, .count = held.count, .error = held.error});
  }
  const auto order = [](const frequent_key& a, const frequent_key& b) {
    return std::tie(b.count, a.key, a.hash) < std::tie(a.count, b.key, b.hash);
  };
  const std::size_t shown = std::min(most, list.size());
  const std::size_t sorted = std::min(shown + 1, list.size());  // the next decides about the last
  std::partial_sort(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(sorted), list.end(),
                    order);
  std::uint64_t least_before = ~std::uint64_t{0};  // what those before surely have
  for (std::size_t i = 0; i < shown; ++i) {
    const std::uint64_t surely = list[i].count - list[i].error;
    const std::uint64_t next = i + 1 < list.size() ? list[i + 1].count : 0;
    list[i].certain = least_before >= list[i].count && surely >= std::max(next, floor_);
    least_before = std::min(least_before, surely);
  }
  list.resize(shown);
  return list;
}

}  // namespace bloomery
