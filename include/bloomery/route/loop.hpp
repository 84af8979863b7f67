// Loops of messages, found by the messages themselves (Icarus, Whitaker and Wetherall 2002): a
// message carries a small filter of the nodes that it has passed, and each node adds itself. If
// that changes nothing, the message may have been there before.
//
//     bloomery::loop_header header;                  // in the message, 32 bytes
//     switch (header.visit(node)) {
//       case bloomery::loop_verdict::passed:     forward it
//       case bloomery::loop_verdict::suspected:  forward it, it was another node's bits
//       case bloomery::loop_verdict::looping:    drop it
//     }
//
// A node is a mask of k of m bits. After h other nodes it finds all of its bits set with chance
// (1 - (1 - k/m)^h)^k: 0.0055 at ten hops with m = 128 and k = 4, too often to drop a message. So a
// second filter with other masks confirms it: both are wrong together 2e-5 times at ten hops. A
// message that really comes again finds its bits in both, on the first turn of any loop.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery {

// `probes` different bits of the first `bits`, at most 256: a node or a link in a message.
using link_mask = std::array<std::uint64_t, 4>;
[[nodiscard]] link_mask mask_of(std::uint64_t name, std::uint64_t seed, std::uint32_t bits,
                                std::uint32_t probes);

enum class loop_verdict : std::uint8_t { passed, suspected, looping };

// A filter of m bits, a multiple of 64 and at most 256, with k bits a node. Throws
// errc::bad_argument for others.
struct loop_shape {
  std::uint32_t bits = 128;
  std::uint32_t probes = 4;
};

// The chance that a node finds itself in a filter that `hops` other nodes have passed.
[[nodiscard]] double loop_false_positive(const loop_shape& s, std::uint32_t hops);

class loop_filter {
 public:
  explicit loop_filter(const loop_shape& s = {}, std::uint64_t seed = 0);

  // Adds a node; returns whether all of its bits were there.
  bool visit(std::uint64_t node);

  [[nodiscard]] std::span<const std::uint64_t> words() const noexcept {
    return {words_.data(), shape_.bits / 64};
  }
  void set_words(std::span<const std::uint64_t> words);  // as many as words() has

 private:
  loop_shape shape_;
  std::uint64_t seed_;
  link_mask words_{};
};

class loop_header {
 public:
  explicit loop_header(const loop_shape& s = {}, std::uint64_t seed = 0)
      : first_(s, seed), second_(s, ~seed) {}

  loop_verdict visit(std::uint64_t node);

  [[nodiscard]] loop_filter& first() noexcept { return first_; }
  [[nodiscard]] loop_filter& second() noexcept { return second_; }

 private:
  loop_filter first_;
  loop_filter second_;
};

}  // namespace bloomery
