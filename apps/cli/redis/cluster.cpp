#include "cli/redis/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <thread>
#include <utility>

#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds first_pause = 10ms;
constexpr std::chrono::milliseconds longest_pause = 500ms;
constexpr std::string_view wait_ms = "1000";  // the timeout of WAIT
constexpr std::size_t most_nodes = 2000;

constexpr std::array<std::uint16_t, 256> crc_table() {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned crc = byte << 8U;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1U) ^ ((crc & 0x8000U) != 0 ? 0x1021U : 0U);
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}

// Whether the error is temporary: the cluster is being reconfigured, the command not at fault.
bool is_passing(const redis_reply& r) {
  constexpr std::array<std::string_view, 7> words = {
      "TRYAGAIN", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "READONLY", "NOREPLICAS", "UNBLOCKED"};
  return std::ranges::any_of(words, [&](std::string_view word) { return r.is_error(word); });
}

// The target of "MOVED 3999 127.0.0.1:6381" or "ASK ..."; an empty host is that of the sender.
struct redirection {
  std::uint16_t slot = 0;
  redis_address to;
};
std::optional<redirection> parse_redirection(std::string_view text, const redis_address& from) {
  const std::size_t first = text.find(' ');
  const std::size_t second = text.find(' ', first + 1);
  const std::size_t colon = text.rfind(':');
  if (first == std::string_view::npos || second == std::string_view::npos ||
      colon == std::string_view::npos || colon < second) {
    return std::nullopt;
  }
  redirection r;
  const auto number = [](std::string_view digits, std::uint16_t& value) {
    const auto [end, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return problem == std::errc() && end == digits.data() + digits.size();
  };
  r.to.host = text.substr(second + 1, colon - second - 1);
  if (r.to.host.empty()) r.to.host = from.host;
  if (!number(text.substr(first + 1, second - first - 1), r.slot) ||
      !number(text.substr(colon + 1), r.to.port) || r.slot >= redis_slots || r.to.port == 0) {
    return std::nullopt;
  }
  return r;
}

}  // namespace

std::uint16_t redis_slot(std::string_view key) noexcept {
  static constexpr auto table = crc_table();
  if (const std::size_t open = key.find('{'); open != std::string_view::npos) {
    const std::size_t close = key.find('}', open);
    if (close != std::string_view::npos && close > open + 1) {
      key = key.substr(open + 1, close - open - 1);
    }
  }
  unsigned crc = 0;
  for (const char c : key) {
    crc = (crc << 8U) ^ table[((crc >> 8U) ^ static_cast<unsigned char>(c)) & 0xffU];
  }
  return static_cast<std::uint16_t>(crc % redis_slots);
}

// One round of sending: the jobs of each node, and those that are left for the next round.
struct redis_cluster::round {
  std::map<redis_address, std::vector<job>> jobs;
  std::vector<job> left;
  bool any_done = false;
};

redis_cluster::redis_cluster(redis_url where, const redis_cluster_options& o)
    : where_(std::move(where)), options_(o), slots_(redis_slots, nullptr), success_(clock::now()) {
  const auto home = nodes_.try_emplace(where_.server).first;
  std::ranges::fill(slots_, &home->first);
  stale_ = options_.cluster;
}

redis_cluster::~redis_cluster() = default;

redis_connection& redis_cluster::connect(const redis_address& a) {
  if (nodes_.size() >= most_nodes && !nodes_.contains(a)) {
    throw error(errc::io, "the cluster names more than 2000 nodes");
  }
  node& n = nodes_[a];
  if (!n.connection) {
    // A connection may take half of the patience at most, so that another node can be tried, too.
    const auto timeout = std::min(options_.reply_timeout, std::max(100ms, options_.patience / 2));
    n.connection = std::make_unique<redis_connection>(a, where_, timeout);
  }
  return *n.connection;
}

// Parses [[first, last, [host, port, ...], replica...]...], which may be malformed.
bool redis_cluster::take_slots(const redis_reply& r, const redis_address& from) {
  using type = redis_reply::type;
  const auto address = [&](const redis_reply& entry) -> std::optional<redis_address> {
    if (entry.kind != type::array || entry.items.size() < 2) return std::nullopt;
    const redis_reply& port = entry.items[1];
    if (port.kind != type::integer || port.number < 1 || port.number > 65535) return std::nullopt;
    const std::string& host = entry.items[0].text;
    return redis_address{host.empty() || host == "?" ? from.host : host,
                         static_cast<std::uint16_t>(port.number)};
  };
  if (r.kind != type::array || r.items.empty()) return false;
  std::vector<const redis_address*> slots(redis_slots, nullptr);
  for (const redis_reply& range : r.items) {
    if (range.kind != type::array || range.items.size() < 3) return false;
    const redis_reply& first = range.items[0];
    const redis_reply& last = range.items[1];
    const auto master = address(range.items[2]);
    if (first.kind != type::integer || last.kind != type::integer || first.number < 0 ||
        last.number < first.number || last.number >= static_cast<std::int64_t>(redis_slots) ||
        !master || nodes_.size() >= most_nodes) {
      return false;
    }
    const auto entry = nodes_.try_emplace(*master).first;
    // A replica that is away for a while is not listed. A master that had one still waits for it: a
    // key that no replica has would be lost with the master.
    const auto replicas = static_cast<std::uint32_t>(range.items.size() - 3);
    entry->second.replicas = std::max(entry->second.replicas, replicas);
    std::fill(slots.begin() + first.number, slots.begin() + last.number + 1, &entry->first);
    for (const redis_reply& replica : std::span(range.items).subspan(3)) {
      if (const auto a = address(replica)) nodes_.try_emplace(*a);  // may be master soon
    }
  }
  slots_ = std::move(slots);
  return true;
}

