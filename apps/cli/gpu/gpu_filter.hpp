// A blocked filter in the memory of a GPU, for the verbs with --gpu. A tool that was built without
// CUDA refuses to make one, so that its options and its manual are the same everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "bloomery/format/any_filter.hpp"

namespace bloomery::cli {

class gpu_filter {
 public:
  // Throws errc::unsupported where there is no GPU, or for a filter of another kind than blocked.
  explicit gpu_filter(const plan& p);
  // `name` is for errors.
  gpu_filter(const any_filter& f, const std::string& name);
  gpu_filter(gpu_filter&& other) noexcept;
  gpu_filter& operator=(gpu_filter&& other) noexcept;
  ~gpu_filter();

  void add(std::span<const std::uint64_t> hashes);
  // Several threads may ask at the same time.
  void contains_bits(std::span<const std::uint64_t> hashes, std::span<std::uint64_t> bitmap);
  // All that was added, into an empty filter of the same plan.
  void move_into(any_filter& f);

  // "NVIDIA H200: 30,000,000 hashes, 240 MB, crossed the bus in 21 ms; its own work took 4 ms".
  [[nodiscard]] std::string report() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

// Bulk calls for so many 64-bit keys: nanoseconds a key, medians, for keys that are in the GPU's
// memory and for such that come from the host.
struct gpu_speed {
  std::string name;
  double contains = 0;
  double add = 0;
  double host_contains = 0;
  double host_add = 0;
};
[[nodiscard]] gpu_speed measure_gpu(const plan& p, int repetitions);

}  // namespace bloomery::cli
