// A session is a machine with few states, driven by "can read" and "can write" of its socket. All
// sessions of a thread read into one buffer of that thread, and keep only what they could not use
// yet: so ten thousand idle connections cost what their objects do, and a long body passes through
// without being kept.
//
//     header -> (body <-> reply) or (work -> reply) or reply -> header ... -> closed
//
// Beast's parser finds the parts of requests. It is stricter than most; what it lets pass is
// refused in request_parser.
#include "cli/serve/server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <csignal>
#include <deque>
#include <optional>
#include <thread>
#include <unordered_set>
#include <vector>

#include "bloomery/core/error.hpp"
#include "cli/serve/connection.hpp"
#include "cli/serve/site_files.hpp"

namespace bloomery::cli {

namespace {

namespace net = boost::asio;
namespace http = boost::beast::http;
using boost::beast::string_view;
using tcp = net::ip::tcp;
using error_code = boost::system::error_code;
using clock = std::chrono::steady_clock;

constexpr std::uint32_t most_header_bytes = 16 << 10U;
constexpr std::size_t buffer_bytes = std::size_t{64} << 10U;
constexpr std::size_t write_at_once = std::size_t{256} << 10U;
constexpr std::chrono::milliseconds tick{250};

std::string_view as_view(string_view s) { return {s.data(), s.size()}; }

// Fills in a request, and hands the body on.
class request_parser final : public http::basic_parser<true> {
 public:
  request_parser(http_request& q, std::function<bool(std::string_view)> body)
      : request_(&q), take_body_(std::move(body)) {
    header_limit(most_header_bytes);
    body_limit(boost::none);  // routes have limits of their own
  }

  [[nodiscard]] bool expects_continue() const { return expects_continue_; }
  [[nodiscard]] int version() const { return version_; }
  // What Beast lets pass and nobody should; nothing when the request is sound.
  [[nodiscard]] std::optional<http_error> complaint() const {
    if (codings_ > 1 || odd_coding_) return http_error(501, "the one transfer coding is chunked");
    if (hosts_ > 1 || (hosts_ == 0 && version_ >= 11)) return http_error(400, "one Host is needed");
    return std::nullopt;
  }

 private:
  void on_request_impl(http::verb, string_view method, string_view target, int version,
                       error_code&) override {
    request_->method = as_view(method);
    request_->target = as_view(target);
    version_ = version;
  }
  void on_response_impl(int, string_view, int, error_code&) override {}
  void on_field_impl(http::field name, string_view, string_view value, error_code&) override {
    if (is_header_done()) return;  // a trailer
    const std::string_view text = as_view(value);
    const auto join = [&](std::string& list) {
      if (!list.empty()) list += ", ";
      list += text;
    };
    switch (name) {
      case http::field::accept: join(request_->accept); break;
      case http::field::if_none_match: join(request_->if_none_match); break;
      case http::field::authorization: request_->authorization = text; break;
      case http::field::content_encoding: request_->content_encoding = text; break;
      case http::field::content_type: request_->content_type = text; break;
      case http::field::if_range: request_->if_range = text; break;
      case http::field::range: request_->range = text; break;
      case http::field::host: ++hosts_; break;
      case http::field::expect: expects_continue_ = same_word(text, "100-continue"); break;
      case http::field::transfer_encoding:
        ++codings_;
        odd_coding_ = odd_coding_ || !same_word(text, "chunked");
        break;
      default: break;
    }
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view body, error_code& ec) override { return take(body, ec); }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code& ec) override {
    return take(body, ec);
  }
  void on_finish_impl(error_code&) override {}

  std::size_t take(string_view body, error_code& ec) {
    if (!take_body_(as_view(body))) ec = net::error::operation_aborted;
    return body.size();
  }

  http_request* request_;
  std::function<bool(std::string_view)> take_body_;
  int version_ = 11;
  unsigned hosts_ = 0;
  unsigned codings_ = 0;
  bool odd_coding_ = false;
  bool expects_continue_ = false;
};

unsigned status_of(const error_code& ec) {
  if (ec == http::error::header_limit) return 431;
  if (ec == http::error::bad_version) return 505;
  return 400;
}

void work_in_the_background() {
  thread_local const int once =
      ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10);  // answering goes first
  static_cast<void>(once);
}

class session;

struct shared_parts {
  routes* answers;
  serve_counters* counters;
  server_options options;
  access_log log;
  std::mutex tls_mutex;
  std::shared_ptr<const tls_identity> tls;
  net::thread_pool* workers = nullptr;

