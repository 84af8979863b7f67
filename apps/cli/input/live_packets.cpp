// The only place that knows libpcap. Files are read without it (measure/capture.hpp).
#include "cli/input/live_packets.hpp"

#include <fmt/format.h>
#include <pcap/pcap.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <csignal>
#include <memory>

#include "bloomery/core/error.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

using open_capture = std::unique_ptr<pcap_t, decltype(&pcap_close)>;

// A flag of our own: libpcap's is not looked at while nothing comes.
volatile std::sig_atomic_t told_to_stop = 0;

void stop_listening(int /*number*/) { told_to_stop = 1; }

// While it lives, signals that end a program end the listening instead.
class listening_signals {
 public:
  listening_signals() {
    told_to_stop = 0;
    struct sigaction action {};
    action.sa_handler = stop_listening;
    for (std::size_t i = 0; i < numbers.size(); ++i) ::sigaction(numbers[i], &action, &before_[i]);
  }
  listening_signals(const listening_signals&) = delete;
  listening_signals& operator=(const listening_signals&) = delete;
  ~listening_signals() {
    for (std::size_t i = 0; i < numbers.size(); ++i) ::sigaction(numbers[i], &before_[i], nullptr);
  }

 private:
  static constexpr std::array numbers = {SIGINT, SIGTERM};
  std::array<struct sigaction, numbers.size()> before_{};
};

[[noreturn]] void fail(const packet_options& o, pcap_t* capture, int status) {
  const std::string why = pcap_geterr(capture);
  const std::string_view hint =
      status == PCAP_ERROR_PERM_DENIED ? "; root may, or who has CAP_NET_RAW" : "";
  throw error(errc::io, fmt::format("{}: {}{}", o.interface,
                                    why.empty() ? pcap_statustostr(status) : why.c_str(), hint));
}

constexpr int wake_ms = 100;

open_capture open_interface(const packet_options& o) {
  constexpr int ring_bytes = 8 << 20;
  std::array<char, PCAP_ERRBUF_SIZE> why{};
  open_capture capture(pcap_create(o.interface.c_str(), why.data()), pcap_close);
  if (capture == nullptr) {
    throw error(errc::io, fmt::format("{}: {}", o.interface, why.data()));
  }
  pcap_set_snaplen(capture.get(), static_cast<int>(o.snap_bytes));
  pcap_set_promisc(capture.get(), 1);
  pcap_set_timeout(capture.get(), wake_ms);
  pcap_set_buffer_size(capture.get(), ring_bytes);
  pcap_set_tstamp_precision(capture.get(), PCAP_TSTAMP_PRECISION_NANO);
  const int status = pcap_activate(capture.get());
  if (status < 0) fail(o, capture.get(), status);
  // A blocking read of an idle interface does not return for its timeout: we wait ourselves.
  if (pcap_setnonblock(capture.get(), 1, why.data()) != 0) {
    throw error(errc::io, fmt::format("{}: {}", o.interface, why.data()));
  }
  return capture;
}

struct handed_on {
  const packet_visit* visit;
  link_type link;
  std::uint64_t ns_of_fraction;
};

void hand_on(u_char* to, const pcap_pkthdr* header, const u_char* bytes) {
  const auto& h = *reinterpret_cast<const handed_on*>(to);
  const captured_packet p{
      .time_ns = static_cast<std::uint64_t>(header->ts.tv_sec) * 1000000000 +
                 static_cast<std::uint64_t>(header->ts.tv_usec) * h.ns_of_fraction,
      .bytes = std::as_bytes(std::span(bytes, header->caplen)),
      .wire_bytes = std::max(header->len, header->caplen),
      .link = h.link};
  (*h.visit)({&p, 1});
}

// Packets that the system could not keep for us are no part of any count.
void tell_of_lost(const packet_options& o, pcap_t* capture) {
  pcap_stat counts{};
  if (pcap_stats(capture, &counts) != 0) return;
  const std::uint64_t lost = std::uint64_t{counts.ps_drop} + counts.ps_ifdrop;
  if (lost > 0)
    tell("bloomery: {}: {} were lost before we saw them\n", o.interface, counted(lost, "packet"));
}

}  // namespace

void read_live_packets(const packet_options& o, const packet_visit& visit,
                       const packet_pause& pause) {
  using namespace std::chrono;
  const std::uint64_t span = o.span.empty() ? 0 : parse_interval(o.span);
  const open_capture capture = open_interface(o);
  handed_on h{
      .visit = &visit,
      .link = static_cast<link_type>(pcap_datalink(capture.get())),
      .ns_of_fraction =
          pcap_get_tstamp_precision(capture.get()) == PCAP_TSTAMP_PRECISION_NANO ? 1U : 1000U};
  const listening_signals signals;
  const auto start = steady_clock::now();
  while (told_to_stop == 0) {
    const int got = pcap_dispatch(capture.get(), 1024, hand_on, reinterpret_cast<u_char*>(&h));
    if (got < 0) fail(o, capture.get(), got);
    if (got == 0) {
      struct pollfd state = {
          .fd = pcap_get_selectable_fd(capture.get()), .events = POLLIN, .revents = 0};
      ::poll(&state, 1, wake_ms);
    }
    const auto now = system_clock::now().time_since_epoch();
    pause(static_cast<std::uint64_t>(duration_cast<nanoseconds>(now).count()));
    const auto passed = duration_cast<nanoseconds>(steady_clock::now() - start).count();
    if (span != 0 && static_cast<std::uint64_t>(passed) >= span) break;
  }
  if (!o.quiet) tell_of_lost(o, capture.get());
}

}  // namespace bloomery::cli
