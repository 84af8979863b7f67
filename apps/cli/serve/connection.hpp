// The bytes of one connection, plain or by TLS, without waiting: who calls is told what to wait
// for. And the log of what was answered.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace bloomery::cli {

enum class io_state : std::uint8_t { moved, wants_read, wants_write, ended };
struct io_result {
  io_state state = io_state::ended;
  std::size_t bytes = 0;
};

// A certificate and its key, from files in PEM. Throws errc::io, and errc::unsupported in a program
// that was built without OpenSSL.
class tls_identity {
 public:
  tls_identity(const std::string& certificate, const std::string& key_file);
  tls_identity(const tls_identity&) = delete;
  tls_identity& operator=(const tls_identity&) = delete;
  ~tls_identity();

  [[nodiscard]] void* context() const { return context_; }

 private:
  void* context_ = nullptr;
};

// The socket stays its owner's.
class connection_bytes {
 public:
  connection_bytes(int socket, std::shared_ptr<const tls_identity> tls);
  connection_bytes(const connection_bytes&) = delete;
  connection_bytes& operator=(const connection_bytes&) = delete;
  ~connection_bytes();

  [[nodiscard]] bool encrypted() const { return session_ != nullptr; }
  io_result shake_hands();
  io_result read(std::span<char> to);
  io_result write(std::span<const iovec> pieces);

 private:
  io_result after_tls(int returned) const;

  int socket_;
  std::shared_ptr<const tls_identity> tls_;
  void* session_ = nullptr;
};

// Lines as web servers write them ("common" form, then the microseconds). The query of a target is
// left out: it may be a key, which is nobody's business. Lines that cannot be written are lost, and
// the first of them is reported, once until the log is opened anew.
class access_log {
 public:
  // "-" is standard output, nothing is no log.
  access_log(std::string path, std::function<void(const std::string&)> report);
  access_log(const access_log&) = delete;
  access_log& operator=(const access_log&) = delete;
  ~access_log();

  struct entry {
    std::string_view client;
    std::string_view method;
    std::string_view target;
    unsigned status = 0;
    std::uint64_t bytes = 0;
    std::uint64_t microseconds = 0;
  };
  [[nodiscard]] bool wanted() const { return !path_.empty(); }
  void add(const entry& e);
  void flush();
  void reopen();  // after somebody renamed it; throws errc::io

 private:
  std::string path_;
  std::function<void(const std::string&)> report_;
  int fd_ = -1;
  std::mutex mutex_;
  std::string waiting_;
  bool cut_ = false;   // the last line there is a part of one
  bool told_ = false;  // that it cannot be written
};

}  // namespace bloomery::cli
