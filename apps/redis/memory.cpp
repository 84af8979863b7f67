#include "memory.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>

#include "api.hpp"
#include "bloomery/bits/bit_array.hpp"

namespace bloomery_redis {

namespace {

constexpr std::size_t alignment = bloomery::bit_array::alignment;

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

void* take(std::size_t bytes) {
  const std::size_t whole = bytes + alignment + sizeof(note);
  void* const start = take_zeroed(whole);
  if (start == nullptr) return nullptr;
  const auto first = reinterpret_cast<std::uintptr_t>(start) + sizeof(note);
  auto* const array = static_cast<std::byte*>(start) + sizeof(note) + (-first & (alignment - 1));
  const note kept{start};
  std::memcpy(array - sizeof kept, &kept, sizeof kept);
  held += bytes;
  return array;
}

void give(void* array, std::size_t bytes) {
  note kept{};
  std::memcpy(&kept, static_cast<std::byte*>(array) - sizeof kept, sizeof kept);
  api::Free(kept.start);
  held -= bytes;
}

}  // namespace

void take_memory_from_server() noexcept {
  bloomery::use_array_memory({.take = take, .give = give});
}

std::uint64_t array_bytes() noexcept { return held; }

}  // namespace bloomery_redis
