// The code of changes, see summary.hpp:
//
//     form (1 byte)   few: the number of positions (varint), then their gaps by Golomb's code
//                     gaps, words: as src/format/bit_code.hpp writes them
//
// A gap g is written as g >> b in unary, then its b low bits, lowest first; b is the whole part of
// log2(0.69 bits / positions), which is within 4 % of the best for gaps that are geometric
// (Gallager and van Voorhis 1975).
#include <algorithm>
#include <bit>
#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/route/summary.hpp"
#include "format/bit_code.hpp"

namespace bloomery {

namespace {

enum class change_form : std::uint8_t { few = 0, gaps = 1, words = 2 };

constexpr std::uint64_t most_few = 512;     // above it rANS wins over its 40 bytes of states
constexpr std::uint64_t dense = 24;         // one in so many: whole words are the shorter form
constexpr std::uint64_t most_unary = 4096;  // of one gap: the longest that few positions can have

[[noreturn]] void throw_bad_change(const char* what) {
  detail::fail(errc::corrupt, std::string("the announced change is damaged: ") + what);
}

std::uint32_t golomb_bits(std::uint64_t positions, std::uint64_t bits) {
  const std::uint64_t mean = bits / std::max<std::uint64_t>(positions, 1) * 69 / 100;
  return mean < 2 ? 0 : static_cast<std::uint32_t>(std::bit_width(mean)) - 1;
}

class golomb_writer {
 public:
  explicit golomb_writer(std::vector<std::byte>& out) : out_(&out) {}

  void put(std::uint64_t gap, std::uint32_t low_bits) {
    for (std::uint64_t ones = gap >> low_bits; ones != 0; --ones) bit(true);
    bit(false);
    for (std::uint32_t b = 0; b < low_bits; ++b) bit(((gap >> b) & 1U) != 0);
  }

 private:
  void bit(bool value) {
    if (used_ == 0) out_->push_back(std::byte{0});
    if (value) out_->back() |= std::byte{1} << used_;
    used_ = (used_ + 1) % 8;
  }

  std::vector<std::byte>* out_;
  std::uint32_t used_ = 0;
};

class golomb_reader {
 public:
  explicit golomb_reader(std::span<const std::byte> in) : in_(in) {}

  std::uint64_t next(std::uint32_t low_bits) {
    std::uint64_t upper = 0;
    while (bit()) {
      if (++upper > most_unary) throw_bad_change("a gap that no filter has");
    }
    std::uint64_t gap = upper << low_bits;
    for (std::uint32_t b = 0; b < low_bits; ++b) gap |= std::uint64_t{bit()} << b;
    return gap;
  }
  // Nothing but the padding of the last byte is left.
  [[nodiscard]] bool at_end() {
    while (at_ % 8 != 0) {
      if (bit()) return false;
    }
    return at_ / 8 == in_.size();
  }

 private:
  bool bit() {
    if (at_ / 8 >= in_.size()) throw_bad_change("it ends too early");
    const bool value = ((in_[at_ / 8] >> (at_ % 8)) & std::byte{1}) != std::byte{0};
    ++at_;
    return value;
  }

  std::span<const std::byte> in_;
  std::size_t at_ = 0;
};

// The word of XORs as a number whose bit i is position i of the word.
std::uint64_t changed_word(std::uint64_t a, std::uint64_t b) {
  return detail::little_endian(a ^ b);
}

std::vector<std::uint64_t> changed_positions(std::span<const std::uint64_t> from,
                                             std::span<const std::uint64_t> to) {
  std::vector<std::uint64_t> all;
  for (std::size_t w = 0; w < from.size(); ++w) {
    for (std::uint64_t x = changed_word(from[w], to[w]); x != 0; x &= x - 1) {
      all.push_back(64 * w + static_cast<std::uint64_t>(std::countr_zero(x)));
    }
  }
  return all;
}

std::vector<std::uint64_t> decode_few(bit_code::reader& in, std::uint64_t bits) {
  const std::uint64_t count = in.varint();
  if (count > most_few || count > bits) throw_bad_change("more positions than this form has");
  const std::uint32_t low_bits = golomb_bits(count, bits);
  golomb_reader code(in.rest());
  std::vector<std::uint64_t> all;
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = next + code.next(low_bits);
    if (at >= bits) throw_bad_change("a position behind the end of the filter");
    all.push_back(at);
    next = at + 1;
  }
  if (!code.at_end()) throw_bad_change("something follows its end");
  return all;
}

}  // namespace

