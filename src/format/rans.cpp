#include "rans.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/arithmetic.hpp"

namespace bloomery::rans {

namespace {

constexpr std::size_t ways = 4;
constexpr std::uint64_t low = std::uint64_t{1} << 31U;  // states live in [low, low << 32)
constexpr std::size_t word_bytes = 4;
constexpr std::size_t state_bytes = 8;

// What encoding a symbol needs, with the division by its frequency as a multiplication (Granlund
// and Montgomery 1994; the state is below 2^63, so a 64-bit reciprocal is exact).
struct encoder_entry {
  std::uint64_t limit;       // from here on a word must leave the state first
  std::uint64_t reciprocal;  // of the frequency
  std::uint64_t bias;
  std::uint32_t complement;  // scale - frequency
  std::uint32_t shift;
};

encoder_entry make_entry(std::uint32_t frequency, std::uint32_t start) {
  encoder_entry e{};
  e.limit = ((low >> scale_bits) << 32U) * frequency;
  e.complement = scale - frequency;
  if (frequency == 1) {
    // x / 1 by a reciprocal just below 1 gives x - 1; the bias puts that right.
    e.reciprocal = ~std::uint64_t{0};
    e.shift = 0;
    e.bias = start + scale - 1;
    return e;
  }
  const auto log = static_cast<std::uint32_t>(std::bit_width(frequency - 1));
  const auto numerator = (static_cast<detail::uint128>(1) << (log + 63U)) + frequency - 1;
  e.reciprocal = static_cast<std::uint64_t>(numerator / frequency);
  e.shift = log - 1;
  e.bias = start;
  return e;
}

void store(std::byte* to, std::uint64_t value, std::size_t bytes) noexcept {
  const std::uint64_t in_order = detail::little_endian(value);
  std::memcpy(to, &in_order, bytes);
}

template <class Integer>
std::uint64_t load(const std::byte* from) noexcept {
  std::uint64_t in_order = 0;
  std::memcpy(&in_order, from, sizeof(Integer));
  return detail::little_endian(in_order);
}

// Puts the symbol into the state; a word that must leave goes below `at`, which moves down.
inline std::uint64_t push(std::uint64_t state, const encoder_entry& e, std::byte*& at) noexcept {
  const std::uint64_t full = state >= e.limit ? 1 : 0;  // masks: branches are unpredictable
  store(at - word_bytes, state & 0xffffffffU, word_bytes);
  at -= full * word_bytes;
  state >>= full * 32U;
  const std::uint64_t quotient = detail::multiply_high(state, e.reciprocal) >> e.shift;
  return state + e.bias + quotient * e.complement;
}

[[noreturn]] void throw_bad_string() {
  detail::fail(errc::corrupt, "the packed filter is damaged: its code does not decode");
}

}  // namespace

model::model(const weights& w) {
  std::uint64_t total = 0;
  for (const std::uint64_t x : w) total += x;
  // Every symbol gets 1, the rest is shared by weight; what rounding leaves goes to the heaviest.
  const std::uint32_t shared = scale - 256;
  std::uint32_t sum = 0;
  for (std::size_t s = 0; s < w.size(); ++s) {
    const auto product = static_cast<detail::uint128>(w[s]) * shared;
    frequency[s] = 1 + static_cast<std::uint32_t>(product / std::max<std::uint64_t>(1, total));
    sum += frequency[s];
  }
  const auto heaviest = std::max_element(w.begin(), w.end()) - w.begin();
  frequency[static_cast<std::size_t>(heaviest)] += scale - sum;
  for (std::size_t s = 1; s < w.size(); ++s) start[s] = start[s - 1] + frequency[s - 1];
}

void encode(const model& m, std::span<const std::uint8_t> symbols, std::vector<std::byte>& out) {
  if (symbols.empty()) return;
  std::array<encoder_entry, 256> entries{};
  for (std::size_t s = 0; s < 256; ++s) entries[s] = make_entry(m.frequency[s], m.start[s]);
  // A symbol takes at most 15 bits, so at most half a word each on average; coded from the back.
  std::vector<std::byte> buffer(symbols.size() / 2 * word_bytes +
                                ways * (state_bytes + word_bytes) + 2 * word_bytes);
  std::byte* at = buffer.data() + buffer.size();
  std::array<std::uint64_t, ways> state{};
  state.fill(low);
  std::size_t i = symbols.size();
  for (; i % ways != 0; --i) {
    state[(i - 1) % ways] = push(state[(i - 1) % ways], entries[symbols[i - 1]], at);
  }
  std::uint64_t a = state[0];
  std::uint64_t b = state[1];
  std::uint64_t c = state[2];
  std::uint64_t d = state[3];
  for (; i != 0; i -= ways) {
    d = push(d, entries[symbols[i - 1]], at);
    c = push(c, entries[symbols[i - 2]], at);
    b = push(b, entries[symbols[i - 3]], at);
    a = push(a, entries[symbols[i - 4]], at);
  }
  for (const std::uint64_t s : {d, c, b, a}) {
    at -= state_bytes;
    store(at, s, state_bytes);
  }
  out.insert(out.end(), at, buffer.data() + buffer.size());
}

void decode(const model& m, std::span<const std::byte> coded, std::span<std::uint8_t> symbols) {
  if (symbols.empty()) {
    if (!coded.empty()) throw_bad_string();
    return;
  }
  if (coded.size() < ways * state_bytes || coded.size() % word_bytes != 0) throw_bad_string();
  std::vector<std::uint8_t> symbol_at(scale);
  std::array<std::uint32_t, 256> packed{};  // frequency and start, one load instead of two
  for (std::size_t s = 0; s < 256; ++s) {
    std::fill_n(symbol_at.begin() + m.start[s], m.frequency[s], static_cast<std::uint8_t>(s));
    packed[s] = m.frequency[s] | (m.start[s] << 16U);
  }
  // A group takes at most a word for each state; zeros behind the end allow one check a group.
  std::vector<std::byte> padded(coded.size() + ways * word_bytes);
  std::copy(coded.begin(), coded.end(), padded.begin());
  const std::byte* at = padded.data();
  const std::byte* const end = at + coded.size();
  std::array<std::uint64_t, ways> state{};
  for (std::uint64_t& s : state) {
    s = load<std::uint64_t>(at);
    if (s < low || s >= low << 32U) throw_bad_string();
    at += state_bytes;
  }
  const auto pop = [&](std::uint64_t& s) {
    const auto slot = static_cast<std::uint32_t>(s & (scale - 1));
    const std::uint8_t symbol = symbol_at[slot];
    const std::uint32_t p = packed[symbol];
    s = (p & 0xffffU) * (s >> scale_bits) + slot - (p >> 16U);
    const std::uint64_t hungry = s < low ? 1 : 0;  // masks again
    s = (s << (hungry * 32U)) | (load<std::uint32_t>(at) & (0 - hungry));
    at += hungry * word_bytes;
    return symbol;
  };
  std::size_t i = 0;
  for (; i + ways <= symbols.size(); i += ways) {
    symbols[i] = pop(state[0]);
    symbols[i + 1] = pop(state[1]);
    symbols[i + 2] = pop(state[2]);
    symbols[i + 3] = pop(state[3]);
    if (at > end) throw_bad_string();
  }
  for (; i < symbols.size(); ++i) symbols[i] = pop(state[i % ways]);
  if (at != end) throw_bad_string();
  for (const std::uint64_t s : state) {
    if (s != low) throw_bad_string();
  }
}

}  // namespace bloomery::rans
