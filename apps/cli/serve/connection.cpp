#include "cli/serve/connection.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <limits>
#include <system_error>
#include <utility>

#include "bloomery/core/error.hpp"
#include "cli/output/text.hpp"
#include "cli/serve/http.hpp"
#ifdef BLOOMERY_HAS_TLS
#include <openssl/err.h>
#include <openssl/ssl.h>
#endif

namespace bloomery::cli {

#ifdef BLOOMERY_HAS_TLS

tls_identity::tls_identity(const std::string& certificate, const std::string& key_file) {
  SSL_CTX* const made = SSL_CTX_new(TLS_server_method());
  if (made == nullptr) throw error(errc::no_memory, "TLS cannot be set up");
  context_ = made;
  const auto must = [&](int done, const std::string& file) {
    if (done == 1) return;
    const unsigned long code = ERR_get_error();
    SSL_CTX_free(made);
    const char* const reason = ERR_reason_error_string(code);
    throw error(errc::io, fmt::format("{}: {}", file, reason != nullptr ? reason : "unreadable"));
  };
  SSL_CTX_set_min_proto_version(made, TLS1_2_VERSION);
  SSL_CTX_set_options(made, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(made, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                             SSL_MODE_RELEASE_BUFFERS);
  must(SSL_CTX_use_certificate_chain_file(made, certificate.c_str()), certificate);
  must(SSL_CTX_use_PrivateKey_file(made, key_file.c_str(), SSL_FILETYPE_PEM), key_file);
  must(SSL_CTX_check_private_key(made), key_file);
}

tls_identity::~tls_identity() { SSL_CTX_free(static_cast<SSL_CTX*>(context_)); }

connection_bytes::connection_bytes(int socket, std::shared_ptr<const tls_identity> tls)
    : socket_(socket), tls_(std::move(tls)) {
  if (tls_ == nullptr) return;
  SSL* const session = SSL_new(static_cast<SSL_CTX*>(tls_->context()));
  if (session == nullptr) throw error(errc::no_memory, "TLS cannot be set up");
  SSL_set_fd(session, socket);
  SSL_set_accept_state(session);
  session_ = session;
}

connection_bytes::~connection_bytes() {
  if (session_ != nullptr) SSL_free(static_cast<SSL*>(session_));
}

io_result connection_bytes::after_tls(int returned) const {
  if (returned > 0) return {io_state::moved, static_cast<std::size_t>(returned)};
  switch (SSL_get_error(static_cast<SSL*>(session_), returned)) {
    case SSL_ERROR_WANT_READ: return {io_state::wants_read, 0};
    case SSL_ERROR_WANT_WRITE: return {io_state::wants_write, 0};
    default: return {io_state::ended, 0};
  }
}

io_result connection_bytes::shake_hands() {
  ERR_clear_error();
  return after_tls(SSL_accept(static_cast<SSL*>(session_)));
}

#else

tls_identity::tls_identity(const std::string&, const std::string&) {
  throw error(errc::unsupported, "this program was built without TLS; put a proxy before it");
}
tls_identity::~tls_identity() = default;
connection_bytes::connection_bytes(int socket, std::shared_ptr<const tls_identity> tls)
    : socket_(socket), tls_(std::move(tls)) {}
connection_bytes::~connection_bytes() = default;
io_result connection_bytes::after_tls(int) const { return {}; }
io_result connection_bytes::shake_hands() { return {}; }

#endif

namespace {

io_result after_call(ssize_t returned, io_state when_full) {
  if (returned > 0) return {io_state::moved, static_cast<std::size_t>(returned)};
  const bool later = returned < 0 && (errno == EAGAIN || errno == EINTR);
  return {later ? when_full : io_state::ended, 0};
}

}  // namespace

io_result connection_bytes::read(std::span<char> to) {
#ifdef BLOOMERY_HAS_TLS
  if (session_ != nullptr) {
    ERR_clear_error();
    return after_tls(SSL_read(static_cast<SSL*>(session_), to.data(), static_cast<int>(to.size())));
  }
#endif
  return after_call(::recv(socket_, to.data(), to.size(), 0), io_state::wants_read);
}

io_result connection_bytes::write(std::span<const iovec> pieces) {
#ifdef BLOOMERY_HAS_TLS
  if (session_ != nullptr) {
    const auto first = std::ranges::find_if(pieces, [](const iovec& p) { return p.iov_len != 0; });
    if (first == pieces.end()) return {io_state::moved, 0};
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
    ERR_clear_error();
    return after_tls(SSL_write(static_cast<SSL*>(session_), first->iov_base,
                               static_cast<int>(std::min(first->iov_len, most))));
  }
#endif
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());  // sendmsg changes nothing there
  message.msg_iovlen = pieces.size();
  return after_call(::sendmsg(socket_, &message, MSG_NOSIGNAL), io_state::wants_write);
}

access_log::access_log(std::string path, std::function<void(const std::string&)> report)
    : path_(std::move(path)), report_(std::move(report)) {
  reopen();
}

access_log::~access_log() {
  flush();
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

void access_log::reopen() {
  if (path_.empty()) return;
  flush();
  const int fresh = path_ == "-"
                        ? STDOUT_FILENO
                        : ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
  if (fresh < 0) {
    throw error(errc::io, fmt::format("{}: {}", path_, std::generic_category().message(errno)));
  }
  const std::lock_guard lock(mutex_);
  if (fd_ > STDERR_FILENO) ::close(fd_);
  fd_ = fresh;
  cut_ = told_ = false;
}

void access_log::add(const entry& e) {
  const std::time_t now = std::time(nullptr);
  std::tm t{};
  ::gmtime_r(&now, &t);
  std::array<char, 40> when{};
  const std::size_t length = std::strftime(when.data(), when.size(), "%d/%b/%Y:%H:%M:%S +0000", &t);
  const std::string_view path = e.target.substr(0, e.target.find_first_of("?#"));
  std::string line = fmt::format("{} - - [{}] \"{} {}\" {} {} {}\n", e.client,
                                 std::string_view(when.data(), length), e.method, escaped(path),
                                 e.status, e.bytes, e.microseconds);
  bool full = false;
  {
    const std::lock_guard lock(mutex_);
    waiting_ += line;
    full = waiting_.size() > (std::size_t{64} << 10U);
  }
  if (full) flush();
}

void access_log::flush() {
  const std::lock_guard lock(mutex_);
  if (cut_ && !waiting_.empty()) waiting_.insert(0, "\n");
  std::string_view rest = waiting_;
  while (!rest.empty() && fd_ >= 0) {
    const ssize_t done = ::write(fd_, rest.data(), rest.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {  // a full disk is no reason to stop answering
      if (!std::exchange(told_, true)) {
        report_(fmt::format("warning: {}: {}; requests are missing in it from now on", path_,
                            std::generic_category().message(errno)));
      }
      break;
    }
    const auto written = static_cast<std::size_t>(done);
    cut_ = rest[written - 1] != '\n';
    rest.remove_prefix(written);
  }
  waiting_.clear();
}

}  // namespace bloomery::cli
