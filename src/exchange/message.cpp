// Messages over a channel. See transport.hpp for why sending never waits.
#include <algorithm>
#include <array>
#include <limits>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/transport.hpp"
#include "bloomery/hash/hash.hpp"
#include "core/integers.hpp"

namespace bloomery {

namespace {

// The memory for a message grows in such steps while its bytes come.
constexpr std::size_t growth_bytes = std::size_t{1} << 16U;

std::uint32_t checksum(std::uint8_t type, std::span<const std::byte> payload) {
  const std::uint64_t seed = type + (static_cast<std::uint64_t>(payload.size()) << 8U);
  return static_cast<std::uint32_t>(XXH3_64bits_withSeed(payload.data(), payload.size(), seed));
}

}  // namespace

void message_channel::send(std::uint8_t type, std::span<const std::byte> payload) {
  if (payload.size() > std::numeric_limits<std::uint32_t>::max()) {
    detail::throw_bad_argument("a message's payload", std::uint64_t{payload.size()},
                               "less than 2^32 bytes");
  }
  outbox_.reserve(outbox_.size() + payload.size() + overhead_bytes);
  outbox_.push_back(static_cast<std::byte>(type));
  integers::append(outbox_, static_cast<std::uint32_t>(payload.size()));
  outbox_.insert(outbox_.end(), payload.begin(), payload.end());
  integers::append(outbox_, checksum(type, payload));
  ++messages_sent_;
  try {
    drop_sent(bytes_.write_some(std::span(outbox_).subspan(taken_)));
  } catch (const error&) {
    // A peer that has gone may have said why: receive() finds that, then the closed connection.
  }
}

void message_channel::drop_sent(std::size_t bytes) {
  taken_ += bytes;
  if (taken_ == outbox_.size()) {
    outbox_.clear();
    taken_ = 0;
  } else if (taken_ >= outbox_bytes && taken_ >= outbox_.size() / 2) {
    outbox_.erase(outbox_.begin(), outbox_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
  }
}

bool message_channel::complete() const noexcept { return wanted_ != 0 && got_ == wanted_; }

void message_channel::make_room() {
  const std::size_t wanted = wanted_ == 0 ? header_bytes : wanted_;
  if (got_ == inbox_.size()) inbox_.resize(std::min(wanted, got_ + std::max(growth_bytes, got_)));
}

// Moves some bytes in both directions; reads no further than to the end of one message.
void message_channel::step(std::size_t limit) {
  make_room();
  const auto done =
      bytes_.move(std::span(outbox_).subspan(taken_), std::span(inbox_).subspan(got_));
  drop_sent(done.sent);
  take_in(done.received, done.ended, limit);
}

void message_channel::take_in(std::size_t received, bool ended, std::size_t limit) {
  got_ += received;
  if (ended) {
    throw error(errc::io, got_ == 0 ? "the peer closed the connection"
                                    : "the peer closed the connection in the middle of a message");
  }
  if (wanted_ != 0 || got_ < header_bytes) return;
  const std::size_t length = integers::read<std::uint32_t>(inbox_, 1);
  if (length > limit) {
    throw error(errc::corrupt, "the peer announces a message of " + std::to_string(length) +
                                   " bytes where at most " + std::to_string(limit) +
                                   " may come: it speaks another protocol, or is hostile");
  }
  wanted_ = header_bytes + length + checksum_bytes;
}

message message_channel::take() {
  message taken;
  taken.type = std::to_integer<std::uint8_t>(inbox_.front());
  const std::uint32_t sum = integers::read<std::uint32_t>(inbox_, inbox_.size() - checksum_bytes);
  inbox_.resize(inbox_.size() - checksum_bytes);
  inbox_.erase(inbox_.begin(), inbox_.begin() + header_bytes);
  if (checksum(taken.type, inbox_) != sum) {
    throw error(errc::corrupt, "a message from the peer has a wrong checksum");
  }
  taken.payload = std::move(inbox_);
  inbox_ = {};
  got_ = 0;
  wanted_ = 0;
  ++messages_received_;
  return taken;
}

void message_channel::await(std::size_t limit) {
  while (!complete()) step(limit);
}

message message_channel::receive(std::size_t limit) {
  await(limit);
  return take();
}

std::optional<message> message_channel::try_receive(std::size_t limit) {
  while (!complete()) {
    make_room();
    bool ended = false;
    const std::size_t received = bytes_.read_some(std::span(inbox_).subspan(got_), ended);
    if (received == 0 && !ended) return std::nullopt;
    take_in(received, ended, limit);
  }
  return take();
}

void message_channel::try_send() {
  drop_sent(bytes_.write_some(std::span(outbox_).subspan(taken_)));
}

std::optional<message> message_channel::receive_or_room(std::size_t limit) {
  while (!complete()) {
    if (has_room()) return std::nullopt;
    step(limit);
  }
  return take();
}

void message_channel::flush() {
  while (!outbox_.empty()) drop_sent(bytes_.move(std::span(outbox_).subspan(taken_), {}).sent);
}

void message_channel::finish() {
  std::array<std::byte, 1> surplus{};
  bool ended = false;
  while (!outbox_.empty()) {
    const auto done = bytes_.move(std::span(outbox_).subspan(taken_), surplus);
    if (done.ended) throw error(errc::io, "the peer closed the connection");
    if (done.received != 0) throw error(errc::corrupt, "the peer sends more than the protocol has");
    drop_sent(done.sent);
  }
  bytes_.end_writing();
  while (!ended) {
    const auto done = bytes_.move({}, surplus);
    if (done.received != 0) throw error(errc::corrupt, "the peer sends more than the protocol has");
    ended = done.ended;
  }
}

}  // namespace bloomery
