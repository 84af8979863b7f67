// Adds keys to filters, for the verbs that build or change one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bloomery/format/any_filter.hpp"
#include "cli/input/source.hpp"

namespace bloomery::cli {

// Adds all keys. If the bits do not depend on the order of keys, all threads add; otherwise they
// hash in parallel and add in input order, so that any number of threads makes the same file.
void add_keys(any_filter& f, key_source& source, unsigned threads);

// Hashes all keys in parallel; take(chunk, hashes) gets them by chunks, in the order of the input.
template <class Take>
void hash_in_order(const any_hasher& hash, key_source& source, unsigned threads, Take take) {
  for_each_chunk_in_order(source, threads, [&](const chunk& c, auto in_turn) {
    thread_local std::vector<std::uint64_t> hashes;
    hashes.resize(c.keys.size());
    hash.hash(c.keys, hashes);
    in_turn([&] { take(c, std::span<const std::uint64_t>(hashes)); });
  });
}

std::uint64_t clock_now();  // seconds since 1970, the clock of filters that forget

}  // namespace bloomery::cli
