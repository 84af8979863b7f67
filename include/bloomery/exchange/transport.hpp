// Bytes and messages between two parties, over TCP or over a pair of sockets in one process.
//
//     auto [here, there] = bloomery::pipe_pair();              // two threads of one process
//
//     bloomery::listener door("0.0.0.0:4711");                 // one host: port 0 takes a free one
//     bloomery::message_channel peer(door.accept());
//     bloomery::message_channel peer(bloomery::connect("there.example:4711"));    // the other
//
//     peer.send(type, payload);
//     bloomery::message answer = peer.receive(most_bytes);
//
// Both sides may send at the same time, and more than the sockets' buffers hold. With plain writes
// this would be a deadlock: each waits until the other reads. Here send() never waits. What the
// socket does not take stays in an outbox, and whoever waits, in receive(), flush() or finish(),
// moves bytes in both directions. So a side is bounded by its own messages, never by what its peer
// sends: of those there is one at a time, no longer than the receiver allows, and its memory grows
// with the bytes that have come, not with the length that was claimed. No thread is needed.
//
// The peer is not trusted. It may be silent (patience::idle), endlessly slow (patience::total),
// gone (errc::io), or send what is no message (errc::corrupt). The checksum finds accidents, not
// attackers: nothing here encrypts or authenticates.
//
// A channel belongs to one thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bloomery {

// How long to wait for the peer; then errc::io. Zero is for ever.
struct patience {
  std::chrono::milliseconds idle{60'000};      // without a byte in either direction
  std::chrono::milliseconds total{3'600'000};  // from the first byte of the channel to its last
};

// A connection, as bytes. Move-only; closed by its destructor.
class channel {
 public:
  // Takes over a connected stream socket.
  explicit channel(int socket, patience limits = {});
  channel(channel&& other) noexcept;
  channel& operator=(channel&& other) noexcept;
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  ~channel();

  // All of the bytes, or errc::io. A write may wait until the peer reads, so two parties that both
  // write much before they read run out of patience; message_channel is for that.
  void write(std::span<const std::byte> bytes);
  void read(std::span<std::byte> bytes);

  // Waits until it can send from `out` or receive into `in`, and does that; an empty span asks for
  // nothing. `ended`: the peer sends no more.
  struct moved {
    std::size_t sent = 0;
    std::size_t received = 0;
    bool ended = false;
  };
  moved move(std::span<const std::byte> out, std::span<std::byte> in);
  // The same for sending, and for receiving, without waiting.
  std::size_t write_some(std::span<const std::byte> out);
  std::size_t read_some(std::span<std::byte> in, bool& ended);

  // Tells the peer that nothing follows; reading goes on.
  void end_writing();

  // For poll(), by whoever has many (exchange/hub.hpp).
  [[nodiscard]] int descriptor() const noexcept { return socket_; }

  // Starts the clock of patience::total again.
  void set_patience(patience limits);

  [[nodiscard]] std::uint64_t bytes_sent() const noexcept { return sent_; }
  [[nodiscard]] std::uint64_t bytes_received() const noexcept { return received_; }

 private:
  using clock = std::chrono::steady_clock;

  void wait(short events);

  int socket_ = -1;
  patience limits_;
  clock::time_point started_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

// Two ends of a connection inside this process.
std::pair<channel, channel> pipe_pair(patience limits = {});

// An address is HOST:PORT or [IPV6]:PORT. Throws errc::bad_argument on other text, errc::io when
// the name is unknown, nobody listens there, or the patience for the first answer (idle) ends.
channel connect(const std::string& address, patience limits = {});
// The same without waiting for the other host, though perhaps for the name's address: whether it
// answers is known when the socket can be written to, and failed_to_connect then says why not.
channel start_connecting(const std::string& address, patience limits = {});
[[nodiscard]] std::string failed_to_connect(const channel& started);

// Accepts connections at an address; "*:PORT" is every address of this host, port 0 a free port.
class listener {
 public:
  explicit listener(const std::string& address);
  listener(listener&& other) noexcept;
  listener& operator=(listener&& other) noexcept;
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  ~listener();

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] int descriptor() const noexcept { return socket_; }
  // Whether only this host can connect.
  [[nodiscard]] bool is_loopback() const noexcept;

