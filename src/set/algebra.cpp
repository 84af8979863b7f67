#include "bloomery/set/algebra.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/kinds.hpp"
#include "kernel/bits/fold.hpp"
#include "kernel/bits/halve.hpp"
#include "kernel/bits/popcount.hpp"

namespace bloomery {

namespace {

[[noreturn]] void throw_difference(std::string_view what, const std::string& a,
                                   const std::string& b) {
  detail::fail(errc::mismatch, "the filters cannot be combined: their " + std::string(what) +
                                   " differ, " + a + " and " + b);
}

std::string to_string(std::uint64_t value) { return detail::to_text(value); }

// By a power of two: pieces that stay in the cache are halved again and again, the first time from
// where they are and the last time to where they belong.
void fold_by_halving(std::span<std::uint64_t> into, std::span<const std::uint64_t> from,
                     std::uint64_t divisor) {
  const auto d = static_cast<std::size_t>(divisor);
  const std::size_t piece = std::max<std::size_t>(1, 4096 / d);  // words of the result
  std::vector<std::uint64_t> words;
  for (std::size_t to = 0; to < into.size(); to += piece) {
    const std::size_t count = std::min(piece, into.size() - to);
    const std::size_t first = std::min(to * d, from.size());
    const auto source = from.subspan(first, std::min(count * d, from.size() - first));
    words.resize(count * d);
    const std::uint64_t* now = source.data();
    if (std::endian::native != std::endian::little || source.size() < words.size()) {
      const auto end = std::ranges::transform(source, words.begin(), detail::little_endian).out;
      std::fill(end, words.end(), 0);  // behind the end of the array there are zeros
      now = words.data();
    }
    for (std::size_t left = words.size(); left > count; left /= 2) {
      std::uint64_t* const target = left == 2 * count ? &into[to] : words.data();
      kernel::halve(now, target, left / 2);
      now = target;
    }
    if (std::endian::native != std::endian::little || now != &into[to]) {
      std::transform(now, now + count, &into[to], detail::little_endian);
    }
  }
}

// Sets the bits target(position) of all positions that are set in `from`, and no others.
template <class Target>
void fold_by_bits(std::span<std::uint64_t> into, std::span<const std::uint64_t> from,
                  Target target) noexcept {
  std::ranges::fill(into, 0);
  for (std::size_t w = 0; w < from.size(); ++w) {
    for (std::uint64_t word = detail::little_endian(from[w]); word != 0; word &= word - 1) {
      const auto bit = static_cast<std::uint64_t>(std::countr_zero(word));
      detail::set_bit(into.data(), target(std::uint64_t{w} * 64 + bit));
    }
  }
}

}  // namespace

void check_combinable(const shape& a, const shape& b) {
  if (a.kind != b.kind) {
    throw_difference("kinds", std::string(kind_name(a.kind)), std::string(kind_name(b.kind)));
  }
  if (a.bits != b.bits) throw_difference("numbers of bits", to_string(a.bits), to_string(b.bits));
  if (a.probes != b.probes) {
    throw_difference("numbers of probes", to_string(a.probes), to_string(b.probes));
  }
  if (a.shard != b.shard) {
    const auto name = [](const shard_number& n) {
      return to_string(n.index) + " of " + to_string(n.count);
    };
    throw_difference("shards", name(a.shard), name(b.shard));
  }
  if (a != b) detail::fail(errc::mismatch, "the filters cannot be combined: their layouts differ");
}

void check_combinable(const hash_spec& a, const hash_spec& b) {
  if (a.id != b.id) {
    throw_difference("hashes", std::string(hash_name(a.id)), std::string(hash_name(b.id)));
  }
  if (a.rule != b.rule) {
    throw_difference("keys", std::string(rule_name(a.rule)), std::string(rule_name(b.rule)));
  }
  if (!agree(a.form, b.form)) {
    throw_difference("keys", form_name(a.form), form_name(b.form));
  }
  if (a.seed != b.seed) throw_difference("seeds", to_string(a.seed), to_string(b.seed));
  if (a.key_id != b.key_id) {
    detail::fail(errc::mismatch, "the filters cannot be combined: their secret keys differ");
  }
}

namespace detail {

void or_words(std::span<std::uint64_t> into, std::span<const std::uint64_t> from) noexcept {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] |= from[i];
}

void and_words(std::span<std::uint64_t> into, std::span<const std::uint64_t> from) noexcept {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] &= from[i];
}

