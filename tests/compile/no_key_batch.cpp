// Like no_key.cpp, for a range of keys.
#include "bloomery/filter/keyed.hpp"

struct unhashed {};

std::size_t many_keys(const bloomery::filter& f, std::span<const unhashed> keys) {
  return f.contains_count(keys);
}
