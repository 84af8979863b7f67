// What the verbs with --gpu say in a tool that was built without CUDA.
#include "bloomery/core/error.hpp"
#include "cli/gpu/gpu_filter.hpp"

namespace bloomery::cli {

namespace {

[[noreturn]] void refuse() {
  throw error(errc::unsupported,
              "--gpu: this tool was built without CUDA; build it with -DBLOOMERY_GPU=ON");
}

}  // namespace

struct gpu_filter::impl {};

gpu_filter::gpu_filter(const plan&) { refuse(); }
gpu_filter::gpu_filter(const any_filter&, const std::string&) { refuse(); }
gpu_filter::gpu_filter(gpu_filter&&) noexcept = default;
gpu_filter& gpu_filter::operator=(gpu_filter&&) noexcept = default;
gpu_filter::~gpu_filter() = default;

void gpu_filter::add(std::span<const std::uint64_t>) { refuse(); }
void gpu_filter::contains_bits(std::span<const std::uint64_t>, std::span<std::uint64_t>) {
  refuse();
}
void gpu_filter::move_into(any_filter&) { refuse(); }
std::string gpu_filter::report() const { return ""; }

gpu_speed measure_gpu(const plan&, int) { refuse(); }

}  // namespace bloomery::cli
