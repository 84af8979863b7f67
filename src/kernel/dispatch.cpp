#include "dispatch.hpp"

#include <cstdlib>

namespace bloomery::kernel {

std::string_view level_name(level l) noexcept {
  switch (l) {
    case level::portable: return "portable";
    case level::avx2: return "avx2";
    case level::avx512: return "avx512";
    case level::neon: return "neon";
  }
  return "unknown";
}

bool available(level l) noexcept {
  switch (l) {
    case level::portable: return true;
#if defined(__x86_64__)
    case level::avx2:
      return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi2") != 0;
    case level::avx512:
      // Every machine since Skylake-X has these together.
      return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
             __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("bmi2") != 0;
#elif defined(__aarch64__) && defined(__AARCH64EL__)
    case level::neon: return true;  // part of the architecture; blocks are little-endian
#endif
    default: return false;
  }
}

level choose(std::string_view wanted) noexcept {
  level best = level::portable;
  for (const level l : levels) {
    if (!available(l)) continue;
    if (level_name(l) == wanted) return l;
    best = l;
  }
  return best;
}

level chosen_level() noexcept {
  static const level chosen = [] {
    const char* const wanted = std::getenv("BLOOMERY_KERNEL");
    return choose(wanted == nullptr ? std::string_view() : std::string_view(wanted));
  }();
  return chosen;
}

}  // namespace bloomery::kernel
