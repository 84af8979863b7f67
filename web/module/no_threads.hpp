// What the library takes from <mutex>, for a C++ library that is built without threads: a module
// of WebAssembly runs in one, so that a lock is always free. Included before every source.
#pragma once

#include <mutex>

namespace std {  // NOLINT(cert-dcl58-cpp): it lacks the name

class mutex {
 public:
  void lock() noexcept {}
  bool try_lock() noexcept { return true; }
  void unlock() noexcept {}
};

template <class Mutex>
class scoped_lock : public lock_guard<Mutex> {
 public:
  using lock_guard<Mutex>::lock_guard;
};
template <class Mutex>
scoped_lock(Mutex&) -> scoped_lock<Mutex>;

}  // namespace std
