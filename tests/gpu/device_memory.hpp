// Device memory for the tests and benchmarks of the GPU room.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

namespace bloomery::gpu {

inline void must(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

template <class T>
class device_array {
 public:
  explicit device_array(std::size_t count) : count_(count) {
    void* memory = nullptr;
    must(cudaMalloc(&memory, count * sizeof(T) + 8), "cudaMalloc");
    data_ = static_cast<T*>(memory);
  }
  explicit device_array(std::span<const T> host) : device_array(host.size()) {
    must(cudaMemcpy(data_, host.data(), host.size_bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  device_array(const device_array&) = delete;
  device_array& operator=(const device_array&) = delete;
  ~device_array() { cudaFree(data_); }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return count_; }
  void fill(int byte) { must(cudaMemset(data_, byte, count_ * sizeof(T)), "cudaMemset"); }
  [[nodiscard]] std::vector<T> host() const {
    std::vector<T> all(count_);
    must(cudaMemcpy(all.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return all;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace bloomery::gpu
