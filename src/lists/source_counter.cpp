#include "bloomery/lists/source_counter.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace bloomery {

namespace {

frequent_options room_for(std::uint32_t wanted) {
  frequent_options room;
  room.keys = std::max(room.keys, 2 * std::size_t{wanted});
  return room;
}

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
    : wanted_(wanted), hasher_(random_seed()), counts_(room_for(wanted)) {}

void source_counter::add(const ip_address& source) {
  const auto name = name_of(source.unmapped());
  const std::string_view key(name.data(), name.size());
  counts_.add(key, hash_key(hasher_, key));
}

// Names begin with the family, so their order is that of addresses.
std::vector<counted_source> source_counter::top() const {
  std::vector<counted_source> sources;
  for (const frequent_key& e : counts_.top(wanted_)) {
    sources.push_back({address_of(e.key), e.count, e.error});
  }
  return sources;
}

}  // namespace bloomery
