// The digest of a cache that lives: documents come and go, and other caches follow what there is
// (summary cache: Fan, Cao, Almeida and Broder 2000).
//
//     cache -> live_digest: counters, 4 bits each -> plain filter -> publish() -> bytes
//                                                       bytes -> followed_digest::take() -> asked
//
// Only the plain filter travels. Others need not know of every document at once: what is missing
// from an old digest costs a hit at another cache, what is too much in it a question in vain, and
// no answer is ever wrong. So a version is published when a share of the documents has changed,
// which due() tells; docs/digests.md has what that share costs. A version travels as the change
// from the one before, or packed whole, whichever has fewer bytes (format/delta.hpp).
//
// For Squid's own format, whose positions are others, see exchange/cache_digest.hpp. Versions that
// gossip spreads are in exchange/peer_versions.hpp: it takes published().
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bloomery/exchange/local_summary.hpp"
#include "bloomery/format/codec.hpp"
#include "bloomery/format/delta.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

struct live_digest_options {
  std::uint64_t keys = 0;           // the documents of a full cache
  std::uint32_t bits_per_key = 16;  // of the plain filter: 8, 16 and 32 in the paper
  std::uint32_t probes = 4;
  // A new version is due when as many documents have come, or gone, since the last one, as a share
  // of those that there are.
  double publish_share = 0.01;
  hash_spec hash = {};  // what the documents are hashed with, for those who ask
};

class live_digest {
 public:
  // errc::bad_argument for 0 keys, 0 or more than 64 bits or probes, a share that is not from 0 to
  // 1.
  explicit live_digest(const live_digest_options& o);

  void add(std::uint64_t hash);
  // Of a document that was added. False when it surely was not, and then nothing has changed.
  bool remove(std::uint64_t hash);

  [[nodiscard]] std::uint64_t keys() const noexcept { return now_.filter().keys(); }
  // The documents that have come, or gone, whichever are more, since the last version, as a share
  // of all; 1 before the first.
  [[nodiscard]] double changed() const noexcept;
  [[nodiscard]] bool due() const noexcept { return changed() >= options_.publish_share; }

  // Makes a version of what there is now: its bytes for those who have the one before it. The
  // first one is whole.
  std::vector<std::byte> publish();
  // The last version for those who have none: packed. errc::bad_argument before the first.
  [[nodiscard]] std::vector<std::byte> whole() const;
  // The same as header and words, valid until the next one.
  [[nodiscard]] filter_version published() const;
  [[nodiscard]] std::uint64_t versions() const noexcept { return versions_; }

  // What the digest will say after the next publish().
  [[nodiscard]] const classic_filter& filter() const noexcept { return now_.filter(); }

 private:
  live_digest_options options_;
  local_summary now_;
  classic_filter sent_;
  std::uint64_t added_ = 0;
  std::uint64_t removed_ = 0;
  std::uint64_t versions_ = 0;
};

// Another cache's digest, as this one has it.
class followed_digest {
 public:
  // No digest may take more memory than this, whatever its bytes say.
  explicit followed_digest(std::uint64_t most_bytes = std::uint64_t{256} << 20U)
      : most_bytes_(most_bytes) {}

  // The bytes of publish() or of whole(). Throws errc::mismatch for a change from a version that
  // is not here (ask for the whole), errc::corrupt for other bytes, errc::unsupported for another
  // kind than a classic filter, errc::no_memory; then it stays as it was.
  void take(std::span<const std::byte> bytes);

  [[nodiscard]] bool known() const noexcept { return current_.has_value(); }
  // False when nothing is known yet.
  [[nodiscard]] bool contains(std::uint64_t hash) const noexcept;
  // Nothing when nothing is known yet.
  [[nodiscard]] std::optional<filter_version> version() const;

 private:
  std::uint64_t most_bytes_;
  std::optional<unpacked_filter> current_;
};

}  // namespace bloomery
