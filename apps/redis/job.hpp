// Work that takes longer than a server may be kept from its other clients: done while the client
// that asked for it waits, in slices of half a millisecond by the server's timer, or in a thread.
//
// Slices happen in the server's one thread, so nothing is read while it changes. Before each slice
// the keys are looked up again: when one of them was changed, deleted or replaced since, the client
// is told so. A thread reads what it was lent (value.hpp), and the keys are looked up when it is
// done.
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

  // About 0.1 ms of the work. True when all is done. The values that it was started for are as they
  // were.
  virtual bool step() = 0;
  // The reply.
  virtual void finish(const call& c) = 0;
  // The reply when a key is not what it was. Refuses unless there is something better to do.
  virtual void come_too_late(const call& c);
};

// Reads this many bytes in a step.
inline constexpr std::size_t step_bytes = std::size_t{1} << 20U;
// Work on less than this is done at once.
inline constexpr std::uint64_t slow_bytes = std::uint64_t{8} << 20U;

// Whether the client may be kept waiting: not in transactions and scripts, nor what a master sends.
[[nodiscard]] bool may_wait(const call& c);

// Does the work now, or in slices when it is over `bytes` that take long. `keys` are the arguments
// that name the keys whose values it reads.
void run_job(const call& c, const family& of, std::span<const std::size_t> keys,
             std::uint64_t bytes, std::unique_ptr<job> work);

// Does all steps in a thread, for a client that may wait. Keys that are missing should stay so.
void run_in_thread(const call& c, const family& of, std::span<const std::size_t> keys,
                   std::unique_ptr<job> work);

// A large filter that becomes another: a copy is changed in a thread, and takes the place of what
// the first key holds.
struct remake {
  const family& of;
  std::shared_ptr<const bloomery::any_filter> from;
  fact_list facts;
  std::function<void(bloomery::any_filter&)> change;
  // The whole command: when a key is not what it was, so that the copy is of no use.
  void (*at_once)(const call& c);
  const char* event;
};
void run_in_thread(const call& c, std::span<const std::size_t> keys, remake how);

}  // namespace bloomery_redis
