// Versions of everybody's filter, as gossip spreads them: what is newer, what to send to whom, who
// has not been heard of. No sockets and no clock: messages and times are arguments, so a network of
// them can be simulated, and every run of the same calls has the same outcome.
//
// Each peer numbers its own news, and nobody else does:
//
//     epoch     grows with each start of the peer, such as its clock at that time
//     counter   grows with each version of its filter in this epoch
//     beat      grows as long as the peer lives, with new versions and without
//
// So of two stamps of a peer the larger one is the newer, on whatever way it came (rumours pass
// through many hands, in any order and several times; Demers et al. 1987). A version travels whole
// or as a delta from the version before (format/delta.hpp). A host that misses that one says so,
// and gets it whole. Anti-entropy is the exchange of versions() and of what difference() names.
//
// A peer whose beat has not grown for `longest_age` of our clock is not in answers any more, and
// expire() forgets it (van Renesse, Minsky and Hayden 1998). Its last stamp is remembered for a
// while: otherwise old rumours, which may still be about, would bring it back from the dead.
//
// Stamps are not signed: whoever can send messages can speak for others. Limits bound the memory.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "bloomery/exchange/peers.hpp"
#include "bloomery/format/delta.hpp"

namespace bloomery {

struct peer_version {
  std::uint64_t epoch = 0;
  std::uint64_t counter = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): what the compiler makes of it compares with 0
  friend auto operator<=>(const peer_version&, const peer_version&) = default;
};

struct peer_stamp {
  peer_version version;
  std::uint64_t beat = 0;

  friend bool operator==(const peer_stamp&, const peer_stamp&) = default;
};

// A version of a peer's filter on its way.
struct peer_news {
  std::uint64_t peer = 0;
  peer_stamp stamp;
  std::optional<peer_version> from;  // what a delta starts from; nothing: the bytes are all of it
  std::vector<std::byte> bytes;      // as by diff(), or by pack()
};

struct peer_entry {
  std::uint64_t peer = 0;
  peer_stamp stamp;

  friend bool operator==(const peer_entry&, const peer_entry&) = default;
};

enum class news_outcome : std::uint8_t {
  taken,  // the table has changed: worth telling others
  known,  // it had this already
  stale,  // it has something newer, or the peer was forgotten and this is no sign of life
  gap,    // it lacks the version that this starts from; ask for the whole
};

struct peer_versions_options {
  std::uint64_t longest_age = UINT64_MAX;  // without a new beat, in units of the caller's clock
  std::uint64_t remembered = UINT64_MAX;   // how much longer the stamp of a forgotten peer is kept
  std::size_t deltas = 8;                  // of each peer that are kept for others
  std::size_t most_peers = 10'000;
  std::uint64_t most_bits = std::uint64_t{1}
                            << 27U;  // of a filter; a few bytes can claim terabytes
};

class peer_versions {
 public:
  // The hash function of all filters.
  explicit peer_versions(const hash_spec& hash, const peer_versions_options& o = {});

  // What came about a peer. Throws errc::corrupt for bytes that are no filter or delta,
  // errc::mismatch for another hash or a delta of other bits, errc::unsupported for a kind that
  // peers.hpp does not keep, errc::full at most_peers; then nothing has changed.
  news_outcome take(const peer_news& news, std::uint64_t now);
  // A sign of life without a filter; `gap` when it tells of a version that is not here.
  news_outcome take(const peer_entry& entry, std::uint64_t now);

  // For the peer that this host is: its next version, as news for those who have the one before. A
  // first version, and one of a new epoch, is whole. Epochs must not fall: errc::bad_argument.
  peer_news publish(std::uint64_t self, std::uint64_t epoch, const filter_version& filter,
                    std::uint64_t now);
  // Its next beat. errc::bad_argument for a peer that is not here.
  peer_entry live(std::uint64_t self, std::uint64_t now);

  // What brings a host that has this version, or none, to ours: deltas in their order if all are
  // still here and together smaller than the whole, which it is otherwise. Empty when it needs
  // nothing, or when we do not know the peer.
  [[nodiscard]] std::vector<peer_news> news_for(std::uint64_t peer,
                                                std::optional<peer_version> theirs) const;

  // All stamps, by peer; and who has something newer, by comparing them with another's.
  [[nodiscard]] std::vector<peer_entry> versions() const;
  struct differences {
    std::vector<std::uint64_t> newer_here;   // to be sent, by news_for
    std::vector<std::uint64_t> newer_there;  // to be asked for
  };
  [[nodiscard]] differences difference(std::span<const peer_entry> theirs) const;

  [[nodiscard]] std::optional<peer_stamp> stamp_of(std::uint64_t peer) const;
  // Its filter, valid until the next change here; for leaders, who unite them.
  [[nodiscard]] std::optional<filter_version> filter_of(std::uint64_t peer) const;
  [[nodiscard]] std::vector<candidate> ask(std::span<const std::uint64_t> hashes,
                                           std::uint64_t now) const {
    return directory_.ask(hashes, now);
  }
  [[nodiscard]] const peer_directory& directory() const noexcept { return directory_; }

  // Forgets peers that were not heard of for `longest_age`, and stamps after `remembered` more.
  // Returns how many peers.
  std::size_t expire(std::uint64_t now);

 private:
  struct known_version {
    peer_stamp stamp;
    std::uint64_t heard = 0;  // when its beat grew last, by our clock
    image_header header;  // of the filter, from which deltas start; its words are the directory's
    std::deque<peer_news> deltas;  // that lead to this version, the oldest first
  };
  struct last_sign {
    peer_stamp stamp;
    std::uint64_t forgotten = 0;
  };

  [[nodiscard]] std::optional<news_outcome> refused(std::uint64_t peer, const peer_stamp& s) const;
  [[nodiscard]] filter_version version_of(std::uint64_t peer, const known_version& k) const {
    return {.header = k.header, .words = directory_.words_of(peer)};
  }
  void keep(const peer_news& news, const unpacked_filter& filter, std::uint64_t now);

  hash_spec hash_;
  peer_versions_options options_;
  peer_directory directory_;
  std::map<std::uint64_t, known_version> peers_;
  std::map<std::uint64_t, last_sign> forgotten_;
};

}  // namespace bloomery
