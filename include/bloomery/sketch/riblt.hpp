// A rateless invertible Bloom lookup table: the difference of two sets from about 1.35 symbols for
// each element of it (Yang, Gilad and Alizadeh 2024; the table is Goodrich and Mitzenmacher 2011).
//
//     bloomery::riblt_encoder there(their_items);    // an endless stream of symbols of this set
//     bloomery::riblt_decoder here(my_items);
//     while (!here.complete()) here.add(there.symbols(here.symbols(), 100));
//     here.only_there(), here.only_here()
//
// A symbol is the XOR of some items, the XOR of their checks, and how many they are. Item and
// symbol i meet with probability 2/(i+2), by a walk that only the item decides:
//
//     symbol     0   1   2   3   4   5   6   7   8 ...
//     item a     x   x       x               x              all items are in symbol 0
//     item b     x       x   x                       x
//
// The difference of the two parties' symbols holds the items that only one of them has; a symbol
// with one item tells it, it is taken out of its other symbols, and so on. When symbol 0 is empty,
// all is told. Nobody needs to know beforehand how large the difference is: the receiver says stop.
//
// Items are 64-bit hashes of keys, each at most once in a set. Equal items of different keys are
// one item; exact use needs a check of the keys. docs/math.md derives the walk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery {

struct riblt_symbol {
  std::uint64_t sum = 0;    // the XOR of the items
  std::uint32_t check = 0;  // the XOR of their checks
  std::int64_t count = 0;   // the number of the items

  friend bool operator==(const riblt_symbol&, const riblt_symbol&) = default;
};

// Symbols have numbers below this.
inline constexpr std::uint32_t riblt_most_symbols = std::uint32_t{1} << 31U;

namespace detail {

// An item on its way through the symbols. The same on every machine with IEEE doubles: division and
// square root are exact to the last bit, and there is no sum of a product that could be fused.
class riblt_walk {
 public:
  explicit riblt_walk(std::uint64_t item) noexcept : item_(item) {}

  [[nodiscard]] std::uint64_t item() const noexcept { return item_; }
  // The symbol where it is; riblt_most_symbols or more when it has left them.
  [[nodiscard]] std::uint32_t at() const noexcept { return at_; }
  void advance() noexcept;

 private:
  std::uint64_t item_;
  std::uint32_t at_ = 0;
  std::uint32_t draws_ = 0;
};

std::uint32_t riblt_check(std::uint64_t item) noexcept;

}  // namespace detail

class riblt_encoder {
 public:
  // 16 bytes for each item, and 24 for each symbol that was asked for.
  explicit riblt_encoder(std::span<const std::uint64_t> items);

  // Symbols first, first + 1, ...; valid until the next call. Takes time for each item, so ask for
  // many at once: a million items take 0.4 s for the first 5,000. Throws errc::bad_argument above
  // riblt_most_symbols.
  [[nodiscard]] std::span<const riblt_symbol> symbols(std::size_t first, std::size_t count);
  [[nodiscard]] riblt_symbol symbol(std::size_t i);

  [[nodiscard]] std::size_t items() const noexcept { return walks_.size(); }

 private:
  void extend(std::size_t to);

  std::vector<detail::riblt_walk> walks_;
  std::vector<riblt_symbol> made_;
};

class riblt_decoder {
 public:
  explicit riblt_decoder(std::span<const std::uint64_t> items) : here_(items) {}

  // The next symbols of the other set, in order. Nobody needs to trust them: memory and time are
  // bounded by their number. Throws errc::corrupt when they cannot come from a set.
  void add(std::span<const riblt_symbol> next);

  // Whether the whole difference is known. Made-up symbols may say so too: check what you use.
  [[nodiscard]] bool complete() const noexcept;
  [[nodiscard]] std::size_t symbols() const noexcept { return rest_.size(); }

  // What is known so far, in the order of its discovery.
  [[nodiscard]] std::span<const std::uint64_t> only_here() const noexcept { return only_here_; }
  [[nodiscard]] std::span<const std::uint64_t> only_there() const noexcept { return only_there_; }

 private:
  struct found_item {
    detail::riblt_walk walk;
    std::int64_t sign = 0;
  };

  void take_out(found_item& found);
  void peel();

  riblt_encoder here_;
  std::vector<riblt_symbol> rest_;  // symbols of the difference, without the items that are known
  std::vector<found_item> found_;
  std::vector<std::uint32_t> waiting_;  // symbols that may have one item
  std::vector<std::uint64_t> only_here_;
  std::vector<std::uint64_t> only_there_;
};

}  // namespace bloomery