void redis_cluster::refresh() {  // asks one node after the other who has which slot
  if (!options_.cluster) return;
  std::vector<redis_address> known;
  for (const auto& [a, n] : nodes_) known.push_back(a);
  // Nodes that answered before come first.
  std::ranges::stable_partition(known,
                                [&](const auto& a) { return nodes_[a].connection != nullptr; });
  for (const redis_address& a : known) {
    try {
      const redis_reply r = connect(a).call({"CLUSTER", "SLOTS"});
      if (r.is_error("ERR This instance has cluster support disabled")) {
        if (a != where_.server) continue;
        options_.cluster = false;
        stale_ = false;
        return;
      }
      if (r.is_error()) {
        note(fmt::format("{}: {}", a.text(), r.text));
      } else if (take_slots(r, a)) {
        stale_ = false;
        return;
      } else {
        note(fmt::format("{}: it does not say which node has which slots", a.text()));
      }
    } catch (const redis_lost& e) {
      nodes_[a].connection.reset();
      note(e.what());
    }
  }
}

void redis_cluster::note(std::string why) {
  last_problem_ = std::move(why);
  stale_ = true;
}

// Says what is waited for after a second, and then every ten, once for all threads.
void redis_cluster::say_why() const {
  constexpr std::int64_t first_ms = 1000;
  constexpr std::int64_t then_every_ms = 10'000;
  static std::atomic<std::int64_t> next{0};
  const auto ms = [](auto span) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(span).count();
  };
  const std::int64_t now = ms(clock::now().time_since_epoch());
  std::int64_t due = next;
  if (options_.quiet || ms(clock::now() - success_) < first_ms || now < due ||
      !next.compare_exchange_strong(due, now + then_every_ms)) {
    return;
  }
  tell("bloomery: {}; trying again, for {} in all (--timeout)\n", last_problem_,
       counted(static_cast<std::uint64_t>(ms(options_.patience) / 1000), "second"));
}

void redis_cluster::pause() {
  if (clock::now() - success_ > options_.patience) {
    throw redis_lost(fmt::format("{}; given up after {} seconds", last_problem_,
                                 std::chrono::duration<double>(options_.patience).count()));
  }
  say_why();
  wait_ = wait_ == 0ms ? first_pause : std::min(2 * wait_, longest_pause);
  std::this_thread::sleep_for(wait_);
}

const redis_address& redis_cluster::owner(std::uint16_t slot) {
  while (stale_ || slots_[slot] == nullptr) {
    refresh();
    if (!stale_ && slots_[slot] != nullptr) break;
    if (!stale_) note(fmt::format("no node of the cluster has slot {}", slot));
    pause();
  }
  return *slots_[slot];
}

std::uint32_t redis_cluster::wanted_replicas(const node& n) const {
  return options_.replicas ? *options_.replicas : std::min(n.replicas, 1U);
}

void redis_cluster::send(round& r, const redis_address& at,
                         std::span<const redis_command> commands) {
  redis_connection& c = connect(at);
  bool writes = false;
  for (const job& j : r.jobs[at]) {
    constexpr std::array<std::string_view, 1> asking = {"ASKING"};
    if (j.asking) c.append(asking);
    c.append(commands[j.index].words);
    writes |= commands[j.index].writes;
  }
  if (const std::uint32_t replicas = wanted_replicas(nodes_[at]); writes && replicas != 0) {
    const std::string number = std::to_string(replicas);
    const std::array<std::string_view, 3> wait = {"WAIT", number, wait_ms};
    c.append(wait);
  }
  c.flush();
}

// Whether the reply sends the job elsewhere, which is noted in it, or asks to try again later.
bool redis_cluster::redirected(const redis_reply& r, job& j) {
  const redis_address from = *j.at;
  j.asking = false;
  if (r.is_error("MOVED ") || r.is_error("ASK ")) {
    const auto to = parse_redirection(r.text, from);
    if (!to) throw error(errc::io, fmt::format("{}: {}", from.text(), r.text));
    if (!options_.cluster) {
      throw error(errc::io, fmt::format("{} is a node of a cluster, and the key is on {}; use "
                                        "--cluster",
                                        from.text(), to->to.text()));
    }
    if (nodes_.size() >= most_nodes && !nodes_.contains(to->to)) {
      throw error(errc::io, "the cluster names more than 2000 nodes");
    }
    const redis_address* const at = &nodes_.try_emplace(to->to).first->first;
    if (r.is_error("MOVED ")) {
      slots_[to->slot] = at;
      stale_ = true;  // other slots may have moved, too
    } else {
      j.asking = true;
    }
    last_problem_ = fmt::format("{}: {}", from.text(), r.text);
    j.at = at;
    return true;
  }
  if (!is_passing(r)) return false;
  note(fmt::format("{}: {}", from.text(), r.text));
  j.at = nullptr;
  return true;
}

