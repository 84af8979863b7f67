// Two parties learn exactly which keys the other lacks, for about the price of the difference.
//
//     bloomery::message_channel peer(bloomery::connect("there.example:4711"));
//     const bloomery::reconciliation r = bloomery::reconcile(peer, keys);
//     r.only_there         the keys that we lack
//     r.only_here          which of ours the peer lacks
//
// Broder and Mitzenmacher (2004, 5.2) let one peer send a filter of its keys, and the other those
// keys that are surely not in it: most of the difference, not all. Here this is one of three ways,
// and what is left is made exact by symbols of a rateless table (sketch/riblt.hpp):
//
//     sketch     symbols alone: about 19 bytes for each different key, whatever the sets' sizes
//     filter     filters first, in one direction or both, then symbols for what they missed: when
//                much is different
//     full       one side sends its keys: small sets, short keys, or nothing in common
//
// Both sides call the same function. They first exchange a sketch of 128 numbers, from which the
// size of the difference is estimated within an eighth, and the side with fewer keys chooses what
// is cheapest. In the end both compare a checksum of 128 bits of the union, by hashes whose seed
// neither side chose alone; if it is wrong because hashes of 64 bits met (one in 10^7 times for a
// million keys), a second round with another seed mends it. docs/exchange.md has the protocol.
//
// The hash is XXH3, with a seed that both sides draw: keys made to collide do so for nobody else. A
// peer, who knows the seed, can hide keys of its own that collide. It can do no more than that: the
// limits below bound what it can make us hold, and steps of a least size how long we work.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/exchange/transport.hpp"

namespace bloomery {

enum class reconcile_method : std::uint8_t { automatic = 0, sketch = 1, filter = 2, full = 3 };

[[nodiscard]] constexpr std::string_view method_name(reconcile_method m) noexcept {
  constexpr std::array<std::string_view, 4> names = {"auto", "sketch", "filter", "full"};
  return names[static_cast<std::size_t>(m) % names.size()];
}
[[nodiscard]] constexpr std::optional<reconcile_method> method_from_name(
    std::string_view name) noexcept {
  for (std::uint8_t i = 0; i < 4; ++i) {
    if (method_name(reconcile_method{i}) == name) return reconcile_method{i};
  }
  return std::nullopt;
}

// Longer keys are refused, on both sides.
inline constexpr std::size_t reconcile_longest_key = std::size_t{1} << 24U;

struct reconcile_options {
  // Either side may ask for a way; errc::mismatch when they ask for different ones.
  reconcile_method method = reconcile_method::automatic;
  // Half of the hashes' seed; 0 takes a random one. Two sides with the same number cannot talk.
  std::uint64_t nonce = 0;
  // The most keys that the peer may claim to have; more is errc::corrupt.
  std::uint64_t most_keys = std::uint64_t{1} << 31U;
  // The most memory that the peer may make us hold, with all that is kept beside each key; more is
  // errc::no_memory. What our own keys take comes on top.
  std::uint64_t memory_bytes = std::uint64_t{1} << 30U;
  // The bits of a hash in the first round: with fewer than 64, tests reach the second round.
  unsigned first_round_bits = 64;
};

// Bytes of messages, with their frames.
struct traffic {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;

  [[nodiscard]] std::uint64_t both() const noexcept { return sent + received; }
};

struct reconcile_report {
  reconcile_method method = reconcile_method::automatic;  // the one that was chosen
  std::uint64_t keys_here = 0;                            // different keys
  std::uint64_t keys_there = 0;
  std::uint64_t key_bytes_here = 0;  // of all these keys together
  std::uint64_t key_bytes_there = 0;
  double estimated_difference = 0;
  std::uint64_t found_by_filter = 0;  // keys of the difference, in both directions
  std::uint64_t symbols = 0;
  std::uint32_t rounds = 0;       // of symbols; more than one means that hashes collided
  std::uint32_t round_trips = 0;  // waits for an answer to what was sent
  traffic greetings;              // hello, plan and the checksums
  traffic filters;
  traffic tables;  // symbols, and which keys are wanted
  traffic keys;

  [[nodiscard]] traffic all() const noexcept {
    return {.sent = greetings.sent + filters.sent + tables.sent + keys.sent,
            .received = greetings.received + filters.received + tables.received + keys.received};
  }
  // A key as a line. Both sets, and the smaller one: what comm(1) on one of the hosts would need.
  [[nodiscard]] std::uint64_t everything_bytes() const noexcept {
    return key_bytes_here + keys_here + key_bytes_there + keys_there;
  }
  [[nodiscard]] std::uint64_t smaller_bytes() const noexcept {
    const std::uint64_t here = key_bytes_here + keys_here;
    const std::uint64_t there = key_bytes_there + keys_there;
    return here < there ? here : there;
  }
};

struct reconciliation {
  std::vector<std::size_t> only_here;   // places in `keys`, rising; of equal keys the first
  std::vector<std::string> only_there;  // in the order of their bytes
  reconcile_report report;
};

// Both sides call it at the same time, and then finish() or another protocol. Keys may be repeated;
// they are read while it runs. Throws errc::io and errc::corrupt for what a peer can do wrong,
// errc::mismatch when the two cannot work together, errc::bad_argument for a key that is too long.
// After an error the channel is of no use.
[[nodiscard]] reconciliation reconcile(message_channel& peer,
                                       std::span<const std::string_view> keys,
                                       const reconcile_options& o = {});

}  // namespace bloomery
