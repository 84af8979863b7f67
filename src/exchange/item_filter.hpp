// A filter of items on its way: a ribbon, packed. What comes is checked before it is asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bloomery/filter/ribbon.hpp"
#include "bloomery/format/codec.hpp"

namespace bloomery {

[[nodiscard]] std::vector<std::byte> pack_items(std::span<const std::uint64_t> items,
                                                std::uint32_t bits);

class item_filter {
 public:
  // The longest message that a filter of so many keys may be.
  [[nodiscard]] static std::size_t message_limit(std::uint32_t bits, std::uint64_t keys);
  // The memory that unpacking such a message may take. The cells of a ribbon are as good as random,
  // so what unpacks to much more than it was is a trap.
  [[nodiscard]] static std::uint64_t memory_limit(std::size_t message_bytes) {
    return message_bytes + message_bytes / 4 + 8192;
  }

  // Throws errc::corrupt for what is no filter of items with so many bits a key.
  item_filter(std::span<const std::byte> packed, std::uint32_t bits);
  item_filter(const item_filter&) = delete;
  item_filter& operator=(const item_filter&) = delete;
  ~item_filter() = default;

  [[nodiscard]] bool contains(std::uint64_t item) const noexcept { return view_.contains(item); }

 private:
  explicit item_filter(unpacked_filter made, std::uint32_t bits);
  static unpacked_filter unpacked(std::span<const std::byte> packed);

  unpacked_filter made_;
  ribbon_view view_;
};

}  // namespace bloomery
