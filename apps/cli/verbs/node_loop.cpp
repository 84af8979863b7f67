#include "cli/verbs/node_loop.hpp"

#include <fmt/format.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): defines __GLIBC__ where it is
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "bloomery/core/error.hpp"
#include "bloomery/crypto/session.hpp"
#include "bloomery/exchange/hub.hpp"
#include "bloomery/exchange/server.hpp"
#include "cli/args/stopping.hpp"
#include "cli/output/node_report.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

// Filters stay and messages go, both are large and come by turns: from one heap they would leave
// holes behind as large as the filters. So each has pages of its own, which the system gets back.
// glibc does that by itself until the first large piece is freed.
void keep_large_pieces_apart() {
#ifdef __GLIBC__
  static_cast<void>(::mallopt(M_MMAP_THRESHOLD, 128 * 1024));
#endif
}

std::uint64_t clock_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

// Answers HTTP in threads of its own, from texts that the node leaves here.
class status_board {
 public:
  explicit status_board(const std::string& address) : door_(address) {
    thread_ = std::thread([this] {
      serve_connections(
          door_,
          {.connections = 8,
           .limits = {.idle = std::chrono::seconds(5), .total = std::chrono::seconds(10)}},
          [this](channel c) { answer(c); }, stop_);
    });
  }
  status_board(const status_board&) = delete;
  status_board& operator=(const status_board&) = delete;
  ~status_board() {
    stop_ = true;
    thread_.join();
  }

  [[nodiscard]] std::uint16_t port() const { return door_.port(); }
  void show(std::string json, std::string metrics) {
    const std::lock_guard lock(mutex_);
    json_ = std::move(json);
    metrics_ = std::move(metrics);
  }

 private:
  void answer(channel& c) {
    constexpr std::size_t most_request = 8192;
    std::string request;
    std::array<std::byte, 1024> piece{};
    while (request.size() < most_request && request.find("\r\n\r\n") == std::string::npos) {
      const channel::moved done = c.move({}, piece);
      if (done.ended) break;
      request.append(reinterpret_cast<const char*>(piece.data()), done.received);
    }
    std::string text;
    {
      const std::lock_guard lock(mutex_);
      text = http_answer(request, json_, metrics_);
    }
    c.write(std::as_bytes(std::span(text)));
    c.end_writing();
  }

  listener door_;
  std::mutex mutex_;
  std::string json_;
  std::string metrics_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

constexpr std::uint64_t longest_pause = 10'000;  // before a peer is dialled again

class node_loop {
 public:
  node_loop(node_program program, listener door)
      : program_(std::move(program)),
        node_(program_.node),
        resources_(program_.resources),
        hub_({.most_connections = program_.node.most_links,
              .most_message_bytes =
                  (std::size_t{4} << 20U) + program_.node.planned.shape.bits / 6}) {
    port_ = door.port();
    hub_.listen(std::move(door));
    for (const std::string& address : program_.peers) peers_.push_back({.address = address});
    if (!program_.status.empty()) board_.emplace(program_.status);
  }

  void run() {
    if (!program_.quiet) tell("bloomery: listening on port {}\n", port_);
    if (board_ && !program_.quiet) tell("bloomery: status on port {}\n", board_->port());
    const std::chrono::milliseconds step(std::clamp<std::uint64_t>(program_.node.beat / 5, 5, 100));
    while (!stopped_by_signal()) {
      const std::uint64_t now = clock_ms();
      if (auto hashes = resources_.take()) node_.set_keys(*std::move(hashes), now);
      dial_peers(now);
      node_.tick(now);
      move_messages(now);
      if (board_ && now >= next_show_) {
        next_show_ = now + program_.node.beat;
        board_->show(node_json(node_, hub_), node_metrics(node_, hub_));
      }
      for (hub_event& e : hub_.wait(step)) handle(e, clock_ms());
      move_messages(clock_ms());
    }
  }

 private:
  struct dialled_peer {
    std::string address;
    std::string name = {};  // of who answered there last
    hub_id link = 0;
    std::uint64_t next_try = 0;
    std::uint64_t pause = 0;
  };
  struct stranger {  // a connection that the node does not know yet
    connection how = connection::accepted;
    std::uint64_t ticket = 0;
  };

  void dial_peers(std::uint64_t now) {
    for (dialled_peer& p : peers_) {
      const bool there = !p.name.empty() && node_.has_neighbour(p.name);
      if (p.link != 0 || there || now < p.next_try) continue;
      try {
        p.link = hub_.dial(p.address);
        strangers_[p.link] = {.how = connection::dialled};
      } catch (const error& e) {
        put_off(p, now, e.what());
      }
    }
  }

  void put_off(dialled_peer& p, std::uint64_t now, const std::string& why) {
    if (p.pause == 0 && !program_.quiet) {
      tell("bloomery: {}: {}; it is tried again\n", p.address, why);
    }
    p.link = 0;
    p.pause = std::clamp(2 * p.pause, program_.node.beat, longest_pause);
    p.next_try = now + p.pause;
  }