bool covers_words(std::span<const std::uint64_t> all,
                  std::span<const std::uint64_t> part) noexcept {
  // By pieces: the inner loop has no exit and becomes vector code; the outer one ends early.
  constexpr std::size_t piece = 512;
  for (std::size_t from = 0; from < all.size(); from += piece) {
    std::uint64_t missing = 0;
    const std::size_t to = std::min(all.size(), from + piece);
    for (std::size_t i = from; i < to; ++i) missing |= part[i] & ~all[i];
    if (missing != 0) return false;
  }
  return true;
}

std::uint64_t count_union(std::span<const std::uint64_t> a,
                          std::span<const std::uint64_t> b) noexcept {
  return kernel::popcount_kernels_chosen().count_union(a.data(), b.data(), a.size());
}

void check_of_bits(const shape& s, std::string_view what) {
  if (is_of_bits(s.kind)) return;
  detail::fail(errc::unsupported, "a " + std::string(kind_name(s.kind)) + " filter cannot be " +
                                      std::string(what) + "; only arrays of bits can");
}

namespace {

// ", such as 2, 3, 6 and 9": the smallest divisors, where there are some to be found.
std::string divisors_text(std::uint64_t number) {
  constexpr std::uint64_t most_tried = 65536;
  constexpr std::size_t most_named = 8;
  std::vector<std::string> found;
  for (std::uint64_t d = 2; d <= most_tried && d < number && found.size() < most_named; ++d) {
    if (number % d == 0) found.push_back(to_text(d));
  }
  std::string text;
  for (std::size_t i = 0; i < found.size(); ++i) {
    text += (i == 0 ? ", such as " : i + 1 == found.size() ? " and " : ", ") + found[i];
  }
  return text;
}

}  // namespace

shape folded_shape(const shape& s, std::uint64_t divisor) {
  check_shape(s);
  check_of_bits(s, "folded");
  const position_layout layout = layout_of(s);
  const std::uint64_t units = layout == position_layout::blocks   ? s.bits / s.block_bits
                              : layout == position_layout::slices ? s.bits / s.probes
                                                                  : s.bits;
  if (divisor == 0 || units % divisor != 0) {
    throw_bad_argument("the number to fold by", divisor,
                       "a divisor of " + to_text(units) +
                           (layout == position_layout::blocks   ? ", the number of blocks"
                            : layout == position_layout::slices ? ", the bits of a slice"
                                                                : ", the number of bits") +
                           divisors_text(units));
  }
  shape folded = s;
  folded.bits = s.bits / divisor;
  return folded;
}

void fold_words(std::span<std::uint64_t> into, std::span<const std::uint64_t> from, const shape& s,
                std::uint64_t divisor) {
  if (layout_of(s) == position_layout::blocks) {
    const std::size_t block_words = s.block_bits / 64;
    kernel::fold_blocks(from.data(), into.data(), into.size() / block_words,
                        static_cast<std::size_t>(divisor), block_words);
  } else if (s.scheme == probe_scheme::modulo) {
    // A word modulo m/D is the word modulo m, modulo m/D: the parts lie on each other.
    const std::uint64_t bits = s.bits / divisor;
    fold_by_bits(into, from, [bits](std::uint64_t p) { return p % bits; });
  } else if (std::has_single_bit(divisor) && divisor <= 65536) {
    fold_by_halving(into, from, divisor);
  } else {
    // Also right for slices: their length is a multiple of the divisor.
    fold_by_bits(into, from, [divisor](std::uint64_t p) { return p / divisor; });
  }
}

}  // namespace detail
}  // namespace bloomery
