#include "bloomery/measure/flows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "bloomery/core/error.hpp"

namespace bloomery {

namespace detail {

flow_table::flow_table(std::size_t capacity)
    : capacity_(std::max<std::size_t>(capacity, 2)),
      mask_(std::bit_ceil(2 * std::uint64_t{capacity_}) - 1),
      index_(mask_ + 1) {
  entries_.reserve(capacity_);
  flows_.reserve(capacity_);
}

void flow_table::index(std::size_t place) {
  const std::uint64_t hash = entries_[place].hash;
  std::size_t at = hash & mask_;
  while (index_[at].place != 0) at = (at + 1) & mask_;
  index_[at] = {.tag = tag_of(hash), .place = static_cast<std::uint32_t>(place + 1)};
}

void flow_table::insert(const flow_key& flow, const flow_entry& e) {
  flows_.push_back(flow);
  entries_.push_back(e);
  ++changes_;
  index(entries_.size() - 1);
}

void flow_table::rebuild() {
  std::fill(index_.begin(), index_.end(), slot{});
  for (std::size_t i = 0; i < entries_.size(); ++i) index(i);
}

}  // namespace detail

namespace {

// The median needs a number for each flow as well.
constexpr std::uint64_t flow_cost = detail::flow_table::bytes_of_entry + sizeof(std::uint64_t);
constexpr std::size_t most_flows = std::size_t{1} << 30U;
constexpr std::size_t at_once = 64;  // packets of a batch

const flow_options& checked(const flow_options& o) {
  if (o.memory_bytes < heavy_flows::least_memory) {
    detail::throw_bad_argument("the memory for flows", o.memory_bytes, "at least 16384 bytes");
  }
  return o;
}

multistage_options filter_for(const flow_options& o) {
  const std::uint64_t fitting =
      o.memory_bytes / 2 / sizeof(std::uint64_t) / std::max<std::uint64_t>(1, o.stages);
  return {.buckets = o.buckets != 0 ? o.buckets : std::max<std::uint64_t>(1, fitting),
          .stages = o.stages,
          .order = o.order,
          .conservative = o.conservative};
}

// The index is a power of two, at most twice what is needed: what is asked for is the most.
std::size_t flows_for(const flow_options& o) {
  if (o.flows != 0) return std::min(o.flows, most_flows);
  return static_cast<std::size_t>(
      std::min<std::uint64_t>(o.memory_bytes / 2 / flow_cost, most_flows));
}

}  // namespace

heavy_flows::heavy_flows(const flow_options& o)
    : options_(checked(o)),
      hasher_(o.seed),
      threshold_(std::max<std::uint64_t>(1, o.threshold)),
      exact_(threshold_ == 1),
      filter_(filter_for(o)),
      table_(flows_for(o)),
      places_(at_once * filter_.stages()) {
  sizes_.reserve(table_.capacity());
}

std::uint64_t heavy_flows::memory_bytes() const noexcept {
  return filter_.memory_bytes() + table_.memory_bytes() + table_.capacity() * sizeof(std::uint64_t);
}

void heavy_flows::add_hashed(const flow_key& flow, std::uint64_t hash, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (detail::flow_entry* const e = table_.find(hash); e != nullptr) {
    total_bytes_ += bytes;
    e->bytes += bytes;
    ++e->packets;
    if (!options_.shielded) static_cast<void>(filter_.offer(hash, bytes, threshold_));
    return;
  }
  add_new(flow, hash, bytes, nullptr);
}

// For a flow that is not in the table; `places` are null, or what the filter located.
void heavy_flows::add_new(const flow_key& flow, std::uint64_t hash, std::uint64_t bytes,
                          const std::uint64_t* places) {
  if (bytes == 0) return;
  total_bytes_ += bytes;
  std::uint64_t passed = bytes;
  if (!exact_ || table_.full()) {
    passed = places != nullptr ? filter_.offer_at(places, hash, bytes, threshold_)
                               : filter_.offer(hash, bytes, threshold_);
  }
  if (passed == 0) return;
  if (table_.full()) {
    make_room();
    if (passed < threshold_) {  // it would have been among those that went
      filter_.remember(hash, passed, threshold_);
      return;
    }
  }
  table_.insert(flow, {.hash = hash, .bytes = passed, .error = passed - bytes, .packets = 1});
}

void heavy_flows::add_batch(std::span<const flow_packet> packets) {
  while (!packets.empty()) {
    const auto some = packets.first(std::min(packets.size(), at_once));
    add_some(some);
    packets = packets.subspan(some.size());
  }
}

// In passes, so that lines of memory are on their way before they are needed, and that packets of
// known flows and of others are two loops: which of both comes next cannot be foreseen, and a
// branch on it would cost as much as the counting. Known ones come first: while they are counted no
// entry moves. Flows that are not in the table are not looked for again until it changes.
void heavy_flows::add_some(std::span<const flow_packet> packets) {
  // Only what is written is read; NOLINTBEGIN(cppcoreguidelines-pro-type-member-init)
  std::array<std::uint64_t, at_once> hashes;
  std::array<std::uint32_t, at_once> found;
  std::array<std::uint8_t, at_once> known;
  std::array<std::uint8_t, at_once> others;
  // NOLINTEND(cppcoreguidelines-pro-type-member-init)
  for (std::size_t i = 0; i < packets.size(); ++i) {
    hashes[i] = hash_of(packets[i].flow);
    table_.prefetch(hashes[i]);
  }
  std::size_t known_count = 0;
  std::size_t other_count = 0;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const std::uint32_t place = options_.shielded ? table_.place_of(hashes[i]) : 0;
    table_.prefetch_place(place);
    found[i] = place;
    known[known_count] = others[other_count] = static_cast<std::uint8_t>(i);
    known_count += place != 0 ? 1U : 0U;
    other_count += place == 0 ? 1U : 0U;
  }
  bool certain = options_.shielded;  // that the others are not in the table
  std::uint64_t counted = 0;
  for (std::size_t j = 0; j < known_count; ++j) {
    const std::size_t i = known[j];
    detail::flow_entry& e = table_.at_place(found[i]);
    if (e.hash != hashes[i]) [[unlikely]] {  // another flow with its tag
      others[other_count++] = known[j];
      certain = false;
      continue;
    }
    e.bytes += packets[i].bytes;
    e.packets += packets[i].bytes != 0 ? 1U : 0U;
    counted += packets[i].bytes;
  }
  total_bytes_ += counted;
  const std::size_t stages = filter_.stages();
  const bool located = !exact_;
  for (std::size_t j = 0; located && j < other_count; ++j) {
    filter_.locate(hashes[others[j]], places_.data() + j * stages);
  }
  const std::uint64_t changes = table_.changes();
  for (std::size_t j = 0; j < other_count; ++j) {
    const flow_packet& p = packets[others[j]];
    const std::uint64_t hash = hashes[others[j]];
    if (certain && table_.changes() == changes) {
      add_new(p.flow, hash, p.bytes, located ? places_.data() + j * stages : nullptr);
    } else {
      add_hashed(p.flow, hash, p.bytes);
    }
  }
}

