#include "bloomery/exchange/peers.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <variant>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/error.hpp"
#include "bloomery/set/algebra.hpp"

namespace bloomery {

namespace {

// Filters of a shape are sliced for at least so many peers; with fewer most of a word is unused.
constexpr std::size_t least_sliced = 16;

// Peers with filters of one shape. Columns keep their places; those of peers that left are reused.
template <class Probes>
class shelf {
 public:
  using view = bit_view<Probes>;

  shelf(const view& first, bool may_slice)
      : planned_(first.planned()), probes_(first.shape()), may_slice_(may_slice) {}

  [[nodiscard]] bool takes(const shape& s) const noexcept { return s == planned_.shape; }

  std::size_t add(const view& summary) {
    std::size_t column = columns_;
    if (free_.empty()) {
      make_room(columns_ + 1);
      ++columns_;
    } else {
      column = free_.back();
      free_.pop_back();
    }
    put(column, summary);
    return column;
  }

  void put(std::size_t column, const view& summary) {
    keys_.resize(std::max(keys_.size(), column + 1));
    keys_[column] = summary.keys();
    if (!sliced()) {
      loose_.resize(std::max(loose_.size(), column + 1));
      loose_[column].emplace(summary);
      return;
    }
    const std::uint64_t mask = std::uint64_t{1} << (column % 64);
    std::uint64_t* row = matrix_.words().data() + column / 64;
    const std::uint64_t* const words = summary.words().data();
    for (std::uint64_t bit = 0; bit < planned_.shape.bits; ++bit, row += width_) {
      if (detail::test_bit(words, bit)) {
        *row |= mask;
      } else {
        *row &= ~mask;
      }
    }
  }

  void remove(std::size_t column) {
    keys_[column] = 0;
    if (sliced()) {
      const std::uint64_t mask = ~(std::uint64_t{1} << (column % 64));
      std::uint64_t* row = matrix_.words().data() + column / 64;
      for (std::uint64_t bit = 0; bit < planned_.shape.bits; ++bit, row += width_) *row &= mask;
    } else {
      loose_[column].reset();
    }
    free_.push_back(column);
  }

  // Calls found(column) for each filter that contains the hash.
  template <class Found>
  void ask(std::uint64_t hash, std::vector<std::uint64_t>& room, Found found) const {
    if (!sliced()) {
      ask_loose(hash, room);
      for (const std::uint64_t column : room) found(static_cast<std::size_t>(column));
      return;
    }
    room.assign(width_, ~std::uint64_t{0});
    const std::uint64_t* const rows = matrix_.words().data();
    probes_.all_of(hash, [&](std::uint64_t position) {
      const std::uint64_t* const row = rows + position * width_;
      std::uint64_t any = 0;
      for (std::size_t i = 0; i < width_; ++i) any |= room[i] &= row[i];
      return any != 0;
    });
    for (std::size_t i = 0; i < width_; ++i) {
      for (std::uint64_t word = room[i]; word != 0; word &= word - 1) {
        found(i * 64 + static_cast<std::size_t>(std::countr_zero(word)));
      }
    }
  }

  // The union of all filters: a bit is set where its row has one, which is the OR of the columns.
  [[nodiscard]] bit_filter<Probes> merged() const {
    bit_filter<Probes> all(planned_);
    for (const auto& each : loose_) {
      if (each) all |= *each;
    }
    const std::uint64_t* row = matrix_.words().data();
    for (std::uint64_t bit = 0; sliced() && bit < planned_.shape.bits; ++bit, row += width_) {
      if (std::any_of(row, row + width_, [](std::uint64_t word) { return word != 0; })) {
        detail::set_bit(all.mutable_words().data(), bit);
      }
    }
    all.set_keys(std::accumulate(keys_.begin(), keys_.end(), std::uint64_t{0}));
    return all;
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    std::uint64_t sum = matrix_.words().size_bytes();
    for (const auto& each : loose_) sum += each ? each->bytes() : 0;
    return sum;
  }

  [[nodiscard]] std::span<const std::uint64_t> words(std::size_t column) const noexcept {
    if (sliced()) return {};
    return loose_[column]->words();
  }

 private:
  [[nodiscard]] bool sliced() const noexcept { return width_ != 0; }

  // The words of one probe are fetched for all filters before the first is looked at: their misses
  // overlap.
  void ask_loose(std::uint64_t hash, std::vector<std::uint64_t>& left) const {
    left.clear();
    for (std::size_t column = 0; column < loose_.size(); ++column) {
      if (loose_[column]) left.push_back(column);
    }
    probes_.all_of(hash, [&](std::uint64_t position) {
      for (const std::uint64_t column : left) {
        __builtin_prefetch(loose_[column]->words().data() + position / 64);
      }
      std::erase_if(left, [&](std::uint64_t column) {
        return !detail::test_bit(loose_[column]->words().data(), position);
      });
      return !left.empty();
    });
  }