  shared_parts(routes& a, serve_counters& c, server_options o)
      : answers(&a), counters(&c), options(std::move(o)), log(options.log, options.report) {
    read_certificate();
  }
  void read_certificate() {
    if (options.certificate.empty()) return;
    auto fresh = std::make_shared<const tls_identity>(options.certificate, options.key_file);
    const std::lock_guard lock(tls_mutex);
    tls = std::move(fresh);
  }
  std::shared_ptr<const tls_identity> identity() {
    const std::lock_guard lock(tls_mutex);
    return tls;
  }
};

// A thread, its sessions, and what they share.
struct lane {
  std::unordered_set<session*> sessions;  // first: those that `io` still has end with that
  net::io_context io{1};
  net::steady_timer timer{io};
  shared_parts* parts = nullptr;
  std::vector<char> buffer = std::vector<char>(buffer_bytes);
  bool stopping = false;
  std::time_t date_of = 0;
  std::string date;

  std::string_view date_now() {
    const std::time_t now = std::time(nullptr);
    if (now != date_of) {
      date_of = now;
      date = http_date(now);
    }
    return date;
  }
  void begin_ticks();
  void stop();
  void end_all();
};

class session : public std::enable_shared_from_this<session> {
 public:
  session(lane& l, tcp::socket socket)
      : lane_(&l),
        parts_(l.parts),
        socket_(std::move(socket)),
        bytes_(socket_.native_handle(), l.parts->identity()) {
    lane_->sessions.insert(this);
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session() {
    lane_->sessions.erase(this);
    --parts_->counters->connections;
  }

  void start() {
    phase_ = bytes_.encrypted() ? phase::handshake : phase::header;
    deadline_ = clock::now() + parts_->options.header_time;
    go();
  }

  void check_deadline(clock::time_point now) {
    if (phase_ == phase::closed || now < deadline_) return;
    if (phase_ != phase::drain && !idle()) ++parts_->counters->timeouts;
    close();
  }
  void stop_when_idle() {
    if (idle()) close();
  }
  void close() {
    if (std::exchange(phase_, phase::closed) == phase::closed) return;
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  enum class phase : std::uint8_t { handshake, header, body, work, reply, pause, drain, closed };

  [[nodiscard]] bool idle() const { return phase_ == phase::header && !parser_ && kept_.empty(); }

  void wait_for(tcp::socket::wait_type what) {
    socket_.async_wait(what, [self = shared_from_this()](const error_code& ec) {
      if (!ec) self->go();
    });
  }
  // False when there is nothing to do until the socket is ready, or ever.
  bool moved(const io_result& r) {
    switch (r.state) {
      case io_state::moved: return true;
      case io_state::wants_read: wait_for(tcp::socket::wait_read); return false;
      case io_state::wants_write: wait_for(tcp::socket::wait_write); return false;
      case io_state::ended: close(); return false;
    }
    return false;
  }

  void go() {
    try {
      step();
    } catch (const std::exception& e) {  // no memory; the others go on
      parts_->options.report(e.what());
      close();
    }
  }

  void step() {
    // Fair: after some rounds others have their turn.
    for (int round = 0; round < 32; ++round) {
      switch (phase_) {
        case phase::handshake:
          if (!moved(bytes_.shake_hands())) return;
          phase_ = phase::header;
          break;
        case phase::header:
        case phase::body:
          if (!receive()) return;
          break;
        case phase::reply:
          if (!send()) return;
          break;
        case phase::drain:
          if (!discard()) return;
          break;
        case phase::work:
        case phase::pause:
        case phase::closed: return;
      }
    }
    net::post(lane_->io, [self = shared_from_this()] { self->go(); });
  }

  // ---- what comes -------------------------------------------------------------------------------

  bool receive() {
    if (!kept_.empty() && !hungry_) {
      const std::string before = std::move(kept_);
      kept_.clear();
      const std::size_t used = feed(before);
      kept_.insert(0, before, used);
      return true;
    }
    if (std::exchange(exhausted_, false)) {
      wait_for(tcp::socket::wait_read);
      return false;
    }
    const io_result r = bytes_.read(lane_->buffer);
    if (!moved(r)) return false;
    // A socket that gave less than it could has no more; asking again would cost a call.
    exhausted_ = !bytes_.encrypted() && r.bytes < lane_->buffer.size();
    parts_->counters->bytes_received.fetch_add(r.bytes, std::memory_order_relaxed);
    moved_bytes_ += r.bytes;
    const std::string_view fresh(lane_->buffer.data(), r.bytes);
    hungry_ = false;
    if (kept_.empty()) {
      kept_ = fresh.substr(feed(fresh));
    } else {
      kept_ += fresh;
      kept_.erase(0, feed(kept_));
    }
    // Of a body only what stands between its pieces waits to be whole: sizes, extensions, trailers.
    if (hungry_ && phase_ == phase::body && kept_.size() > most_header_bytes) {
      refuse(error_reply(400, "there is too much between the pieces of the body"));
      return true;
    }
    if (phase_ == phase::body) set_deadline();
    return true;
  }

  // Returns how many of the bytes were used.
  std::size_t feed(std::string_view in) {
    std::size_t used = 0;
    while (used < in.size() && (phase_ == phase::header || phase_ == phase::body)) {
      if (!parser_) begin_request();
      error_code ec;
      const std::size_t n = parser_->put(net::buffer(in.data() + used, in.size() - used), ec);
      used += n;
      if (ec == http::error::need_more || (!ec && n == 0)) {
        hungry_ = true;
        break;
      }
      if (ec) {
        refuse(failure_ ? *std::exchange(failure_, std::nullopt)
                        : error_reply(status_of(ec), "no request of HTTP/1.1: " + ec.message()));
        break;
      }
      if (phase_ == phase::header && parser_->is_header_done()) on_header();
      if (phase_ == phase::body && parser_->is_done()) on_body_end();
      if (phase_ == phase::body && out_.size() >= buffer_bytes) stream();
    }
    return used;
  }

  void begin_request() {
    request_.clear();
    parser_.emplace(request_, [this](std::string_view piece) { return on_body(piece); });
    deadline_ = clock::now() + parts_->options.header_time;
    moved_bytes_ = 0;
  }

  void on_header() {
    begun_ = clock::now();
    keep_alive_ = parser_->keep_alive() && !lane_->stopping;
    set_deadline();
    if (const auto complaint = parser_->complaint()) return refuse(error_reply(*complaint));
    plan_ = parts_->answers->answer(request_);
    if (plan_.body) {
      parser_->eager(true);
      phase_ = phase::body;
      if (parser_->expects_continue() && !parser_->is_done()) {
        constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
        const iovec piece{.iov_base = const_cast<char*>(go_on.data()), .iov_len = go_on.size()};
        static_cast<void>(bytes_.write({&piece, 1}));  // the first bytes of a reply always fit
      }
      return;
    }
    // A body that nobody wants: the connection ends with the reply instead of reading it.
    if (!parser_->is_done()) keep_alive_ = false;
    follow(std::move(plan_));
  }

  bool on_body(std::string_view piece) {
    if (!plan_.body) return true;
    try {
      plan_.body->feed(piece, out_);
      return true;
    } catch (const std::exception& e) {
      failure_ = routes::failed(e);
      return false;
    }
  }

  void on_body_end() {
    try {
      auto next = plan_.body->finish(out_);
      if (next) return follow(*std::move(next));
    } catch (const std::exception& e) {
      return refuse(routes::failed(e));
    }
    complete_ = true;
    if (streaming_) return stream();
    http_reply r = std::move(plan_.reply);
    r.body = std::exchange(out_, {});
    reply_with(std::move(r));
  }

  void follow(http_plan plan) {
    route_ = plan.route;
    if (!plan.work) return reply_with(std::move(plan.reply));
    phase_ = phase::work;
    deadline_ = clock::time_point::max();
    net::post(*parts_->workers, [self = shared_from_this(), work = std::move(plan.work)]() mutable {
      work_in_the_background();
      http_reply r;
      try {
        r = work();
      } catch (const std::exception& e) {
        r = routes::failed(e);
      }
      work = nullptr;
      net::io_context& io = self->lane_->io;
      net::post(io, [done = std::move(self), r = std::move(r)]() mutable {
        if (done->phase_ != phase::work) return;
        done->slack_from_ = clock::now();
        done->reply_with(std::move(r));
        done->go();
      });
    });
  }

  // An error, after which nothing that comes can be trusted to be a request.
  void refuse(http_reply r) {
    keep_alive_ = false;
    unread_ = true;
    if (streaming_) return close();  // the reply is under way, and its missing end says it
    reply_with(std::move(r));
  }

  // ---- what goes --------------------------------------------------------------------------------

  void reply_with(http_reply r) {
    if (plan_.body) route_ = plan_.route;
    plan_ = {};
    status_ = r.status;
    keep_alive_ = keep_alive_ && !lane_->stopping;
    const bool bare = request_.method == "HEAD" || r.status == 204 || r.status == 304;
    append_head(head_, r, {.keep_alive = keep_alive_, .date = lane_->date_now()});
    pause_after_ = bare ? 0 : r.pause_after;
    if (!bare && !r.file && !r.owner) head_ += r.body;
    reply_ = std::move(r);
    if (bare) {
      reply_.owner = nullptr;
      reply_.file = nullptr;
    }
    body_sent_ = 0;
    complete_ = true;
    phase_ = phase::reply;
    set_deadline();
  }

  // A piece of a reply whose length nobody knows yet.
  void stream() {
    const bool chunks = parser_->version() >= 11;
    if (!std::exchange(streaming_, true)) {
      keep_alive_ = keep_alive_ && chunks;
      status_ = plan_.reply.status;
      route_ = plan_.route;
      append_head(head_, plan_.reply,
                  {.keep_alive = keep_alive_,
                   .sized = false,
                   .chunked = chunks,
                   .date = lane_->date_now()});
    }
    if (chunks && !out_.empty()) fmt::format_to(std::back_inserter(head_), "{:x}\r\n", out_.size());
    head_ += out_;
    if (chunks && !out_.empty()) head_ += "\r\n";
    if (chunks && complete_) head_ += "0\r\n\r\n";
    out_.clear();
    phase_ = phase::reply;
    set_deadline();
  }

  bool send() {
    std::array<iovec, 2> pieces{};
    const std::size_t head_left = head_.size() - head_sent_;
    pieces[0] = {.iov_base = head_.data() + head_sent_, .iov_len = head_left};
    pieces[1] = next_piece(head_left);
    if (head_left + pieces[1].iov_len == 0) return end_reply();
    const io_result r = bytes_.write(pieces);
    if (!moved(r)) return false;
    parts_->counters->bytes_sent.fetch_add(r.bytes, std::memory_order_relaxed);
    moved_bytes_ += r.bytes;
    sent_ += r.bytes;
    const std::size_t of_head = std::min(r.bytes, head_left);
    head_sent_ += of_head;
    body_sent_ += r.bytes - of_head;
    set_deadline();
    if (pause_after_ != 0 && body_sent_ == pause_after_) {
      pause();
      return false;
    }
    return true;
  }

  // What comes after the head; of a file only when the head has gone, since it is read each time.
  iovec next_piece(std::size_t head_left) {
    if (reply_.owner) {
      const std::uint64_t end = pause_after_ != 0 ? pause_after_ : reply_.bytes.size();
      const std::size_t left = static_cast<std::size_t>(end - body_sent_);
      const std::byte* const at = reply_.bytes.data() + body_sent_;
      return {.iov_base = const_cast<std::byte*>(at), .iov_len = std::min(left, write_at_once)};
    }
    if (!reply_.file || head_left != 0 || body_sent_ == reply_.file_bytes) return {};
    const std::uint64_t left = reply_.file_bytes - body_sent_;
    const ssize_t got =
        ::pread(reply_.file->descriptor(), lane_->buffer.data(),
                static_cast<std::size_t>(std::min<std::uint64_t>(left, lane_->buffer.size())),
                static_cast<off_t>(reply_.file_from + body_sent_));
    if (got <= 0) {  // it became shorter than was promised
      keep_alive_ = false;
      return {};
    }
    return {.iov_base = lane_->buffer.data(), .iov_len = static_cast<std::size_t>(got)};
  }

  void pause() {
    pause_after_ = 0;
    phase_ = phase::pause;
    auto timer = std::make_shared<net::steady_timer>(lane_->io, squid_pause);
    timer->async_wait([self = shared_from_this(), timer](const error_code&) {
      if (self->phase_ != phase::pause) return;
      self->phase_ = phase::reply;
      self->go();
    });
  }

  // True when there is something else to do.
  bool end_reply() {
    if (head_.capacity() > buffer_bytes) head_ = {};
    head_.clear();
    head_sent_ = 0;
    if (streaming_ && !complete_) {
      phase_ = phase::body;
      return true;
    }
    // A request that was refused before its header had ended did not begin.
    const auto took = begun_ == clock::time_point() ? clock::duration() : clock::now() - begun_;
    const double seconds = std::chrono::duration<double>(took).count();
    parts_->counters->count(route_, status_, seconds);
    if (parts_->log.wanted()) write_log(seconds);
    const bool unread = unread_ || (parser_ && !parser_->is_done());
    reply_ = {};
    plan_ = {};
    parser_.reset();
    streaming_ = complete_ = unread_ = hungry_ = false;
    sent_ = 0;
    begun_ = slack_from_ = {};
    route_ = http_route::other;
    if (!keep_alive_) {
      linger(unread);
      return phase_ == phase::drain;
    }
    phase_ = phase::header;
    deadline_ = clock::now() + parts_->options.idle_time;
    if (lane_->stopping && kept_.empty()) close();
    return phase_ != phase::closed;
  }

  void write_log(double seconds) {
    error_code ignored;
    const auto peer = socket_.remote_endpoint(ignored);
    const std::string client = ignored ? "-" : peer.address().to_string();
    parts_->log.add({.client = client,
                     .method = request_.method,
                     .target = request_.target,
                     .status = status_,
                     .bytes = sent_,
                     .microseconds = static_cast<std::uint64_t>(seconds * 1e6)});
  }

  // A close while bytes are unread resets the connection, and the client may lose the reply. So the
  // end is said first, and what still comes is thrown away for a moment.
  void linger(bool unread) {
    if (!unread || bytes_.encrypted()) return close();
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    kept_.clear();
    phase_ = phase::drain;
    deadline_ = clock::now() + std::chrono::seconds(2);
  }
  bool discard() { return moved(bytes_.read(lane_->buffer)); }

  void set_deadline() {
    const auto now = clock::now();
    const auto from = std::max(begun_, slack_from_);
    deadline_ = request_deadline(parts_->options, from == clock::time_point() ? now : from, now,
                                 moved_bytes_);
  }

  lane* lane_;
  shared_parts* parts_;
  tcp::socket socket_;
  connection_bytes bytes_;
  phase phase_ = phase::header;
  clock::time_point deadline_ = {};

  std::string kept_;        // bytes that the parser could not use yet
  bool hungry_ = false;     // it wants more of them first
  bool exhausted_ = false;  // the socket had no more
  http_request request_;
  std::optional<request_parser> parser_;
  http_plan plan_;
  std::optional<http_reply> failure_;  // of the body, inside the parser
  std::string out_;                    // what the body's reader has answered

  std::string head_;  // of the reply, or a piece of one that is streamed
  std::size_t head_sent_ = 0;
  http_reply reply_;
  std::uint64_t body_sent_ = 0;
  std::size_t pause_after_ = 0;
  bool streaming_ = false;
  bool complete_ = false;  // all of the reply is known
  bool keep_alive_ = true;
  bool unread_ = false;

  http_route route_ = http_route::other;
  unsigned status_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t moved_bytes_ = 0;  // of this request, in both directions
  clock::time_point begun_ = {};
  clock::time_point slack_from_ = {};  // when work ended, which is not the client's time
};

void lane::begin_ticks() {
  timer.expires_after(tick);
  timer.async_wait([this](const error_code& ec) {
    if (ec) return;
    parts->log.flush();
    const auto now = clock::now();
    // Closing ends a session only after this, when its handlers have run.
    for (session* s : std::vector<session*>(sessions.begin(), sessions.end())) {
      s->check_deadline(now);
    }
    begin_ticks();
  });
}

void lane::stop() {
  stopping = true;
  for (session* s : std::vector<session*>(sessions.begin(), sessions.end())) s->stop_when_idle();
}

void lane::end_all() {
  for (session* s : std::vector<session*>(sessions.begin(), sessions.end())) s->close();
}

}  // namespace

class http_server::inside {
 public:
  inside(const listener& door, routes& answers, serve_counters& counters, server_options o)
      : parts_(answers, counters, std::move(o)),
        lanes_(std::max(1U, parts_.options.threads)),
        later_(lanes_.front().io) {
    parts_.workers = &workers_;
    for (lane& l : lanes_) l.parts = &parts_;
    sockaddr_storage own{};
    socklen_t length = sizeof own;
    ::getsockname(door.descriptor(), reinterpret_cast<sockaddr*>(&own), &length);
    const int fd = ::fcntl(door.descriptor(), F_DUPFD_CLOEXEC, 0);
    ::listen(fd, 4096);
    acceptor_.emplace(lanes_.front().io, own.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), fd);
    acceptor_->non_blocking(true);
    allow_many_files();
  }