void redis_cluster::receive(round& r, const redis_address& at,
                            std::span<const redis_command> commands, const done_call& done) {
  redis_connection& c = *nodes_[at].connection;
  const std::uint32_t replicas = wanted_replicas(nodes_[at]);
  std::vector<job>& jobs = r.jobs[at];
  std::vector<std::pair<std::size_t, redis_reply>> waiting;  // writes, until replicas have them
  bool writes = false;
  std::size_t next = 0;
  try {
    for (; next < jobs.size(); ++next) {
      job& j = jobs[next];
      if (j.asking) static_cast<void>(c.read());
      redis_reply reply = c.read();
      writes |= commands[j.index].writes;
      if (redirected(reply, j)) {
        r.left.push_back(j);
      } else if (commands[j.index].writes && replicas != 0) {
        waiting.emplace_back(j.index, std::move(reply));
      } else {
        r.any_done = true;
        done(j.index, reply);
      }
    }
    if (!writes || replicas == 0) return;
    const redis_reply acknowledged = c.read();
    if (acknowledged.kind != redis_reply::type::integer || acknowledged.number < replicas) {
      throw redis_lost(
          fmt::format("{}: its replicas do not acknowledge what is written; --wait 0 "
                      "goes on without them",
                      at.text()));
    }
  } catch (const redis_lost& e) {
    nodes_[at].connection.reset();
    note(e.what());
    for (const auto& [index, reply] : waiting) r.left.push_back({index, nullptr, false});
    for (; next < jobs.size(); ++next) r.left.push_back({jobs[next].index, nullptr, false});
    return;
  }
  for (auto& [index, reply] : waiting) {
    r.any_done = true;
    done(index, reply);
  }
}

void redis_cluster::run(std::span<const redis_command> commands, const done_call& done) {
  std::vector<job> jobs;
  for (std::size_t i = 0; i < commands.size(); ++i) jobs.push_back({i, nullptr, false});
  success_ = clock::now();
  wait_ = 0ms;
  while (!jobs.empty()) {
    round r;
    for (job& j : jobs) {
      // The node that a redirection named, or else the master of the key's slot.
      if (j.at == nullptr)
        j.at = &owner(redis_slot(commands[j.index].words[commands[j.index].key]));
      r.jobs[*j.at].push_back(j);
    }
    std::vector<redis_address> sent;
    for (const auto& [at, of_node] : r.jobs) {
      try {
        send(r, at, commands);
        sent.push_back(at);
      } catch (const redis_lost& e) {
        nodes_[at].connection.reset();
        note(e.what());
        for (const job& j : of_node) r.left.push_back({j.index, nullptr, false});
      }
    }
    for (const redis_address& at : sent) receive(r, at, commands, done);
    jobs = std::move(r.left);
    if (r.any_done) {
      success_ = clock::now();
      wait_ = 0ms;
    } else if (!jobs.empty()) {
      pause();
    }
  }
}

redis_reply redis_cluster::run(const redis_command& command) {
  redis_reply result;
  run({&command, 1}, [&](std::size_t, redis_reply& r) { result = std::move(r); });
  return result;
}

// Waits until replicas have what this connection wrote; throws redis_lost when they do not.
void redis_cluster::settle(redis_connection& c, std::uint32_t replicas) {
  if (replicas == 0) return;
  const auto end = clock::now() + options_.patience;
  for (;;) {
    const redis_reply r = c.call({"WAIT", std::to_string(replicas), wait_ms});
    if (r.kind == redis_reply::type::integer && r.number >= replicas) return;
    if (r.is_error() || clock::now() > end) {
      throw redis_lost(
          fmt::format("{}: its replicas do not acknowledge what is written; --wait 0 "
                      "goes on without them",
                      c.server().text()));
    }
  }
}

std::optional<redis_reply> redis_cluster::converse(std::string_view key, bool writes,
                                                   const talk_call& talk) {
  success_ = clock::now();
  wait_ = 0ms;
  job j{0, nullptr, false};
  for (;;) {
    j.at = &owner(redis_slot(key));
    try {
      redis_connection& c = connect(*j.at);
      std::optional<redis_reply> problem = talk(c);
      if (!problem && writes) settle(c, wanted_replicas(nodes_[*j.at]));
      if (!problem || !redirected(*problem, j)) return problem;
    } catch (const redis_lost& e) {
      nodes_[*j.at].connection.reset();
      note(e.what());
    }
    pause();
  }
}

std::size_t redis_cluster::masters() {
  owner(0);
  std::vector<const redis_address*> all = slots_;
  std::ranges::sort(all);
  const auto again = std::ranges::unique(all);
  return static_cast<std::size_t>(again.begin() - all.begin());
}

}  // namespace bloomery::cli
