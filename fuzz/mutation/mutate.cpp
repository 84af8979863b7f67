#include "mutation/mutate.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "bloomery/hash/hash.hpp"

namespace bloomery_fuzz {

namespace {

constexpr std::size_t edges = 22;

// A number of `bits` bits at the edge of what makes sense, from the one that is there.
std::uint64_t edge(std::size_t which, std::uint64_t old, unsigned bits) {
  const std::uint64_t all = bits == 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1;
  const std::array<std::uint64_t, edges> values = {
      0,         1,         2,        3,
      old + 1,   old - 1,   old * 2,  old / 2,
      old + 64,  old - 64,  63,       64,
      255,       256,       65535,    std::uint64_t{1} << 31U,
      all,       all - 1,   all >> 1, all - old,
      old * old, old << 20U};
  return values[which] & all;
}

struct place {
  std::size_t at;
  std::size_t size;
};

// The head of a plain filter has numbers of 1, 2, 4 and 8 bytes; what follows is words. The other
// forms have their numbers at the same sort of places.
std::vector<place> places(const byte_vector& bytes) {
  std::vector<place> all;
  for (std::size_t at = 8; at < std::min<std::size_t>(bytes.size(), 136); at += 2) {
    all.push_back({at, 2});
    if (at % 4 == 0) all.push_back({at, 4});
    if (at % 8 == 0) all.push_back({at, 8});
  }
  all.push_back({14, 1});
  all.push_back({15, 1});
  for (std::size_t at = 256; at + 8 <= std::min<std::size_t>(bytes.size(), 256 + 64 * 8); at += 8) {
    all.push_back({at, 8});
  }
  for (std::size_t back = 2; back <= 17 && 8 * back <= bytes.size(); ++back) {
    all.push_back({bytes.size() - 8 * back, 8});
  }
  return all;
}

place somewhere(const byte_vector& bytes, random_numbers& random, std::size_t most) {
  const std::size_t near =
      random.below(4) == 0 ? std::min<std::size_t>(bytes.size(), 320) : bytes.size();
  std::size_t at = random.below(near);
  if (random.below(2) == 0) at &= ~std::size_t{7};
  return {at, std::min(bytes.size() - at, 1 + random.below(most))};
}

auto place_in(byte_vector& bytes, std::size_t at) {
  return bytes.begin() + static_cast<std::ptrdiff_t>(at);
}

void change_once(byte_vector& bytes, const byte_vector& other, random_numbers& random) {
  if (bytes.empty()) return;
  const place here = somewhere(bytes, random, 64);
  switch (random.below(12)) {
    case 0:
    case 1: bytes[here.at] ^= static_cast<std::byte>(1U << random.below(8)); return;
    case 2: bytes[here.at] = static_cast<std::byte>(random.next()); return;
    case 3:
    case 4: {
      constexpr std::array<std::size_t, 4> sizes = {1, 2, 4, 8};
      const std::size_t size = sizes[random.below(4)];
      const std::uint64_t old = get_number(bytes, here.at, size);
      return put_number(bytes, here.at, size,
                        edge(random.below(edges), old, static_cast<unsigned>(8 * size)));
    }
    case 5: return put_number(bytes, here.at, 8, random.next());
    case 6: bytes.resize(here.at); return;
    case 7: bytes.insert(bytes.end(), here.size, static_cast<std::byte>(random.next())); return;
    case 8: {  // a part of another file, over this one or into it
      if (other.empty()) return;
      place there = somewhere(other, random, 512);
      if (random.below(2) == 0) there.at = std::min(here.at, other.size() - there.size);
      const auto part = std::span(other).subspan(there.at, there.size);
      if (random.below(2) == 0) {
        bytes.insert(place_in(bytes, here.at), part.begin(), part.end());
      } else {
        std::copy_n(part.begin(), std::min(part.size(), bytes.size() - here.at),
                    place_in(bytes, here.at));
      }
      return;
    }
    case 9: {  // two parts change places
      const place there = somewhere(bytes, random, 64);
      const std::size_t size = std::min(here.size, there.size);
      const std::size_t low = std::min(here.at, there.at);
      const std::size_t high = std::max(here.at, there.at);
      if (low + size > high) return;
      std::swap_ranges(place_in(bytes, low), place_in(bytes, low + size), place_in(bytes, high));
      return;
    }
    case 10:
      std::fill_n(place_in(bytes, here.at), here.size, std::byte(random.below(2) == 0 ? 0 : 0xFF));
      return;
    default: bytes.erase(place_in(bytes, here.at), place_in(bytes, here.at + here.size)); return;
  }
}

}  // namespace

std::uint64_t random_numbers::next() { return bloomery::splitmix64(state_++); }

std::size_t edge_numbers(const byte_vector& bytes) { return places(bytes).size() * edges; }

void edge_number(byte_vector& bytes, std::size_t which) {
  const place at = places(bytes)[which / edges];
  const std::uint64_t old = get_number(bytes, at.at, at.size);
  put_number(bytes, at.at, at.size, edge(which % edges, old, static_cast<unsigned>(8 * at.size)));
}

void mutate(byte_vector& bytes, const byte_vector& other, random_numbers& random) {
  for (std::size_t changes = 1 + random.below(4); changes > 0; --changes) {
    change_once(bytes, other, random);
  }
}

}  // namespace bloomery_fuzz
