// Adding on a GPU.
//
// Key by key, eight threads a key and an atomic OR for each word: the memory reads and writes a
// line for each key, and atomics cost more than that: 13 G keys a second on an H200, a third of
// what it looks up.
//
// By ranges, for many keys. Block numbers grow with the hash, so the top bits of the hash say in
// which range of blocks a key lies. The hashes are dealt out into bins by those bits, in one to
// three levels of up to 512 bins each, like the passes of a radix sort: a tile of hashes is ordered
// in shared memory, so that a bin gets a run of neighbours. Then a thread block takes a bin, fills
// its range in shared memory and writes the range once. All of that is reading and writing in
// order: at 1 GiB 16 bytes a key and level, and the array twice.
//
// Bins have a fixed room, eight standard deviations above the mean, so that no pass counts first:
// hashes are uniform. Where they are not, as when one key comes a million times, what finds no room
// is added key by key.
#include <cstdint>

#include "gpu/device_keys.cuh"
#include "gpu/launch.hpp"

namespace bloomery::gpu {

namespace {

using detail::block_map;
using word = unsigned long long;

constexpr unsigned block_threads = 256;
constexpr unsigned whole_warp = 0xffffffffU;

template <bool Looks, class Keys>
__global__ void __launch_bounds__(block_threads)
    add_with_eight(const __grid_constant__ block_map map, word* words, Keys keys,
                   std::uint64_t count) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned part = lane % 8;
  const std::uint32_t even = map.multipliers[part * 2];
  const std::uint32_t odd = map.multipliers[part * 2 + 1];
  const std::uint64_t i = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x;
  const std::uint64_t hash = i < count ? keys(i) : 0;
  const auto block = static_cast<std::uint32_t>(map.block_of(hash));
  const auto x = static_cast<std::uint32_t>(hash);
  const unsigned there = __ballot_sync(whole_warp, i < count);
#pragma unroll
  for (int round = 0; round < 8; ++round) {
    const int from = round * 4 + static_cast<int>(lane / 8);
    const std::uint64_t to = __shfl_sync(whole_warp, block, from);
    const std::uint32_t of = __shfl_sync(whole_warp, x, from);
    const std::uint32_t lanes = map.lanes_of(of, part * 2);
    const word mask = word{lanes & 1U} << detail::lane_bit(of, even) |
                      word{lanes >> 1U & 1U} << (32U + detail::lane_bit(of, odd));
    if (mask == 0 || (there >> from & 1U) == 0) continue;
    word* const at = words + to * 8 + part;
    if (!Looks || (__ldcg(at) & mask) != mask) atomicOr(at, mask);
  }
}

// A key that found no room in its bin. There are few, or they are equal: so look first.
__device__ void add_one(const block_map& map, std::uint32_t* lanes, std::uint64_t hash) {
  std::uint32_t* const line = lanes + map.block_of(hash) * block_geometry::lanes;
  for (std::uint32_t j = 0; j < map.probes; ++j) {
    const std::uint32_t lane = map.lane_of(hash, j);
    const std::uint32_t mask = 1U << detail::lane_bit(hash, map.multipliers[lane]);
    if ((__ldcg(line + lane) & mask) == 0) atomicOr(line + lane, mask);
  }
}

constexpr unsigned deal_threads = 512;
constexpr unsigned deal_keys = 8;  // of a thread
constexpr unsigned tile = deal_threads * deal_keys;
constexpr unsigned most_bins = deal_threads;  // of a level: a thread for each

struct deal_shared {
  std::uint64_t hashes[tile];
  std::uint32_t counts[most_bins];
  std::uint32_t firsts[most_bins];  // where the run of a bin starts in `hashes`
  std::uint32_t moves[most_bins];   // from there to its place in the bin
  std::uint32_t warps[deal_threads / 32];
};

struct bins {
  std::uint64_t* hashes;
  std::uint32_t* counts;
  std::uint64_t capacity;
  std::uint32_t bits;
  std::uint32_t shift;  // of the hash, for the number of the bin
};

// The sum of the values of all threads before this one.
__device__ std::uint32_t sum_before(std::uint32_t value, std::uint32_t* warps) {
  const unsigned lane = threadIdx.x % 32;
  std::uint32_t sum = value;
  for (unsigned by = 1; by < 32; by *= 2) {
    const std::uint32_t other = __shfl_up_sync(whole_warp, sum, by);
    if (lane >= by) sum += other;
  }
  if (lane == 31) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    const std::uint32_t own = lane < deal_threads / 32 ? warps[lane] : 0;
    std::uint32_t all = own;
    for (unsigned by = 1; by < 32; by *= 2) {
      const std::uint32_t other = __shfl_up_sync(whole_warp, all, by);
      if (lane >= by) all += other;
    }
    if (lane < deal_threads / 32) warps[lane] = all - own;
  }
  __syncthreads();
  return warps[threadIdx.x / 32] + sum - value;
}

