#include "bloomery/gpu/host_keys.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>

#include "gpu/status.hpp"

namespace bloomery::gpu {

namespace {

double seconds_between(cudaEvent_t from, cudaEvent_t to) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, from, to), "reading a clock");
  return static_cast<double>(milliseconds) / 1e3;
}

}  // namespace

// A piece on its way. The stream of one does not wait for that of the other.
struct host_keys::slot {
  explicit slot(std::size_t piece) {
    const std::size_t bytes = piece * sizeof(std::uint64_t);
    try {
      check(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking), "making a stream");
      for (cudaEvent_t* e : {&begin, &copied, &done}) check(cudaEventCreate(e), "making an event");
      check(cudaMallocHost(reinterpret_cast<void**>(&hashes), bytes), "taking pinned memory");
      check(cudaMallocHost(reinterpret_cast<void**>(&answers), piece / 8), "taking pinned memory");
      check(cudaMalloc(reinterpret_cast<void**>(&device_hashes), bytes), "taking memory");
      check(cudaMalloc(reinterpret_cast<void**>(&device_answers), piece / 8), "taking memory");
    } catch (...) {
      release();
      throw;
    }
  }
  slot(const slot&) = delete;
  slot& operator=(const slot&) = delete;
  ~slot() { release(); }

  cudaStream_t own = nullptr;
  cudaEvent_t begin = nullptr;
  cudaEvent_t copied = nullptr;
  cudaEvent_t done = nullptr;
  std::uint64_t* hashes = nullptr;
  std::uint64_t* answers = nullptr;
  std::uint64_t* device_hashes = nullptr;
  std::uint64_t* device_answers = nullptr;
  std::size_t count = 0;            // of hashes, waiting or on their way
  bool is_sent = false;             // on their way
  std::uint64_t* wanted = nullptr;  // where the answers go, if there are any

 private:
  void release() noexcept {
    if (own != nullptr) cudaStreamSynchronize(own);
    cudaFree(device_answers);
    cudaFree(device_hashes);
    cudaFreeHost(answers);
    cudaFreeHost(hashes);
    for (cudaEvent_t e : {begin, copied, done}) {
      if (e != nullptr) cudaEventDestroy(e);
    }
    if (own != nullptr) cudaStreamDestroy(own);
    static_cast<void>(cudaGetLastError());
  }
};

host_keys::host_keys(const blocked_span& filter, std::size_t piece)
    : filter_(filter), piece_(std::max<std::size_t>(64, piece / 64 * 64)) {
  for (auto& s : slots_) s = std::make_unique<slot>(piece_);
  // The filter may have been made on another stream.
  check(cudaDeviceSynchronize(), "waiting for the GPU");
}

host_keys::~host_keys() = default;

// Waits for a piece and hands its answers on.
void host_keys::collect(slot& s) {
  if (!s.is_sent) return;
  check(cudaEventSynchronize(s.done), "waiting for the GPU");
  moved_.hashes += s.count;
  moved_.copy_seconds += seconds_between(s.begin, s.copied);
  moved_.work_seconds += seconds_between(s.copied, s.done);
  if (s.wanted != nullptr) std::memcpy(s.wanted, s.answers, (s.count + 63) / 64 * 8);
  s.is_sent = false;
  s.count = 0;
}

host_keys::slot& host_keys::next() {
  slot& s = *slots_[turn_];
  collect(s);
  return s;
}

void host_keys::send(slot& s) {
  check(cudaEventRecord(s.begin, s.own), "starting a clock");
  check(cudaMemcpyAsync(s.device_hashes, s.hashes, s.count * sizeof(std::uint64_t),
                        cudaMemcpyHostToDevice, s.own),
        "copying hashes to the GPU");
  check(cudaEventRecord(s.copied, s.own), "starting a clock");
  const key_batch keys = key_batch::hashes(s.device_hashes, s.count);
  if (s.wanted == nullptr) {
    filter_.add(keys, s.own);
  } else {
    filter_.contains_bits(keys, s.device_answers, s.own);
    check(cudaMemcpyAsync(s.answers, s.device_answers, (s.count + 63) / 64 * 8,
                          cudaMemcpyDeviceToHost, s.own),
          "copying answers to the host");
  }
  check(cudaEventRecord(s.done, s.own), "stopping a clock");
  s.is_sent = true;
  turn_ ^= 1U;
}

void host_keys::add(std::span<const std::uint64_t> hashes) {
  while (!hashes.empty()) {
    slot& s = next();
    const std::size_t taken = std::min(hashes.size(), piece_ - s.count);
    std::memcpy(s.hashes + s.count, hashes.data(), taken * sizeof(std::uint64_t));
    s.count += taken;
    s.wanted = nullptr;
    hashes = hashes.subspan(taken);
    if (s.count == piece_) send(s);
  }
}

void host_keys::contains_bits(std::span<const std::uint64_t> hashes,
                              std::span<std::uint64_t> bitmap) {
  finish();
  for (std::size_t first = 0; first < hashes.size(); first += piece_) {
    slot& s = next();
    s.count = std::min(hashes.size() - first, piece_);
    std::memcpy(s.hashes, hashes.data() + first, s.count * sizeof(std::uint64_t));
    s.wanted = bitmap.data() + first / 64;
    send(s);
  }
  finish();
}

void host_keys::finish() {
  slot& s = *slots_[turn_];
  if (!s.is_sent && s.count > 0) send(s);
  for (auto& each : slots_) collect(*each);
}

}  // namespace bloomery::gpu
