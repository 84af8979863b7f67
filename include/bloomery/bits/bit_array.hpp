// The words of a filter, owned.
//
// Zeroed, aligned to a cache line, and from 2 MiB upwards aligned to and advised for huge pages: a
// random access to a large array costs a page walk on top of the miss, and huge pages take it away.
// Sizes are 64-bit throughout. Words are little-endian in memory (detail/core/arithmetic.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "bloomery/detail/core/arithmetic.hpp"

namespace bloomery {

namespace detail {

// Asks for words that nobody has set yet, where all of them are written next: zeroing them first
// would be a pass of its own over memory.
struct unset_words {
  explicit unset_words() = default;
};

}  // namespace detail

class bit_array {
 public:
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t huge_page = std::size_t{2} << 20U;

  bit_array() noexcept = default;
  // Throws errc::no_memory, with the number of bytes, when the system has no such piece of memory.
  explicit bit_array(std::uint64_t bits);
  bit_array(std::uint64_t bits, detail::unset_words);
  explicit bit_array(std::span<const std::uint64_t> words);
  bit_array(const bit_array& other) : bit_array(other.words()) {}
  bit_array(bit_array&& other) noexcept
      : words_(std::exchange(other.words_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  bit_array& operator=(bit_array other) noexcept {
    std::swap(words_, other.words_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~bit_array();

  [[nodiscard]] std::span<std::uint64_t> words() noexcept { return {words_, count_}; }
  [[nodiscard]] std::span<const std::uint64_t> words() const noexcept { return {words_, count_}; }

  // Whole words that hold `bits` bits; what is allocated, stored and mapped.
  [[nodiscard]] static constexpr std::uint64_t words_for(std::uint64_t bits) noexcept {
    return bits / 64 + (bits % 64 != 0 ? 1 : 0);
  }

 private:
  enum class start : std::uint8_t { zeroed, unset };
  bit_array(std::uint64_t bits, start how);

  std::uint64_t* words_ = nullptr;
  std::size_t count_ = 0;
};

// Where arrays come from, for a program that accounts for its memory: `take` gives zeroed bytes,
// aligned like the array, or null; `give` takes them back. `take_unset` is asked for those that are
// all written next, as copies are, and need not zero them; without it `take` is. Call it before the
// first array is made.
struct array_memory {
  void* (*take)(std::size_t bytes) = nullptr;
  void (*give)(void* start, std::size_t bytes) = nullptr;
  void* (*take_unset)(std::size_t bytes) = nullptr;
};
void use_array_memory(const array_memory& memory) noexcept;

// Bit operations on any array of words. Position p is bit p % 8 of byte p / 8.
namespace detail {

[[nodiscard]] inline std::uint64_t bit_mask(std::uint64_t position) noexcept {
  return little_endian(std::uint64_t{1} << (position & 63U));
}

[[nodiscard]] inline bool test_bit(const std::uint64_t* words, std::uint64_t position) noexcept {
  return (words[position >> 6U] & bit_mask(position)) != 0;
}

inline void set_bit(std::uint64_t* words, std::uint64_t position) noexcept {
  words[position >> 6U] |= bit_mask(position);
}

// The concurrent forms. Relaxed is enough: a bit carries no other data with it, and whoever must
// see a key that another thread added needs some ordering of its own to know that it was added.
[[nodiscard]] inline std::uint64_t load_shared(std::uint64_t& word) noexcept {
  return std::atomic_ref<std::uint64_t>(word).load(std::memory_order_relaxed);
}

[[nodiscard]] inline bool test_bit_shared(std::uint64_t* words, std::uint64_t position) noexcept {
  return (load_shared(words[position >> 6U]) & bit_mask(position)) != 0;
}

inline void set_bit_shared(std::uint64_t* words, std::uint64_t position) noexcept {
  const std::atomic_ref<std::uint64_t> word(words[position >> 6U]);
  // Looking first keeps the line shared when the bit is already there, which is often.
  if ((word.load(std::memory_order_relaxed) & bit_mask(position)) == 0) {
    word.fetch_or(bit_mask(position), std::memory_order_relaxed);
  }
}

}  // namespace detail

[[nodiscard]] std::uint64_t count_bits(std::span<const std::uint64_t> words) noexcept;
// Number of set bits among positions first, first + 1, ..., last - 1.
[[nodiscard]] std::uint64_t count_bits(std::span<const std::uint64_t> words, std::uint64_t first,
                                       std::uint64_t last) noexcept;

}  // namespace bloomery
