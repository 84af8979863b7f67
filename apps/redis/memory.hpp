// The arrays of filters come from the server's allocator: so they count against maxmemory, and INFO
// and MEMORY show them. A request that cannot be met is an exception and not the end of the server.
#pragma once

#include <cstdint>

namespace bloomery_redis {

void take_memory_from_server() noexcept;
// Of all arrays now.
[[nodiscard]] std::uint64_t array_bytes() noexcept;

}  // namespace bloomery_redis
