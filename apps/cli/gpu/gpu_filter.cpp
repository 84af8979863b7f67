#include "cli/gpu/gpu_filter.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <numeric>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/gpu/host_keys.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

std::string device_name() {
  int device = 0;
  cudaDeviceProp properties;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaGetDeviceProperties(&properties, device) != cudaSuccess) {
    return "GPU";
  }
  return properties.name;
}

std::string as_milliseconds(double seconds) { return fmt::format("{:.1f} ms", seconds * 1e3); }

void check_kind(const any_filter& f, const std::string& name) {
  if (f.shape().kind == filter_kind::blocked) return;
  throw error(errc::unsupported, fmt::format("{}: --gpu is for filters of kind blocked, not {}",
                                             name, kind_name(f.shape().kind)));
}

}  // namespace

struct gpu_filter::impl {
  explicit impl(const plan& p) : filter(p), keys(filter) {}
  explicit impl(const any_filter& f) : filter(f.planned()), keys(filter) {
    filter.upload(f.words(), nullptr);
    if (cudaDeviceSynchronize() != cudaSuccess) {
      throw error(errc::io, "the filter could not be copied to the GPU");
    }
  }

  gpu::blocked_filter filter;
  gpu::host_keys keys;
  std::uint64_t added = 0;
  std::mutex one_at_a_time;
};

gpu_filter::gpu_filter(const plan& p) : impl_(std::make_unique<impl>(p)) {}
gpu_filter::gpu_filter(const any_filter& f, const std::string& name) {
  check_kind(f, name);
  impl_ = std::make_unique<impl>(f);
}
gpu_filter::gpu_filter(gpu_filter&&) noexcept = default;
gpu_filter& gpu_filter::operator=(gpu_filter&&) noexcept = default;
gpu_filter::~gpu_filter() = default;

void gpu_filter::add(std::span<const std::uint64_t> hashes) {
  impl_->keys.add(hashes);
  impl_->added += hashes.size();
}

void gpu_filter::contains_bits(std::span<const std::uint64_t> hashes,
                               std::span<std::uint64_t> bitmap) {
  const std::lock_guard lock(impl_->one_at_a_time);
  impl_->keys.contains_bits(hashes, bitmap);
}

void gpu_filter::move_into(any_filter& f) {
  impl_->keys.finish();
  *f.get_if<blocked_filter>() = impl_->filter.download(impl_->added, nullptr);
}

std::string gpu_filter::report() const {
  const gpu::transfer& moved = impl_->keys.moved();
  return fmt::format("{}: {} hash{}, {}, crossed the bus in {}; its own work took {}",
                     device_name(), with_commas(moved.hashes), moved.hashes == 1 ? "" : "es",
                     as_bytes(static_cast<double>(moved.hashes) * sizeof(std::uint64_t)),
                     as_milliseconds(moved.copy_seconds), as_milliseconds(moved.work_seconds));
}

gpu_speed measure_gpu(const plan& p, int repetitions) {
  const auto count = static_cast<std::size_t>(std::max<std::uint64_t>(p.keys, 1));
  std::vector<std::uint64_t> keys(count);
  std::iota(keys.begin(), keys.end(), std::uint64_t{1});
  std::vector<std::uint64_t> hashes(count);
  mix64_batch({keys, splitmix64(0)}, hashes);
  std::vector<std::uint64_t> bitmap((count + 63) / 64);

  gpu::blocked_filter filter(p);
  gpu::host_keys from_host(filter);
  const auto device_array = [](std::size_t bytes) {
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes) != cudaSuccess) {
      throw error(errc::no_memory, fmt::format("the GPU has no {} for the measurement",
                                               as_bytes(static_cast<double>(bytes))));
    }
    return std::unique_ptr<void, void (*)(void*)>(memory, [](void* m) { cudaFree(m); });
  };
  const auto device_keys = device_array(count * 8);
  const auto device_bits = device_array(bitmap.size() * 8);
  const std::size_t scratch_bytes = filter.add_scratch_bytes(count);
  const auto scratch = device_array(std::max<std::size_t>(scratch_bytes, 256));
  const auto upload_keys = [&] {
    if (cudaMemcpy(device_keys.get(), keys.data(), count * 8, cudaMemcpyHostToDevice) !=
        cudaSuccess) {
      throw error(errc::io, "keys could not be copied to the GPU");
    }
  };
  upload_keys();
  const gpu::key_batch batch =
      gpu::key_batch::integers(static_cast<const std::uint64_t*>(device_keys.get()), count);

  const auto median_ns = [&](const std::function<void()>& before,
                             const std::function<void()>& work) {
    std::vector<double> times;
    for (int i = 0; i <= repetitions; ++i) {  // the first warms up
      before();
      static_cast<void>(cudaDeviceSynchronize());
      const auto begin = std::chrono::steady_clock::now();
      work();
      static_cast<void>(cudaDeviceSynchronize());
      const std::chrono::duration<double, std::nano> took =
          std::chrono::steady_clock::now() - begin;
      if (i > 0) times.push_back(took.count() / static_cast<double>(count));
    }
    std::nth_element(times.begin(), times.begin() + repetitions / 2, times.end());
    return times[static_cast<std::size_t>(repetitions) / 2];
  };
  const auto clear = [&] { filter.clear(nullptr); };
  gpu_speed speed{.name = device_name()};
  speed.host_add = median_ns(clear, [&] {
    from_host.add(hashes);
    from_host.finish();
  });
  speed.add = median_ns(clear, [&] { filter.add(batch, nullptr, {scratch.get(), scratch_bytes}); });
  // Half of those asked for are there.
  std::iota(keys.begin(), keys.end(), std::uint64_t{count / 2 + 1});
  upload_keys();
  mix64_batch({keys, splitmix64(0)}, hashes);
  speed.contains = median_ns([] {},
                             [&] {
                               filter.contains_bits(
                                   batch, static_cast<std::uint64_t*>(device_bits.get()), nullptr);
                             });
  speed.host_contains = median_ns([] {}, [&] { from_host.contains_bits(hashes, bitmap); });
  return speed;
}

}  // namespace bloomery::cli
