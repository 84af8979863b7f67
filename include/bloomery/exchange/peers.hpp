// Who may have this object? A filter for each of some hundred peers, asked all at once (PlanetP,
// Cuenca-Acuna et al. 2002; Broder and Mitzenmacher 2004, 5.1): for networks where everybody can
// know a little of everybody. A false positive costs a request in vain.
//
// A key is hashed once. Filters of equal shape are kept in slices, as a matrix with a row for each
// bit and a column for each peer, so that a question is the AND of `probes` rows, 64 peers in a
// word, instead of a cache miss for each peer (the bit-sliced signature files of Roberts 1979):
//
//     bit 0    | 0 1 0 0 1 ... |  of peers 0, 1, 2, ...
//     bit 1    | 1 0 0 1 0 ... |
//       ...         AND the rows of the object's positions: the peers that may have it
//
// Shapes that only few peers have are asked filter by filter. Each summary has a time, in any unit,
// which the caller also gives with each question: old ones, which may still be true, are left out
// of the answers or marked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/classic.hpp"
#include "bloomery/filter/partitioned.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

// A peer that may have an object.
struct candidate {
  std::size_t object = 0;  // the index of its hash in the question
  std::uint64_t peer = 0;
  bool stale = false;  // its summary is older than the limit

  friend bool operator==(const candidate&, const candidate&) = default;
};

struct peers_options {
  std::uint64_t longest_age = UINT64_MAX;  // of a summary
  bool keep_stale = false;                 // answer from older ones too, marked
  // A matrix has room for peers that may come, up to as much again as it holds. Without, filters
  // stand alone at any number of peers: words_of() has them, and questions take longer.
  bool sliced = true;
};

// Summaries of peers, which have numbers that the caller gives out. One thread at a time changes
// it; any number may ask while nobody does.
class peer_directory {
 public:
  // The hash function of all summaries: one hash must do for all.
  explicit peer_directory(const hash_spec& hash, const peers_options& o = {});
  peer_directory(peer_directory&&) noexcept;
  peer_directory& operator=(peer_directory&&) noexcept;
  ~peer_directory();

  // The summary of a peer at this time. One older than what is there is dropped (messages overtake
  // each other), and false returned. Throws errc::mismatch for another hash, errc::no_memory.
  bool update(std::uint64_t peer, const blocked_view& summary, const hash_spec& hash,
              std::uint64_t time);
  bool update(std::uint64_t peer, const classic_view& summary, const hash_spec& hash,
              std::uint64_t time);
  bool update(std::uint64_t peer, const partitioned_view& summary, const hash_spec& hash,
              std::uint64_t time);
  // The summary of a peer is still true at this time. False for a peer that has none.
  bool touch(std::uint64_t peer, std::uint64_t time);
  // Returns whether the peer had a summary.
  bool remove(std::uint64_t peer);
  // Forgets all that are older than the limit; returns how many.
  std::size_t expire(std::uint64_t now);

  // The peers that may have each of the objects, by object, then by peer.
  [[nodiscard]] std::vector<candidate> ask(std::span<const std::uint64_t> hashes,
                                           std::uint64_t now) const;

  // The union of all, as by set/algebra.hpp. errc::mismatch unless blocked filters of one shape.
  [[nodiscard]] blocked_filter merged() const;

  [[nodiscard]] std::size_t peers() const noexcept;
  [[nodiscard]] std::optional<std::uint64_t> time_of(std::uint64_t peer) const;
  // Its filter, until the next change here; none for a peer that has none, or whose is in slices.
  [[nodiscard]] std::span<const std::uint64_t> words_of(std::uint64_t peer) const;
  // The latest of all; nothing when there is none.
  [[nodiscard]] std::optional<std::uint64_t> latest_time() const;
  // The memory of the matrices and filters.
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

// Peers in groups, each with a leader that holds the union of its members' filters
// (set/algebra.hpp). A question goes to the leaders first, then into the groups that may have the
// object: a host outside needs one filter of a group. Members have filters of one shape, large
// enough for the keys of all: sparse ones, which travel packed (format/codec.hpp).
class peer_groups {
 public:
  explicit peer_groups(const hash_spec& hash, const peers_options& o = {});

  // As peer_directory::update, also for the leader. errc::mismatch for a shape unlike the group's.
  bool update(std::uint64_t group, std::uint64_t peer, const blocked_view& summary,
              std::uint64_t time);

  // A member that leaves, or all whose summaries are older than the limit: the leader's filter is
  // then that of the others, and goes with the last of them. Returns whether or how many.
  bool remove(std::uint64_t group, std::uint64_t peer);
  std::size_t expire(std::uint64_t now);

  struct answer {
    std::vector<candidate> leaders;     // .peer is the group
    std::vector<candidate> candidates;  // by object and group, then by peer
  };
  [[nodiscard]] answer ask(std::span<const std::uint64_t> hashes, std::uint64_t now) const;

  [[nodiscard]] const peer_directory& leaders() const noexcept { return leaders_; }
  // Null when there is no such group.
  [[nodiscard]] const peer_directory* members(std::uint64_t group) const noexcept;

 private:
  void lead(std::uint64_t group);

  hash_spec hash_;
  peers_options options_;
  peer_directory leaders_;
  std::map<std::uint64_t, peer_directory> groups_;
  std::map<std::uint64_t, shape> shapes_;
};

}  // namespace bloomery
