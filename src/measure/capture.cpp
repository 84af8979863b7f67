#include "bloomery/measure/capture.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/arithmetic.hpp"

namespace bloomery {

namespace {

// pcap: 24 bytes, then records of 16 bytes and a packet.
constexpr std::uint32_t magic_micro = 0xa1b2c3d4;
constexpr std::uint32_t magic_nano = 0xa1b23c4d;
constexpr std::size_t pcap_header = 24;
constexpr std::size_t record_header = 16;

// pcapng: blocks of type, length, body, length again; a section begins with one that has a magic.
constexpr std::uint32_t section_type = 0x0a0d0d0a;  // reads the same both ways
constexpr std::uint32_t section_magic = 0x1a2b3c4d;
constexpr std::uint32_t interface_type = 1;
constexpr std::uint32_t old_packet_type = 2;
constexpr std::uint32_t simple_type = 3;
constexpr std::uint32_t enhanced_type = 6;
constexpr std::size_t block_frame = 12;
constexpr std::size_t most_interfaces = std::size_t{1} << 16U;
constexpr std::uint64_t second = 1000000000;
constexpr std::size_t ahead = 2048;  // bytes

std::uint32_t swapped_word(std::uint32_t value) noexcept { return __builtin_bswap32(value); }

std::uint32_t native_word(const std::byte* at) noexcept {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// How a block's timestamps become nanoseconds. The highest bit of the option chooses powers of two.
struct resolution {
  std::uint64_t multiplier = 1000;
  std::uint64_t divisor = 1;
};
bool resolution_of(std::uint8_t option, resolution& to) noexcept {
  const unsigned exponent = option & 0x7fU;
  if ((option & 0x80U) != 0) {
    if (exponent > 63) return false;
    to = {.multiplier = second, .divisor = std::uint64_t{1} << exponent};
    return true;
  }
  if (exponent > 19) return false;
  to = {.multiplier = 1, .divisor = 1};
  for (unsigned i = exponent; i < 9; ++i) to.multiplier *= 10;
  for (unsigned i = 9; i < exponent; ++i) to.divisor *= 10;
  return true;
}

}  // namespace

std::uint32_t capture_reader::half(const std::byte* at) const noexcept {
  std::uint16_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return swapped_ ? __builtin_bswap16(value) : value;
}

std::uint32_t capture_reader::word(const std::byte* at) const noexcept {
  const std::uint32_t value = native_word(at);
  return swapped_ ? swapped_word(value) : value;
}

capture_reader::outcome capture_reader::damaged(const char* why, std::uint64_t value) noexcept {
  damage_ = why;
  damage_value_ = value;
  return outcome::damaged;
}

capture_reader::outcome capture_reader::needs(std::size_t bytes) noexcept {
  wanted_ = bytes;
  return outcome::too_few_bytes;
}

capture_reader::step capture_reader::read(std::span<const std::byte> bytes,
                                          std::span<captured_packet> to) {
  step s;
  outcome o = outcome::no_packet;
  while (s.packets < to.size() && o != outcome::too_few_bytes && o != outcome::damaged) {
    const auto rest = bytes.subspan(s.taken);
    std::size_t taken = 0;
    switch (form_) {
      case form::unknown: o = read_header(rest, taken); break;
      case form::pcap: o = read_records(bytes, to, s); continue;
      case form::pcapng: o = read_block(rest, to[s.packets], taken); break;
    }
    if (o == outcome::packet) ++s.packets;
    if (o != outcome::too_few_bytes && o != outcome::damaged) s.taken += taken;
  }
  position_ += s.taken;
  if (o == outcome::damaged && s.packets == 0 && s.taken == 0) {  // first what came before it
    detail::fail(form_ == form::unknown ? errc::unsupported : errc::corrupt,
                 "at byte " + detail::to_text(position_) + ": " + damage_ +
                     (damage_value_ == 0 ? "" : ": " + detail::to_text(damage_value_)));
  }
  return s;
}

void capture_reader::end(std::span<const std::byte> rest) const {
  if (form_ == form::unknown) {
    detail::fail(errc::corrupt, "it ends before the header of a capture does, after " +
                                    detail::to_text(std::uint64_t{rest.size()}) + " bytes");
  }
  if (rest.empty()) return;
  detail::fail(errc::corrupt, "the capture was cut at byte " +
                                  detail::to_text(position_ + rest.size()) +
                                  ", in the middle of what began at byte " +
                                  detail::to_text(position_) + "; all packets before it were read");
}

capture_reader::outcome capture_reader::read_header(std::span<const std::byte> bytes,
                                                    std::size_t& taken) {
  if (bytes.size() < 4) return needs(4);
  const std::uint32_t magic = native_word(bytes.data());
  if (magic == section_type) {
    form_ = form::pcapng;
    return outcome::no_packet;
  }
  const std::uint32_t other = swapped_word(magic);
  const bool same_order = magic == magic_micro || magic == magic_nano;
  if (!same_order && other != magic_micro && other != magic_nano) {
    return damaged("neither a pcap nor a pcapng file");
  }
  if (bytes.size() < pcap_header) return needs(pcap_header);
  swapped_ = !same_order;
  if (half(bytes.data() + 4) != 2) {
    return damaged("a pcap file of an unknown version", half(bytes.data() + 4));
  }
  ns_of_fraction_ = magic == magic_nano || other == magic_nano ? 1 : 1000;
  link_ = static_cast<link_type>(word(bytes.data() + 20) & 0xffffU);  // above it: checksum lengths
  form_ = form::pcap;
  taken = pcap_header;
  return outcome::no_packet;
}

// The loop that most captures spend their time in: 25 instructions a packet.
template <bool Swapped>
capture_reader::outcome capture_reader::read_records_in(std::span<const std::byte> bytes,
                                                        std::span<captured_packet> to, step& s) {
  const auto number = [](const std::byte* at) {
    return Swapped ? swapped_word(native_word(at)) : native_word(at);
  };
  std::size_t at = s.taken;
  std::size_t packets = s.packets;
  outcome o = outcome::packet;
  for (; packets < to.size(); ++packets) {
    const std::size_t rest = bytes.size() - at;
    if (rest < record_header) {
      o = needs(record_header);
      break;
    }
    const std::byte* const record = bytes.data() + at;
    // The next pages of a mapped file are in no table of the processor yet: fetched early. Two
    // lines have the header of a record and those of its packet.
    const std::byte* const later = record + std::min<std::size_t>(rest - 1, ahead);
    __builtin_prefetch(later);
    __builtin_prefetch(later + 64);
    const std::uint32_t captured = number(record + 8);
    if (captured > most_packet_bytes) {
      o = damaged("a packet of more than 262,144 captured bytes", captured);
      break;
    }
    if (rest - record_header < captured) {
      o = needs(record_header + captured);
      break;
    }
    captured_packet& p = to[packets];
    p.time_ns = number(record) * second + std::uint64_t{number(record + 4)} * ns_of_fraction_;
    p.bytes = {record + record_header, captured};
    p.wire_bytes = std::max(captured, number(record + 12));
    p.link = link_;
    at += record_header + captured;
  }
  s = {.taken = at, .packets = packets};
  return o;
}

capture_reader::outcome capture_reader::read_records(std::span<const std::byte> bytes,
                                                     std::span<captured_packet> to, step& s) {
  return swapped_ ? read_records_in<true>(bytes, to, s) : read_records_in<false>(bytes, to, s);
}

capture_reader::outcome capture_reader::read_block(std::span<const std::byte> bytes,
                                                   captured_packet& to, std::size_t& taken) {
  if (bytes.size() < block_frame) return needs(block_frame);
  if (native_word(bytes.data()) == section_type) {
    const std::uint32_t magic = native_word(bytes.data() + 8);
    if (magic != section_magic && swapped_word(magic) != section_magic) {
      return damaged("a section of pcapng without its magic number");
    }
    swapped_ = magic != section_magic;  // each section has its own order
  }
  const std::uint32_t length = word(bytes.data() + 4);
  if (length < block_frame || length % 4 != 0 || length > most_block_bytes) {
    return damaged("a block of an impossible length", length);
  }
  if (bytes.size() < length) return needs(length);
  if (word(bytes.data() + length - 4) != length) {
    return damaged("a block whose two lengths differ", length);
  }
  taken = length;
  const auto body = bytes.subspan(8, length - block_frame);
  switch (word(bytes.data())) {
    case section_type: return read_section(body);
    case interface_type: return read_interface(body);
    case old_packet_type:
    case enhanced_type: return read_enhanced(bytes.first(length), to);
    case simple_type: return read_simple(body, to);
    default: return outcome::no_packet;
  }
}

capture_reader::outcome capture_reader::read_section(std::span<const std::byte> body) {
  if (body.size() < 16) return damaged("a section's header of too few bytes", body.size());
  if (half(body.data() + 4) != 1) {
    return damaged("a pcapng file of an unknown version", half(body.data() + 4));
  }
  interfaces_.clear();
  return outcome::no_packet;
}

capture_reader::outcome capture_reader::read_interface(std::span<const std::byte> body) {
  if (body.size() < 8) return damaged("an interface's block of too few bytes", body.size());
  if (interfaces_.size() == most_interfaces) {
    return damaged("more interfaces than a section may have", most_interfaces);
  }
  interface i;
  i.link = static_cast<link_type>(half(body.data()));
  i.snap_bytes = word(body.data() + 4);
  read_interface_options(body.subspan(8), i);
  interfaces_.push_back(i);
  return outcome::no_packet;
}

// Options that are damaged end the list: those that were read before them count.
void capture_reader::read_interface_options(std::span<const std::byte> options,
                                            interface& i) const {
  constexpr std::uint32_t end_of_options = 0;
  constexpr std::uint32_t time_resolution = 9;
  constexpr std::uint32_t time_offset = 14;
  while (options.size() >= 4) {
    const std::uint32_t code = half(options.data());
    const std::size_t length = half(options.data() + 2);
    const std::size_t padded = (length + 3) / 4 * 4;
    if (code == end_of_options || padded > options.size() - 4) return;
    const std::byte* const value = options.data() + 4;
    if (code == time_resolution && length == 1) {
      resolution r;
      if (resolution_of(std::to_integer<std::uint8_t>(value[0]), r)) {
        i.ns_multiplier = r.multiplier;
        i.ns_divisor = r.divisor;
      }
    } else if (code == time_offset && length == 8) {
      std::uint64_t offset = 0;
      std::memcpy(&offset, value, sizeof offset);
      i.offset_seconds = static_cast<std::int64_t>(swapped_ ? __builtin_bswap64(offset) : offset);
    }
    options = options.subspan(4 + padded);
  }
}

std::uint64_t capture_reader::time_of(const interface& i, std::uint64_t ticks) const noexcept {
  const detail::int128 ns =
      static_cast<detail::int128>(static_cast<detail::uint128>(ticks) * i.ns_multiplier /
                                  i.ns_divisor) +
      static_cast<detail::int128>(i.offset_seconds) * static_cast<std::int64_t>(second);
  if (ns < 0) return 0;
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return ns > static_cast<detail::int128>(most) ? most : static_cast<std::uint64_t>(ns);
}

// Also the obsolete packet block, which has a counter of lost packets beside the interface.
capture_reader::outcome capture_reader::read_enhanced(std::span<const std::byte> bytes,
                                                      captured_packet& to) {
  constexpr std::size_t fields = 20;
  if (bytes.size() < block_frame + fields) {
    return damaged("a packet's block of too few bytes", bytes.size());
  }
  const std::byte* const at = bytes.data() + 8;
  const std::size_t number = word(bytes.data()) == enhanced_type ? word(at) : half(at);
  if (number >= interfaces_.size()) {
    return damaged("a packet of an interface that no block has described", number);
  }
  const std::uint32_t captured = word(at + 12);
  if (captured > most_packet_bytes || captured > bytes.size() - block_frame - fields) {
    return damaged("a packet that is larger than its block", captured);
  }
  const interface& i = interfaces_[number];
  to.time_ns = time_of(i, (std::uint64_t{word(at + 4)} << 32U) | word(at + 8));
  to.bytes = bytes.subspan(8 + fields, captured);
  to.wire_bytes = std::max(captured, word(at + 16));
  to.link = i.link;
  return outcome::packet;
}

// Has no time and no captured length: that is what the interface keeps of the packet.
capture_reader::outcome capture_reader::read_simple(std::span<const std::byte> body,
                                                    captured_packet& to) {
  if (interfaces_.empty()) return damaged("a packet before any interface");
  if (body.size() < 4) return damaged("a packet's block of too few bytes", body.size());
  const interface& i = interfaces_.front();
  const std::uint32_t wire = word(body.data());
  const std::uint32_t captured = i.snap_bytes == 0 ? wire : std::min(wire, i.snap_bytes);
  if (captured > most_packet_bytes || captured > body.size() - 4) {
    return damaged("a packet that is larger than its block", captured);
  }
  to.time_ns = 0;
  to.bytes = body.subspan(4, captured);
  to.wire_bytes = wire;
  to.link = i.link;
  return outcome::packet;
}

}  // namespace bloomery
