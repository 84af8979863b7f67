#include "bloomery/measure/congestion_mark.hpp"

#include <cstdint>

namespace bloomery {

namespace {

constexpr std::uint32_t congestion = 3;  // both bits; 1 or 2 is the promise, 0 is none

std::uint32_t number_at(std::span<const std::byte> packet, std::size_t at) {
  return std::to_integer<std::uint32_t>(packet[at]) << 8U |
         std::to_integer<std::uint32_t>(packet[at + 1]);
}

bool is_v4(std::span<const std::byte> packet) {
  return packet.size() >= 20 && number_at(packet, 0) >> 12U == 4;
}
bool is_v6(std::span<const std::byte> packet) {
  return packet.size() >= 40 && number_at(packet, 0) >> 12U == 6;
}

// Where the two bits are, as a shift in the first two bytes of the packet.
unsigned shift_of(std::span<const std::byte> packet) { return is_v4(packet) ? 0 : 4; }

}  // namespace

bool can_mark_congestion(std::span<const std::byte> packet) noexcept {
  if (!is_v4(packet) && !is_v6(packet)) return false;
  return (number_at(packet, 0) >> shift_of(packet) & congestion) != 0;
}

bool mark_congestion(std::span<std::byte> packet) noexcept {
  if (!can_mark_congestion(packet)) return false;
  const std::uint32_t before = number_at(packet, 0);
  const std::uint32_t after = before | congestion << shift_of(packet);
  packet[0] = static_cast<std::byte>(after >> 8U);
  packet[1] = static_cast<std::byte>(after);
  if (is_v4(packet)) {  // RFC 1624: ~(~checksum + ~before + after), with the carries added
    constexpr std::size_t at = 10;
    std::uint32_t sum = (~number_at(packet, at) & 0xffffU) + (~before & 0xffffU) + after;
    sum = (sum & 0xffffU) + (sum >> 16U);
    sum = ~((sum & 0xffffU) + (sum >> 16U)) & 0xffffU;
    packet[at] = static_cast<std::byte>(sum >> 8U);
    packet[at + 1] = static_cast<std::byte>(sum);
  }
  return true;
}

}  // namespace bloomery
