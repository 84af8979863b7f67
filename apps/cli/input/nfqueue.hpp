// Packets that the kernel hands to a program and holds until it has decided: NFQUEUE of netfilter,
// through libnetfilter_queue.
//
// Verdicts may come late and in any order, so a program can be the queue before a link. While
// nobody listens, the kernel drops what a rule sends here, unless the rule says --queue-bypass.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace bloomery::cli {

class nfqueue {
 public:
  struct packet {
    std::uint32_t id = 0;
    std::span<const std::byte> bytes;  // from the IP header on, until the next call
  };

  // Throws errc::io with what to do when this user may not, or somebody else has the number.
  explicit nfqueue(std::uint16_t number);
  nfqueue(const nfqueue&) = delete;
  nfqueue& operator=(const nfqueue&) = delete;
  ~nfqueue();

  [[nodiscard]] int descriptor() const;  // to wait for packets with poll

  // Hands out the packets that have come, without waiting.
  void receive(const std::function<void(const packet&)>& each);
  void accept(std::uint32_t id);
  void accept_changed(std::uint32_t id, std::span<const std::byte> bytes);
  void drop(std::uint32_t id);

  // Packets that the kernel dropped before this program saw them.
  [[nodiscard]] std::uint64_t dropped_by_kernel() const;

 private:
  struct handles;
  std::uint16_t number_;
  std::unique_ptr<handles> handles_;
};

}  // namespace bloomery::cli
