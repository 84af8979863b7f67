#include "bloomery/bits/bit_array.hpp"

#if !defined(__wasm__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "bloomery/core/error.hpp"

namespace bloomery {

namespace {

[[noreturn]] void throw_no_memory(std::uint64_t bytes) {
  detail::fail(errc::no_memory,
               "cannot allocate " + detail::to_text(bytes) + " bytes for a filter");
}

// A module of WebAssembly has no pages to choose: there every array comes from the allocator.
#if defined(__wasm__)

constexpr bool is_large(std::size_t /*words*/) { return false; }
constexpr std::size_t mapped_bytes(std::size_t /*words*/) { return 0; }
void* map_aligned(std::size_t /*bytes*/) { return nullptr; }
void unmap(void* /*start*/, std::size_t /*bytes*/) {}

#else

std::size_t mapped_bytes(std::size_t words) {
  return (words * sizeof(std::uint64_t) + bit_array::huge_page - 1) & ~(bit_array::huge_page - 1);
}

bool is_large(std::size_t words) { return words * sizeof(std::uint64_t) >= bit_array::huge_page; }

// Anonymous pages come zeroed, and untouched ones cost nothing. One huge page more than needed is
// reserved and the ends are given back, since mmap aligns to small pages only.
void* map_aligned(std::size_t bytes) {
  const std::size_t reserved = bytes + bit_array::huge_page;
  if (reserved < bytes) return nullptr;
  void* start = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const std::size_t before = -address & (bit_array::huge_page - 1);
  const std::size_t after = reserved - bytes - before;
  auto* aligned = static_cast<std::byte*>(start) + before;
  if (before != 0) munmap(start, before);
  if (after != 0) munmap(aligned + bytes, after);
#ifdef MADV_HUGEPAGE
  madvise(aligned, bytes, MADV_HUGEPAGE);  // advice: a refusal changes the speed and nothing else
#endif
  return aligned;
}

void unmap(void* start, std::size_t bytes) { munmap(start, bytes); }

#endif

array_memory brought;  // by the program; nothing in most

}  // namespace

void use_array_memory(const array_memory& memory) noexcept { brought = memory; }

bit_array::bit_array(std::uint64_t bits) : bit_array(bits, start::zeroed) {
  // Pages of the system and what a program brings are zeros already.
  if (brought.take == nullptr && !is_large(count_)) std::fill_n(words_, count_, 0);
}

bit_array::bit_array(std::uint64_t bits, detail::unset_words /*all*/)
    : bit_array(bits, start::unset) {}

bit_array::bit_array(std::uint64_t bits, start how) {
  const std::uint64_t count = words_for(bits);
  if (count == 0) return;
  if (count > SIZE_MAX / sizeof(std::uint64_t) - huge_page) throw_no_memory(count * 8);
  count_ = static_cast<std::size_t>(count);
  const std::size_t bytes = count_ * sizeof(std::uint64_t);
  if (brought.take != nullptr) {
    const bool unset = how == start::unset && brought.take_unset != nullptr;
    words_ = static_cast<std::uint64_t*>((unset ? brought.take_unset : brought.take)(bytes));
  } else if (is_large(count_)) {
    words_ = static_cast<std::uint64_t*>(map_aligned(mapped_bytes(count_)));
  } else {
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    words_ = static_cast<std::uint64_t*>(std::aligned_alloc(alignment, rounded));
    // What is left of the last line is always zeros, as it is in pages.
    if (words_ != nullptr) std::memset(words_ + count_, 0, rounded - bytes);
  }
  if (words_ == nullptr) throw_no_memory(bytes);
}

bit_array::bit_array(std::span<const std::uint64_t> words)
    : bit_array(std::uint64_t{words.size()} * 64, detail::unset_words{}) {
  std::copy(words.begin(), words.end(), words_);
}

bit_array::~bit_array() {
  if (words_ == nullptr) return;
  if (brought.give != nullptr) {
    brought.give(words_, count_ * sizeof(std::uint64_t));
  } else if (is_large(count_)) {
    unmap(words_, mapped_bytes(count_));
  } else {
    std::free(words_);
  }
}

// The count of whole words is in src/kernel/bits/popcount.cpp.
std::uint64_t count_bits(std::span<const std::uint64_t> words, std::uint64_t first,
                         std::uint64_t last) noexcept {
  if (first >= last) return 0;
  const auto below = [&](std::uint64_t position) {  // the bits below a position, within its word
    const std::uint64_t inside = position & 63U;
    if (inside == 0) return std::uint64_t{0};
    const std::uint64_t word = detail::little_endian(words[position >> 6U]);
    return static_cast<std::uint64_t>(std::popcount(word & ((std::uint64_t{1} << inside) - 1)));
  };
  const std::uint64_t whole = count_bits(words.subspan(first >> 6U, (last >> 6U) - (first >> 6U)));
  return whole - below(first) + below(last);
}

}  // namespace bloomery
