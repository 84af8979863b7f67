#include "bloomery/exchange/hub.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "bloomery/core/error.hpp"

namespace bloomery {

namespace {

// How many messages one connection may have in a row, so that none that floods us starves others.
constexpr int messages_at_once = 256;
// How much all connections may send in one round: two hundred whole filters at once would double
// our memory.
constexpr std::size_t bytes_a_round = std::size_t{8} << 20U;
constexpr patience hub_patience{.idle = std::chrono::milliseconds(0),
                                .total = std::chrono::milliseconds(0)};

}  // namespace

hub_id hub::dial(const std::string& address) {
  channel started = start_connecting(address, hub_patience);
  const hub_id id = next_++;
  peers_.emplace(id, peer{.messages = message_channel(std::move(started)),
                          .dialling = true,
                          .trusted = false,
                          .since = clock::now()});
  return id;
}

void hub::trust(hub_id id) {
  if (const auto at = peers_.find(id); at != peers_.end()) at->second.trusted = true;
}

void hub::send(hub_id id, std::uint8_t type, std::span<const std::byte> payload) {
  const auto at = peers_.find(id);
  if (at == peers_.end()) return;
  at->second.messages.send(type, payload);
  ++messages_sent_;
  bytes_sent_ += payload.size() + message_channel::overhead_bytes;
}

void hub::close(hub_id id) { peers_.erase(id); }

void hub::drop(hub_id id, hub_event_kind kind, std::string why, std::vector<hub_event>& events) {
  peers_.erase(id);
  events.push_back({.kind = kind, .id = id, .what = {}, .why = std::move(why)});
}

void hub::accept_one(std::vector<hub_event>& events) {
  std::optional<channel> made;
  try {
    made = door_->try_accept(hub_patience, std::chrono::milliseconds(1));
  } catch (const error&) {
    return;  // out of descriptors, until somebody leaves
  }
  if (!made || peers_.size() >= options_.most_connections) return;  // closed at once
  const hub_id id = next_++;
  peers_.emplace(id, peer{.messages = message_channel(*std::move(made)),
                          .dialling = false,
                          .trusted = false,
                          .since = clock::now()});
  events.push_back({.kind = hub_event_kind::accepted, .id = id, .what = {}, .why = {}});
}

void hub::receive_some(hub_id id, peer& p, std::vector<hub_event>& events) {
  const std::size_t limit = p.trusted ? options_.most_message_bytes : options_.most_stranger_bytes;
  for (int i = 0; i < messages_at_once; ++i) {
    std::optional<message> m = p.messages.try_receive(limit);
    if (!m) return;
    ++messages_received_;
    bytes_received_ += m->payload.size() + message_channel::overhead_bytes;
    round_bytes_ += m->payload.size();
    events.push_back(
        {.kind = hub_event_kind::received, .id = id, .what = *std::move(m), .why = {}});
    if (!p.trusted) return;  // what it says may make it trusted
  }
}

void hub::serve(hub_id id, short happened, std::vector<hub_event>& events) {
  const auto at = peers_.find(id);
  if (at == peers_.end()) return;
  peer& p = at->second;
  if (p.dialling) {
    if (happened == 0) {
      if (clock::now() - p.since > options_.dial_time) {
        drop(id, hub_event_kind::failed, "no answer", events);
      }
      return;
    }
    if (std::string why = failed_to_connect(p.messages.bytes()); !why.empty()) {
      return drop(id, hub_event_kind::failed, std::move(why), events);
    }
    p.dialling = false;
    events.push_back({.kind = hub_event_kind::connected, .id = id, .what = {}, .why = {}});
    return;
  }
  try {
    if ((happened & (POLLIN | POLLHUP | POLLERR)) != 0) receive_some(id, p, events);
    if (p.messages.waiting_bytes() != 0) p.messages.try_send();
    if (p.messages.waiting_bytes() > options_.most_waiting_bytes) {
      drop(id, hub_event_kind::closed, "it does not read what it is sent", events);
    }
  } catch (const error& e) {
    drop(id, hub_event_kind::closed, e.what(), events);
  }
}

std::vector<hub_event> hub::wait(std::chrono::milliseconds longest) {
  std::vector<pollfd> waiting;
  std::vector<hub_id> ids;
  for (auto& [id, p] : peers_) {
    const bool out = p.dialling || p.messages.waiting_bytes() != 0;
    waiting.push_back(
        {.fd = p.messages.bytes().descriptor(),
         .events = static_cast<short>((p.dialling ? 0 : POLLIN) | (out ? POLLOUT : 0)),
         .revents = 0});
    ids.push_back(id);
  }
  if (door_) waiting.push_back({.fd = door_->descriptor(), .events = POLLIN, .revents = 0});
  std::vector<hub_event> events;
  const int ready = ::poll(waiting.data(), waiting.size(), static_cast<int>(longest.count()));
  if (ready < 0 && errno != EINTR) {
    throw error(errc::io, "waiting for peers: " + std::generic_category().message(errno));
  }
  if (ready < 0) return events;  // a signal, of which the caller knows
  // From where the last round stopped, so that everybody's turn comes.
  const auto begin = std::ranges::lower_bound(ids, first_served_) - ids.begin();
  round_bytes_ = 0;
  first_served_ = 0;
  for (std::size_t n = 0; n < ids.size(); ++n) {
    const std::size_t i = (static_cast<std::size_t>(begin) + n) % ids.size();
    if (round_bytes_ > bytes_a_round) {
      first_served_ = ids[i];
      break;
    }
    serve(ids[i], waiting[i].revents, events);
  }
  if (door_ && waiting.back().revents != 0) accept_one(events);
  return events;
}

}  // namespace bloomery
