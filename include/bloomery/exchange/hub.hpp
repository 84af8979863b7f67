// Many connections in one thread: for programs whose connections depend on each other, such as a
// node that passes messages on. Where they do not, exchange/server.hpp has a thread for each.
//
//     bloomery::hub all({.most_message_bytes = 1 << 20});
//     all.listen(bloomery::listener("127.0.0.1:4711"));
//     const auto peer = all.dial("there:4711");
//     for (;;) {
//       for (bloomery::hub_event& e : all.wait(std::chrono::milliseconds(100))) {...}
//       all.send(peer, type, payload);
//     }
//
// Nothing here waits but wait(). A peer that sends no whole message, announces too long a one, or
// does not read what it is sent, loses its connection; the others do not notice.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bloomery/exchange/transport.hpp"

namespace bloomery {

using hub_id = std::uint32_t;  // of a connection; never used again

enum class hub_event_kind : std::uint8_t {
  accepted,   // somebody connected
  connected,  // a dial has succeeded
  failed,     // or has not; the connection is gone
  received,   // a message
  closed,     // the connection is gone, by the peer or for what it did
};

struct hub_event {
  hub_event_kind kind = hub_event_kind::received;
  hub_id id = 0;
  message what = {};
  std::string why = {};
};

struct hub_options {
  std::size_t most_connections = 1000;
  std::size_t most_message_bytes = std::size_t{1} << 20U;
  std::size_t most_stranger_bytes = 2048;  // of a message, until trust()
  std::size_t most_waiting_bytes = std::size_t{64} << 20U;
  std::chrono::milliseconds dial_time{3000};
};

class hub {
 public:
  explicit hub(const hub_options& o = {}) : options_(o) {}

  void listen(listener door) { door_.emplace(std::move(door)); }
  // Throws errc::bad_argument for what is no address and errc::io for an unknown name.
  hub_id dial(const std::string& address);
  void trust(hub_id id);  // long messages from now on

  void send(hub_id id, std::uint8_t type, std::span<const std::byte> payload);
  // Sends what the socket takes at once, and forgets the rest; no event follows.
  void close(hub_id id);

  // What happens within this time; returns early when something does.
  [[nodiscard]] std::vector<hub_event> wait(std::chrono::milliseconds longest);

  [[nodiscard]] std::size_t connections() const noexcept { return peers_.size(); }
  [[nodiscard]] std::uint64_t messages_sent() const noexcept { return messages_sent_; }
  [[nodiscard]] std::uint64_t messages_received() const noexcept { return messages_received_; }
  [[nodiscard]] std::uint64_t bytes_sent() const noexcept { return bytes_sent_; }
  [[nodiscard]] std::uint64_t bytes_received() const noexcept { return bytes_received_; }

 private:
  using clock = std::chrono::steady_clock;
  struct peer {
    message_channel messages;
    bool dialling = false;
    bool trusted = false;
    clock::time_point since;
  };

  void accept_one(std::vector<hub_event>& events);
  void serve(hub_id id, short happened, std::vector<hub_event>& events);
  void receive_some(hub_id id, peer& p, std::vector<hub_event>& events);
  void drop(hub_id id, hub_event_kind kind, std::string why, std::vector<hub_event>& events);

  hub_options options_;
  std::optional<listener> door_;
  std::map<hub_id, peer> peers_;
  hub_id next_ = 1;
  hub_id first_served_ = 0;      // in the next round
  std::size_t round_bytes_ = 0;  // of messages in this one
  std::uint64_t messages_sent_ = 0;
  std::uint64_t messages_received_ = 0;
  std::uint64_t bytes_sent_ = 0;
  std::uint64_t bytes_received_ = 0;
};

}  // namespace bloomery
