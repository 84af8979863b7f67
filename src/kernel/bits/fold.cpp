#include "fold.hpp"

#include <cstring>

namespace bloomery::kernel {

namespace {

// A part of the result is put together in a register: what is there already is not read. The text
// is the same for every machine, in the compiler's vectors of as many bytes as the function may
// use.
template <class Part, std::size_t BlockWords>
[[gnu::always_inline]] inline void fold_parts(const std::uint64_t* from, std::uint64_t* to,
                                              std::size_t count, std::size_t divisor) noexcept {
  constexpr std::size_t words = sizeof(Part) / sizeof(std::uint64_t);
  for (std::size_t i = 0; i < count; ++i, from += divisor * BlockWords) {
    for (std::size_t w = 0; w < BlockWords; w += words, to += words) {
      Part all{};
      for (std::size_t d = 0; d < divisor; ++d) {
        Part some;
        std::memcpy(&some, from + d * BlockWords + w, sizeof some);
        all |= some;
      }
      std::memcpy(to, &all, sizeof all);
    }
  }
}

// Halving is what nearly all folding is. With a known divisor the loops are straight code.
template <class Part, std::size_t BlockWords>
[[gnu::always_inline]] inline void fold_some(const std::uint64_t* from, std::uint64_t* to,
                                             std::size_t count, std::size_t divisor) noexcept {
  if (divisor == 2) return fold_parts<Part, BlockWords>(from, to, count, 2);
  fold_parts<Part, BlockWords>(from, to, count, divisor);
}
template <class Part>
[[gnu::always_inline]] inline void fold_any(const std::uint64_t* from, std::uint64_t* to,
                                            std::size_t count, std::size_t divisor,
                                            std::size_t block_words) noexcept {
  block_words == 8 ? fold_some<Part, 8>(from, to, count, divisor)
                   : fold_some<Part, 4>(from, to, count, divisor);
}

using two_words [[gnu::vector_size(16)]] = std::uint64_t;

void fold_portable(const std::uint64_t* from, std::uint64_t* to, std::size_t count,
                   std::size_t divisor, std::size_t block_words) noexcept {
  fold_any<two_words>(from, to, count, divisor, block_words);
}

#if defined(__x86_64__)
using four_words [[gnu::vector_size(32)]] = std::uint64_t;

__attribute__((target("avx2"))) void fold_avx2(const std::uint64_t* from, std::uint64_t* to,
                                               std::size_t count, std::size_t divisor,
                                               std::size_t block_words) noexcept {
  fold_any<four_words>(from, to, count, divisor, block_words);
}
#endif

}  // namespace

fold_kernel fold_kernel_of(level l) noexcept {
  switch (l) {
#if defined(__x86_64__)
    case level::avx2:
    case level::avx512: return fold_avx2;
#endif
    default: return fold_portable;
  }
}

void fold_blocks(const std::uint64_t* from, std::uint64_t* to, std::size_t count,
                 std::size_t divisor, std::size_t block_words) noexcept {
  static const fold_kernel chosen = fold_kernel_of(chosen_level());
  chosen(from, to, count, divisor, block_words);
}

}  // namespace bloomery::kernel
