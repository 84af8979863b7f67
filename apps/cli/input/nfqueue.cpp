#include "cli/input/nfqueue.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/netfilter.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

// After the system's headers, which it needs.
#include <libnetfilter_queue/libnetfilter_queue.h>
#include <libnfnetlink/libnfnetlink.h>

#include "bloomery/core/error.hpp"

namespace bloomery::cli {

namespace {

// The kernel drops what does not fit: 208 KB, the usual buffer, lost half of a flood of 100 Mbit/s.
constexpr unsigned socket_bytes = 8U << 20U;
constexpr std::uint32_t kernel_packets = 8192;
constexpr std::size_t message_bytes = 0xffff + 4096;

[[noreturn]] void throw_nfqueue(std::uint16_t number, const char* doing, int reason) {
  const char* advice = reason == EPERM || reason == EACCES ? "; this needs root (CAP_NET_ADMIN)"
                       : reason == EBUSY                   ? "; another program has this number"
                                                           : "";
  throw error(errc::io, fmt::format("queue {}: {} failed: {}{}", number, doing,
                                    std::strerror(reason), advice));
}

}  // namespace

struct nfqueue::handles {
  nfq_handle* library = nullptr;
  nfq_q_handle* queue = nullptr;
  std::vector<char> buffer = std::vector<char>(message_bytes);
  const std::function<void(const packet&)>* each = nullptr;

  handles() = default;
  handles(const handles&) = delete;
  handles& operator=(const handles&) = delete;
  ~handles() {
    each = nullptr;
    if (queue != nullptr) nfq_destroy_queue(queue);
    if (library != nullptr) nfq_close(library);
  }

  // The library calls this for each packet, also while it waits for the answer to a command. Then
  // nobody is there to decide, and the packet passes.
  static int hand_out(nfq_q_handle* from, nfgenmsg* /*message*/, nfq_data* data, void* self) {
    const nfqnl_msg_packet_hdr* header = nfq_get_msg_packet_hdr(data);
    unsigned char* bytes = nullptr;
    const int size = nfq_get_payload(data, &bytes);
    if (header == nullptr || size < 0) return 0;
    const packet p{.id = ntohl(header->packet_id),
                   .bytes = std::as_bytes(std::span(bytes, static_cast<std::size_t>(size)))};
    const auto* each = static_cast<handles*>(self)->each;
    if (each == nullptr) return nfq_set_verdict(from, p.id, NF_ACCEPT, 0, nullptr);
    (*each)(p);
    return 0;
  }
};

nfqueue::nfqueue(std::uint16_t number) : number_(number), handles_(std::make_unique<handles>()) {
  errno = 0;
  handles_->library = nfq_open();
  if (handles_->library == nullptr) throw_nfqueue(number, "opening netfilter's queues", errno);
  handles_->queue = nfq_create_queue(handles_->library, number, &handles::hand_out, handles_.get());
  if (handles_->queue == nullptr) throw_nfqueue(number, "taking it", errno == 0 ? EBUSY : errno);
  if (nfq_set_mode(handles_->queue, NFQNL_COPY_PACKET, 0xffff) < 0) {
    throw_nfqueue(number, "asking for packets", errno);
  }
  nfq_set_queue_maxlen(handles_->queue, kernel_packets);
  nfnl_rcvbufsiz(nfq_nfnlh(handles_->library), socket_bytes);
}

nfqueue::~nfqueue() = default;

int nfqueue::descriptor() const { return nfq_fd(handles_->library); }

void nfqueue::receive(const std::function<void(const packet&)>& each) {
  handles_->each = &each;
  const std::unique_ptr<handles, void (*)(handles*)> done(handles_.get(),
                                                          [](handles* h) { h->each = nullptr; });
  for (;;) {
    const ssize_t size =
        ::recv(descriptor(), handles_->buffer.data(), handles_->buffer.size(), MSG_DONTWAIT);
    if (size < 0) {
      // The kernel has dropped packets, which it counts itself.
      if (errno == EINTR || errno == ENOBUFS) continue;
      if (errno == EAGAIN) return;
      throw_nfqueue(number_, "receiving", errno);
    }
    nfq_handle_packet(handles_->library, handles_->buffer.data(), static_cast<int>(size));
  }
}

void nfqueue::accept(std::uint32_t id) {
  nfq_set_verdict(handles_->queue, id, NF_ACCEPT, 0, nullptr);
}

void nfqueue::accept_changed(std::uint32_t id, std::span<const std::byte> bytes) {
  nfq_set_verdict(handles_->queue, id, NF_ACCEPT, static_cast<std::uint32_t>(bytes.size()),
                  reinterpret_cast<const unsigned char*>(bytes.data()));
}

void nfqueue::drop(std::uint32_t id) { nfq_set_verdict(handles_->queue, id, NF_DROP, 0, nullptr); }

// Columns: number, port, waiting, copy mode, copy range, dropped by the queue, by the socket, ...
std::uint64_t nfqueue::dropped_by_kernel() const {
  std::ifstream table("/proc/net/netfilter/nfnetlink_queue");
  std::string line;
  while (std::getline(table, line)) {
    std::istringstream columns(line);
    std::array<std::uint64_t, 7> values{};
    for (std::uint64_t& value : values) columns >> value;
    if (columns && values[0] == number_) return values[5] + values[6];
  }
  return 0;
}

}  // namespace bloomery::cli
