// The hash of key i, for each form of keys. Keys are read once, and so past the caches' favour.
#pragma once

#include "bloomery/detail/hash/portable_xxh3.hpp"
#include "bloomery/hash/mix.hpp"
#include "gpu/launch.hpp"

namespace bloomery::gpu {

inline __device__ std::uint64_t load_once(const std::uint64_t* p) {
  return __ldcs(reinterpret_cast<const unsigned long long*>(p));
}

struct integer_keys {
  static constexpr bool long_code = false;
  const std::uint64_t* keys;
  std::uint64_t spread_seed;
  __device__ std::uint64_t operator()(std::uint64_t i) const {
    return mix64(load_once(keys + i), spread_seed);
  }
};

struct hash_keys {
  static constexpr bool long_code = false;
  const std::uint64_t* hashes;
  __device__ std::uint64_t operator()(std::uint64_t i) const { return load_once(hashes + i); }
};

struct string_keys {
  static constexpr bool long_code = true;  // loops that call it are not unrolled
  const unsigned char* bytes;
  const std::uint64_t* offsets;
  std::uint64_t seed;
  __device__ std::uint64_t operator()(std::uint64_t i) const {
    const std::uint64_t first = offsets[i];
    return detail::portable_xxh3(seed)(bytes + first, offsets[i + 1] - first);
  }
};

// Calls run with the keys in the form that they have.
template <class Run>
void with_keys(const key_source& k, Run run) {
  if (k.form == 0) {
    run(integer_keys{static_cast<const std::uint64_t*>(k.data), splitmix64(k.seed)});
  } else if (k.form == 1) {
    run(hash_keys{static_cast<const std::uint64_t*>(k.data)});
  } else {
    run(string_keys{static_cast<const unsigned char*>(k.data), k.offsets, k.seed});
  }
}

}  // namespace bloomery::gpu
