// Squid's cache digests: what a web cache holds, as the Bloom filter that it gives to its siblings
// (Rousskov and Wessels 1998). Read and written as Squid does:
//
//     0   i16  version 5             2   i16  oldest version that can read it, 3
//     4   i32  capacity              8   i32  entries             12  i32  deleted entries
//     16  i32  bytes of the mask, (capacity * bits an entry + 7) / 8
//     20  u8   bits an entry         21  u8   hash functions, 4
//     22       zeros                128       the mask
//
// Numbers are big-endian. The key of an object is the MD5 of one byte for the method and the URL;
// its four words, modulo the bits of the mask, are the positions, and position i is bit i % 8 of
// byte i / 8. To the bit this is a digest_filter (filter/classic.hpp) of the hash md5, so a digest
// is one with a control block before it, and turning one into the other copies bits.
//
// crypto/digest.hpp makes the keys, exchange/cache_contents.hpp finds the URLs; docs/digests.md
// has the limits that Squid keeps, which are kept here, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bloomery/filter/classic.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

inline constexpr std::string_view cache_digest_media_type = "application/cache-digest";
inline constexpr std::size_t cache_digest_header_bytes = 128;
inline constexpr std::uint32_t cache_digest_probes = 4;
// Squid's own default. With as many entries as its capacity 9.2 % of all other URLs pass.
inline constexpr std::uint32_t usual_bits_per_entry = 5;
// With 255 the receiving Squid ends itself by an assertion, and its field is a signed byte.
inline constexpr std::uint32_t most_bits_per_entry = 127;
// Capacity times bits an entry: whole bytes whose number of bits a signed field of 32 bits holds.
inline constexpr std::uint64_t most_digest_bits = INT32_MAX - 7;
// Squid does not use a digest with a larger share of ones.
inline constexpr double most_digest_fill = 0.65;

class cache_digest {
 public:
  // An empty one. Throws errc::bad_argument for a capacity of 0, for bits beyond 1 to 127, and for
  // more than most_digest_bits in all.
  explicit cache_digest(std::uint64_t capacity,
                        std::uint32_t bits_per_entry = usual_bits_per_entry);
  // The digest of a filter with the bits of one: keys were hashed by md5, over the byte and the
  // URL. Throws errc::mismatch, with the number, unless it has 4 probes and whole bytes. Its
  // capacity is the number of keys that the filter was planned for, or the next one with which
  // Squid computes the same mask.
  explicit cache_digest(const digest_view& filter);

  // All bytes of a digest, and nothing behind them. Throws errc::corrupt, with the field.
  [[nodiscard]] static cache_digest parse(std::span<const std::byte> bytes);
  // How long a digest is by its first 128 bytes, which are checked like this, too.
  [[nodiscard]] static std::uint64_t bytes_of(std::span<const std::byte> header);

  void add(const digest& key) noexcept;
  [[nodiscard]] bool contains(const digest& key) const noexcept { return filter_.contains(key); }

  [[nodiscard]] std::uint64_t capacity() const noexcept { return filter_.planned().keys; }
  // As its owner counts them: all that were added, and of those the ones that are gone again. More
  // than the capacity is no error: caches fill up between two digests.
  [[nodiscard]] std::uint64_t entries() const noexcept { return filter_.keys(); }
  [[nodiscard]] std::uint64_t deleted() const noexcept { return deleted_; }
  [[nodiscard]] std::uint32_t bits_per_entry() const noexcept { return bits_per_entry_; }
  [[nodiscard]] std::uint32_t version() const noexcept { return version_; }
  [[nodiscard]] std::uint32_t required_version() const noexcept { return required_version_; }
  [[nodiscard]] std::uint64_t mask_bytes() const noexcept { return filter_.shape().bits / 8; }

  // Whether Squid would use it: not more ones than most_digest_fill. Reads all of the mask.
  [[nodiscard]] bool usable() const noexcept { return filter_.fill() <= most_digest_fill; }
  // The same bits and answers as an ordinary filter, to save, merge and compare.
  [[nodiscard]] const digest_filter& filter() const noexcept { return filter_; }

  [[nodiscard]] std::vector<std::byte> bytes() const;

 private:
  struct fields;
  explicit cache_digest(const fields& f);
  static fields read_fields(std::span<const std::byte> header);

  digest_filter filter_;
  std::uint64_t deleted_ = 0;
  std::uint32_t bits_per_entry_;
  std::uint32_t version_;
  std::uint32_t required_version_;
};

}  // namespace bloomery