// Deals out keys first to first + count - 1 (at most a tile) into the bins of `parent`.
template <class Keys>
__device__ void deal_tile(const block_map& map, std::uint32_t* lanes, const Keys& keys,
                          std::uint64_t first, std::uint32_t count, std::uint64_t parent,
                          const bins& to, deal_shared& shared) {
  const std::uint32_t bins_here = 1U << to.bits;
  const auto bin_of = [&](std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash >> to.shift) & (bins_here - 1);
  };
  const unsigned t = threadIdx.x;
  shared.counts[t] = 0;
  __syncthreads();

  std::uint64_t hashes[deal_keys];
  std::uint16_t ranks[deal_keys];
  if constexpr (Keys::long_code) {
#pragma unroll 1
    for (unsigned i = t; i < count; i += deal_threads) shared.hashes[i] = keys(first + i);
  }
#pragma unroll
  for (unsigned j = 0; j < deal_keys; ++j) {
    const unsigned i = j * deal_threads + t;
    if (i >= count) continue;
    if constexpr (Keys::long_code) {
      hashes[j] = shared.hashes[i];  // this thread's own
    } else {
      hashes[j] = keys(first + i);
    }
  }
#pragma unroll
  for (unsigned j = 0; j < deal_keys; ++j) {
    const unsigned i = j * deal_threads + t;
    if (i < count) {
      ranks[j] = static_cast<std::uint16_t>(atomicAdd(&shared.counts[bin_of(hashes[j])], 1U));
    }
  }
  __syncthreads();
  const std::uint32_t own = shared.counts[t];
  const std::uint32_t start = sum_before(own, shared.warps);
  shared.firsts[t] = start;
  if (own != 0) shared.moves[t] = atomicAdd(&to.counts[(parent << to.bits) + t], own) - start;
  __syncthreads();
#pragma unroll
  for (unsigned j = 0; j < deal_keys; ++j) {
    const unsigned i = j * deal_threads + t;
    if (i < count) shared.hashes[shared.firsts[bin_of(hashes[j])] + ranks[j]] = hashes[j];
  }
  __syncthreads();
  for (unsigned i = t; i < count; i += deal_threads) {
    const std::uint64_t hash = shared.hashes[i];
    const std::uint32_t bin = bin_of(hash);
    const std::uint32_t place = i + shared.moves[bin];
    if (place < to.capacity) {
      to.hashes[((parent << to.bits) + bin) * to.capacity + place] = hash;
    } else {
      add_one(map, lanes, hash);
    }
  }
}

template <class Keys>
__global__ void __launch_bounds__(deal_threads, 3)
    deal_keys_out(const __grid_constant__ block_map map, std::uint32_t* lanes, Keys keys,
                  std::uint64_t count, bins to) {
  extern __shared__ uint4 memory[];
  const std::uint64_t first = std::uint64_t{blockIdx.x} * tile;
  const std::uint64_t left = count - first;
  deal_tile(map, lanes, keys, first, left < tile ? static_cast<std::uint32_t>(left) : tile, 0, to,
            *reinterpret_cast<deal_shared*>(memory));
}

