#include "bit_code.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "rans.hpp"

namespace bloomery::bit_code {

namespace {

// How a string is written. The ones of an inverted string are its zeros.
enum class form : std::uint8_t {
  stored = 0,
  bytes = 1,
  gaps = 2,
  inverted_bytes = 3,
  inverted_gaps = 4
};

constexpr std::uint64_t one = std::uint64_t{1} << 62U;  // 1.0 in fixed point

[[noreturn]] void throw_bad_code(const char* what) {
  detail::fail(errc::corrupt, std::string("the packed filter is damaged: ") + what);
}

std::uint64_t fixed_multiply(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>((static_cast<detail::uint128>(a) * b) >> 62U);
}

// A byte with w ones has probability p^w (1-p)^(8-w).
rans::model byte_model(std::uint64_t ones, std::uint64_t total) {
  const auto p = static_cast<std::uint64_t>((static_cast<detail::uint128>(ones) << 15U) / total);
  std::array<std::uint64_t, 9> by_ones{};
  for (std::size_t w = 0; w < by_ones.size(); ++w) {
    detail::uint128 product = 1;
    for (std::size_t i = 0; i < 8; ++i) product *= i < w ? p : (1U << 15U) - p;
    by_ones[w] = static_cast<std::uint64_t>(product >> 60U);
  }
  rans::weights weights{};
  for (std::size_t s = 0; s < weights.size(); ++s) {
    weights[s] = by_ones[static_cast<std::size_t>(std::popcount(s))];
  }
  return rans::model(weights);
}

// Lower bits of a gap that are written as they are: as many as leave a one rare, at most 1 in 16,
// among that many positions. Inside such a bucket a geometric distribution is as good as flat.
std::uint32_t plain_bits(std::uint64_t ones, std::uint64_t total) {
  std::uint32_t bits = 0;
  while ((ones << (bits + 5U)) <= total && bits < 40) ++bits;
  return bits;
}

constexpr std::uint32_t escape =
    255;  // "255 buckets or more": they are skipped, and the gap goes on

// Symbol q: the one is in the q-th bucket of 2^bits positions from here.
rans::model gap_model(std::uint64_t ones, std::uint64_t total, std::uint32_t bits) {
  const auto p = static_cast<std::uint64_t>((static_cast<detail::uint128>(ones) << 62U) / total);
  std::uint64_t skip = one - p;  // chance that a bucket has no one
  for (std::uint32_t b = 0; b < bits; ++b) skip = fixed_multiply(skip, skip);
  rans::weights weights{};
  std::uint64_t reached = one;
  for (std::size_t q = 0; q < escape; ++q) {
    const std::uint64_t passed = fixed_multiply(reached, skip);
    weights[q] = reached - passed;
    reached = passed;
  }
  weights[escape] = reached;
  return rans::model(weights);
}

class bit_writer {  // a stream of small groups of bits, the first in the lowest
 public:
  explicit bit_writer(std::vector<std::byte>& out) : out_(&out) {}

  void put(std::uint64_t value, std::uint32_t bits) {  // at most 32 bits
    pending_ |= value << count_;
    count_ += bits;
    if (count_ >= 32) {
      for (int i = 0; i < 4; ++i, pending_ >>= 8U)
        out_->push_back(static_cast<std::byte>(pending_));
      count_ -= 32;
    }
  }
  void finish() {
    for (; count_ > 0; count_ -= std::min(8U, count_), pending_ >>= 8U) {
      out_->push_back(static_cast<std::byte>(pending_));
    }
  }

