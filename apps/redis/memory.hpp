// All memory of the module comes from the server's allocator, so that it counts against maxmemory
// and INFO and MEMORY show it. A failed allocation is an exception, not the end of the server.
//
// Arrays of filters have functions of their own, which zero and align. All else goes through
// operator new and delete, which memory.cpp replaces: the module is linked with a C++ library of
// its own and shows none of its symbols, so that they are replaced in here and nowhere else.
#pragma once

#include <cstdint>

namespace bloomery_redis {

void take_memory_from_server() noexcept;
[[nodiscard]] std::uint64_t array_bytes() noexcept;  // of all arrays together

}  // namespace bloomery_redis
