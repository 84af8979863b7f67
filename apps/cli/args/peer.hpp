// What verbs that talk to another host share: its address, and what a peer may cost.
//
// A verb that listens serves one peer. Whoever else connects (a scanner, a health check, somebody
// with another protocol, a connection that breaks) is dropped with a line on standard error, and
// the verb goes on listening.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/transport.hpp"
#include "cli/args/command.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

struct peer_options {
  std::string listen;
  std::string connect;
  std::string memory;
  std::optional<double> timeout;

  [[nodiscard]] bool remote() const noexcept { return !listen.empty() || !connect.empty(); }
};

// The texts are the help of --listen and --connect.
void add_peer_options(command& verb, peer_options& o, const char* listen, const char* connect);

// The token of a file, which servers and their clients share; not one that can be guessed.
std::string read_token(const std::string& path);

patience patience_of(const peer_options& o);
// Without a peer on another host there is no limit unless one is asked for.
std::uint64_t memory_of(const peer_options& o);
// What went wrong with the peer, with its address and what to do.
error about_peer(const peer_options& o, const error& e);

// Our own doing and not the peer's, so that it ends a verb that listens.
class own_error : public error {
 public:
  using error::error;
};

// Two halves of a conversation in one process: the one that fails first knows why, and the other
// then finds that its peer has gone. So the first failure is kept, while the channel is open.
class first_failure {
 public:
  template <class Work>
  void guard(Work work) noexcept {
    try {
      work();
    } catch (const own_error&) {  // which is the reason even if the peer was told of it first
      keep(true);
    } catch (...) {
      keep(false);
    }
  }
  void rethrow() const {
    if (why_) std::rethrow_exception(why_);
  }

 private:
  void keep(bool in_any_case) noexcept {
    const std::lock_guard lock(mutex_);
    if (in_any_case || !why_) why_ = std::current_exception();
  }

  std::mutex mutex_;
  std::exception_ptr why_;
};

// Strangers have to greet within this time.
inline constexpr std::chrono::milliseconds longest_greeting{10'000};
inline constexpr std::size_t most_greeting_bytes = 2048;

// Calls work(peer) with a message_channel, and returns what it returns.
template <class Work>
auto with_peer(const peer_options& o, bool quiet, Work work) {
  const patience limits = patience_of(o);
  const auto talk = [&](message_channel& peer) {
    try {
      return work(peer);
    } catch (const own_error&) {
      throw;
    } catch (const error& e) {
      throw about_peer(o, e);
    }
  };
  if (!o.connect.empty()) {
    message_channel peer(connect(o.connect, limits));
    return talk(peer);
  }
  listener door(o.listen);
  if (!quiet) tell("bloomery: listening on port {}\n", door.port());
  const auto greeting = std::min(limits.idle, longest_greeting);
  for (;;) {
    message_channel peer(door.accept({.idle = greeting, .total = greeting}));
    try {
      peer.await(most_greeting_bytes);
      peer.set_patience(limits);
      return talk(peer);
    } catch (const own_error&) {
      throw;
    } catch (const error& e) {
      if (!quiet) tell("bloomery: dropped a peer and listen on: {}\n", e.what());
    }
  }
}

}  // namespace bloomery::cli
