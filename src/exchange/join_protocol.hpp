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
#include "bloomery/hash/hash.hpp"
#include "wire.hpp"

namespace bloomery::join_protocol {

enum class step : std::uint8_t { hello = 1, offer, ask, rows, end, counts };
enum class wish : std::uint8_t { rows = 1, estimate };

inline constexpr std::uint64_t protocol_version = 1;
inline constexpr std::string_view protocol_name = "bloomery join";

inline std::uint64_t hash_of(std::string_view key) { return hash_key(xxh3_hasher(), key); }

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

struct greeting {  // what B says first
  wish wanted = wish::rows;
  std::uint64_t keys = 0;
  std::uint64_t rows = 0;
};

inline void say_hello(message_channel& peer, wish wanted, const join_side& b, join_report& report) {
  report.keys_b = b.counts().keys;
  report.rows_b = b.counts().rows;
  wire::buffer hello;
  wire::put_text(hello, protocol_name);
  wire::put(hello, protocol_version);
  wire::put(hello, static_cast<std::uint64_t>(wanted));
  wire::put(hello, report.keys_b);
  wire::put(hello, report.rows_b);
  send(peer, step::hello, hello);
  report.other_bytes += framed(hello.size());
}

inline greeting hear_hello(message_channel& peer) {
  const message got = receive(peer, step::hello, 256);
  wire::reader in(got.payload);
  if (in.text() != protocol_name || in.number() != protocol_version) {
    throw error(errc::mismatch, "the peer does not speak this version of the join");
  }
  const std::uint64_t wanted = in.number(static_cast<std::uint64_t>(wish::estimate));
  if (wanted == 0) wire::reader::fail();
  greeting g{.wanted = static_cast<wish>(wanted), .keys = in.number(), .rows = in.number()};
  in.expect_end();
  return g;
}

// A's part of an estimate, after the greeting.
void send_estimate(message_channel& peer, const join_side& a, const greeting& g,
                   const join_limits& limits, join_report& report);

}  // namespace bloomery::join_protocol