__global__ void __launch_bounds__(deal_threads, 3)
    deal_bins_out(const __grid_constant__ block_map map, std::uint32_t* lanes, bins from,
                  std::uint32_t tiles_a_bin, bins to) {
  extern __shared__ uint4 memory[];
  const std::uint64_t parent = blockIdx.x / tiles_a_bin;
  const std::uint64_t first = std::uint64_t{blockIdx.x % tiles_a_bin} * tile;
  std::uint64_t count = from.counts[parent];
  if (count > from.capacity) count = from.capacity;
  if (first >= count) return;
  const std::uint64_t left = count - first;
  deal_tile(map, lanes, hash_keys{from.hashes + parent * from.capacity}, first,
            left < tile ? static_cast<std::uint32_t>(left) : tile, parent, to,
            *reinterpret_cast<deal_shared*>(memory));
}

constexpr unsigned fill_threads = 512;

__device__ bool any(const uint4& q) { return (q.x | q.y | q.z | q.w) != 0; }

// Piece blockIdx.x % pieces of bin blockIdx.x / pieces. The first and the last block of a range may
// belong to the neighbours' as well, and with several pieces all of them do: these are changed by
// atomics, the others are this thread block's alone.
__global__ void __launch_bounds__(fill_threads, 3)
    fill_ranges(const __grid_constant__ block_map map, word* words, bins from,
                std::uint32_t pieces) {
  extern __shared__ uint4 memory[];
  __shared__ std::uint32_t multipliers[block_geometry::lanes];
  const std::uint64_t bin = blockIdx.x / pieces;
  const std::uint32_t piece = blockIdx.x % pieces;
  std::uint64_t count = from.counts[bin];
  if (count > from.capacity) count = from.capacity;
  const std::uint64_t begin = count * piece / pieces;
  const std::uint64_t end = count * (piece + 1) / pieces;
  if (begin == end) return;

  const std::uint64_t first = map.block_of(bin << from.shift);
  const std::uint64_t last = map.block_of((bin << from.shift) | ((1ULL << from.shift) - 1));
  const auto quarters = static_cast<std::uint32_t>(last - first + 1) * 4;
  const unsigned t = threadIdx.x;
  if (t < block_geometry::lanes) multipliers[t] = map.multipliers[t];
  for (std::uint32_t i = t; i < quarters; i += fill_threads) memory[i] = uint4{0, 0, 0, 0};
  __syncthreads();

  auto* const lanes = reinterpret_cast<std::uint32_t*>(memory);
  const std::uint64_t* const hashes = from.hashes + bin * from.capacity;
  const auto add = [&](std::uint64_t hash) {
    const auto block = static_cast<std::uint32_t>(map.block_of(hash) - first);
    for (std::uint32_t j = 0; j < map.probes; ++j) {
      const std::uint32_t lane = map.lane_of(hash, j);
      atomicOr(lanes + block * block_geometry::lanes + lane,
               1U << detail::lane_bit(hash, multipliers[lane]));
    }
  };
  constexpr unsigned ahead = 4;
  std::uint64_t i = begin + t;
  for (; i + (ahead - 1) * fill_threads < end; i += ahead * fill_threads) {
    std::uint64_t some[ahead];
#pragma unroll
    for (unsigned j = 0; j < ahead; ++j) some[j] = load_once(hashes + i + j * fill_threads);
#pragma unroll
    for (unsigned j = 0; j < ahead; ++j) add(some[j]);
  }
  for (; i < end; i += fill_threads) add(load_once(hashes + i));
  __syncthreads();

  auto* const target = reinterpret_cast<uint4*>(words) + first * 4;
  for (std::uint32_t q = t; q < quarters; q += ahead * fill_threads) {
    uint4 own[ahead];
    uint4 all[ahead];
#pragma unroll
    for (unsigned j = 0; j < ahead; ++j) {
      const std::uint32_t at = q + j * fill_threads;
      own[j] = at < quarters ? memory[at] : uint4{0, 0, 0, 0};
      if (any(own[j])) all[j] = __ldcs(target + at);
    }
#pragma unroll
    for (unsigned j = 0; j < ahead; ++j) {
      const std::uint32_t at = q + j * fill_threads;
      if (!any(own[j])) continue;
      if (pieces > 1 || at < 4 || at >= quarters - 4) {
        const word low = word{own[j].y} << 32U | own[j].x;
        const word high = word{own[j].w} << 32U | own[j].z;
        if (low != 0) atomicOr(reinterpret_cast<word*>(target + at), low);
        if (high != 0) atomicOr(reinterpret_cast<word*>(target + at) + 1, high);
        continue;
      }
      all[j].x |= own[j].x;
      all[j].y |= own[j].y;
      all[j].z |= own[j].z;
      all[j].w |= own[j].w;
      __stcs(target + at, all[j]);
    }
  }
}

