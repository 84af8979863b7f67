// The loops behind measure/floor.hpp, for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bloomery::kernel {

struct floor_loops {
  const char* name;
  std::uint64_t (*read)(const std::uint64_t* words, std::uint64_t lines, const std::uint64_t* keys,
                        std::size_t count, std::uint64_t spread_seed) noexcept;
  void (*write)(std::uint64_t* words, std::uint64_t lines, const std::uint64_t* keys,
                std::size_t count, std::uint64_t spread_seed) noexcept;
};

struct floor_table {
  const floor_loops* rows;
  std::size_t count;
};

#if defined(__x86_64__)
extern const floor_table floor_avx2;
extern const floor_table floor_avx512;
#endif

[[nodiscard]] std::vector<floor_loops> floors_of_machine();  // all that this machine can run

}  // namespace bloomery::kernel
