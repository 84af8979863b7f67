// The arrays of filters come from the server's allocator, so that they count against maxmemory, and
// INFO and MEMORY show them. An allocation that fails is an exception and not the end of the
// server.
#pragma once

#include <cstdint>

namespace bloomery_redis {

void take_memory_from_server() noexcept;
// The bytes of all arrays together.
[[nodiscard]] std::uint64_t array_bytes() noexcept;

}  // namespace bloomery_redis
