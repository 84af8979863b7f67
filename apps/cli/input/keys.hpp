// Adds keys to filters, for the verbs that build or change one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "bloomery/format/any_filter.hpp"
#include "cli/input/source.hpp"

namespace bloomery::cli {

// Adds all keys of the source. If the bits do not depend on the order of the keys, all threads add;
// otherwise they hash in parallel and add in the order of the input, so that the file is the same
// for any number of threads.
void add_keys(any_filter& f, key_source& source, unsigned threads);

// Hashes all keys in parallel; take(hashes) gets them a chunk at a time, in the order of the input.
void hash_in_order(const any_hasher& hash, key_source& source, unsigned threads,
                   const std::function<void(std::span<const std::uint64_t>)>& take);

// Changes a filter file: locks it, loads it, calls `change` and saves the result. Nothing is
// written when `change` throws or returns false.
any_filter change_file(const std::string& path, const std::string& key_file, key_form form,
                       const std::function<bool(any_filter&)>& change);

// Seconds since 1970, the clock of filters that forget.
std::uint64_t clock_now();

}  // namespace bloomery::cli
