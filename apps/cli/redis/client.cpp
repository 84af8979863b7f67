#include "cli/redis/client.hpp"

#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace bloomery::cli {

namespace {

constexpr std::size_t most_items = 65536;                         // of one array
constexpr std::size_t most_reply_bytes = std::size_t{24} << 20U;  // of one reply
constexpr std::size_t flush_bytes = std::size_t{256} << 10U;

// ---- replies as hiredis builds them: `parent` is where the reply belongs, in an existing array.
// hiredis is C, so nothing may be thrown; null means no memory, which ends the connection.

redis_reply* place_for(const redisReadTask* task) noexcept {
  if (task->parent == nullptr) return new (std::nothrow) redis_reply;
  auto& items = static_cast<redis_reply*>(task->parent->obj)->items;
  const auto index = static_cast<std::size_t>(task->idx);
  return index < items.size() ? &items[index] : nullptr;
}

template <class Fill>
void* made(const redisReadTask* task, Fill fill) noexcept {
  redis_reply* const r = place_for(task);
  if (r == nullptr) return nullptr;
  try {
    fill(*r);
    return r;
  } catch (const std::exception&) {
    if (task->parent == nullptr) delete r;
    return nullptr;
  }
}

redisReplyObjectFunctions reply_functions() {
  using type = redis_reply::type;
  redisReplyObjectFunctions f{};
  f.createString = [](const redisReadTask* task, char* text, std::size_t size) {
    return made(task, [&](redis_reply& r) {
      r.kind = task->type == REDIS_REPLY_ERROR ? type::error : type::text;
      r.text.assign(text, size);
    });
  };
  // The size is an int or a size_t, depending on the version of hiredis.
  f.createArray = [](const redisReadTask* task, auto size) {
    return made(task, [&](redis_reply& r) {
      if (static_cast<std::size_t>(size) > most_items) throw std::bad_alloc();
      r.kind = type::array;
      r.items.resize(static_cast<std::size_t>(size));
    });
  };
  f.createInteger = [](const redisReadTask* task, long long number) {
    return made(task, [&](redis_reply& r) {
      r.kind = type::integer;
      r.number = number;
    });
  };
  f.createNil = [](const redisReadTask* task) { return made(task, [](redis_reply&) {}); };
  f.freeObject = [](void* object) { delete static_cast<redis_reply*>(object); };
  return f;
}

// ---- addresses

std::uint16_t parse_port(std::string_view text, std::string_view whole) {
  std::uint16_t port = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (problem != std::errc() || end != text.data() + text.size() || port == 0) {
    throw error(errc::bad_argument,
                fmt::format("{}: the port is {}, but must be from 1 to 65535", whole, text));
  }
  return port;
}

std::string decoded(std::string_view text, std::string_view whole) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned byte = 0;
    const char* const digits = text.data() + i + 1;
    if (i + 2 >= text.size() || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) {
      throw error(errc::bad_argument,
                  fmt::format("{}: after a % there must be two hexadecimal digits", whole));
    }
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

redis_address parse_address(std::string_view text, std::string_view whole) {
  redis_address a;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) {
      throw error(errc::bad_argument, fmt::format("{}: the address has no ]", whole));
    }
    a.host = text.substr(1, end - 1);
    port = text.substr(end + 1);
  } else {
    const std::size_t colon = text.rfind(':');
    a.host = text.substr(0, colon);
    if (colon != std::string_view::npos) port = text.substr(colon);
  }
  if (a.host.empty()) throw error(errc::bad_argument, fmt::format("{}: there is no host", whole));
  if (!port.empty()) a.port = parse_port(port.substr(1), whole);
  return a;
}

timeval as_timeval(std::chrono::milliseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  timeval t{};
  t.tv_sec = static_cast<decltype(t.tv_sec)>(seconds.count());
  t.tv_usec = static_cast<decltype(t.tv_usec)>(
      std::chrono::duration_cast<std::chrono::microseconds>(time - seconds).count());
  return t;
}

}  // namespace

std::string redis_address::text() const {
  const bool brackets = host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", brackets ? "[" : "", host, brackets ? "]" : "", port);
}

