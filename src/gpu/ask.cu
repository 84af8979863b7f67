// Lookups on a GPU, and what reads the whole array: see docs/gpu.md for the measurements that the
// forms come from.
//
// Four threads a key: a warp takes 32 keys in four rounds of eight. Each thread reads a quarter of
// a line, 16 bytes, so that a line is one transaction, and all four rounds are in flight at once.
// That is as fast as memory delivers lines. In the second-level cache instructions count instead,
// and one thread a key is faster: it tests half of the line, and most absent keys fail there.
#include <cstdint>

#include "gpu/device_keys.cuh"
#include "gpu/launch.hpp"

namespace bloomery::gpu {

namespace {

using detail::block_map;

constexpr unsigned block_threads = 256;
constexpr unsigned whole_warp = 0xffffffffU;

// Bit 0 is set when the key lacks its bit in one of four neighbouring lanes; the other bits mean
// nothing. Bit i of `lanes` says whether it has lane i.
__device__ __forceinline__ std::uint32_t lacks(const uint4& four, std::uint32_t lanes,
                                               std::uint32_t x, const std::uint32_t* multipliers) {
  return (lanes & ~(four.x >> detail::lane_bit(x, multipliers[0]))) |
         (lanes >> 1U & ~(four.y >> detail::lane_bit(x, multipliers[1]))) |
         (lanes >> 2U & ~(four.z >> detail::lane_bit(x, multipliers[2]))) |
         (lanes >> 3U & ~(four.w >> detail::lane_bit(x, multipliers[3])));
}

// Called by all threads of a block; key `i` is this thread's, and the first of a warp is a multiple
// of 32.
__device__ void give(const answer_target& out, std::uint64_t i, std::uint64_t count, bool is_there) {
  is_there = is_there && i < count;
  const unsigned word = __ballot_sync(whole_warp, is_there);
  const unsigned lane = threadIdx.x % 32;
  if (out.bits != nullptr) {
    // The host reads words of 64 bits: the upper half of the last one is written as well.
    if (lane == 0 && i < (count + 63) / 64 * 64) {
      reinterpret_cast<std::uint32_t*>(out.bits)[i / 32] = word;
    }
    return;
  }
  if (out.bytes != nullptr) {
    if (i < count) out.bytes[i] = is_there ? 1 : 0;
    return;
  }
  // One atomic operation for the whole block: millions of warps would queue for the counter.
  __shared__ unsigned before[block_threads / 32];
  __shared__ unsigned long long base;
  if (lane == 0) before[threadIdx.x / 32] = __popc(word);
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned sum = 0;
    for (unsigned& part : before) {
      const unsigned own = part;
      part = sum;
      sum += own;
    }
    if (sum != 0) base = atomicAdd(reinterpret_cast<unsigned long long*>(out.found), sum);
  }
  if (out.indexes == nullptr) return;
  __syncthreads();
  if (is_there) {
    const unsigned rank = before[threadIdx.x / 32] + __popc(word & ((1U << lane) - 1));
    out.indexes[base + rank] = out.first_index + static_cast<std::uint32_t>(i);
  }
}

template <class Keys>
__global__ void __launch_bounds__(block_threads)
    ask_with_four(const __grid_constant__ block_map map, const uint4* __restrict__ quarters,
                  Keys keys, std::uint64_t count, answer_target out) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned part = lane % 4;
  std::uint32_t multipliers[4];
  for (unsigned j = 0; j < 4; ++j) multipliers[j] = map.multipliers[part * 4 + j];

  const std::uint64_t i = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x;
  const std::uint64_t hash = i < count ? keys(i) : 0;
  const auto block = static_cast<std::uint32_t>(map.block_of(hash));
  const auto x = static_cast<std::uint32_t>(hash);
  uint4 quarter[4];
#pragma unroll
  for (unsigned round = 0; round < 4; ++round) {
    const std::uint64_t of = __shfl_sync(whole_warp, block, static_cast<int>(round * 8 + lane / 4));
    quarter[round] = __ldg(quarters + of * 4 + part);
  }
  bool is_there = false;
#pragma unroll
  for (unsigned round = 0; round < 4; ++round) {
    const std::uint32_t of = __shfl_sync(whole_warp, x, static_cast<int>(round * 8 + lane / 4));
    const std::uint32_t lanes = map.pattern >> (detail::pattern_rotation(of) + part * 4);
    unsigned pass =
        __ballot_sync(whole_warp, (lacks(quarter[round], lanes, of, multipliers) & 1U) == 0);
    pass &= pass >> 1U;
    pass &= pass >> 2U;
    if (lane / 8 == round) is_there = (pass >> (lane % 8 * 4) & 1U) != 0;
  }
  give(out, i, count, is_there);
}

