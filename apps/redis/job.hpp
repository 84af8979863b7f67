// Work that takes longer than a server may keep its other clients waiting. It is done while the
// client that asked for it is blocked, in slices of half a millisecond by the server's timer, or in
// a thread.
//
// Slices run in the server's main thread, so nothing changes while it is read. Before each slice
// the keys are looked up again; if one of them has been changed, deleted or replaced, the client
// gets an error. A thread reads filters that were lent to it (value.hpp), and the keys are looked
// up when it is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "command.hpp"

namespace bloomery_redis {

class job {
 public:
  job() = default;
  job(const job&) = delete;
  job& operator=(const job&) = delete;
  virtual ~job() = default;

  // Does about 0.1 ms of the work and returns true when all is done. The values that it was started
  // for have not changed since.
  virtual bool step() = 0;
  // Replies to the client.
  virtual void finish(const call& c) = 0;
  // Replies when a key is no longer what it was. By default the client gets an error.
  virtual void come_too_late(const call& c);
};

// How many bytes a step should read.
inline constexpr std::size_t step_bytes = std::size_t{1} << 20U;
// Work on fewer bytes is done at once.
inline constexpr std::uint64_t slow_bytes = std::uint64_t{8} << 20U;

// Whether the client may be blocked: not in transactions and scripts, and not if the call comes
// from a master.
[[nodiscard]] bool may_wait(const call& c);

// Does the work now, or in slices if it reads more than slow_bytes. `keys` are the arguments that
// name the keys whose values it reads.
void run_job(const call& c, const family& of, std::span<const std::size_t> keys,
             std::uint64_t bytes, std::unique_ptr<job> work);

// Does all steps in a thread, for a client that may be blocked. A key that is missing now must
// still be missing at the end.
void run_in_thread(const call& c, const family& of, std::span<const std::size_t> keys,
                   std::unique_ptr<job> work);

// A change of a large filter: a copy is changed in a thread and then replaces what the first key
// holds.
struct remake {
  const family& of;
  std::shared_ptr<const bloomery::any_filter> from;
  fact_list facts;
  std::function<void(bloomery::any_filter&)> change;
  // Does the whole command at once. It is called if a key has changed meanwhile, so that the copy
  // is useless.
  void (*at_once)(const call& c);
  const char* event;
};
void run_in_thread(const call& c, std::span<const std::size_t> keys, remake how);

}  // namespace bloomery_redis