  void make_room(std::size_t columns) {
    if (!may_slice_) return;
    if (columns <= (sliced() ? width_ * 64 : least_sliced - 1)) return;
    const std::size_t width = std::max<std::size_t>(1, 2 * width_);
    const std::uint64_t bits = planned_.shape.bits;
    if (bits > max_bits / (std::uint64_t{64} * width)) {
      throw error(errc::no_memory, "the filters of " + detail::to_text(std::uint64_t{columns}) +
                                       " peers do not fit into one matrix");
    }
    bit_array matrix(bits * width * 64);
    for (std::uint64_t bit = 0; sliced() && bit < bits; ++bit) {
      std::copy_n(matrix_.words().data() + bit * width_, width_,
                  matrix.words().data() + bit * width);
    }
    matrix_ = std::move(matrix);
    width_ = width;
    for (std::size_t column = 0; column < loose_.size(); ++column) {
      if (loose_[column]) put(column, *loose_[column]);
    }
    loose_ = {};
  }

  plan planned_;
  Probes probes_;
  bool may_slice_;
  std::size_t columns_ = 0;
  std::vector<std::size_t> free_;
  std::vector<std::uint64_t> keys_;                       // the number of keys of each column
  std::vector<std::optional<bit_filter<Probes>>> loose_;  // the filters while there are few
  bit_array matrix_;                                      // the filters in slices
  std::size_t width_ = 0;                                 // words in a row of the matrix
};

using any_shelf =
    std::variant<shelf<blocked_probes>, shelf<classic_probes>, shelf<partitioned_probes>>;

struct known_peer {
  std::size_t on = 0;  // the number of the shelf
  std::size_t column = 0;
  std::uint64_t time = 0;
};

}  // namespace

struct peer_directory::state {
  hash_spec hash;
  peers_options options;
  std::vector<any_shelf> shelves;
  std::vector<std::vector<std::uint64_t>> names;  // the peer of each column of each shelf
  std::map<std::uint64_t, known_peer> peers;

  [[nodiscard]] bool is_stale(std::uint64_t time, std::uint64_t now) const noexcept {
    return now > time && now - time > options.longest_age;
  }

  template <class Probes>
  std::size_t shelf_for(const bit_view<Probes>& summary) {
    for (std::size_t i = 0; i < shelves.size(); ++i) {
      const auto* const found = std::get_if<shelf<Probes>>(&shelves[i]);
      if (found != nullptr && found->takes(summary.shape())) return i;
    }
    shelves.emplace_back(shelf<Probes>(summary, options.sliced));
    names.emplace_back();
    return shelves.size() - 1;
  }

  void take_away(const known_peer& p) {
    names[p.on][p.column] = 0;
    std::visit([&](auto& s) { s.remove(p.column); }, shelves[p.on]);
  }

  template <class Probes>
  bool update(std::uint64_t peer, const bit_view<Probes>& summary, const hash_spec& its_hash,
              std::uint64_t time) {
    check_combinable(hash, its_hash);
    const auto known = peers.find(peer);
    if (known != peers.end() && time < known->second.time) return false;
    const std::size_t on = shelf_for(summary);
    auto& place = std::get<shelf<Probes>>(shelves[on]);
    if (known != peers.end() && known->second.on == on) {
      place.put(known->second.column, summary);
      known->second.time = time;
      return true;
    }
    const std::size_t column = place.add(summary);
    names[on].resize(std::max(names[on].size(), column + 1));
    names[on][column] = peer;
    if (known != peers.end()) take_away(known->second);
    peers[peer] = {.on = on, .column = column, .time = time};
    return true;
  }
};

peer_directory::peer_directory(const hash_spec& hash, const peers_options& o)
    : state_(std::make_unique<state>()) {
  state_->hash = hash;
  state_->options = o;
}
peer_directory::peer_directory(peer_directory&&) noexcept = default;
peer_directory& peer_directory::operator=(peer_directory&&) noexcept = default;
peer_directory::~peer_directory() = default;

bool peer_directory::update(std::uint64_t peer, const blocked_view& summary, const hash_spec& hash,
                            std::uint64_t time) {
  return state_->update(peer, summary, hash, time);
}
bool peer_directory::update(std::uint64_t peer, const classic_view& summary, const hash_spec& hash,
                            std::uint64_t time) {
  return state_->update(peer, summary, hash, time);
}
bool peer_directory::update(std::uint64_t peer, const partitioned_view& summary,
                            const hash_spec& hash, std::uint64_t time) {
  return state_->update(peer, summary, hash, time);
}

bool peer_directory::touch(std::uint64_t peer, std::uint64_t time) {
  const auto known = state_->peers.find(peer);
  if (known == state_->peers.end()) return false;
  known->second.time = std::max(known->second.time, time);
  return true;
}

bool peer_directory::remove(std::uint64_t peer) {
  const auto known = state_->peers.find(peer);
  if (known == state_->peers.end()) return false;
  state_->take_away(known->second);
  state_->peers.erase(known);
  return true;
}

std::size_t peer_directory::expire(std::uint64_t now) {
  return std::erase_if(state_->peers, [&](const auto& known) {
    if (!state_->is_stale(known.second.time, now)) return false;
    state_->take_away(known.second);
    return true;
  });
}

std::vector<candidate> peer_directory::ask(std::span<const std::uint64_t> hashes,
                                           std::uint64_t now) const {
  // Whether a column is stale is found out once for all objects.
  std::vector<std::vector<char>> stale;
  for (const auto& names : state_->names) stale.emplace_back(names.size(), 0);
  for (const auto& [peer, p] : state_->peers) {
    stale[p.on][p.column] = state_->is_stale(p.time, now) ? 1 : 0;
  }
  std::vector<candidate> found;
  std::vector<std::uint64_t> room;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const std::size_t before = found.size();
    for (std::size_t s = 0; s < state_->shelves.size(); ++s) {
      std::visit(
          [&](const auto& place) {
            place.ask(hashes[i], room, [&](std::size_t column) {
              const bool old = stale[s][column] != 0;
              if (old && !state_->options.keep_stale) return;
              found.push_back({.object = i, .peer = state_->names[s][column], .stale = old});
            });
          },
          state_->shelves[s]);
    }
    std::sort(found.begin() + static_cast<std::ptrdiff_t>(before), found.end(),
              [](const candidate& a, const candidate& b) { return a.peer < b.peer; });
  }
  return found;
}

