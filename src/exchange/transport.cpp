// The one place of exchange/ that calls the system: sockets that never block, and poll() to wait.
#include "bloomery/exchange/transport.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>

#include "bloomery/core/error.hpp"

namespace bloomery {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

[[noreturn]] void throw_io(const std::string& what, int reason) {
  throw error(errc::io, what + ": " + std::generic_category().message(reason));
}

// On Linux EWOULDBLOCK is the same number.
bool later(int reason) { return reason == EAGAIN || reason == EINTR; }

// The most bytes of one system call, so that a signal or the end of patience is soon noticed.
constexpr std::size_t largest_piece = std::size_t{1} << 20U;

// poll() until the deadline, of which time_point::max() is none; false at the deadline.
bool poll_until(int socket, short events, steady_clock::time_point deadline) {
  for (;;) {
    int timeout = -1;
    if (deadline != steady_clock::time_point::max()) {
      // Rounded up: poll(0) over and over in the last millisecond would be a busy loop.
      const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now()).count();
      if (left <= 0) return false;
      timeout = static_cast<int>(std::min<milliseconds::rep>(left, 3'600'000));
    }
    pollfd waiting{.fd = socket, .events = events, .revents = 0};
    const int ready = ::poll(&waiting, 1, timeout);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) throw_io("waiting for the peer", errno);
  }
}

steady_clock::time_point after(steady_clock::time_point start, milliseconds span) {
  if (span <= milliseconds::zero()) return steady_clock::time_point::max();
  return start + std::min(span, milliseconds(std::chrono::hours(24 * 365)));
}

std::string in_seconds(milliseconds span) {
  return detail::to_text(static_cast<double>(span.count()) / 1000) + " s";
}

struct host_port {
  std::string host;  // empty for every address
  std::string port;
};

host_port parse_address(const std::string& address) {
  const auto refuse = [&]() -> host_port {
    throw error(
        errc::bad_argument,
        "'" + address + "' is no address: HOST:PORT, or [IPV6]:PORT, with a port from 0 to 65535");
  };
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || address.find('\0') != std::string::npos) return refuse();
  host_port parsed{.host = address.substr(0, colon), .port = address.substr(colon + 1)};
  const bool digits = std::all_of(parsed.port.begin(), parsed.port.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || parsed.port.empty() || parsed.port.size() > 5) return refuse();
  if (std::stoul(parsed.port) > 65535) return refuse();
  if (parsed.host.size() > 2 && parsed.host.front() == '[' && parsed.host.back() == ']') {
    parsed.host = parsed.host.substr(1, parsed.host.size() - 2);
  } else if (parsed.host.empty() || parsed.host.find_first_of(":[]") != std::string::npos) {
    return refuse();
  }
  if (parsed.host == "*") parsed.host.clear();
  return parsed;
}

using address_list = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

address_list look_up(const std::string& address, const host_port& parsed, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(parsed.host.empty() ? nullptr : parsed.host.c_str(),
                                   parsed.port.c_str(), &hints, &found);
  if (failed != 0) throw error(errc::io, address + ": " + ::gai_strerror(failed));
  return {found, &::freeaddrinfo};
}

