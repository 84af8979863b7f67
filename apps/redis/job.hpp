// Work that takes longer than a server may keep other clients waiting, done while its client is
// blocked. What reads is done in slices of half a millisecond by the server's timer, or in a thread
// if there is no way to stop on the way, mostly from filters that it was lent (value.hpp): others
// may change or delete the keys meanwhile.
//
// What changes a key is done in a thread, on a copy. The server's thread then puts the copy in its
// place, when nobody has paused writes, and whether its client is still there or not. The keys are
// looked up again then: if one has changed, the work is done once more, at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "command.hpp"

namespace bloomery_redis {

class job {  // that reads
 public:
  job() = default;
  job(const job&) = delete;
  job& operator=(const job&) = delete;
  virtual ~job() = default;

  virtual bool step() = 0;                 // does about 0.1 ms of work; true when done
  virtual void finish(const call& c) = 0;  // replies to the client
};

class change {  // of the key that the first argument names
 public:
  change() = default;
  change(const change&) = delete;
  change& operator=(const change&) = delete;
  virtual ~change() = default;

  virtual void work() = 0;  // in a thread; touches no key
  // Changes the key and tells replicas. Does not reply; the call has no client.
  virtual void commit(const call& c, bool keys_unchanged) = 0;
};

inline constexpr std::size_t step_bytes = std::size_t{1} << 20U;      // that a step should read
inline constexpr std::uint64_t slow_bytes = std::uint64_t{8} << 20U;  // less is done at once

// Whether a change may be made later: not in transactions, in scripts, in calls from a master or
// on a replica.
[[nodiscard]] bool may_wait(const call& c);

// Does the work now, or above slow_bytes in slices, or in a thread, where it touches no key.
enum class way : std::uint8_t { sliced, threaded };
void run_job(const call& c, std::uint64_t bytes, std::unique_ptr<job> work, way how = way::sliced);

// Works in a thread for a client that may be blocked, and replies OK. `keys` are the arguments that
// name keys of this family; `commit` gets a copy of the arguments. The thread takes up to `bytes`
// of memory; the caller has looked whether there are as many (check_memory).
void run_in_thread(const call& c, const family& of, std::span<const std::size_t> keys,
                   std::uint64_t bytes, std::unique_ptr<change> todo);

// Changes a large filter: a copy is changed in a thread and then replaces the first key's value.
struct remake {
  const family& of;
  std::shared_ptr<const bloomery::any_filter> from;
  std::uint64_t bytes;  // of memory, as above
  fact_list facts;
  std::shared_ptr<bloomery::foreign::value> foreign{};
  std::function<void(bloomery::any_filter&)> edit;
  // Does the whole command at once, without a reply, if a key has changed meanwhile.
  void (*at_once)(const call& c);
  const char* event;
};
void run_in_thread(const call& c, std::span<const std::size_t> keys, remake how);

}  // namespace bloomery_redis