  void run() {
    ::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): OpenSSL writes without MSG_NOSIGNAL
    signals_.emplace(lanes_.front().io, SIGTERM, SIGINT, SIGHUP);
    await_signal();
    accept();
    std::vector<std::thread> threads;
    for (lane& l : lanes_) l.begin_ticks();
    for (std::size_t i = 1; i < lanes_.size(); ++i) {
      threads.emplace_back([&l = lanes_[i]] { l.io.run(); });
    }
    lanes_.front().io.run();
    for (std::thread& t : threads) t.join();
    workers_.stop();
    workers_.join();
  }

 private:
  static void allow_many_files() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }

  void accept() {
    lane& l = lanes_[next_lane_++ % lanes_.size()];
    acceptor_->async_accept(l.io, [this, &l](const error_code& ec, tcp::socket socket) {
      if (!acceptor_->is_open()) return;
      if (ec) return accept_later();
      take(l, std::move(socket));
      accept();
    });
  }
  void accept_later() {  // no descriptor is left, most likely
    later_.expires_after(std::chrono::milliseconds(100));
    later_.async_wait([this](const error_code& ec) {
      if (!ec && acceptor_->is_open()) accept();
    });
  }

  void take(lane& l, tcp::socket socket) {
    serve_counters& c = *parts_.counters;
    ++c.connections_total;
    error_code ignored;
    socket.non_blocking(true, ignored);
    if (c.connections >= parts_.options.connections) {
      ++c.connections_refused;
      constexpr std::string_view full =
          "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n"
          "Connection: close\r\n\r\n";
      if (parts_.options.certificate.empty()) {
        static_cast<void>(::send(socket.native_handle(), full.data(), full.size(), MSG_NOSIGNAL));
      }
      return;
    }
    ++c.connections;
    socket.set_option(tcp::no_delay(true), ignored);
    net::post(l.io, [&l, s = std::move(socket)]() mutable {
      std::shared_ptr<session> fresh;
      try {
        fresh = std::make_shared<session>(l, std::move(s));
      } catch (const std::exception& e) {
        --l.parts->counters->connections;
        return l.parts->options.report(e.what());
      }
      fresh->start();
    });
  }

  template <typename Step>
  void try_to(Step step) {
    try {
      step();
    } catch (const error& e) {
      parts_.options.report(e.what());
    }
  }

  void await_signal() {
    signals_->async_wait([this](const error_code& ec, int number) {
      if (ec) return;
      if (number == SIGHUP) {
        // A log that cannot be opened is no reason to go on with an old certificate.
        try_to([this] { parts_.log.reopen(); });
        try_to([this] { parts_.read_certificate(); });
      } else {
        if (stopping_) return end();
        stop();
      }
      await_signal();
    });
  }

  void stop() {
    stopping_ = true;
    stop_by_ = clock::now() + parts_.options.grace;
    error_code ignored;
    acceptor_->close(ignored);
    for (lane& l : lanes_) net::post(l.io, [&l] { l.stop(); });
    await_end();
  }
  void await_end() {
    if (parts_.counters->connections == 0 || clock::now() >= stop_by_) return end();
    later_.expires_after(std::chrono::milliseconds(20));
    later_.async_wait([this](const error_code& ec) {
      if (!ec) await_end();
    });
  }
  void end() {
    for (lane& l : lanes_) {
      net::post(l.io, [&l] {
        l.end_all();
        l.io.stop();
      });
    }
  }

  shared_parts parts_;
  std::deque<lane> lanes_;
  std::optional<tcp::acceptor> acceptor_;
  std::optional<net::signal_set> signals_;
  std::size_t next_lane_ = 0;
  bool stopping_ = false;
  clock::time_point stop_by_ = {};
  net::steady_timer later_;
  net::thread_pool workers_{4};  // last: what it has not done holds sessions
};

// The door's own descriptor goes, so that nobody connects once the acceptor is closed.
http_server::http_server(listener door, routes& answers, serve_counters& counters, server_options o)
    : inside_(std::make_unique<inside>(door, answers, counters, std::move(o))) {}
http_server::~http_server() = default;
void http_server::run() { inside_->run(); }

}  // namespace bloomery::cli
