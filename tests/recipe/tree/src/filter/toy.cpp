#include "bloomery/filter/toy.hpp"

#include <algorithm>

#include "bloomery/filter/explanation.hpp"

namespace bloomery {

toy_view::toy_view(const plan& p, std::span<const std::uint64_t> words, std::uint64_t keys)
    : word_view(detail::checked_plan(p, words, kind), words.data(), keys) {}

void toy_view::contains_bits(std::span<const std::uint64_t> hashes,
                             std::span<std::uint64_t> bitmap) const noexcept {
  std::fill_n(bitmap.begin(), (hashes.size() + 63) / 64, 0);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    bitmap[i / 64] |= std::uint64_t{contains(hashes[i])} << (i % 64);
  }
}

double toy_view::fill() const noexcept {
  return static_cast<double>(count_bits(words())) / static_cast<double>(shape().bits);
}

explanation toy_view::explain(std::uint64_t hash) const {
  return {.unit = "bit", .places = {{position_of(hash), contains(hash) ? 1U : 0U}}};
}

cell_array toy_view::cells() const { return {.unit = "bits", .parts = {words()}}; }

}  // namespace bloomery