class owned_socket {  // a socket that closes itself unless it is released
 public:
  explicit owned_socket(int fd) : fd_(fd) {}
  owned_socket(owned_socket&& other) noexcept : fd_(other.release()) {}
  owned_socket& operator=(owned_socket&&) = delete;
  owned_socket(const owned_socket&) = delete;
  owned_socket& operator=(const owned_socket&) = delete;
  ~owned_socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

constexpr int stream_flags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

// Our messages are whole; waiting for more to fill a packet would only cost round trips.
void send_at_once(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// Returns 0, or the system's number for the reason.
int connect_to(int socket, const addrinfo& to, steady_clock::time_point deadline) {
  if (::connect(socket, to.ai_addr, to.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS && errno != EINTR) return errno;
  if (!poll_until(socket, POLLOUT, deadline)) return ETIMEDOUT;
  int reason = 0;
  socklen_t size = sizeof reason;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &reason, &size) != 0) return errno;
  return reason;
}

std::uint16_t port_of(int socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  if (bound.ss_family == AF_INET) return ntohs(reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
  return ntohs(reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port);
}

}  // namespace

// ---- channel ----------------------------------------------------------------------------------

channel::channel(int socket, patience limits)
    : socket_(socket), limits_(limits), started_(clock::now()) {}

channel::channel(channel&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      limits_(other.limits_),
      started_(other.started_),
      sent_(other.sent_),
      received_(other.received_) {}

channel& channel::operator=(channel&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(limits_, other.limits_);
  std::swap(started_, other.started_);
  std::swap(sent_, other.sent_);
  std::swap(received_, other.received_);
  return *this;
}

channel::~channel() {
  if (socket_ >= 0) ::close(socket_);
}

void channel::set_patience(patience limits) {
  limits_ = limits;
  started_ = clock::now();
}

void channel::wait(short events) {
  const auto idle = after(clock::now(), limits_.idle);
  const auto total = after(started_, limits_.total);
  if (poll_until(socket_, events, std::min(idle, total))) return;
  if (total <= idle) {
    throw error(errc::io, "the peer is too slow: not done after " + in_seconds(limits_.total));
  }
  throw error(errc::io, "the peer is silent: nothing moved for " + in_seconds(limits_.idle));
}

std::size_t channel::write_some(std::span<const std::byte> out) {
  if (out.empty()) return 0;
  const std::size_t piece = std::min(out.size(), largest_piece);
  const ssize_t count = ::send(socket_, out.data(), piece, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count < 0) {
    if (later(errno)) return 0;
    if (errno == EPIPE || errno == ECONNRESET)
      throw error(errc::io, "the peer closed the connection");
    throw_io("sending to the peer", errno);
  }
  sent_ += static_cast<std::uint64_t>(count);
  return static_cast<std::size_t>(count);
}

std::size_t channel::read_some(std::span<std::byte> in, bool& ended) {
  if (in.empty()) return 0;
  const std::size_t piece = std::min(in.size(), largest_piece);
  const ssize_t count = ::recv(socket_, in.data(), piece, MSG_DONTWAIT);
  if (count < 0) {
    if (later(errno)) return 0;
    if (errno == ECONNRESET) throw error(errc::io, "the peer closed the connection");
    throw_io("receiving from the peer", errno);
  }
  ended = count == 0;
  received_ += static_cast<std::uint64_t>(count);
  return static_cast<std::size_t>(count);
}

channel::moved channel::move(std::span<const std::byte> out, std::span<std::byte> in) {
  moved done;
  if (out.empty() && in.empty()) return done;
  short events = 0;
  if (!out.empty()) events = static_cast<short>(events | POLLOUT);
  if (!in.empty()) events = static_cast<short>(events | POLLIN);
  while (done.sent == 0 && done.received == 0 && !done.ended) {
    done.received = read_some(in, done.ended);
    if (done.ended) break;
    try {
      done.sent = write_some(out);
    } catch (const error&) {
      if (done.received == 0) throw;  // the peer has gone, but what it said before comes first
    }
    if (done.sent == 0 && done.received == 0) wait(events);
  }
  // Slow progress would otherwise never come to wait().
  if (limits_.total > milliseconds::zero() && clock::now() > after(started_, limits_.total)) {
    throw error(errc::io, "the peer is too slow: not done after " + in_seconds(limits_.total));
  }
  return done;
}

void channel::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) bytes = bytes.subspan(move(bytes, {}).sent);
}

void channel::read(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const moved done = move({}, bytes);
    if (done.ended) throw error(errc::io, "the peer closed the connection");
    bytes = bytes.subspan(done.received);
  }
}

// The connection is another afterwards: not const.
void channel::end_writing() {  // NOLINT(readability-make-member-function-const)
  if (::shutdown(socket_, SHUT_WR) != 0 && errno != ENOTCONN)
    throw_io("ending the connection", errno);
}

// ---- making channels --------------------------------------------------------------------------

