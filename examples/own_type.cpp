// Your own type as a key: one function beside the type, found by argument-dependent lookup.
#include <bloomery/bloomery.hpp>
#include <cstdint>
#include <cstdio>
#include <string>

namespace shop {

struct visit {
  std::string customer;
  std::uint32_t day;
};

// Works with every hash function, the keyed one included.
template <class Hasher>
std::uint64_t bloomery_hash(const visit& v, const Hasher& hasher) noexcept {
  return bloomery::hash_fields(hasher, v.customer, v.day);
}

}  // namespace shop

int main() {
  bloomery::filter seen({.keys = 10'000, .fpr = 0.001});
  seen.add(shop::visit{"ada", 17});
  const bool same = seen.contains(shop::visit{"ada", 17});
  const bool other_day = seen.contains(shop::visit{"ada", 18});
  std::printf("ada on day 17: %s, on day 18: %s\n", same ? "probably" : "surely not",
              other_day ? "probably" : "surely not");
  return same && !other_day ? 0 : 1;
}
