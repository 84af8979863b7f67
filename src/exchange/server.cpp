#include "bloomery/exchange/server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "bloomery/core/error.hpp"

namespace bloomery {

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds look_around{200};

// Threads for connections that have begun to speak. Each takes the next one that waits when it is
// done with its own.
class handlers {
 public:
  handlers(std::size_t most, const std::function<void(channel)>& handle)
      : most_(most), handle_(&handle) {}

  void take(channel connection) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(connection));
    if (threads_ == most_) return;
    try {
      std::thread([this] { work(); }).detach();
      ++threads_;
    } catch (const std::system_error&) {  // no thread: the connection closes
      waiting_.pop_back();
    }
  }
  [[nodiscard]] std::size_t waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }
  // Those that wait close. Of those that are handled no more is read, so they end soon.
  void finish() {
    std::unique_lock lock(mutex_);
    waiting_.clear();
    for (const int socket : handled_) ::shutdown(socket, SHUT_RD);
    ended_.wait(lock, [&] { return threads_ == 0; });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (!waiting_.empty()) {
      channel connection = std::move(waiting_.front());
      waiting_.pop_front();
      // A descriptor of our own: the handler may have closed his, and the number be another's.
      const int socket = ::fcntl(connection.descriptor(), F_DUPFD_CLOEXEC, 0);
      if (socket >= 0) handled_.insert(socket);
      lock.unlock();
      handle_one(std::move(connection));
      lock.lock();
      if (handled_.erase(socket) != 0) ::close(socket);
    }
    --threads_;
    ended_.notify_all();  // under the lock: the last one to end may see this object go
  }
  void handle_one(channel connection) {
    try {
      (*handle_)(std::move(connection));
    } catch (const std::exception&) {
      // The peer has gone, or was a stranger: nobody is left to be told.
    }
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t most_;
  std::size_t threads_ = 0;
  std::deque<channel> waiting_;
  std::set<int> handled_;
  const std::function<void(channel)>* handle_;
};

// Connections of which no byte has come yet, the oldest first. They have no thread, so strangers
// who hold connections and say nothing take no place from others.
class silent_connections {
 public:
  silent_connections(std::size_t most, const patience& limits) : most_(most), limits_(limits) {}

  // Waits until a connection sends its first byte or, with `at_door`, until somebody connects, and
  // no longer than look_around. Connections that have sent something go to `speaking`. Returns
  // whether somebody connects.
  bool wait(const listener& door, bool at_door, handlers& speaking) {
    std::vector<pollfd> all;
    for (const silent& s : silent_) {
      all.push_back({.fd = s.connection.descriptor(), .events = POLLIN, .revents = 0});
    }
    all.push_back({.fd = at_door ? door.descriptor() : -1, .events = POLLIN, .revents = 0});
    const int ready = ::poll(all.data(), all.size(), static_cast<int>(look_around.count()));
    if (ready < 0) {
      if (errno != EINTR) std::this_thread::sleep_for(look_around);  // no memory, for now
      return false;
    }
    std::deque<silent> still;
    for (std::size_t i = 0; i < silent_.size(); ++i) {
      if (all[i].revents != 0) {
        speaking.take(std::move(silent_[i].connection));
      } else if (!is_late(silent_[i])) {
        still.push_back(std::move(silent_[i]));
      }
    }
    silent_ = std::move(still);
    return all.back().revents != 0;
  }

  void accept(listener& door) {
    try {
      std::optional<channel> made = door.try_accept(limits_, std::chrono::milliseconds(1));
      if (!made) return;
      if (silent_.size() >= most_) drop_oldest();
      silent_.push_back({.connection = *std::move(made), .since = steady_clock::now()});
    } catch (const error&) {
      // Out of descriptors: one that says nothing makes room, or somebody has to leave first.
      if (silent_.empty()) std::this_thread::sleep_for(look_around);
      drop_oldest();
    }
  }

 private:
  struct silent {
    channel connection;
    steady_clock::time_point since;
  };

  [[nodiscard]] bool is_late(const silent& s) const {
    return limits_.idle.count() > 0 && steady_clock::now() - s.since > limits_.idle;
  }
  void drop_oldest() {
    if (!silent_.empty()) silent_.pop_front();
  }

  std::size_t most_;
  patience limits_;
  std::deque<silent> silent_;
};

}  // namespace

void serve_connections(listener& door, const server_options& o,
                       const std::function<void(channel)>& handle, const std::atomic<bool>& stop) {
  handlers speaking(o.connections, handle);
  silent_connections silent(o.waiting, o.limits);
  while (!stop) {
    if (silent.wait(door, speaking.waiting() < o.waiting, speaking)) silent.accept(door);
  }
  speaking.finish();
}

}  // namespace bloomery
