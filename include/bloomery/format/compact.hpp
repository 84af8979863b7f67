// Filters of a few dozen keys as plain bytes, for stores that keep one beside each piece of data:
// no header of 256 bytes, no alignment, any number of bytes. docs/format.md has the layout.
//
//     blocked   | blocks of equal length, at most 128 bytes each |               tag | check |
//     ribbon    | slots, column after column, bit after bit      | seed (1 byte) tag | check |
//
// Either says what it is, so both may stand in one store. At 35 keys and 1 % blocked takes 10.5
// bits a key and ribbon 8.2. A block this small is a classic filter; a single one cannot be fuller
// than planned. A ribbon's equations reach over all of up to 128 slots: then keys + 1 are enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/core/shape.hpp"

namespace bloomery {

struct compact_options {
  std::optional<double> fpr = std::nullopt;           // one of the two, or neither for 1 %
  std::optional<double> bits_per_key = std::nullopt;  // without the 3 or 4 bytes at the end
  filter_kind kind = filter_kind::blocked;            // or ribbon
};

// Makes such filters; many threads may use one.
class compact_builder {
 public:
  // Throws errc::bad_argument for another kind, both targets, or one out of range.
  explicit compact_builder(const compact_options& o);

  // The set of these hashes, which are sorted on the way.
  [[nodiscard]] std::string build(std::vector<std::uint64_t> hashes) const;

 private:
  struct blocked_size {
    std::size_t blocks;
    std::size_t block_bytes;
    std::uint32_t probes;
  };

  [[nodiscard]] blocked_size size_for(std::uint64_t keys) const;
  [[nodiscard]] blocked_size searched_size(std::uint64_t keys) const;
  [[nodiscard]] std::string build_blocked(std::span<const std::uint64_t> hashes) const;
  [[nodiscard]] std::optional<std::string> build_ribbon(
      std::span<const std::uint64_t> hashes) const;
  [[nodiscard]] std::uint32_t cell_bits(std::uint64_t keys) const;

  compact_options options_;
  // Sizing by the model takes longer than building, and most filters have about as many keys.
  mutable std::mutex mutex_;
  mutable std::map<std::uint64_t, blocked_size> sizes_;
};

// Such a filter in bytes that are borrowed, ready to be asked many times: the checksum is taken
// when it is opened. It reads nothing but these bytes, whatever stands there.
class compact_view {
 public:
  // Nothing for bytes that are no such filter; one damage in 65,536 goes unnoticed.
  [[nodiscard]] static std::optional<compact_view> open(std::string_view bytes) noexcept;

  // False when the hash is surely not in the set.
  [[nodiscard]] bool contains(std::uint64_t hash) const noexcept;

 private:
  compact_view(std::string_view bits, std::uint8_t tag, std::uint8_t seed) noexcept
      : bits_(bits), tag_(tag), seed_(seed) {}

  std::string_view bits_;
  std::uint8_t tag_;
  std::uint8_t seed_;  // of a ribbon
};

// For a single question. True also for bytes that are no such filter.
[[nodiscard]] inline bool compact_contains(std::string_view bytes, std::uint64_t hash) noexcept {
  const std::optional<compact_view> f = compact_view::open(bytes);
  return !f || f->contains(hash);
}

}  // namespace bloomery
