// The keys of one side while it reconciles: its own, and those that come from the peer.
//
// A key has a digest of 128 bits under the seed of the round; the low half is its item, which
// filters and symbols see, and the sum of the digests is the checksum of the set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/detail/core/arithmetic.hpp"
#include "tug_of_war.hpp"

namespace bloomery {

class key_table {
 public:
  // Drops repetitions. Throws errc::bad_argument for keys that are too long or too many.
  explicit key_table(std::span<const std::string_view> keys);

  [[nodiscard]] std::size_t size() const noexcept { return keys_.size() + received_.size(); }
  [[nodiscard]] std::size_t own() const noexcept { return keys_.size(); }
  [[nodiscard]] std::uint64_t own_bytes() const noexcept { return own_bytes_; }
  // Of the own keys, by a hash function that nobody knew before: sets of one seed are compared.
  [[nodiscard]] tug_sums estimator(std::uint64_t seed) const noexcept;

  // Own keys come first, then those of the peer.
  [[nodiscard]] std::string_view key(std::size_t i) const noexcept {
    return i < own() ? keys_[i] : std::string_view(received_[i - own()].text);
  }
  [[nodiscard]] std::uint64_t item(std::size_t i) const noexcept {
    return i < own() ? items_[i] : received_[i - own()].item;
  }
  // The index of an own key among the keys that the table was made from.
  [[nodiscard]] std::size_t place(std::size_t i) const noexcept { return places_[i]; }
  // The keys of the peer, in the order of their bytes. The table has them no longer.
  [[nodiscard]] std::vector<std::string> take_received();

  // The most memory that a key of the peer takes until the end, wherever it is copied or listed.
  [[nodiscard]] static std::uint64_t received_bytes(std::size_t length) noexcept;

  // Makes digests and items of all keys anew. With less than 64 bits items meet more often.
  void begin_round(std::uint64_t seed, unsigned bits);
  // Items as a sorted list without repetitions, after keys have come.
  [[nodiscard]] std::vector<std::uint64_t> sorted_items();
  // The keys that have these items, which must be sorted.
  [[nodiscard]] std::vector<std::uint32_t> keys_with(std::span<const std::uint64_t> items);

  // Among the keys that were there when a list of items was made last, or the round began.
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view wanted) const noexcept;
  // A key from the peer. Throws errc::corrupt for one that is here already.
  void receive(std::string key);
  [[nodiscard]] std::uint64_t item_of(std::string_view key) const noexcept;

  using checksum_type = std::array<std::uint64_t, 2>;  // low half first
  [[nodiscard]] checksum_type checksum() const noexcept {
    return {static_cast<std::uint64_t>(sum_), static_cast<std::uint64_t>(sum_ >> 64U)};
  }

 private:
  struct entry {
    std::uint64_t item;
    std::uint32_t index;
  };
  struct received_key {
    std::string text;
    std::uint64_t item;
  };
  std::uint64_t add_digest(std::string_view key) noexcept;  // returns the item
  [[nodiscard]] std::uint64_t item_from(std::uint64_t digest) const noexcept;
  void sort_entries();

  std::vector<std::string_view> keys_;  // own ones
  std::vector<std::size_t> places_;
  std::deque<received_key> received_;  // which does not move or double when it grows
  std::uint64_t own_bytes_ = 0;

  std::uint64_t seed_ = 0;
  std::uint64_t mask_ = ~std::uint64_t{0};
  std::vector<std::uint64_t> items_;  // of the own keys
  // Sorted by item, then by key: a peer may send many keys with one item. Of the keys that were
  // there when it was sorted.
  std::vector<entry> entries_;
  detail::uint128 sum_ = 0;
};

}  // namespace bloomery