bins bins_of(const deal_level& level) {
  return {level.hashes, level.counts, level.capacity, level.bits,
          64U - level.bits_before - level.bits};
}

unsigned blocks_for(std::uint64_t items, std::uint64_t per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

}  // namespace

cudaError_t launch_add(const block_map& map, std::uint64_t* words, const key_source& k, bool looks,
                       cudaStream_t s) {
  auto* const target = reinterpret_cast<word*>(words);
  const unsigned blocks = blocks_for(k.count, block_threads);
  with_keys(k, [&](auto keys) {
    if (looks) {
      add_with_eight<true><<<blocks, block_threads, 0, s>>>(map, target, keys, k.count);
    } else {
      add_with_eight<false><<<blocks, block_threads, 0, s>>>(map, target, keys, k.count);
    }
  });
  return cudaGetLastError();
}

cudaError_t launch_deal(const block_map& map, std::uint64_t* words, const key_source& k,
                        const deal_level& from, const deal_level& to, cudaStream_t s) {
  constexpr int bytes = sizeof(deal_shared);
  auto* const lanes = reinterpret_cast<std::uint32_t*>(words);
  cudaError_t status = cudaSuccess;
  if (to.bits_before == 0) {
    with_keys(k, [&](auto keys) {
      const auto kernel = &deal_keys_out<decltype(keys)>;
      status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
      if (status != cudaSuccess) return;
      kernel<<<blocks_for(k.count, tile), deal_threads, bytes, s>>>(map, lanes, keys, k.count,
                                                                    bins_of(to));
    });
  } else {
    status =
        cudaFuncSetAttribute(&deal_bins_out, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status == cudaSuccess) {
      const std::uint32_t tiles = blocks_for(from.capacity, tile);
      deal_bins_out<<<tiles << to.bits_before, deal_threads, bytes, s>>>(map, lanes, bins_of(from),
                                                                         tiles, bins_of(to));
    }
  }
  return status != cudaSuccess ? status : cudaGetLastError();
}

cudaError_t launch_fill(const block_map& map, std::uint64_t* words, const deal_level& from,
                        std::uint32_t pieces, cudaStream_t s) {
  const std::uint32_t all_bits = from.bits_before + from.bits;
  const auto bytes = static_cast<int>(((map.blocks >> all_bits) + 2) * 64);
  const cudaError_t status =
      cudaFuncSetAttribute(&fill_ranges, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  fill_ranges<<<pieces << all_bits, fill_threads, static_cast<std::size_t>(bytes), s>>>(
      map, reinterpret_cast<word*>(words), bins_of(from), pieces);
  return cudaGetLastError();
}

}  // namespace bloomery::gpu