 private:
  std::vector<std::byte>* out_;
  std::uint64_t pending_ = 0;
  std::uint32_t count_ = 0;
};

class bit_reader {
 public:
  explicit bit_reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // Reads at most 56 bits. Past the end it reads zeros; the caller knows how many bits there are.
  std::uint64_t get(std::uint32_t bits) {
    while (count_ < bits) {
      const std::uint64_t next =
          at_ < bytes_.size() ? std::to_integer<std::uint64_t>(bytes_[at_]) : 0;
      ++at_;
      pending_ |= next << count_;
      count_ += 8;
    }
    const std::uint64_t value = pending_ & ((std::uint64_t{1} << bits) - 1);
    pending_ >>= bits;
    count_ -= bits;
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::uint64_t pending_ = 0;
  std::uint32_t count_ = 0;
};

std::vector<std::uint32_t> gaps_of(std::span<const std::uint64_t> words, std::uint64_t flip,
                                   std::uint64_t ones) {
  std::vector<std::uint32_t> gaps(static_cast<std::size_t>(ones));
  auto gap = gaps.begin();
  std::uint64_t next = 0;  // the first position that no gap has covered yet
  for (std::size_t w = 0; w < words.size(); ++w) {
    for (std::uint64_t word = detail::little_endian(words[w]) ^ flip; word != 0; word &= word - 1) {
      const std::uint64_t position = w * 64 + static_cast<std::uint64_t>(std::countr_zero(word));
      *gap++ = static_cast<std::uint32_t>(position - next);
      next = position + 1;
    }
  }
  return gaps;
}

void encode_bytes(std::span<const std::uint64_t> words, std::uint64_t ones, std::uint64_t flip,
                  std::vector<std::byte>& out) {
  const auto bytes = std::as_bytes(words);
  std::vector<std::uint8_t> symbols(bytes.size());
  const auto mask = static_cast<std::uint8_t>(flip);
  std::ranges::transform(bytes, symbols.begin(), [mask](std::byte b) {
    return static_cast<std::uint8_t>(std::to_integer<std::uint8_t>(b) ^ mask);
  });
  std::vector<std::byte> coded;
  rans::encode(byte_model(ones, words.size() * 64), symbols, coded);
  put_varint(out, ones);
  put_varint(out, coded.size());
  out.insert(out.end(), coded.begin(), coded.end());
}

void decode_bytes(reader& in, std::uint64_t flip, std::span<std::uint64_t> words) {
  const std::uint64_t total = words.size() * 64;
  const std::uint64_t ones = in.varint();
  if (ones > total / 2) throw_bad_code("more ones than there can be");
  const auto coded = in.take(in.varint());
  std::vector<std::uint8_t> symbols(words.size() * 8);
  rans::decode(byte_model(ones, total), coded, symbols);
  std::memcpy(words.data(), symbols.data(), symbols.size());
  for (std::uint64_t& word : words) word ^= flip;
}

void decode_ones(reader& in, std::uint64_t flip, std::span<std::uint64_t> words) {
  std::ranges::fill(words, 0);
  std::uint64_t next = 0;
  for (const std::uint32_t gap : decode_gaps(in, words.size() * 64)) {
    next += gap;
    detail::set_bit(words.data(), next);
    ++next;
  }
  for (std::uint64_t& word : words) word ^= flip;
}

}  // namespace

void put_varint(std::vector<std::byte>& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out.push_back(static_cast<std::byte>(value | 0x80U));
  out.push_back(static_cast<std::byte>(value));
}

std::uint64_t reader::varint() {
  std::uint64_t value = 0;
  for (std::uint32_t shift = 0; shift < 64; shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(take(1)[0]);
    value |= (byte & 0x7fU) << shift;
    if (byte < 0x80) return value;
  }
  throw_bad_code("a number is too long");
}

std::uint64_t reader::fixed64() {
  std::uint64_t value = 0;
  std::memcpy(&value, take(8).data(), 8);
  return detail::little_endian(value);
}

std::span<const std::byte> reader::take(std::uint64_t bytes) {
  if (bytes > rest_.size()) throw_bad_code("it is cut off");
  const auto taken = rest_.first(static_cast<std::size_t>(bytes));
  rest_ = rest_.subspan(taken.size());
  return taken;
}

void encode_gaps(std::span<const std::uint32_t> gaps, std::uint64_t total,
                 std::vector<std::byte>& out) {
  put_varint(out, gaps.size());
  if (gaps.empty()) return;
  const std::uint32_t bits = plain_bits(gaps.size(), total);
  // Escapes skip at least 255 buckets each, so there are not more than this.
  std::vector<std::uint8_t> symbols(gaps.size() +
                                    static_cast<std::size_t>((total >> bits) / escape + 1));
  auto symbol = symbols.begin();
  std::vector<std::byte> plain;
  plain.reserve(gaps.size() * bits / 8 + 8);
  bit_writer lower(plain);
  for (const std::uint32_t gap : gaps) {
    std::uint32_t bucket = gap >> bits;
    for (; bucket >= escape; bucket -= escape) *symbol++ = escape;
    *symbol++ = static_cast<std::uint8_t>(bucket);
    lower.put(gap & ((1U << bits) - 1), bits);
  }
  lower.finish();
  symbols.erase(symbol, symbols.end());
  std::vector<std::byte> coded;
  rans::encode(gap_model(gaps.size(), total, bits), symbols, coded);
  put_varint(out, symbols.size() - gaps.size());
  put_varint(out, coded.size());
  out.insert(out.end(), coded.begin(), coded.end());
  out.insert(out.end(), plain.begin(), plain.end());
}

std::vector<std::uint32_t> decode_gaps(reader& in, std::uint64_t total) {
  const std::uint64_t ones = in.varint();
  if (ones == 0) return {};
  if (ones > total) throw_bad_code("more ones than there can be");
  const std::uint32_t bits = plain_bits(ones, total);
  const std::uint64_t escapes = in.varint();
  // Every escape skips 255 buckets, and all of them must fit.
  if (escapes > (total >> bits) / escape) throw_bad_code("gaps that cannot fit");
  const auto coded = in.take(in.varint());
  bit_reader lower(in.take((ones * bits + 7) / 8));
  std::vector<std::uint8_t> symbols(static_cast<std::size_t>(ones + escapes));
  rans::decode(gap_model(ones, total, bits), coded, symbols);
  std::vector<std::uint32_t> gaps;
  gaps.reserve(static_cast<std::size_t>(ones));
  std::uint64_t used = 0;
  std::uint64_t buckets = 0;
  for (const std::uint8_t symbol : symbols) {
    buckets += symbol;
    if (symbol == escape) continue;
    const std::uint64_t gap = (buckets << bits) | lower.get(bits);
    used += gap + 1;
    if (used > total || gaps.size() == ones) throw_bad_code("gaps that do not fit");
    gaps.push_back(static_cast<std::uint32_t>(gap));
    buckets = 0;
  }
  if (gaps.size() != ones) throw_bad_code("gaps are missing");
  return gaps;
}

void encode_words(std::span<const std::uint64_t> words, std::vector<std::byte>& out) {
  const std::uint64_t total = words.size() * 64;
  const std::uint64_t set = count_bits(words);
  const bool inverted = set > total / 2;
  const std::uint64_t ones = inverted ? total - set : set;
  const std::uint64_t flip = inverted ? ~std::uint64_t{0} : 0;
  const std::size_t start = out.size();
  if (ones > total / 24) {
    out.push_back(static_cast<std::byte>(inverted ? form::inverted_bytes : form::bytes));
    encode_bytes(words, ones, flip, out);
  } else {
    out.push_back(static_cast<std::byte>(inverted ? form::inverted_gaps : form::gaps));
    encode_gaps(gaps_of(words, flip, ones), total, out);
  }
  const auto plain = std::as_bytes(words);
  if (out.size() - start > plain.size()) {
    out.resize(start);
    out.push_back(static_cast<std::byte>(form::stored));
    out.insert(out.end(), plain.begin(), plain.end());
  }
}

void decode_words(reader& in, std::span<std::uint64_t> words) {
  const std::uint64_t all = ~std::uint64_t{0};
  switch (static_cast<form>(in.take(1)[0])) {
    case form::stored:
      std::ranges::copy(in.take(words.size_bytes()), std::as_writable_bytes(words).begin());
      return;
    case form::bytes: return decode_bytes(in, 0, words);
    case form::inverted_bytes: return decode_bytes(in, all, words);
    case form::gaps: return decode_ones(in, 0, words);
    case form::inverted_gaps: return decode_ones(in, all, words);
  }
  throw_bad_code("an unknown form of code");
}

}  // namespace bloomery::bit_code
