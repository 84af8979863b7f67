// The instruction set of loops over many keys, chosen once by the first; all give the same answers.
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

[[nodiscard]] bool available(level l) noexcept;

// The best that is available, or what `wanted` names if that is. Other names are ignored.
[[nodiscard]] level choose(std::string_view wanted) noexcept;

[[nodiscard]] level chosen_level() noexcept;  // what this process uses

}  // namespace bloomery::kernel
