// Arrays of filters come from the server's allocator, so that they count against maxmemory and INFO
// and MEMORY show them. A failed allocation is an exception, not the end of the server.
#pragma once

#include <cstdint>

namespace bloomery_redis {

void take_memory_from_server() noexcept;
[[nodiscard]] std::uint64_t array_bytes() noexcept;  // of all arrays together

}  // namespace bloomery_redis