redis_url parse_redis_url(std::string_view text) {
  constexpr std::string_view scheme = "redis://";
  redis_url url;
  if (const char* const secret = std::getenv("REDISCLI_AUTH")) url.password = secret;
  if (text.find("://") == std::string_view::npos) {
    url.server = parse_address(text, text);
    return url;
  }
  // Messages do not contain the text, because it may have a password.
  if (!text.starts_with(scheme)) {
    throw error(errc::bad_argument, "the server's URL must begin with redis://");
  }
  std::string_view rest = text.substr(scheme.size());
  std::string_view query;
  if (const std::size_t mark = rest.find('?'); mark != std::string_view::npos) {
    query = rest.substr(mark + 1);
    rest = rest.substr(0, mark);
  }
  std::string_view authority = rest.substr(0, rest.find('/'));
  if (authority.size() < rest.size()) {
    url.key = decoded(rest.substr(authority.size() + 1), "the key of the URL");
  }
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    const std::string_view login = authority.substr(0, at);
    const std::size_t colon = login.find(':');
    url.user = decoded(login.substr(0, colon), "the user of the URL");
    if (colon != std::string_view::npos) {
      url.password = decoded(login.substr(colon + 1), "the password of the URL");
    }
    authority = authority.substr(at + 1);
  }
  url.server = parse_address(authority, authority);
  if (query.empty()) return url;
  const std::string_view number = query.starts_with("db=") ? query.substr(3) : "";
  const auto [end, problem] =
      std::from_chars(number.data(), number.data() + number.size(), url.database);
  if (number.empty() || problem != std::errc() || end != number.data() + number.size()) {
    throw error(errc::bad_argument,
                fmt::format("after the key there may be ?db=NUMBER, not ?{}", query));
  }
  return url;
}

// ---- the connection

void redis_connection::closer::operator()(redisContext* c) const noexcept { redisFree(c); }

redis_connection::redis_connection(const redis_address& server, const redis_url& where,
                                   std::chrono::milliseconds timeout)
    : server_(server) {
  static redisReplyObjectFunctions functions = reply_functions();
  const timeval limit = as_timeval(timeout);
  context_.reset(redisConnectWithTimeout(server.host.c_str(), server.port, limit));
  if (context_ == nullptr) throw std::bad_alloc();
  if (context_->err != 0) lose("connecting", context_->errstr);
  if (redisSetTimeout(context_.get(), limit) != REDIS_OK) lose("connecting", context_->errstr);
  context_->reader->fn = &functions;
  log_in(where);
}

redis_connection::~redis_connection() = default;

void redis_connection::lose(std::string_view doing, std::string_view why) const {
  throw redis_lost(fmt::format("{}: {} failed: {}", server_.text(), doing, why));
}

void redis_connection::log_in(const redis_url& where) {
  const auto demand = [&](const redis_reply& r, std::string_view what) {
    if (r.is_error("LOADING")) throw redis_lost(fmt::format("{}: {}", server_.text(), r.text));
    if (r.is_error()) {
      throw error(errc::io, fmt::format("{}: {}: {}", server_.text(), what, r.text));
    }
  };
  if (!where.user.empty()) {
    demand(call({"AUTH", where.user, where.password}), "logging in");
  } else if (!where.password.empty()) {
    demand(call({"AUTH", where.password}), "logging in");
  }
  if (where.database != 0) {
    demand(call({"SELECT", std::to_string(where.database)}), "choosing the database");
  }
}

void redis_connection::append(words command) {
  fmt::format_to(std::back_inserter(out_), "*{}\r\n", command.size());
  for (const std::string_view word : command) {
    fmt::format_to(std::back_inserter(out_), "${}\r\n", word.size());
    if (word.size() > flush_bytes) {  // a long word is sent without a copy
      flush();
      send_all(word);
    } else {
      out_ += word;
    }
    out_ += "\r\n";
  }
  if (out_.size() > flush_bytes) flush();
}

void redis_connection::flush() {
  send_all(out_);
  out_.clear();
}

void redis_connection::send_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(context_->fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) lose("sending", "the server takes nothing more");
    if (sent < 0) lose("sending", std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

redis_reply redis_connection::read() {
  std::array<char, 65536> buffer;
  std::size_t received = 0;
  for (;;) {
    void* object = nullptr;
    if (redisReaderGetReply(context_->reader, &object) != REDIS_OK) {
      throw error(errc::io, fmt::format("{}: it does not speak as a Redis server does: {}",
                                        server_.text(), context_->reader->errstr));
    }
    if (object != nullptr) {
      const std::unique_ptr<redis_reply> reply(static_cast<redis_reply*>(object));
      return std::move(*reply);
    }
    if (received > most_reply_bytes) lose("reading a reply", "it is longer than 24 MiB");
    const ssize_t got = ::recv(context_->fd, buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) lose("reading a reply", "the server does not answer");
    if (got < 0) lose("reading a reply", std::strerror(errno));
    if (got == 0) lose("reading a reply", "the server closed the connection");
    received += static_cast<std::size_t>(got);
    redisReaderFeed(context_->reader, buffer.data(), static_cast<std::size_t>(got));
  }
}

redis_reply redis_connection::call(words command) {
  append(command);
  flush();
  return read();
}

}  // namespace bloomery::cli