  // Waits for a peer, for at most `wait` (zero: for ever), then errc::io.
  channel accept(patience limits = {}, std::chrono::milliseconds wait = {});
  // The same, but nothing when nobody came.
  std::optional<channel> try_accept(patience limits, std::chrono::milliseconds wait);

 private:
  std::string address_;
  int socket_ = -1;
  std::uint16_t port_ = 0;
};

struct message {
  std::uint8_t type = 0;
  std::vector<std::byte> payload;
};

// Messages over a channel:
//
//     type (1 byte) | length of the payload (4) | payload | checksum (4)
//
// Numbers are little-endian. The checksum: the low half of XXH3(payload, seed type + 256 * length).
class message_channel {
 public:
  static constexpr std::size_t header_bytes = 5;
  static constexpr std::size_t checksum_bytes = 4;
  static constexpr std::size_t overhead_bytes = header_bytes + checksum_bytes;
  // While more than this waits to be sent, has_room() is false.
  static constexpr std::size_t outbox_bytes = std::size_t{1} << 20U;

  explicit message_channel(channel bytes) : bytes_(std::move(bytes)) {}

  // Never waits. That the peer has gone is an error of the next receive(), flush() or finish().
  // The payload has less than 2^32 bytes, else errc::bad_argument.
  void send(std::uint8_t type, std::span<const std::byte> payload);

  // The next message, of at most `limit` bytes. Meanwhile sends what waits in the outbox.
  message receive(std::size_t limit);
  // Waits for the next message and leaves it for receive(). So a listener can have less patience
  // with strangers than with a peer that has begun to speak the protocol.
  void await(std::size_t limit);
  // The next message if all of it has come, without waiting; and what is left to send, likewise.
  std::optional<message> try_receive(std::size_t limit);
  void try_send();
  [[nodiscard]] std::size_t waiting_bytes() const noexcept { return outbox_.size() - taken_; }
  // For long streams both ways: returns a message, or nothing once there is room in the outbox.
  std::optional<message> receive_or_room(std::size_t limit);
  [[nodiscard]] bool has_room() const noexcept { return outbox_.size() - taken_ < outbox_bytes; }

  // Waits until all is handed to the system. It reads nothing, so two sides that both have much to
  // send must not both call it.
  void flush();
  // Sends all and waits until the peer has also finished; both sides call it at the end, because
  // one that closes early destroys bytes on their way. errc::corrupt when another message comes.
  void finish();

  [[nodiscard]] const channel& bytes() const noexcept { return bytes_; }
  void set_patience(patience limits) { bytes_.set_patience(limits); }
  // Bytes of messages so far, also of those that still wait in the outbox.
  [[nodiscard]] std::uint64_t bytes_sent() const noexcept {
    return bytes_.bytes_sent() + (outbox_.size() - taken_);
  }
  [[nodiscard]] std::uint64_t bytes_received() const noexcept { return bytes_.bytes_received(); }
  [[nodiscard]] std::uint64_t messages_sent() const noexcept { return messages_sent_; }
  [[nodiscard]] std::uint64_t messages_received() const noexcept { return messages_received_; }

 private:
  void drop_sent(std::size_t bytes);
  void make_room();
  void step(std::size_t limit);
  void take_in(std::size_t received, bool ended, std::size_t limit);
  [[nodiscard]] bool complete() const noexcept;
  message take();

  channel bytes_;
  std::vector<std::byte> outbox_;  // the first taken_ bytes of it are sent
  std::size_t taken_ = 0;
  std::vector<std::byte> inbox_;  // one message, of which got_ bytes have come
  std::size_t got_ = 0;
  std::size_t wanted_ = 0;  // the length of that message; 0 until its header is there
  std::uint64_t messages_sent_ = 0;
  std::uint64_t messages_received_ = 0;
};

}  // namespace bloomery