template <class Keys>
__global__ void __launch_bounds__(block_threads)
    ask_with_one(const __grid_constant__ block_map map, const uint4* __restrict__ quarters,
                 Keys keys, std::uint64_t count, answer_target out) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x;
  bool is_there = false;
  if (i < count) {
    const std::uint64_t hash = keys(i);
    const uint4* line = quarters + map.block_of(hash) * 4;
    const auto x = static_cast<std::uint32_t>(hash);
    const std::uint32_t lanes = map.lanes_of(hash);
    const uint4 first = __ldg(line);
    const uint4 second = __ldg(line + 1);
    std::uint32_t bad = lacks(first, lanes, x, map.multipliers) |
                        lacks(second, lanes >> 4U, x, map.multipliers + 4);
    if ((bad & 1U) == 0) {
      const uint4 third = __ldg(line + 2);
      const uint4 fourth = __ldg(line + 3);
      bad = lacks(third, lanes >> 8U, x, map.multipliers + 8) |
            lacks(fourth, lanes >> 12U, x, map.multipliers + 12);
    }
    is_there = (bad & 1U) == 0;
  }
  give(out, i, count, is_there);
}

// As ask_with_four, without the filter.
__global__ void __launch_bounds__(block_threads)
    read_lines(const uint4* __restrict__ quarters, std::uint64_t lines, integer_keys keys,
               std::uint64_t count, unsigned long long* odd) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t i = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x;
  const std::uint64_t hash = i < count ? keys(i) : 0;
  const auto line = static_cast<std::uint32_t>(detail::block_number(hash, lines));
  uint4 quarter[4];
#pragma unroll
  for (unsigned round = 0; round < 4; ++round) {
    const std::uint64_t of = __shfl_sync(whole_warp, line, static_cast<int>(round * 8 + lane / 4));
    quarter[round] = __ldg(quarters + of * 4 + lane % 4);
  }
  std::uint32_t fold = 0;
#pragma unroll
  for (unsigned round = 0; round < 4; ++round) {
    fold ^= quarter[round].x ^ quarter[round].y ^ quarter[round].z ^ quarter[round].w;
  }
  // Once in 2^32, and else the compiler would drop the loads.
  if (fold == 0x9e3779b9U) atomicAdd(odd, 1ULL);
}

__global__ void __launch_bounds__(block_threads)
    merge_words(uint4* words, const uint4* others, std::uint64_t count) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * block_threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x; i < count;
       i += step) {
    uint4 a = words[i];
    const uint4 b = __ldcs(others + i);
    a.x |= b.x;
    a.y |= b.y;
    a.z |= b.z;
    a.w |= b.w;
    words[i] = a;
  }
}

__global__ void __launch_bounds__(block_threads)
    count_ones(const uint4* words, std::uint64_t count, unsigned long long* bits) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * block_threads;
  unsigned long long ones = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x; i < count;
       i += step) {
    const uint4 a = __ldcs(words + i);
    ones += __popc(a.x) + __popc(a.y) + __popc(a.z) + __popc(a.w);
  }
  for (int by = 16; by > 0; by /= 2) ones += __shfl_down_sync(whole_warp, ones, by);
  if (threadIdx.x % 32 == 0 && ones != 0) atomicAdd(bits, ones);
}

unsigned blocks_for(std::uint64_t threads) {
  return static_cast<unsigned>((threads + block_threads - 1) / block_threads);
}
constexpr unsigned streaming_blocks = 132 * 16;

}  // namespace

cudaError_t launch_lookup(const block_map& map, const std::uint64_t* words, const key_source& k,
                          const answer_target& out, lookup_form form, cudaStream_t s) {
  const auto* quarters = reinterpret_cast<const uint4*>(words);
  with_keys(k, [&](auto keys) {
    if (form == lookup_form::four_threads) {
      ask_with_four<<<blocks_for(k.count), block_threads, 0, s>>>(map, quarters, keys, k.count,
                                                                  out);
    } else {
      ask_with_one<<<blocks_for(k.count), block_threads, 0, s>>>(map, quarters, keys, k.count, out);
    }
  });
  return cudaGetLastError();
}

cudaError_t launch_floor(const std::uint64_t* words, std::uint64_t lines, const key_source& k,
                         std::uint64_t* odd, cudaStream_t s) {
  read_lines<<<blocks_for(k.count), block_threads, 0, s>>>(
      reinterpret_cast<const uint4*>(words), lines,
      integer_keys{static_cast<const std::uint64_t*>(k.data), splitmix64(k.seed)}, k.count,
      reinterpret_cast<unsigned long long*>(odd));
  return cudaGetLastError();
}

cudaError_t launch_merge(std::uint64_t* words, const std::uint64_t* others, std::uint64_t count,
                         cudaStream_t s) {
  merge_words<<<streaming_blocks, block_threads, 0, s>>>(
      reinterpret_cast<uint4*>(words), reinterpret_cast<const uint4*>(others), count / 2);
  return cudaGetLastError();
}

cudaError_t launch_popcount(const std::uint64_t* words, std::uint64_t count, std::uint64_t* bits,
                            cudaStream_t s) {
  count_ones<<<streaming_blocks, block_threads, 0, s>>>(
      reinterpret_cast<const uint4*>(words), count / 2,
      reinterpret_cast<unsigned long long*>(bits));
  return cudaGetLastError();
}

}  // namespace bloomery::gpu
