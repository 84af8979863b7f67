// Captures as files have them, pcap and pcapng, as packets in turn.
//
// The reader takes bytes from anywhere: a mapped file at once, a pipe piece by piece. It gives out
// packets by the hundred that point into these bytes, so that nothing is copied: that takes 0.3
// of the time of a loop of libpcap. Both byte orders, times in micro- and nanoseconds, and of
// pcapng several sections, several interfaces with their resolutions, and blocks of every kind,
// of which only those with packets are read.
//
//     bloomery::mapped_file file("traffic.pcap");
//     bloomery::for_each_packet(file.bytes(), [&](const bloomery::captured_packet& p) { ... });
//
// Every length is checked. A record that can be none ends the reading with an error that says at
// which byte: there is no way to find the next one. All packets before it have been given out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bloomery/measure/packet.hpp"

namespace bloomery {

class capture_reader {
 public:
  // No record has more bytes; libpcap has the same limits.
  static constexpr std::size_t most_packet_bytes = std::size_t{256} << 10U;
  static constexpr std::size_t most_block_bytes = std::size_t{16} << 20U;

  struct step {
    std::size_t taken = 0;    // bytes that need not be given again
    std::size_t packets = 0;  // that were written to `to`
  };

  // Reads on in `bytes`, which begin where the last step ended, until they or the room for packets
  // end. Packets point into `bytes`. A step that took nothing needs more bytes than these. Throws
  // errc::unsupported for what is no capture, errc::corrupt for damage, and then for ever.
  step read(std::span<const std::byte> bytes, std::span<captured_packet> to);

  // To be called when there are no more bytes, with those that no step took. Throws errc::corrupt
  // when the capture was cut within a record, or has not even a header.
  void end(std::span<const std::byte> rest) const;

  // How many bytes a step must see at least to take something.
  [[nodiscard]] std::size_t wanted() const noexcept { return wanted_; }
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }

 private:
  enum class form : std::uint8_t { unknown, pcap, pcapng };
  enum class outcome : std::uint8_t { packet, no_packet, too_few_bytes, damaged };
  struct interface {
    link_type link = link_type::ethernet;
    std::uint32_t snap_bytes = 0;        // 0: no limit
    std::uint64_t ns_multiplier = 1000;  // time = offset + ticks * multiplier / divisor
    std::uint64_t ns_divisor = 1;
    std::int64_t offset_seconds = 0;
  };

  // Each looks at the front of `bytes` and says in `taken` how many of them it has read.
  outcome read_header(std::span<const std::byte> bytes, std::size_t& taken);
  outcome read_records(std::span<const std::byte> bytes, std::span<captured_packet> to, step& s);
  template <bool Swapped>
  outcome read_records_in(std::span<const std::byte> bytes, std::span<captured_packet> to, step& s);
  outcome read_block(std::span<const std::byte> bytes, captured_packet& to, std::size_t& taken);
  outcome read_section(std::span<const std::byte> body);
  outcome read_interface(std::span<const std::byte> body);
  outcome read_enhanced(std::span<const std::byte> bytes, captured_packet& to);
  outcome read_simple(std::span<const std::byte> body, captured_packet& to);
  void read_interface_options(std::span<const std::byte> options, interface& i) const;
  outcome damaged(const char* why, std::uint64_t value = 0) noexcept;
  [[nodiscard]] outcome needs(std::size_t bytes) noexcept;
  [[nodiscard]] std::uint32_t half(const std::byte* at) const noexcept;
  [[nodiscard]] std::uint32_t word(const std::byte* at) const noexcept;
  [[nodiscard]] std::uint64_t time_of(const interface& i, std::uint64_t ticks) const noexcept;

  form form_ = form::unknown;
  bool swapped_ = false;  // the byte order of the capture is not that of this machine
  std::uint32_t ns_of_fraction_ = 1000;
  link_type link_ = link_type::ethernet;
  std::vector<interface> interfaces_;
  std::size_t wanted_ = 4;
  std::uint64_t position_ = 0;
  const char* damage_ = nullptr;
  std::uint64_t damage_value_ = 0;
};

// All packets of a capture in memory, in order; throws as the reader does, at the end of `bytes`
// too. It calls visit(const captured_packet&).
template <class Visit>
void for_each_packet(std::span<const std::byte> bytes, Visit visit) {
  capture_reader reader;
  std::array<captured_packet, 64> packets;
  for (;;) {
    const capture_reader::step s = reader.read(bytes, packets);
    for (std::size_t i = 0; i < s.packets; ++i)
      visit(static_cast<const captured_packet&>(packets[i]));
    bytes = bytes.subspan(s.taken);
    if (s.taken == 0 && s.packets == 0) break;
  }
  reader.end(bytes);
}

}  // namespace bloomery
