// bloomery queue: Stochastic Fair Blue before a real link, through netfilter's queues.
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <unordered_map>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/random_seed.hpp"
#include "bloomery/hash/secret_hasher.hpp"
#include "bloomery/measure/congestion_mark.hpp"
#include "bloomery/measure/fair_queue.hpp"
#include "bloomery/measure/flow_key.hpp"
#include "cli/args/options.hpp"
#include "cli/input/nfqueue.hpp"
#include "cli/output/plot.hpp"
#include "cli/output/queue_report.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

using clock = std::chrono::steady_clock;

struct queue_arguments {
  std::uint32_t number = 0;
  std::string rate;
  std::uint32_t limit = 1000;
  std::uint32_t levels = 8;
  std::uint32_t bins = 16;
  std::uint32_t bin_packets = 8;
  std::string turn = "10s";
  std::string duration;
  std::string plot_target;
  bool fifo = false;
  bool no_ecn = false;
  bool quiet = false;
  bool json = false;
};

// 10mbit, 1.5gbit, 500kbit or 1250000 bits a second, as tc writes them.
double parse_bit_rate(const std::string& text) {
  struct unit {
    std::string_view name;
    double bits;
  };
  constexpr std::array<unit, 4> units = {{{"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}, {"bit", 1}}};
  std::string lower = text;
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  for (const unit& u : units) {
    if (!lower.ends_with(u.name)) continue;
    const std::string number = lower.substr(0, lower.size() - u.name.size());
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    if (!number.empty() && *end == '\0' && value * u.bits >= 8 && value * u.bits <= 1e12) {
      return value * u.bits / 8;
    }
    break;
  }
  throw error(errc::bad_argument,
              fmt::format("'{}' is no rate; write it like 10mbit, 1.5gbit or 500kbit", text));
}

fair_queue_options options_of(const queue_arguments& o) {
  fair_queue_options q{
      .bytes_per_second = parse_bit_rate(o.rate), .limit_packets = o.limit, .fair = !o.fifo};
  q.blue.levels = o.levels;
  q.blue.bins = o.bins;
  q.blue.bin_packets = o.bin_packets;
  q.blue.turn = std::chrono::seconds(parse_span(o.turn));
  q.blue.warm_up = q.blue.turn * 3 / 10;
  q.blue.seed = random_seed();
  return q;
}

// Signals as something to poll, so that what is held is released before the program ends.
class ending {
 public:
  ending() {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&wanted, number);
    ::pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
    fd_ = ::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd_ < 0) throw error(errc::io, fmt::format("signals: {}", std::strerror(errno)));
  }
  ending(const ending&) = delete;
  ending& operator=(const ending&) = delete;
  ~ending() { ::close(fd_); }
  [[nodiscard]] int descriptor() const { return fd_; }

 private:
  int fd_;
};

class queue_runner {
 public:
  explicit queue_runner(const queue_arguments& o)
      : o_(&o), queue_(options_of(o)), kernel_(static_cast<std::uint16_t>(o.number)) {}

  void run() {
    const queue_time limit = o_->duration.empty()
                                 ? queue_time::max()
                                 : queue_time(std::chrono::seconds(parse_span(o_->duration)));
    if (!o_->quiet) {
      tell("bloomery: queue {} at {}; Ctrl-C ends it and releases what waits\n", o_->number,
           o_->rate);
    }
    queue_time next_second = std::chrono::seconds(1);
    for (bool stop = false; !stop;) {
      stop = wait(next_second);
      kernel_.receive([&](const nfqueue::packet& p) { arrived(p); });
      release_due();
      const queue_time now = elapsed();
      stop = stop || now >= limit;
      if (now >= next_second && !stop) {  // the last one follows when nothing waits any more
        tick(now);
        next_second = std::max(next_second + std::chrono::seconds(1), now);
      }
    }
    const queue_time now = elapsed();
    while (const auto p = queue_.flush(now)) send(*p);
    tick(now);
  }

  void report() const {
    const std::string picture =
        o_->plot_target.empty() ? "" : plot(report_.picture(), o_->plot_target);
    if (o_->json) print_json(report_.json(queue_));
    write_output(picture);
    if (!o_->quiet) tell("{}", report_.sum(queue_));
  }

 private:
  [[nodiscard]] queue_time elapsed() const { return clock::now() - start_; }

  // Until something comes, a packet is due or the second is over; true when a signal came.
  bool wait(queue_time next_second) {
    queue_time until = next_second;
    if (const auto due = queue_.due()) until = std::min(until, *due);
    const auto left = std::max<std::int64_t>(0, (until - elapsed()).count());
    const timespec time{.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
    std::array<pollfd, 2> all = {{{.fd = kernel_.descriptor(), .events = POLLIN, .revents = 0},
                                  {.fd = end_.descriptor(), .events = POLLIN, .revents = 0}}};
    ::ppoll(all.data(), all.size(), &time, nullptr);
    return all[1].revents != 0;
  }

  void arrived(const nfqueue::packet& p) {
    const auto bytes = static_cast<std::uint32_t>(p.bytes.size());
    // What has no flow of its own, such as what is no IP, is one flow together.
    const flow_key key = flow_key::of(parse_ip(p.bytes, bytes), {}).value_or(flow_key());
    const std::uint64_t flow = hash_.bytes(key.bytes().data(), key.bytes().size());
    const bool names = o_->json || !o_->plot_target.empty();
    report_.came(flow, names ? key.text() : "", bytes);
    const packet_fate fate = queue_.offer({.id = p.id,
                                           .bytes = bytes,
                                           .flow = flow,
                                           .can_mark = !o_->no_ecn && can_mark_congestion(p.bytes)},
                                          elapsed());
    if (is_dropped(fate)) {
      kernel_.drop(p.id);
    } else if (fate == packet_fate::mark) {
      std::vector<std::byte> changed(p.bytes.begin(), p.bytes.end());
      mark_congestion(changed);
      marked_[p.id] = std::move(changed);
    }
    release_due();  // a flood must not keep what is due from leaving
  }

  void release_due() {
    while (const auto p = queue_.release(elapsed())) send(*p);
  }

  void send(const released_packet& p) {
    report_.left(p);
    const auto id = static_cast<std::uint32_t>(p.id);
    const auto changed = marked_.find(id);
    if (changed == marked_.end()) return kernel_.accept(id);
    kernel_.accept_changed(id, changed->second);
    marked_.erase(changed);
  }

  void tick(queue_time now) {
    const queue_second& s = report_.tick(queue_, std::chrono::duration<double>(now).count(),
                                         kernel_.dropped_by_kernel());
    if (o_->quiet || o_->json) return;
    if (lines_++ % 20 == 0) write_output(queue_report::heading());
    write_output(queue_report::line(s));
  }

  const queue_arguments* o_;
  clock::time_point start_ = clock::now();
  fair_queue queue_;
  nfqueue kernel_;
  ending end_;
  secret_hasher hash_{random_seed()};
  std::unordered_map<std::uint32_t, std::vector<std::byte>> marked_;
  queue_report report_;
  std::uint64_t lines_ = 0;
};

void run_queue(const queue_arguments& o) {
  check_plot(o.plot_target, o.json);
  queue_runner runner(o);
  runner.run();
  runner.report();
}

}  // namespace

void add_queue(command& app, int& /*status*/) {
  auto o = std::make_shared<queue_arguments>();
  command* verb = app.add_subcommand(
      "queue", "Put a fair queue before a link: no flow takes the share of others");
  verb->add_option("--nfqueue", o->number, "The number of netfilter's queue")
      ->required()
      ->between(0, 65535)
      ->type_name("N");
  verb->add_option("--rate", o->rate, "The rate of the link: 10mbit, 1.5gbit, 500kbit")
      ->required()
      ->type_name("RATE");
  verb->add_option("--limit", o->limit, "The packets that may wait (default 1000)")
      ->between(1, 100'000)
      ->type_name("N");
  verb->add_flag("--fifo", o->fifo, "A plain queue, to compare: drops what does not fit");
  verb->add_flag("--no-ecn", o->no_ecn, "Drop packets that could be marked");
  verb->group_options("The algorithm");
  verb->add_option("--levels", o->levels, "Hash functions, each with its own bins (default 8)")
      ->between(1, 32)
      ->type_name("N");
  verb->add_option("--bins", o->bins, "Bins of each level (default 16)")
      ->between(2, 65536)
      ->type_name("N");
  verb->add_option("--bin-packets", o->bin_packets,
                   "A bin with so many packets is full (default 8)")
      ->between(1, 100'000)
      ->type_name("N");
  verb->add_option("--turn", o->turn,
                   "How long a set of hash functions decides until the next (default 10s)")
      ->type_name("TIME");
  verb->group_options("Output");
  verb->add_option("--for", o->duration, "End after this time, such as 30s or 1h")
      ->type_name("TIME");
  verb->add_flag("--json", o->json, "Print the sum and each second as JSON at the end");
  add_plot(*verb, o->plot_target);
  add_quiet(*verb, o->quiet);
  verb->footer(
      "Needs root, and a rule that sends packets here:\n"
      "  iptables -A FORWARD -o eth0 -j NFQUEUE --queue-num 1 --queue-bypass\n\n"
      "With --queue-bypass they pass while this program does not run. The rate counts IP packets "
      "and must be below that of the real link, or packets wait there and not here.\n\n"
      "Example:\n  bloomery queue --nfqueue 1 --rate 10mbit\n"
      "  bloomery queue --nfqueue 1 --rate 10mbit --for 1m --plot shares.svg");
  verb->callback([o] { run_queue(*o); });
}

}  // namespace bloomery::cli
