// What lies behind a link, as a filter that follows its owner: the pieces that the routers of this
// folder are made from. No sockets and no clock.
//
//     local_summary      our own keys, in exchange/local_summary.hpp
//     announced_summary  what our neighbours have of it, and the change that brings them up to date
//     summary_table      the filters that neighbours announced, one for each link, and their union
//
// Filters are classic and of one shape in a network, so that they can be united; a sparse one costs
// little on its way. A change travels as the positions that differ, near their entropy
// (encode_change), over a link that keeps the order, such as TCP. Each announcement names the
// filter that it leads to by a check sum that both sides keep while bits flip, so that a lost or
// forged change is noticed at once and not when a resource is missed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bloomery/detail/core/function_ref.hpp"
#include "bloomery/exchange/local_summary.hpp"
#include "bloomery/filter/classic.hpp"

namespace bloomery {

using link_id = std::uint32_t;  // to a neighbour; the caller gives them out

// ---- changes ----------------------------------------------------------------------------------

// The bits in which two arrays of the same size differ, as bytes: gaps by Golomb's code where they
// are few, since the states of a better code alone are 40 bytes; else as in packed filters.
[[nodiscard]] std::vector<std::byte> encode_change(std::span<const std::uint64_t> from,
                                                   std::span<const std::uint64_t> to,
                                                   std::uint64_t bits);
// Visits the positions, ascending, or throws errc::corrupt before the first for bytes that
// encode_change does not make. It needs no more memory than the filter. The second form collects.
void each_change(std::span<const std::byte> bytes, std::uint64_t bits,
                 detail::function_ref<void(std::uint64_t)> visit);
[[nodiscard]] std::vector<std::uint64_t> decode_change(std::span<const std::byte> bytes,
                                                       std::uint64_t bits);

// The check sum of an array of bits, and how it changes when the bit at this position flips.
[[nodiscard]] std::uint32_t check_of(std::span<const std::uint64_t> words) noexcept;
[[nodiscard]] std::uint32_t check_of_bit(std::uint64_t position) noexcept;

struct announcement {
  std::uint32_t level = 0;
  bool whole = false;            // starts from the empty filter, not from the last announcement
  std::uint32_t check = 0;       // of the filter that it leads to
  std::vector<std::byte> bytes;  // encode_change
};

// ---- ours -------------------------------------------------------------------------------------

class announced_summary {
 public:
  announced_summary(const plan& p, std::uint32_t level);

  // For a new neighbour: what the others have.
  [[nodiscard]] announcement whole() const;
  // From there to these bits; nothing when fewer than `least` bits differ, or none.
  std::optional<announcement> next(std::span<const std::uint64_t> now, std::uint64_t least = 1);

 private:
  std::uint32_t level_;
  std::uint32_t check_ = 0;
  classic_filter sent_;
};

// ---- theirs -----------------------------------------------------------------------------------

// All hashes at once, or all keys of a filter: a resource matches when its description covers them.
struct route_query {
  std::vector<std::uint64_t> hashes;
  std::optional<classic_filter> covered;  // of the shape of the network's filters

  [[nodiscard]] bool may_match(const classic_view& f) const;
};

class summary_table {
 public:
  explicit summary_table(const plan& p) : merged_(p) {}

  void add_link(link_id link);  // with nothing known of it yet
  void remove_link(link_id link);
  [[nodiscard]] bool has_link(link_id link) const noexcept { return find(link) != nullptr; }

  // Throws errc::bad_argument for an unknown link; errc::corrupt for bytes that are no change, or
  // for one that does not lead to what it says. The link is then unknown again.
  void take(link_id link, const announcement& a);

  // Null before its first announcement.
  [[nodiscard]] const classic_filter* filter_of(link_id link) const noexcept;
  // Links whose filters may match, in the order in which they were added, and, if asked for, those
  // that have announced nothing yet.
  [[nodiscard]] std::vector<link_id> matching(const route_query& q, bool unknown_too) const;

  [[nodiscard]] const classic_filter& merged() const noexcept { return merged_; }
  [[nodiscard]] std::size_t links() const noexcept { return entries_.size(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept;  // of all filters

 private:
  struct entry {
    link_id link = 0;
    std::uint32_t check = 0;
    std::optional<classic_filter> filter;
  };

  [[nodiscard]] const entry* find(link_id link) const noexcept;
  void forget(entry& e);
  void flip(entry& e, std::uint64_t position);
  void unite();
  void keep_matching(std::uint64_t hash, std::vector<const entry*>& left) const;

  std::vector<entry> entries_;
  classic_filter merged_;
};

}  // namespace bloomery
