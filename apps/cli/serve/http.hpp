// HTTP as the routes of `serve` see it: a request, the reply to it, and what headers say. No
// sockets, so that tests and fuzzers call the routes like functions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomery::cli {

// The fields that a route looks at; the others are not kept.
struct http_request {
  std::string method = {};
  std::string target = {};  // as it came: /path?query, or absolute
  std::string accept = {};
  std::string authorization = {};
  std::string content_encoding = {};
  std::string content_type = {};
  std::string if_none_match = {};
  std::string if_range = {};
  std::string range = {};

  void clear();
};

// A file that is read while it is sent: unlike a mapped one it may be overwritten meanwhile.
class open_file {
 public:
  explicit open_file(int fd) : fd_(fd) {}
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file();
  [[nodiscard]] int descriptor() const { return fd_; }

 private:
  int fd_;
};

struct http_reply {
  unsigned status = 200;
  std::string type = {};
  std::string fields = {};  // further header lines, each with its end
  std::string body = {};
  // Instead of `body`: bytes that `owner` keeps, or a piece of a file.
  std::span<const std::byte> bytes = {};
  std::shared_ptr<const void> owner = {};
  std::shared_ptr<const open_file> file = {};
  std::uint64_t file_from = 0;
  std::uint64_t file_bytes = 0;
  // After so many bytes of the body, wait (see squid_pause).
  std::size_t pause_after = 0;

  void add(std::string_view name, std::string_view value);
  [[nodiscard]] std::uint64_t length() const;
};

// What a route throws to answer with an error: {"error": "..."}.
class http_error : public std::runtime_error {
 public:
  http_error(unsigned status, const std::string& what, std::string fields = {})
      : std::runtime_error(what), status_(status), fields_(std::move(fields)) {}
  [[nodiscard]] unsigned status() const { return status_; }
  [[nodiscard]] const std::string& fields() const { return fields_; }

 private:
  unsigned status_;
  std::string fields_;
};
[[nodiscard]] http_reply error_reply(unsigned status, std::string_view what);
[[nodiscard]] http_reply error_reply(const http_error& e);

struct http_plan;

// Takes the body of a request piece by piece, and writes what is answered meanwhile.
class body_reader {
 public:
  body_reader() = default;
  body_reader(const body_reader&) = delete;
  body_reader& operator=(const body_reader&) = delete;
  virtual ~body_reader() = default;

  // Both throw http_error. What they append to `out` is the next piece of the reply.
  virtual void feed(std::string_view piece, std::string& out) = 0;
  // Where the reply was not written on the way, it is what this returns.
  virtual std::optional<http_plan> finish(std::string& out) = 0;
};

// Which part of the server answered, for the counters.
enum class http_route : std::uint8_t {
  other,
  page,
  list,
  filter,
  delta,
  check,
  add,
  digest,
  mirror,
  metrics,
  health,
};
inline constexpr std::size_t http_routes = 11;
[[nodiscard]] std::string_view route_name(http_route route);

// How a request is answered: with `reply`; or with what `work` returns, which may take long and
// runs in another thread; or by `body`, with `reply` as the head of what that writes.
struct http_plan {
  http_route route = http_route::other;
  http_reply reply = {};
  std::function<http_reply()> work = {};
  std::unique_ptr<body_reader> body = {};
};

// ---- what headers and targets say --------------------------------------------------------------

[[nodiscard]] std::string_view status_text(unsigned status);
// The header of a reply, with the empty line.
struct reply_manners {
  bool keep_alive = true;
  bool sized = true;  // the length is known; else the body is chunked or ends with the connection
  bool chunked = false;
  std::string_view date = {};
};
void append_head(std::string& to, const http_reply& r, const reply_manners& m);
[[nodiscard]] std::string http_date(std::int64_t seconds);  // Tue, 18 Nov 2026 02:09:00 GMT

// Throws http_error(400) for a % without two digits.
[[nodiscard]] std::string percent_decoded(std::string_view text, bool plus_is_space = false);
[[nodiscard]] std::string percent_encoded(std::string_view text);  // for one segment of a path

struct http_target {
  std::string_view path;
  std::string_view query;
};
[[nodiscard]] http_target split_target(std::string_view target);
// The value of a parameter; nothing when it is not there. Throws http_error(400) when it is twice.
[[nodiscard]] std::optional<std::string> query_value(std::string_view query, std::string_view name);

// Which of the offered types the Accept header wants most; the first of equals, nullopt for none.
[[nodiscard]] std::optional<std::size_t> preferred_type(
    std::string_view accept, std::initializer_list<std::string_view> offered);
[[nodiscard]] bool same_word(std::string_view a, std::string_view b);  // whatever the case
// The media type without its parameters.
[[nodiscard]] std::string_view media_type(std::string_view content_type);

[[nodiscard]] bool matches_etag(std::string_view if_none_match, std::string_view etag);

struct byte_range {
  std::uint64_t from = 0;
  std::uint64_t bytes = 0;
};
enum class range_kind : std::uint8_t { whole, part, unsatisfiable };
// One range; several, and units that nobody knows, mean the whole.
[[nodiscard]] std::pair<range_kind, byte_range> parse_range(std::string_view range,
                                                            std::uint64_t length);

// Bytes that have a strong ETag: whole, in part (Range), or not again (If-None-Match).
[[nodiscard]] http_reply tagged_reply(const http_request& q, const std::string& etag,
                                      std::string_view type, std::span<const std::byte> bytes,
                                      std::shared_ptr<const void> owner);

// Whether two secrets are the same, in a time that does not depend on where they differ.
[[nodiscard]] bool same_secret(std::string_view given, std::string_view kept);

}  // namespace bloomery::cli
