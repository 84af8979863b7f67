// A set of keys as a filter in a message: the size that costs least, its bytes, and the questions
// that the receiver asks.
//
// A filter is sent to save bytes: whoever has it sends only what passes. With n keys in the filter,
// and on the other side s strangers (keys that are not in the set) of w bytes each, the cost is
//
//     bytes of the filter at rate f  +  f s w
//
// and one bit more for each key halves the second part. With no filter at all f is 1; with less
// than about 2 bits of strangers for each key none is worth its bytes (Mullin 1990, on semi-joins).
//
// The keys are all known, so this is a static filter: ribbons of a thousand keys each
// (format/compact.hpp), 1.02 times the lower bound from eight bits a key on, 1.05 at one, and a few
// bytes for few keys. A Bloom filter would take 1.44 times the bound. A forged message lets
// strangers pass or keeps keys out; it reads nothing outside of itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bloomery/format/compact.hpp"

namespace bloomery {

inline constexpr std::uint32_t most_fpr_bits = 29;  // 1.9e-9

struct sent_choice {
  std::uint32_t fpr_bits = 0;  // the filter's fpr is 2^-fpr_bits; 0: send none
  double filter_bytes = 0;
  double stranger_bytes = 0;  // of the strangers that are expected to pass

  [[nodiscard]] double bytes() const noexcept { return filter_bytes + stranger_bytes; }
};

// The size of a message with so many different keys; 0 for 0 bits.
[[nodiscard]] double sent_filter_bytes(double keys, std::uint32_t fpr_bits);

// The choice with the fewest bytes in all. errc::bad_argument for negative or infinite numbers.
[[nodiscard]] sent_choice choose_sent_filter(double keys, double strangers, double stranger_bytes);

class sent_filter {
 public:
  // The set of these hashes (hash/hash.hpp), in any order. fpr_bits is from 1 to most_fpr_bits,
  // else errc::bad_argument. Hashes that are far from random are errc::corrupt: a seed that nobody
  // knows beforehand keeps others from making such keys.
  sent_filter(std::vector<std::uint64_t> hashes, std::uint32_t fpr_bits);
  // From a message, which is copied. Throws errc::corrupt for wrong parts or checksums, which are
  // taken here, once for each part. Ask for memory_bytes() first.
  explicit sent_filter(std::span<const std::byte> message);
  // The parts point into the message: it may move, but not be copied.
  sent_filter(const sent_filter&) = delete;
  sent_filter& operator=(const sent_filter&) = delete;
  sent_filter(sent_filter&&) = default;
  sent_filter& operator=(sent_filter&&) = default;
  ~sent_filter() = default;

  // The memory that a filter from this message takes. A few bytes can claim many parts.
  [[nodiscard]] static std::uint64_t memory_bytes(std::span<const std::byte> message);

  [[nodiscard]] bool contains(std::uint64_t hash) const noexcept;
  [[nodiscard]] std::span<const std::byte> message() const noexcept { return message_; }

 private:
  void open_parts();

  std::vector<std::byte> message_;  // the number of parts, then each with its length before it
  std::vector<std::optional<compact_view>> parts_;  // nothing where there is no key
};

}  // namespace bloomery