// The larger half stays. Flows that go leave their bytes in the filter, so that no count of theirs
// can be too low when they come again.
void heavy_flows::make_room() {
  sizes_.clear();
  for (const detail::flow_entry& e : table_.entries()) sizes_.push_back(e.bytes);
  const auto middle = sizes_.begin() + static_cast<std::ptrdiff_t>(sizes_.size() / 2);
  std::nth_element(sizes_.begin(), middle, sizes_.end());
  threshold_ = std::max(threshold_, *middle + 1);
  exact_ = false;
  table_.remove_if([&](const detail::flow_entry& e) {
    if (e.bytes >= threshold_) return false;
    if (e.bytes != 0) filter_.remember(e.hash, e.bytes, threshold_);
    return true;
  });
}

std::vector<flow_count> heavy_flows::list(std::uint64_t least_bytes, std::size_t most) const {
  std::vector<flow_count> rows;
  for (std::size_t i = 0; i < table_.entries().size(); ++i) {
    const detail::flow_entry& e = table_.entries()[i];
    if (e.bytes == 0 || e.bytes < least_bytes) continue;
    rows.push_back({table_.flows()[i], e.bytes, e.error, e.packets});
  }
  const auto before = [](const flow_count& a, const flow_count& b) {
    if (a.bytes != b.bytes) return a.bytes > b.bytes;
    const auto x = a.flow.bytes();
    const auto y = b.flow.bytes();
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  };
  const std::size_t kept = std::min(most, rows.size());
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(kept), rows.end(),
                    before);
  rows.resize(kept);
  return rows;
}

void heavy_flows::next_interval() {
  filter_.clear();
  table_.remove_if([&](detail::flow_entry& e) {
    if (e.bytes < threshold_) return true;
    e.bytes = e.error = e.packets = 0;
    return false;
  });
  threshold_ = std::max<std::uint64_t>(1, options_.threshold);
  exact_ = threshold_ == 1;
  total_bytes_ = 0;
}

}  // namespace bloomery