std::pair<channel, channel> pipe_pair(patience limits) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, stream_flags, 0, ends.data()) != 0) {
    throw_io("making a pair of sockets", errno);
  }
  return {channel(ends[0], limits), channel(ends[1], limits)};
}

channel connect(const std::string& address, patience limits) {
  const host_port parsed = parse_address(address);
  const address_list all = look_up(address, parsed, 0);
  int reason = EADDRNOTAVAIL;
  for (const addrinfo* to = all.get(); to != nullptr; to = to->ai_next) {
    owned_socket made(::socket(to->ai_family, stream_flags, 0));
    if (made.get() < 0) {
      reason = errno;
      continue;
    }
    reason = connect_to(made.get(), *to, after(steady_clock::now(), limits.idle));
    if (reason != 0) continue;
    send_at_once(made.get());
    return channel(made.release(), limits);
  }
  throw_io(address + ": connecting failed", reason);
}

channel start_connecting(const std::string& address, patience limits) {
  const address_list all = look_up(address, parse_address(address), 0);
  owned_socket made(::socket(all->ai_family, stream_flags, 0));
  if (made.get() < 0) throw_io(address + ": connecting failed", errno);
  const int failed = ::connect(made.get(), all->ai_addr, all->ai_addrlen);
  if (failed != 0 && errno != EINPROGRESS && errno != EINTR) {
    throw_io(address + ": connecting failed", errno);
  }
  send_at_once(made.get());
  return channel(made.release(), limits);
}

std::string failed_to_connect(const channel& started) {
  int reason = 0;
  socklen_t size = sizeof reason;
  if (::getsockopt(started.descriptor(), SOL_SOCKET, SO_ERROR, &reason, &size) != 0) reason = errno;
  return reason == 0 ? std::string() : std::generic_category().message(reason);
}

bool listener::is_loopback() const noexcept {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return false;
  if (bound.ss_family == AF_INET) {
    const auto* const four = reinterpret_cast<const sockaddr_in*>(&bound);
    return ntohl(four->sin_addr.s_addr) >> 24U == 127U;
  }
  const auto* const six = reinterpret_cast<const sockaddr_in6*>(&bound);
  return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr) != 0;
}

listener::listener(const std::string& address) : address_(address) {
  const host_port parsed = parse_address(address);
  const address_list all = look_up(address, parsed, AI_PASSIVE);
  int reason = EADDRNOTAVAIL;
  for (const addrinfo* at = all.get(); at != nullptr; at = at->ai_next) {
    owned_socket made(::socket(at->ai_family, stream_flags, 0));
    const int on = 1;
    if (made.get() < 0) {
      reason = errno;
      continue;
    }
    ::setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(made.get(), at->ai_addr, at->ai_addrlen) != 0 ||
        ::listen(made.get(), SOMAXCONN) != 0) {
      reason = errno;
      continue;
    }
    port_ = port_of(made.get());
    socket_ = made.release();
    return;
  }
  throw_io(address + ": listening failed", reason);
}

listener::listener(listener&& other) noexcept
    : address_(std::move(other.address_)),
      socket_(std::exchange(other.socket_, -1)),
      port_(other.port_) {}

listener& listener::operator=(listener&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(socket_, other.socket_);
  std::swap(port_, other.port_);
  return *this;
}

listener::~listener() {
  if (socket_ >= 0) ::close(socket_);
}

channel listener::accept(patience limits, milliseconds wait) {
  if (auto made = try_accept(limits, wait)) return *std::move(made);
  throw error(errc::io, address_ + ": nobody connected for " + in_seconds(wait));
}

std::optional<channel> listener::try_accept(patience limits, milliseconds wait) {
  const auto deadline = after(steady_clock::now(), wait);
  for (;;) {
    if (!poll_until(socket_, POLLIN, deadline)) return std::nullopt;
    const int made = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (made >= 0) {
      send_at_once(made);
      return channel(made, limits);
    }
    // A peer that closes its connection before we accept it is no reason to stop listening.
    if (!later(errno) && errno != ECONNABORTED)
      throw_io(address_ + ": accepting a connection failed", errno);
  }
}

}  // namespace bloomery
