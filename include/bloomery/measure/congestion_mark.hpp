// Explicit congestion notification (RFC 3168): a mark in the IP header that takes the place of a
// drop, for senders that have promised to slow down for it.
#pragma once

#include <cstddef>
#include <span>

namespace bloomery {

// Of bytes that begin with an IP header: whether the sender can be told so.
[[nodiscard]] bool can_mark_congestion(std::span<const std::byte> packet) noexcept;

// Marks such a packet, and mends the checksum of an IPv4 header; false, and nothing changed, for
// others. Nothing but the IP header has this in a checksum.
bool mark_congestion(std::span<std::byte> packet) noexcept;

}  // namespace bloomery