  void gone(hub_id id, std::uint64_t now, const std::string& why) {
    if (const auto s = strangers_.find(id); s != strangers_.end()) {
      if (s->second.how == connection::asked) node_.dial_failed(s->second.ticket, now);
      strangers_.erase(s);
    }
    for (dialled_peer& p : peers_) {
      if (p.link == id) put_off(p, now, why);
    }
    sessions_.erase(id);
    node_.disconnected(id, now);
  }

  // Lets the node speak: at once, or when the greetings of a session have been exchanged.
  void introduce(hub_id id, std::uint64_t now) {
    const auto s = strangers_.find(id);
    if (s == strangers_.end()) return;
    const stranger known = s->second;
    strangers_.erase(s);
    node_.connected(id, known.how, now, known.ticket);
  }

  void handle(hub_event& e, std::uint64_t now) {
    switch (e.kind) {
      case hub_event_kind::accepted: strangers_[e.id] = {}; [[fallthrough]];
      case hub_event_kind::connected:
        if (!program_.key) return introduce(e.id, now);
        greeted_[e.id] = now;
        sessions_.try_emplace(e.id, *program_.key, e.kind == hub_event_kind::connected);
        return hub_.send(e.id, session_greeting_type, sessions_.at(e.id).greeting());
      case hub_event_kind::failed:
      case hub_event_kind::closed: return gone(e.id, now, e.why);
      case hub_event_kind::received: return receive(e, now);
    }
  }

  void receive(hub_event& e, std::uint64_t now) {
    try {
      if (program_.key) {
        sealed_session& s = sessions_.at(e.id);
        if (e.what.type == session_greeting_type) {
          s.meet(e.what.payload);
          return introduce(e.id, now);
        }
        e.what.payload = s.open(e.what.type, e.what.payload);
      } else if (e.what.type == session_greeting_type) {
        throw error(errc::corrupt, "the peer wants a key, and this node has none: --key-file");
      }
      node_.received(e.id, e.what.type, e.what.payload, now);
      hub_.trust(e.id);
      for (dialled_peer& p : peers_) {
        if (p.link != e.id) continue;
        p.name = node_.name_of(e.id);
        p.pause = 0;
      }
    } catch (const error& refused) {
      if (!program_.quiet) tell("bloomery: dropped a peer: {}\n", refused.what());
      hub_.close(e.id);
      gone(e.id, now, refused.what());
    } catch (const std::out_of_range&) {
      // closed meanwhile
    }
  }

  // What the node wants sent, asked and closed, until it wants nothing more.
  void move_messages(std::uint64_t now) {
    for (node_outgoing& m : node_.take_outgoing()) {
      const auto type = static_cast<std::uint8_t>(m.type);
      const auto s = sessions_.find(m.link);
      if (s != sessions_.end()) m.payload = s->second.seal(type, m.payload);
      hub_.send(m.link, type, m.payload);
    }
    for (const node_dial& d : node_.take_dials()) {
      try {
        strangers_[hub_.dial(d.address)] = {.how = connection::asked, .ticket = d.ticket};
      } catch (const error&) {
        node_.dial_failed(d.ticket, now);
      }
    }
    for (const node_closing& c : node_.take_closing()) {
      if (!program_.quiet) tell("bloomery: closed a connection: {}\n", c.why);
      hub_.close(c.link);
      gone(c.link, now, c.why);
    }
    end_silent_strangers(now);
  }

  // Who says nothing does not keep a connection; who has greeted is the node's to judge.
  void end_silent_strangers(std::uint64_t now) {
    constexpr std::uint64_t longest = 5000;
    for (auto at = greeted_.begin(); at != greeted_.end();) {
      const bool late = now - at->second > longest;
      const hub_id id = at->first;
      if (!strangers_.contains(id) || late)
        at = greeted_.erase(at);
      else
        ++at;
      if (late && strangers_.contains(id)) {
        hub_.close(id);
        gone(id, now, "no greeting");
      }
    }
  }

  node_program program_;
  route_node node_;
  resource_watch resources_;
  hub hub_;
  std::uint16_t port_ = 0;
  std::optional<status_board> board_;
  std::vector<dialled_peer> peers_;
  std::map<hub_id, stranger> strangers_;
  std::map<hub_id, std::uint64_t> greeted_;  // when
  std::map<hub_id, sealed_session> sessions_;
  std::uint64_t next_show_ = 0;
};

}  // namespace

std::uint64_t route_seed(const std::optional<master_key>& key) {
  if (!key) return 0;
  const siphash_hasher::key_type derived = derive_key(*key, "bloomery route", 0);
  std::uint64_t seed = 0;
  for (std::size_t i = 0; i < sizeof seed; ++i) {
    seed |= std::to_integer<std::uint64_t>(derived[i]) << (8 * i);
  }
  return seed;
}

void run_node(node_program program, listener door) {
  stop_by_signals();
  keep_large_pieces_apart();
  node_loop(std::move(program), std::move(door)).run();
}

}  // namespace bloomery::cli