std::size_t peer_directory::peers() const noexcept { return state_->peers.size(); }

std::optional<std::uint64_t> peer_directory::time_of(std::uint64_t peer) const {
  const auto known = state_->peers.find(peer);
  if (known == state_->peers.end()) return std::nullopt;
  return known->second.time;
}

std::span<const std::uint64_t> peer_directory::words_of(std::uint64_t peer) const {
  const auto known = state_->peers.find(peer);
  if (known == state_->peers.end()) return {};
  const known_peer& p = known->second;
  return std::visit([&](const auto& place) { return place.words(p.column); },
                    state_->shelves[p.on]);
}

std::optional<std::uint64_t> peer_directory::latest_time() const {
  std::optional<std::uint64_t> latest;
  for (const auto& [peer, known] : state_->peers) {
    latest = std::max(latest.value_or(known.time), known.time);
  }
  return latest;
}

std::uint64_t peer_directory::bytes() const {
  std::uint64_t all = 0;
  for (const any_shelf& s : state_->shelves) {
    all += std::visit([](const auto& place) { return place.bytes(); }, s);
  }
  return all;
}

blocked_filter peer_directory::merged() const {
  const auto* const only = state_->shelves.size() == 1
                               ? std::get_if<shelf<blocked_probes>>(&state_->shelves.front())
                               : nullptr;
  if (only == nullptr) {
    throw error(errc::mismatch, "only blocked filters of one shape can be merged");
  }
  return only->merged();
}

// ---- groups -----------------------------------------------------------------------------------

peer_groups::peer_groups(const hash_spec& hash, const peers_options& o)
    : hash_(hash), options_(o), leaders_(hash, o) {}

bool peer_groups::update(std::uint64_t group, std::uint64_t peer, const blocked_view& summary,
                         std::uint64_t time) {
  check_combinable(shapes_.try_emplace(group, summary.shape()).first->second, summary.shape());
  peer_directory& members = groups_.try_emplace(group, hash_, options_).first->second;
  if (!members.update(peer, summary, hash_, time)) return false;
  lead(group);
  return true;
}

// Makes the leader's filter anew, or removes a group without members. The leader is as old as the
// youngest of them.
void peer_groups::lead(std::uint64_t group) {
  const peer_directory& members = groups_.at(group);
  leaders_.remove(group);
  if (const auto time = members.latest_time()) {
    leaders_.update(group, members.merged(), hash_, *time);
    return;
  }
  groups_.erase(group);
  shapes_.erase(group);
}

bool peer_groups::remove(std::uint64_t group, std::uint64_t peer) {
  const auto found = groups_.find(group);
  if (found == groups_.end() || !found->second.remove(peer)) return false;
  lead(group);
  return true;
}

std::size_t peer_groups::expire(std::uint64_t now) {
  std::vector<std::uint64_t> changed;
  std::size_t members = 0;
  for (auto& [group, directory] : groups_) {
    const std::size_t gone = directory.expire(now);
    if (gone != 0) changed.push_back(group);
    members += gone;
  }
  for (const std::uint64_t group : changed) lead(group);
  return members;
}

peer_groups::answer peer_groups::ask(std::span<const std::uint64_t> hashes,
                                     std::uint64_t now) const {
  answer all{.leaders = leaders_.ask(hashes, now), .candidates = {}};
  for (const candidate& leader : all.leaders) {
    for (candidate c : groups_.at(leader.peer).ask(hashes.subspan(leader.object, 1), now)) {
      c.object = leader.object;
      all.candidates.push_back(c);
    }
  }
  return all;
}

const peer_directory* peer_groups::members(std::uint64_t group) const noexcept {
  const auto found = groups_.find(group);
  return found == groups_.end() ? nullptr : &found->second;
}

}  // namespace bloomery
