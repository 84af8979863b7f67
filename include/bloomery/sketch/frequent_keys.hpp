// The most frequent keys of a stream, with bounds that always hold: space-saving (Metwally, Agrawal
// and El Abbadi 2005), which makes room by halves (Anderson et al. 2017).
//
//     key -> count, error    up to a number of keys, and of bytes of keys, that is chosen once
//     floor                  no key that is not held came more often than this
//
// Every key that comes is held and counted, and as long as all have room, counts are exact. When
// there is no room, all keys with at most the median count are dropped, and that becomes the floor.
// A key that comes anew may have come `floor` times before, so it starts from there with an error
// of as much: its true count is between count - error and count. docs/math.md shows that the floor
// is at most 2 / capacity of what the rest of the stream adds up to.
//
// Against top_k (HeavyKeeper): that one is the better guess in kilobytes, and its image can go on
// elsewhere; this one takes megabytes, and says what is certain. Nothing here is drawn at random,
// so a stream has one answer. Keys with equal hashes are one key; of one that is longer than 64
// KiB, or a 16th of the room, only so much is kept to name it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bloomery/hash/secret_hasher.hpp"

namespace bloomery {

struct frequent_options {
  std::size_t keys = std::size_t{1} << 17U;       // held at once, at least 2
  std::size_t key_bytes = std::size_t{1} << 26U;  // of all of them together
};

struct frequent_key {
  std::string_view key;  // as long as nothing is added; of a very long one the beginning
  std::uint64_t hash = 0;
  std::uint64_t count = 0;  // never too low,
  std::uint64_t error = 0;  // and too high by this at most
  bool certain = false;     // no key after it can have come more often, and none before it less
};

class frequent_keys {
 public:
  // Throws errc::bad_argument for room for fewer than two keys, or for no bytes.
  explicit frequent_keys(const frequent_options& o = {});

  // A key that comes `count` times; zero changes nothing.
  void add(std::string_view key, std::uint64_t hash, std::uint64_t count = 1);
  // hashes[i] is that of keys[i]; the spans have one size.
  void add_batch(std::span<const std::string_view> keys, std::span<const std::uint64_t> hashes);

  // The `most` keys with the largest counts, the largest first, equal ones by key.
  [[nodiscard]] std::vector<frequent_key> top(std::size_t most) const;

  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  [[nodiscard]] std::size_t held() const noexcept { return held_.size(); }
  // What a key that is not held may have come at most; 0 as long as every key is held.
  [[nodiscard]] std::uint64_t floor() const noexcept { return floor_; }

 private:
  struct tally {
    std::string key;
    std::uint64_t count = 0;
    std::uint64_t error = 0;
  };

  void make_room();

  frequent_options room_;
  std::unordered_map<std::uint64_t, tally, secret_number_hash> held_;  // by hash
  std::size_t key_bytes_ = 0;
  std::uint64_t floor_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace bloomery
