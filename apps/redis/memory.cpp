#include "memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>

#include "api.hpp"
#include "bloomery/bits/bit_array.hpp"

namespace bloomery_redis {

namespace {

constexpr std::size_t alignment = bloomery::bit_array::alignment;

bool of_server = false;  // whether its functions are known

// What objects take that are made before that, when the module is opened. It is never given back.
alignas(std::max_align_t) std::array<std::byte, std::size_t{64} << 10U> before;
std::size_t used_before = 0;

bool is_from_before(const void* p) {
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  const auto start = reinterpret_cast<std::uintptr_t>(before.data());
  return at >= start && at < start + before.size();
}

void* take_before(std::size_t bytes) {
  constexpr std::size_t unit = alignof(std::max_align_t);
  if (bytes > before.size() - used_before) return nullptr;
  void* const p = before.data() + used_before;
  used_before = std::min(before.size(), (used_before + bytes + unit - 1) / unit * unit);
  return p;
}

void* take_any(std::size_t bytes) {
  if (bytes == 0) bytes = 1;
  void* p = nullptr;
  if (!of_server) {
    p = take_before(bytes);
  } else {
    p = api::TryAlloc != nullptr ? api::TryAlloc(bytes) : api::Alloc(bytes);
  }
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

void give_any(void* p) {
  if (p != nullptr && !is_from_before(p)) api::Free(p);
}

std::atomic<std::uint64_t> held = 0;  // large filters are freed in a thread of the server's

struct note {  // stands just before an array and says where its allocation begins
  void* start;
};

// Zeroed memory, or null. Calloc ends the server when there is none, so without TryCalloc an
// allocation of the same size is tried first; nobody else allocates in between. Zeroing by hand
// would touch every page of a large filter, which takes a second for a few gigabytes.
void* take_zeroed(std::size_t bytes) {
  if (api::TryCalloc != nullptr) return api::TryCalloc(1, bytes);
  if (api::TryAlloc != nullptr) {
    void* const tried = api::TryAlloc(bytes);
    if (tried == nullptr) return nullptr;
    constexpr std::size_t large = std::size_t{1} << 20U;
    if (bytes < large) return std::memset(tried, 0, bytes);
    api::Free(tried);
  }
  return api::Calloc(1, bytes);
}

constexpr std::size_t more_for(std::size_t aligned_to) { return aligned_to + sizeof(note); }

void* aligned(void* start, std::size_t to) {
  const auto first = reinterpret_cast<std::uintptr_t>(start) + sizeof(note);
  auto* const array = static_cast<std::byte*>(start) + sizeof(note) + (-first & (to - 1));
  const note kept{start};
  std::memcpy(array - sizeof kept, &kept, sizeof kept);
  return array;
}

void* start_of(void* array) {
  note kept{};
  std::memcpy(&kept, static_cast<std::byte*>(array) - sizeof kept, sizeof kept);
  return kept.start;
}

// The huge pages that lie in an array as a whole; none in most.
std::span<std::byte> huge_pages_of(void* array, std::size_t bytes) {
  constexpr std::size_t page = bloomery::bit_array::huge_page;
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(array) & (page - 1);
  if (bytes < before + page) return {};
  return {static_cast<std::byte*>(array) + before, (bytes - before) / page * page};
}

void advise(std::span<std::byte> pages, int what) {  // a refusal changes the speed and nothing else
  if (!pages.empty()) madvise(pages.data(), pages.size(), what);
}

// What is left of the last line is zeros, as bit_array.cpp has it.
constexpr std::size_t in_lines(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

void* take(std::size_t bytes) {
  void* const start = take_zeroed(in_lines(bytes) + more_for(alignment));
  if (start == nullptr) return nullptr;
  held += bytes;
  return aligned(start, alignment);
}

// For a copy, which is made while the server waits. Most of that time is the system's, for fresh
// pages: four fifths with small ones, a third with huge ones. A filter that begins empty has small
// ones: its first items should not wait until huge ones are zeroed.
void* take_unset(std::size_t bytes) {
  if (api::TryAlloc == nullptr) return take(bytes);
  void* const start = api::TryAlloc(in_lines(bytes) + more_for(alignment));
  if (start == nullptr) return nullptr;
  held += bytes;
  void* const array = aligned(start, alignment);
  std::memset(static_cast<std::byte*>(array) + bytes, 0, in_lines(bytes) - bytes);
  advise(huge_pages_of(array, bytes), MADV_HUGEPAGE);
  return array;
}

// The memory may be used again for small objects, which should not make whole huge pages resident.
void give(void* array, std::size_t bytes) {
  advise(huge_pages_of(array, bytes), MADV_NOHUGEPAGE);
  api::Free(start_of(array));
  held -= bytes;
}

}  // namespace

void take_memory_from_server() noexcept {
  of_server = true;
  bloomery::use_array_memory({.take = take, .give = give, .take_unset = take_unset});
}

std::uint64_t array_bytes() noexcept { return held; }

}  // namespace bloomery_redis

// The other forms, of arrays and without exceptions, are made of these by the C++ library.
void* operator new(std::size_t bytes) { return bloomery_redis::take_any(bytes); }
void operator delete(void* p) noexcept { bloomery_redis::give_any(p); }
void operator delete(void* p, std::size_t) noexcept { bloomery_redis::give_any(p); }
void* operator new(std::size_t bytes, std::align_val_t to) {
  const auto alignment = static_cast<std::size_t>(to);
  return bloomery_redis::aligned(
      bloomery_redis::take_any(bytes + bloomery_redis::more_for(alignment)), alignment);
}
void operator delete(void* p, std::align_val_t) noexcept {
  if (p != nullptr) bloomery_redis::give_any(bloomery_redis::start_of(p));
}
void operator delete(void* p, std::size_t, std::align_val_t to) noexcept { operator delete(p, to); }
