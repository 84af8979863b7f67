// The split-block kernels with AVX-512: the blocks of two keys are one vector. Eight keys are
// hashed and their blocks found at a time; then, for two of them, x times the eight multipliers, a
// one shifted by the top five bits of each product, and a test of both blocks.
#if defined(__x86_64__)

#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/detail/core/block_geometry.hpp"
#include "bloomery/detail/hash/block_arithmetic.hpp"
#include "bloomery/detail/hash/lane_tables.hpp"
#include "bloomery/hash/hash.hpp"
#include "split_block.hpp"

// With AVX-512 from here on.
#include "kernel/target/avx512.hpp"
// These are compiled for it.
#include "generic.hpp"
#include "kernel/blocked/stage_avx512.hpp"

namespace bloomery::kernel {

namespace {

using lanes = detail::vector_split_lanes<32>;

class avx512_split : public avx512_hashes<avx512_split> {
 public:
  static constexpr std::uint64_t cached_bytes = std::uint64_t{5} << 19U;
  static constexpr std::size_t keys_in_mask = 2;

  template <class Word>
  avx512_split(const block_array<Word>& array, std::uint64_t spread_seed) noexcept
      : avx512_hashes(spread_seed),
        blocks_(array.blocks),
        multipliers_(_mm512_broadcast_i64x4(_mm256_loadu_si256(
            reinterpret_cast<const __m256i*>(block_geometry::lane_multiplier.data())))) {}

  [[gnu::always_inline]] void place(eight hashes, key_ring& ring, std::size_t slot) const noexcept {
    constexpr std::uint64_t stride = bits_per_split_block / 64;
    hashes.store(&ring.hash[slot * group]);
    place_words(hashes, blocks_, stride, ring, slot);
  }

  // The lanes where the blocks of this key and of the next lack their bits.
  [[gnu::always_inline]] [[nodiscard]] __mmask16 missing(
      const key_ring& ring, std::size_t at, const std::uint64_t* words) const noexcept {
    const auto low_halves = [&](std::size_t key) __attribute__((always_inline)) {
      return static_cast<int>(static_cast<std::uint32_t>(ring.hash[key]));
    };
    const __m512i x =
        _mm512_mask_set1_epi32(_mm512_set1_epi32(low_halves(at)), 0xff00, low_halves(at + 1));
    const __m512i bits = _mm512_srli_epi32(_mm512_mullo_epi32(x, multipliers_), 27);
    const __m512i masks = _mm512_sllv_epi32(_mm512_set1_epi32(1), bits);
    const auto block = [&](std::size_t key) __attribute__((always_inline)) {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + ring.word[key]));
    };
    const __m512i both = _mm512_inserti64x4(_mm512_castsi256_si512(block(at)), block(at + 1), 1);
    return _mm512_testn_epi32_mask(masks, both);
  }
  // A byte for each of 64 keys has become 0 where no lane is missing.
  [[gnu::always_inline]] static std::uint64_t answers(const key_ring& ring,
                                                      std::size_t first) noexcept {
    const __m512i all = _mm512_load_si512(&ring.missing[first / keys_in_mask]);
    return _mm512_testn_epi8_mask(all, all);
  }

  [[gnu::always_inline]] void set(const key_ring& ring, std::size_t at,
                                  std::uint64_t* block) const noexcept {
    lanes::set(ring.hash[at], block);
  }

 private:
  std::uint64_t blocks_;
  __m512i multipliers_;
};

}  // namespace

const split_block_kernels split_block_avx512 = {
    contains_run<avx512_split, vector_asking<avx512_split>>, add_run<avx512_split>,
    one_split_key<lanes>::calls};

}  // namespace bloomery::kernel

#include "kernel/target/end.hpp"

#endif
