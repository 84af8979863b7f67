// Lookups on a GPU, and what reads the whole array: see docs/gpu.md for the measurements that the
// forms come from.
//
// Four threads a key: a warp takes 32 keys in four rounds of eight. Each thread reads a quarter of
// a line, 16 bytes, so that a line is one transaction, and all four rounds are in flight at once.
// That is as fast as memory delivers lines. In the second-level cache instructions count instead,
// and two threads a key are faster: they test half of the line, and most absent keys fail there.
#include <cstdint>

#include "gpu/device_keys.cuh"
#include "gpu/launch.hpp"

namespace bloomery::gpu {

namespace {

using detail::block_map;

constexpr unsigned block_threads = 256;
constexpr unsigned whole_warp = 0xffffffffU;

// Bit i is set when the key's bit in the i-th of four neighbouring lanes is 0, whether or not the
// key has that lane.
__device__ __forceinline__ std::uint32_t zeros(const uint4& four, std::uint32_t x,
                                               const std::uint32_t* multipliers) {
  const auto turned = [&](std::uint32_t lane, unsigned i) {
    return ~__funnelshift_r(lane, lane, detail::lane_turn(x, multipliers[i], i));
  };
  return (turned(four.x, 0) & 1U) | (turned(four.y, 1) & 2U) | (turned(four.z, 2) & 4U) |
         (turned(four.w, 3) & 8U);
}

// Called by all threads of a block. Keys first + 32 n + lane are this thread's, and `first` is that
// of the warp: a multiple of 32.
template <unsigned Keys>
__device__ void give(const answer_target& out, std::uint64_t first, std::uint64_t count,
                     const bool (&is_there)[Keys]) {
  const unsigned lane = threadIdx.x % 32;
  unsigned words[Keys];
#pragma unroll
  for (unsigned n = 0; n < Keys; ++n) {
    words[n] = __ballot_sync(whole_warp, is_there[n] && first + 32 * n + lane < count);
  }
  if (out.bits != nullptr) {
    // The host reads words of 64 bits: the upper half of the last one is written as well.
    if (lane < Keys && first + 32 * lane < (count + 63) / 64 * 64) {
      reinterpret_cast<std::uint32_t*>(out.bits)[first / 32 + lane] =
          Keys == 1 || lane == 0 ? words[0] : words[Keys - 1];
    }
    return;
  }
  if (out.bytes != nullptr) {
#pragma unroll
    for (unsigned n = 0; n < Keys; ++n) {
      const std::uint64_t i = first + 32 * n + lane;
      if (i < count) out.bytes[i] = static_cast<std::uint8_t>(words[n] >> lane & 1U);
    }
    return;
  }
  // One atomic operation for the whole block: millions of warps would queue for the counter.
  __shared__ unsigned before[block_threads / 32];
  __shared__ unsigned long long base;
  if (lane == 0) {
    unsigned sum = 0;
    for (const unsigned word : words) sum += __popc(word);
    before[threadIdx.x / 32] = sum;
  }
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
  std::uint64_t place = base + before[threadIdx.x / 32];
#pragma unroll
  for (unsigned n = 0; n < Keys; ++n) {
    if ((words[n] >> lane & 1U) != 0) {
      out.indexes[place + __popc(words[n] & ((1U << lane) - 1))] =
          out.first_index + static_cast<std::uint32_t>(first + 32 * n + lane);
    }
    place += __popc(words[n]);
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
  unsigned passed = 0;  // bit 4 g + r is that of key g of round r
#pragma unroll
  for (unsigned round = 0; round < 4; ++round) {
    const std::uint32_t of = __shfl_sync(whole_warp, x, static_cast<int>(round * 8 + lane / 4));
    unsigned pass = __ballot_sync(
        whole_warp, (zeros(quarter[round], of, multipliers) & map.lanes_of(of, part * 4)) == 0);
    pass &= pass >> 1U;
    passed |= (pass & pass >> 2U & 0x11111111U) << round;
  }
  const bool is_there[1] = {(passed >> (lane % 8 * 4 + lane / 8) & 1U) != 0};
  give(out, i - lane, count, is_there);
}

// Two threads a key and half of a line, in rounds of sixteen keys: the half that has more of the
// lanes of the key. Those that pass wait in shared memory for the other half, again sixteen at a
// time: a warp takes 64 keys, of which some three come so far in a filter of 1 %. The kernel is
// bound to 32 registers, so that a multiprocessor has as many warps as it can run.
constexpr unsigned two_keys = 2;  // of a thread

// Halves of lines have numbers of 32 bits: this form is for filters that the cache holds.
struct half_of_key {
  std::uint32_t half;
  std::uint32_t x;
};

template <class Keys>
__global__ void __launch_bounds__(block_threads, 8)
    ask_with_two(const __grid_constant__ block_map map, const uint4* __restrict__ quarters,
                 Keys keys, std::uint64_t count, answer_target out) {
  __shared__ half_of_key waiting[block_threads * two_keys];
  __shared__ uint4 multipliers[4];  // of the quarters of a line
  if (threadIdx.x < 16) {
    reinterpret_cast<std::uint32_t*>(multipliers)[threadIdx.x] = map.multipliers[threadIdx.x];
  }
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  const unsigned part = lane % 2;
  const auto passes = [&](const uint4& quarter, std::uint32_t half, std::uint32_t x) {
    const unsigned place = half % 2 * 2 + part;
    const uint4 four = multipliers[place];
    const std::uint32_t factors[4] = {four.x, four.y, four.z, four.w};
    return (zeros(quarter, x, factors) & map.lanes_of(x, place * 4)) == 0;
  };

  const std::uint64_t first =
      (std::uint64_t{blockIdx.x} * block_threads + threadIdx.x - lane) * two_keys;
  half_of_key own[two_keys];
#pragma unroll
  for (unsigned n = 0; n < two_keys; ++n) {
    const std::uint64_t i = first + 32 * n + lane;
    const std::uint64_t hash = i < count ? keys(i) : 0;
    own[n].half = static_cast<std::uint32_t>(map.block_of(hash)) * 2 + map.fuller_half(hash);
    own[n].x = static_cast<std::uint32_t>(hash);
  }
  uint4 quarter[2 * two_keys];
  std::uint32_t half[2 * two_keys];
#pragma unroll
  for (unsigned round = 0; round < 2 * two_keys; ++round) {
    const int of = static_cast<int>(round % 2 * 16 + lane / 2);
    half[round] = __shfl_sync(whole_warp, own[round / 2].half, of);
    quarter[round] = __ldg(quarters + std::uint64_t{half[round]} * 2 + part);
  }
  unsigned passed[two_keys] = {};  // bit 2 g + r is that of key g of round r
#pragma unroll
  for (unsigned round = 0; round < 2 * two_keys; ++round) {
    const int of = static_cast<int>(round % 2 * 16 + lane / 2);
    const std::uint32_t x = __shfl_sync(whole_warp, own[round / 2].x, of);
    const unsigned pass = __ballot_sync(whole_warp, passes(quarter[round], half[round], x));
    passed[round / 2] |= (pass & pass >> 1U & 0x55555555U) << (round % 2);
  }

  bool is_there[two_keys];
  unsigned number[two_keys];
  unsigned all = 0;
  half_of_key* const queue = waiting + threadIdx.x / 32 * 32 * two_keys;
#pragma unroll
  for (unsigned n = 0; n < two_keys; ++n) {
    is_there[n] = (passed[n] >> (lane % 16 * 2 + lane / 16) & 1U) != 0;
    const unsigned waits = __ballot_sync(whole_warp, is_there[n]);
    number[n] = all + __popc(waits & ((1U << lane) - 1));
    all += __popc(waits);
    if (is_there[n]) queue[number[n]] = {own[n].half ^ 1U, own[n].x};
  }
  __syncwarp();
  for (unsigned begin = 0; begin < all; begin += 16) {
    const unsigned at = begin + lane / 2;
    bool good = false;
    if (at < all) {
      const half_of_key key = queue[at];
      good = passes(__ldg(quarters + std::uint64_t{key.half} * 2 + part), key.half, key.x);
    }
    unsigned pass = __ballot_sync(whole_warp, good);
    pass &= pass >> 1U;
#pragma unroll
    for (unsigned n = 0; n < two_keys; ++n) {
      const unsigned place = number[n] - begin;
      if (place < 16) is_there[n] = is_there[n] && (pass >> (place * 2) & 1U) != 0;
    }
  }
  give(out, first, count, is_there);
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
      ask_with_two<<<blocks_for((k.count + two_keys - 1) / two_keys), block_threads, 0, s>>>(
          map, quarters, keys, k.count, out);
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
