// What the join (join.cpp) and its estimate (join_estimate.cpp) have in common on the wire.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/join.hpp"
#include "bloomery/exchange/sent_filter.hpp"
#include "wire.hpp"

namespace bloomery::join_protocol {

enum class step : std::uint8_t { hello = 1, offer, ask, rows, end, counts, seed, table, wait };
enum class wish : std::uint8_t { rows = 1, estimate };

inline constexpr std::uint64_t protocol_version = 2;
inline constexpr std::string_view protocol_name = "bloomery join";

// Who has nothing to send for so many rows says so: a silent peer counts as gone.
inline constexpr std::uint64_t silent_rows = std::uint64_t{1} << 18U;

inline std::uint64_t framed(std::uint64_t payload) {
  return payload + message_channel::overhead_bytes;
}

inline void send(message_channel& peer, step type, std::span<const std::byte> payload) {
  peer.send(static_cast<std::uint8_t>(type), payload);
}

inline message receive(message_channel& peer, step wanted, std::size_t limit) {
  message got = peer.receive(limit);
  if (got.type != static_cast<std::uint8_t>(wanted)) wire::reader::fail();
  return got;
}

inline std::vector<std::uint64_t> different(std::span<const std::uint64_t> sorted) {
  std::vector<std::uint64_t> keys;
  std::unique_copy(sorted.begin(), sorted.end(), std::back_inserter(keys));
  return keys;
}

// Calls work(hash, rows) for each key.
template <class Work>
void for_each_key(std::span<const std::uint64_t> sorted, Work work) {
  for (auto from = sorted.begin(); from != sorted.end();) {
    const auto to = std::find_if(from, sorted.end(), [&](std::uint64_t h) { return h != *from; });
    work(*from, static_cast<std::uint64_t>(to - from));
    from = to;
  }
}

// What the peer makes us hold. Filters are copied from their messages, which count as well.
class memory_budget {
 public:
  explicit memory_budget(const join_limits& limits) : limit_(limits.memory_bytes) {}

  void hold(std::uint64_t bytes) {
    if (bytes > limit_ - held_) {
      throw error(errc::no_memory, "the peer makes this side hold more than the limit of " +
                                       detail::to_text(limit_) + " bytes");
    }
    held_ += bytes;
  }
  // A message of filters, while they are made from it.
  void hold_filter(std::span<const std::byte> message) { hold(sent_filter::memory_bytes(message)); }

 private:
  std::uint64_t limit_;
  std::uint64_t held_ = 0;
};

struct greeting {  // what B says first
  wish wanted = wish::rows;
  std::uint64_t keys = 0;
  std::uint64_t rows = 0;
};

// B: asks for the seed, reads its table with it, and tells its numbers.
inline join_side say_hello(message_channel& peer, wish wanted, const row_scan& rows,
                           join_report& report) {
  wire::buffer hello;
  wire::put_text(hello, protocol_name);
  wire::put(hello, protocol_version);
  wire::put(hello, static_cast<std::uint64_t>(wanted));
  send(peer, step::hello, hello);
  const message answer = receive(peer, step::seed, 64);
  wire::reader in(answer.payload);
  const std::uint64_t seed = in.number();
  in.expect_end();
  join_side b(
      [&peer, &rows, &report](const row_visit& visit) {
        std::uint64_t silent = 0;
        rows([&](std::string_view key, std::string_view rest) {
          if (++silent % silent_rows == 0) {
            send(peer, step::wait, {});
            report.other_bytes += message_channel::overhead_bytes;
          }
          visit(key, rest);
        });
      },
      seed);
  report.keys_b = b.counts().keys;
  report.rows_b = b.counts().rows;
  wire::buffer table;
  wire::put(table, report.keys_b);
  wire::put(table, report.rows_b);
  send(peer, step::table, table);
  report.other_bytes += framed(hello.size()) + framed(answer.payload.size()) + framed(table.size());
  return b;
}

// A: the same from the other side.
inline greeting hear_hello(message_channel& peer, const join_side& a, join_report& report) {
  const message got = receive(peer, step::hello, 256);
  wire::reader in(got.payload);
  if (in.text() != protocol_name || in.number() != protocol_version) {
    throw error(errc::mismatch, "the peer does not speak this version of the join");
  }
  const std::uint64_t wanted = in.number(static_cast<std::uint64_t>(wish::estimate));
  if (wanted == 0) wire::reader::fail();
  in.expect_end();
  wire::buffer seed;
  wire::put(seed, a.seed());
  send(peer, step::seed, seed);
  message table = peer.receive(64);
  while (table.type == static_cast<std::uint8_t>(step::wait)) table = peer.receive(64);
  if (table.type != static_cast<std::uint8_t>(step::table)) wire::reader::fail();
  wire::reader numbers(table.payload);
  greeting g{
      .wanted = static_cast<wish>(wanted), .keys = numbers.number(), .rows = numbers.number()};
  numbers.expect_end();
  if (g.keys > g.rows) wire::reader::fail();
  report.keys_b = g.keys;
  report.rows_b = g.rows;
  report.other_bytes += peer.bytes_received() + framed(seed.size());
  return g;
}

// A's part of an estimate, after the greeting.
void send_estimate(message_channel& peer, const join_side& a, const greeting& g,
                   const join_limits& limits, join_report& report);

}  // namespace bloomery::join_protocol
