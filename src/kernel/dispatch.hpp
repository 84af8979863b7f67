// Which instruction set the loops over many keys use: chosen once, when the first of them runs. All
// give the same bits and answers; they differ in speed alone.
//
// The environment variable BLOOMERY_KERNEL (portable, avx2, avx512, neon) asks for another one than
// the best, to compare them or to get around a faulty one. What the machine lacks is never chosen.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace bloomery::kernel {

enum class level : std::uint8_t { portable, avx2, avx512, neon };

inline constexpr std::array<level, 4> levels = {level::portable, level::avx2, level::avx512,
                                                level::neon};

[[nodiscard]] std::string_view level_name(level l) noexcept;

// Whether this machine can run it.
[[nodiscard]] bool available(level l) noexcept;

// The best that is available, or what `wanted` names if that is. Other names are ignored.
[[nodiscard]] level choose(std::string_view wanted) noexcept;

// What this process uses.
[[nodiscard]] level chosen_level() noexcept;

}  // namespace bloomery::kernel
