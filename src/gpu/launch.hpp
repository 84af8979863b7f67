// What the host's side of the GPU room calls: a function for each kernel. The kernels are compiled
// by CUDA's compiler, the callers by the usual one with all of its warnings.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "bloomery/detail/hash/block_map.hpp"

namespace bloomery::gpu {

// Keys as kernels take them; the forms of key_batch.
struct key_source {
  const void* data = nullptr;
  const std::uint64_t* offsets = nullptr;
  std::uint64_t count = 0;
  std::uint64_t seed = 0;
  std::uint8_t form = 0;
};

// Where answers go: what is not null.
struct answer_target {
  std::uint64_t* bits = nullptr;
  std::uint8_t* bytes = nullptr;
  std::uint32_t* indexes = nullptr;
  std::uint32_t first_index = 0;
  std::uint64_t* found = nullptr;  // counts them, from what is there
};

enum class lookup_form : std::uint8_t {
  two_threads,   // a key; half of the line, and the other half only if the first passes
  four_threads,  // a key; each a quarter of the line
};

cudaError_t launch_lookup(const detail::block_map& map, const std::uint64_t* words,
                          const key_source& keys, const answer_target& out, lookup_form form,
                          cudaStream_t s);

// Key by key, with an atomic OR for each word that changes. `looks` reads the words before.
cudaError_t launch_add(const detail::block_map& map, std::uint64_t* words, const key_source& keys,
                       bool looks, cudaStream_t s);

// A level of dealing out: every bin of the level before into 2^bits bins, by the next bits of the
// hash from the top. A bin has room for `capacity` hashes.
struct deal_level {
  std::uint32_t bits = 0;
  std::uint32_t bits_before = 0;
  std::uint64_t capacity = 0;
  std::uint64_t* hashes = nullptr;
  std::uint32_t* counts = nullptr;  // of the bins, zero before; may exceed the capacity
};
// `from` is the level before, and not used by the first, which takes the keys. What finds no room
// is added at once.
cudaError_t launch_deal(const detail::block_map& map, std::uint64_t* words, const key_source& keys,
                        const deal_level& from, const deal_level& to, cudaStream_t s);

// Adds what is in the bins: each range of blocks is filled in shared memory, then written once.
cudaError_t launch_fill(const detail::block_map& map, std::uint64_t* words, const deal_level& from,
                        std::uint32_t pieces, cudaStream_t s);

cudaError_t launch_merge(std::uint64_t* words, const std::uint64_t* others, std::uint64_t count,
                         cudaStream_t s);
cudaError_t launch_popcount(const std::uint64_t* words, std::uint64_t count, std::uint64_t* bits,
                            cudaStream_t s);
// The floor: hashes each key and reads the line that the hash chooses.
cudaError_t launch_floor(const std::uint64_t* words, std::uint64_t lines, const key_source& keys,
                         std::uint64_t* odd, cudaStream_t s);

}  // namespace bloomery::gpu
