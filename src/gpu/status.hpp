// CUDA's status codes as errors of ours.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "bloomery/core/error.hpp"

namespace bloomery::gpu {

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // or the next call reports it again
  errc code = errc::io;
  if (status == cudaErrorMemoryAllocation) code = errc::no_memory;
  if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver ||
      status == cudaErrorNoKernelImageForDevice) {
    code = errc::unsupported;
  }
  detail::fail(code, std::string(what) + ": the GPU says: " + cudaGetErrorString(status));
}

}  // namespace bloomery::gpu
