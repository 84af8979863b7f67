#include "bloomery/format/combine.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/set/algebra.hpp"
#include "bloomery/set/estimate.hpp"

namespace bloomery {

void check_combinable(const image_header& a, const image_header& b) {
  check_combinable(a.planned.shape, b.planned.shape);
  check_combinable(a.hash, b.hash);
}

namespace {

std::uint64_t keys_of_both(const filter_version& a, const filter_version& b) {
  const std::uint64_t most = std::min(a.header.keys, b.header.keys);
  const double both = compare_bits(a.header.planned.shape, count_bits(a.words), count_bits(b.words),
                                   detail::count_union(a.words, b.words))
                          .keys_intersection.value;
  // Of full filters the estimate is no finite number.
  return both < static_cast<double>(most) ? static_cast<std::uint64_t>(std::llround(both)) : most;
}

}  // namespace

image_header combined_header(std::span<const filter_version> parts, set_operation operation) {
  image_header header = parts.front().header;
  detail::check_of_bits(header.planned.shape,
                        operation == set_operation::merge ? "merged word by word" : "intersected");
  for (const filter_version& part : parts.subspan(1)) {
    check_combinable(header, part.header);
    header.hash.form = common_form(header.hash.form, part.header.hash.form);
    header.keys = operation == set_operation::merge
                      ? header.keys + part.header.keys
                      : std::min(header.keys, keys_of_both(parts.front(), part));
  }
  return header;
}

void combine(atomic_file& file, std::span<const filter_version> parts, set_operation operation) {
  constexpr std::size_t chunk_words = image_chunk_bytes / sizeof(std::uint64_t);
  image_stream out(file, combined_header(parts, operation));
  const std::size_t total = parts.front().words.size();
  std::vector<std::uint64_t> chunk;
  for (std::size_t from = 0; from < total; from += chunk_words) {
    const std::size_t count = std::min(chunk_words, total - from);
    const auto first = parts.front().words.subspan(from, count);
    chunk.assign(first.begin(), first.end());
    for (const filter_version& part : parts.subspan(1)) {
      const auto words = part.words.subspan(from, count);
      operation == set_operation::merge ? detail::or_words(chunk, words)
                                        : detail::and_words(chunk, words);
    }
    out.append(chunk);
  }
  out.finish();
}

unpacked_filter fold(const filter_version& f, std::uint64_t divisor) {
  image_header header = f.header;
  header.planned.shape = detail::folded_shape(f.header.planned.shape, divisor);
  unpacked_filter folded{.header = header,
                         .words = bit_array(header.planned.shape.bits, detail::unset_words{})};
  detail::fold_words(folded.words.words(), f.words, f.header.planned.shape, divisor);
  return folded;
}

}  // namespace bloomery