std::vector<std::byte> encode_change(std::span<const std::uint64_t> from,
                                     std::span<const std::uint64_t> to, std::uint64_t bits) {
  std::uint64_t differing = 0;
  for (std::size_t w = 0; w < from.size(); ++w) {
    differing += static_cast<std::uint64_t>(std::popcount(from[w] ^ to[w]));
  }
  std::vector<std::byte> out;
  if (differing > most_few && differing > bits / dense) {
    out.push_back(static_cast<std::byte>(change_form::words));
    std::vector<std::uint64_t> changed(from.begin(), from.end());
    for (std::size_t w = 0; w < changed.size(); ++w) changed[w] ^= to[w];
    bit_code::encode_words(changed, out);
    return out;
  }
  const std::vector<std::uint64_t> all = changed_positions(from, to);
  if (all.size() <= most_few) {
    out.push_back(static_cast<std::byte>(change_form::few));
    bit_code::put_varint(out, all.size());
    golomb_writer code(out);
    std::uint64_t next = 0;
    for (const std::uint64_t at : all) {
      code.put(at - next, golomb_bits(all.size(), bits));
      next = at + 1;
    }
  } else {
    out.push_back(static_cast<std::byte>(change_form::gaps));
    std::vector<std::uint32_t> gaps;
    std::uint64_t next = 0;
    for (const std::uint64_t at : all) {
      gaps.push_back(static_cast<std::uint32_t>(at - next));
      next = at + 1;
    }
    bit_code::encode_gaps(gaps, bits, out);
  }
  return out;
}

void each_change(std::span<const std::byte> bytes, std::uint64_t bits,
                 detail::function_ref<void(std::uint64_t)> visit) {
  bit_code::reader in(bytes);
  const auto form = static_cast<change_form>(in.take(1)[0]);
  if (form == change_form::few) {
    for (const std::uint64_t at : decode_few(in, bits)) visit(at);
    return;
  }
  std::vector<std::uint32_t> gaps;
  std::vector<std::uint64_t> words;
  if (form == change_form::gaps) {
    gaps = bit_code::decode_gaps(in, bits);
  } else if (form == change_form::words) {
    words.resize(bit_array::words_for(bits));
    bit_code::decode_words(in, words);
    const std::uint64_t last = detail::little_endian(words.back());
    if (bits % 64 != 0 && last >> (bits % 64) != 0) throw_bad_change("a position behind the end");
  } else {
    throw_bad_change("an unknown form");
  }
  if (!in.rest().empty()) throw_bad_change("something follows its end");
  std::uint64_t next = 0;
  for (const std::uint32_t gap : gaps) {
    visit(next + gap);
    next += std::uint64_t{gap} + 1;
  }
  for (std::size_t w = 0; w < words.size(); ++w) {
    for (std::uint64_t x = detail::little_endian(words[w]); x != 0; x &= x - 1) {
      visit(64 * w + static_cast<std::uint64_t>(std::countr_zero(x)));
    }
  }
}

std::vector<std::uint64_t> decode_change(std::span<const std::byte> bytes, std::uint64_t bits) {
  std::vector<std::uint64_t> all;
  each_change(bytes, bits, [&](std::uint64_t at) { all.push_back(at); });
  return all;
}

std::uint32_t check_of_bit(std::uint64_t position) noexcept {
  return static_cast<std::uint32_t>(splitmix64(position));
}

std::uint32_t check_of(std::span<const std::uint64_t> words) noexcept {
  std::uint32_t sum = 0;
  for (std::size_t w = 0; w < words.size(); ++w) {
    for (std::uint64_t x = detail::little_endian(words[w]); x != 0; x &= x - 1) {
      sum ^= check_of_bit(64 * w + static_cast<std::uint64_t>(std::countr_zero(x)));
    }
  }
  return sum;
}

}  // namespace bloomery
