#include "bloomery/hash/random_seed.hpp"

#include <sys/random.h>

#include "bloomery/core/error.hpp"

namespace bloomery {

// Not std::random_device, which takes the processor's instruction where there is one, and some
// processors gave the same number each time after they had slept.
std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  if (::getentropy(&seed, sizeof seed) != 0) {
    detail::fail(errc::unsupported, "the system has no random numbers");
  }
  return seed;
}

std::uint64_t process_seed() {
  static const std::uint64_t seed = random_seed();
  return seed;
}

}  // namespace bloomery
