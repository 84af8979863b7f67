// Sends commands to a Redis cluster, or to one server: each goes to the node that has its key, many
// at a time. A command is repeated when the key has moved, the node fails over or it does not
// answer for a while. (Redis cluster specification: hash slots, MOVED and ASK.)
//
// Replication is asynchronous: a failing master loses writes that it acknowledged but had not
// replicated. So WAIT may follow writes until a replica has them. Commands must be idempotent.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/redis/client.hpp"

namespace bloomery::cli {

inline constexpr std::size_t redis_slots = 16384;

// CRC-16/XMODEM modulo 16384, of the key, or of its first part in {} if that is not empty.
[[nodiscard]] std::uint16_t redis_slot(std::string_view key) noexcept;

struct redis_cluster_options {
  bool cluster = true;  // false: one server; what it says of other nodes is an error
  // Replicas that must have a write before it counts: as given, or by default one if there is any.
  std::optional<std::uint32_t> replicas;
  // How long to retry when nothing succeeds.
  std::chrono::milliseconds patience{30'000};
  std::chrono::milliseconds reply_timeout{5'000};  // of one command
  bool quiet = false;                              // does not say that it waits
};

struct redis_command {
  std::vector<std::string_view> words;
  std::size_t key = 1;  // which word is the key
  bool writes = false;
};

class redis_cluster {
 public:
  redis_cluster(redis_url where, const redis_cluster_options& o);
  ~redis_cluster();

  // Calls done(i, reply) once for each command, in any order. The reply may be an error of the
  // command, not of the cluster. Throws redis_lost, with the last reason, when patience is over.
  using done_call = std::function<void(std::size_t, redis_reply&)>;
  void run(std::span<const redis_command> commands, const done_call& done);
  redis_reply run(const redis_command& command);

  // Runs several commands about one key on its node. `talk` returns the error that ended it, or
  // nothing. It is called again, from the beginning, when the key has moved or the connection is
  // lost. The error returned in the end is not one of the cluster. Writes wait for the replicas.
  using talk_call = std::function<std::optional<redis_reply>(redis_connection&)>;
  std::optional<redis_reply> converse(std::string_view key, bool writes, const talk_call& talk);

  [[nodiscard]] std::size_t masters();
  [[nodiscard]] const redis_url& where() const noexcept { return where_; }

 private:
  struct node {
    std::unique_ptr<redis_connection> connection;
    std::uint32_t replicas = 0;
  };
  struct job {
    std::size_t index;
    const redis_address* at;
    bool asking;
  };
  struct round;

  redis_connection& connect(const redis_address& a);
  void refresh();
  bool take_slots(const redis_reply& r, const redis_address& from);
  void note(std::string why);
  void say_why() const;
  void pause();
  const redis_address& owner(std::uint16_t slot);
  void send(round& r, const redis_address& at, std::span<const redis_command> commands);
  void receive(round& r, const redis_address& at, std::span<const redis_command> commands,
               const done_call& done);
  bool redirected(const redis_reply& r, job& j);
  void settle(redis_connection& c, std::uint32_t replicas);
  [[nodiscard]] std::uint32_t wanted_replicas(const node& n) const;

  redis_url where_;
  redis_cluster_options options_;
  std::map<redis_address, node> nodes_;
  std::vector<const redis_address*> slots_;  // the master of each slot, a key of nodes_
  bool stale_ = true;
  std::string last_problem_;
  std::chrono::milliseconds wait_{0};
  std::chrono::steady_clock::time_point success_;
};

}  // namespace bloomery::cli
