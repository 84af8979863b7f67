// A seed that nobody else knows, for hashes that live in one process or in one conversation.
//
// Whoever knows the seed of a fast hash can choose keys that all have one hash. What is drawn here
// by the one who hashes, after or apart from the keys, cannot be known to those who made the keys.
// What must come out the same each time, such as a filter file, takes its seed from the caller.
#pragma once

#include <cstdint>

namespace bloomery {

// 64 bits from the system's generator of random numbers. Throws errc::unsupported without one.
[[nodiscard]] std::uint64_t random_seed();
// Such a seed, drawn once: the same one as long as the process lives.
[[nodiscard]] std::uint64_t process_seed();

}  // namespace bloomery
