// As much of CUDA's runtime as src/gpu/*.cu name, declared from its public documentation, so that
// clang's CUDA front end can read the kernels on a machine without the toolkit (kernels.sh). It
// checks names, types and what is for which side; code for a GPU is made of it, but never run.
#pragma once

#include <stddef.h>
#include <stdlib.h>

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__  // where an argument lies; clang has it from version 20 on

enum cudaError_t { cudaSuccess };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
using cudaStream_t = struct stand_in_stream*;

cudaError_t cudaGetLastError();
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute, int);
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

struct dim3 {
  unsigned x, y, z;
  __host__ __device__ dim3(unsigned x_, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

// What clang turns <<<...>>> into, by the version of the toolkit that it takes this for.
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t = nullptr);

struct stand_in_index {
  unsigned x, y, z;
};
extern __device__ const stand_in_index threadIdx;
extern __device__ const stand_in_index blockIdx;
extern __device__ const stand_in_index gridDim;

__device__ void __syncthreads();
__device__ void __syncwarp(unsigned threads = 0xffffffffU);
__device__ unsigned __ballot_sync(unsigned threads, int is);
template <class T>
__device__ T __shfl_sync(unsigned threads, T value, int from, int width = 32);
template <class T>
__device__ T __shfl_up_sync(unsigned threads, T value, unsigned by, int width = 32);
template <class T>
__device__ T __shfl_down_sync(unsigned threads, T value, unsigned by, int width = 32);
__device__ int __popc(unsigned);
__device__ unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by);
template <class T>
__device__ T __ldg(const T*);
template <class T>
__device__ T __ldcg(const T*);
template <class T>
__device__ T __ldcs(const T*);
template <class T>
__device__ void __stcs(T*, T);
__device__ unsigned atomicAdd(unsigned*, unsigned);
__device__ unsigned long long atomicAdd(unsigned long long*, unsigned long long);
__device__ unsigned atomicOr(unsigned*, unsigned);
__device__ unsigned long long atomicOr(unsigned long long*, unsigned long long);
