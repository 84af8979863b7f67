#include "item_filter.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"

namespace bloomery {

namespace {

// The errors of filters, with who it was.
template <class Work>
auto blaming_the_peer(Work work) {
  try {
    return work();
  } catch (const error& e) {
    if (e.code() == errc::no_memory) throw;
    throw error(errc::corrupt, std::string("the peer sent a filter that is none: ") + e.what());
  }
}

ribbon_view view_of(const unpacked_filter& made, std::uint32_t bits) {
  return blaming_the_peer([&] {
    const plan& p = made.header.planned;
    if (p.shape.kind != filter_kind::ribbon || p.shape.cell_bits != bits) {
      throw error(errc::corrupt, "it is not of the kind that was agreed");
    }
    return ribbon_view(p, made.words.words(), made.header.keys);
  });
}

}  // namespace

std::vector<std::byte> pack_items(std::span<const std::uint64_t> items, std::uint32_t bits) {
  const plan p = sizing::make_plan({.kind = filter_kind::ribbon,
                                    .keys = items.size(),
                                    .fpr = std::exp2(-static_cast<double>(bits))});
  const ribbon_filter f(p, items);
  return pack({.planned = f.planned(), .hash = {}, .keys = f.keys()}, f.words());
}

std::size_t item_filter::message_limit(std::uint32_t bits, std::uint64_t keys) {
  // 1.005 bits a key for each bit, and small ones more.
  const double most = 1.1 / 8 * bits * static_cast<double>(keys) + 8192;
  return static_cast<std::size_t>(std::min(most, 4e9));
}

item_filter::item_filter(std::span<const std::byte> packed, std::uint32_t bits)
    : item_filter(unpacked(packed), bits) {}

item_filter::item_filter(unpacked_filter made, std::uint32_t bits)
    : made_(std::move(made)), view_(view_of(made_, bits)) {}

unpacked_filter item_filter::unpacked(std::span<const std::byte> packed) {
  return blaming_the_peer([&] { return unpack(packed, 8 * memory_limit(packed.size())); });
}

}  // namespace bloomery
