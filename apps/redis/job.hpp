// Work that takes longer than a server may keep other clients waiting. It is done while its client
// is blocked, in slices of half a millisecond by the server's timer, or in a thread.
//
// Slices run in the server's main thread, so nothing changes while it is read. Before each slice
// the keys are looked up again; if one has been changed, deleted or replaced, the client gets an
// error. A thread reads filters lent to it (value.hpp), and keys are looked up when it is done.
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

  // Does about 0.1 ms of work; true when done. Its values have not changed since the start.
  virtual bool step() = 0;
  virtual void finish(const call& c) = 0;     // replies to the client
  virtual void come_too_late(const call& c);  // replies when a key has changed: by default an error
};

inline constexpr std::size_t step_bytes = std::size_t{1} << 20U;      // that a step should read
inline constexpr std::uint64_t slow_bytes = std::uint64_t{8} << 20U;  // less is done at once

// Whether the client may be blocked: not in transactions, in scripts or in calls from a master.
[[nodiscard]] bool may_wait(const call& c);

// Does the work now, or in slices above slow_bytes. `keys` are the arguments that name its keys.
void run_job(const call& c, const family& of, std::span<const std::size_t> keys,
             std::uint64_t bytes, std::unique_ptr<job> work);

// Does all steps in a thread, for a client that may be blocked. A missing key must stay missing.
void run_in_thread(const call& c, const family& of, std::span<const std::size_t> keys,
                   std::unique_ptr<job> work);

// Changes a large filter: a copy is changed in a thread and then replaces the first key's value.
struct remake {
  const family& of;
  std::shared_ptr<const bloomery::any_filter> from;
  fact_list facts;
  std::function<void(bloomery::any_filter&)> change;
  // Does the whole command at once, if a key has changed meanwhile so that the copy is useless.
  void (*at_once)(const call& c);
  const char* event;
};
void run_in_thread(const call& c, std::span<const std::size_t> keys, remake how);

}  // namespace bloomery_redis
