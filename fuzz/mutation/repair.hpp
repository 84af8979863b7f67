// Makes the checksums of a mutated file right again, so that the mutation gets past them.
//
// Every form of file is known (docs/format.md): plain filters, packed ones, deltas, text indexes,
// maps of strings; and what has no such start: values of the Redis module, compact filters, the log
// and the base of a store.
#pragma once

#include <cstdint>

#include "mutation/numbers.hpp"

namespace bloomery_fuzz {

enum class file_form : std::uint8_t { file, redis_value, compact, store_log, store_base };

// `lengths`: those of a plain filter become those of the bytes that are there, too.
void repair(byte_vector& bytes, file_form form, bool lengths);

}  // namespace bloomery_fuzz
