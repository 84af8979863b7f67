// What reconcile and join share when both sides are in one process: no peer is hostile then, and
// what a side refuses the other is our own --memory.
#pragma once

#include <fmt/format.h>

#include "bloomery/core/error.hpp"
#include "cli/args/peer.hpp"

namespace bloomery::cli {

inline void rethrow_local(const first_failure& failure, const peer_options& o) {
  try {
    failure.rethrow();
  } catch (const own_error&) {
    throw;
  } catch (const error& e) {
    const bool refused =
        e.code() == errc::no_memory || e.code() == errc::corrupt || e.code() == errc::mismatch;
    if (o.memory.empty() || !refused) throw;
    throw error(errc::no_memory,
                fmt::format("--memory {} is too little for these two files", o.memory));
  }
}

}  // namespace bloomery::cli
