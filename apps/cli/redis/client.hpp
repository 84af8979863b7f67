// One connection to a Redis server. hiredis connects and parses. Replies are treated as hostile:
// they have limits, and everything in them is checked before it is used.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/core/error.hpp"

struct redisContext;

namespace bloomery::cli {

struct redis_address {
  std::string host;
  std::uint16_t port = 6379;

  [[nodiscard]] std::string text() const;
  friend auto operator<=>(const redis_address&, const redis_address&) = default;
};

// The parts of redis://user:password@host:port/key?db=3, percent-decoded. Keys may have slashes.
struct redis_url {
  redis_address server;
  std::string user;
  std::string password;  // that of $REDISCLI_AUTH when there is none
  std::uint32_t database = 0;
  std::string key;
};
// Throws errc::bad_argument. HOST and HOST:PORT alone are accepted, too, without a key.
[[nodiscard]] redis_url parse_redis_url(std::string_view text);

struct redis_reply {
  enum class type : std::uint8_t { text, error, integer, nil, array };
  type kind = type::nil;
  std::int64_t number = 0;
  std::string text;  // of strings, states and errors
  std::vector<redis_reply> items;

  [[nodiscard]] bool is_error() const noexcept { return kind == type::error; }
  [[nodiscard]] bool is_error(std::string_view start) const noexcept {
    return is_error() && text.starts_with(start);
  }
};

// The connection was lost or could not be made. Commands that were sent may have been executed.
class redis_lost : public error {
 public:
  explicit redis_lost(const std::string& what) : error(errc::io, what) {}
};

class redis_connection {
 public:
  using words = std::span<const std::string_view>;

  // Connects to `server` and authenticates; `where.server` is ignored. Throws redis_lost when
  // nobody answers and errc::io when the server refuses the password or the database.
  redis_connection(const redis_address& server, const redis_url& where,
                   std::chrono::milliseconds timeout);
  redis_connection(const redis_connection&) = delete;
  redis_connection& operator=(const redis_connection&) = delete;
  ~redis_connection();

  // Any number of commands may be sent before replies are read, which come in the same order.
  void append(words command);
  void flush();
  redis_reply read();  // the next reply; throws redis_lost, or errc::io when it is malformed
  redis_reply call(words command);
  redis_reply call(std::initializer_list<std::string_view> command) {
    return call(words(command.begin(), command.size()));
  }

  [[nodiscard]] const redis_address& server() const noexcept { return server_; }

 private:
  struct closer {
    void operator()(redisContext* c) const noexcept;
  };
  [[noreturn]] void lose(std::string_view doing, std::string_view why) const;
  void log_in(const redis_url& where);
  void send_all(std::string_view bytes);

  redis_address server_;
  std::unique_ptr<redisContext, closer> context_;
  std::string out_;
};

}  // namespace bloomery::cli
