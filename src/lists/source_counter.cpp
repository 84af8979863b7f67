#include "bloomery/lists/source_counter.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace bloomery {

namespace {

constexpr count_min_guarantee guarantee{
    .epsilon = 1e-4, .delta = 0.01, .cell_bits = 32, .conservative = true};

// More names than wanted are kept: the order of two with nearly equal counts is uncertain.
constexpr std::uint32_t names_for(std::uint32_t wanted) { return std::max(64U, 2 * wanted); }

std::array<char, 17> name_of(const ip_address& a) {
  std::array<char, 17> name{};
  name[0] = static_cast<char>(a.family);
  std::copy(a.bytes.begin(), a.bytes.end(), name.begin() + 1);
  return name;
}

ip_address address_of(std::string_view name) {
  ip_address a;
  a.family = static_cast<ip_family>(name.front());
  std::copy(name.begin() + 1, name.end(), a.bytes.begin());
  return a;
}

}  // namespace

source_counter::source_counter(std::uint32_t wanted)
    : wanted_(wanted), counts_(guarantee), names_(top_k_options{.k = names_for(wanted)}) {}

void source_counter::add(const ip_address& source) {
  const auto name = name_of(source.unmapped());
  const std::string_view key(name.data(), name.size());
  const std::uint64_t hash = hash_key(hasher_, key);
  counts_.add(hash);
  names_.add(key, hash);
}

std::vector<counted_source> source_counter::top() const {
  std::vector<counted_source> sources;
  for (const top_k_entry& e : names_.entries()) {
    sources.push_back({address_of(e.key), counts_.count(e.hash)});
  }
  std::sort(sources.begin(), sources.end(), [](const counted_source& a, const counted_source& b) {
    return std::tie(b.count, a.address) < std::tie(a.count, b.address);
  });
  if (sources.size() > wanted_) sources.resize(wanted_);
  return sources;
}

}  // namespace bloomery
