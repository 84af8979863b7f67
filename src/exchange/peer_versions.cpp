#include "bloomery/exchange/peer_versions.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/core/kinds.hpp"
#include "bloomery/format/codec.hpp"

namespace bloomery {

namespace {

// Whether a stamp shows that the peer has lived longer than another one shows.
bool is_later(const peer_stamp& a, const peer_stamp& b) {
  return std::tie(a.version.epoch, a.beat) > std::tie(b.version.epoch, b.beat);
}

// Puts a filter into the directory, as the kind that its header says.
void put_into(peer_directory& directory, std::uint64_t peer, const image_header& h,
              std::span<const std::uint64_t> words, std::uint64_t time) {
  switch (h.planned.shape.kind) {
    case filter_kind::blocked:
      directory.update(peer, blocked_view(h.planned, words, h.keys), h.hash, time);
      return;
    case filter_kind::classic:
      directory.update(peer, classic_view(h.planned, words, h.keys), h.hash, time);
      return;
    case filter_kind::partitioned:
      directory.update(peer, partitioned_view(h.planned, words, h.keys), h.hash, time);
      return;
    default:
      throw error(errc::unsupported, "a peer's filter is blocked, classic or partitioned, not " +
                                         std::string(kind_name(h.planned.shape.kind)));
  }
}

template <class Many>
std::size_t bytes_of(const Many& all) {
  std::size_t sum = 0;
  for (const peer_news& news : all) sum += news.bytes.size();
  return sum;
}

}  // namespace

peer_versions::peer_versions(const hash_spec& hash, const peer_versions_options& o)
    : hash_(hash), options_(o), directory_(hash, {.longest_age = o.longest_age, .sliced = false}) {}

// What needs no look at the filter: nothing when the news is a newer version.
std::optional<news_outcome> peer_versions::refused(std::uint64_t peer, const peer_stamp& s) const {
  if (const auto gone = forgotten_.find(peer);
      gone != forgotten_.end() && !is_later(s, gone->second.stamp)) {
    return news_outcome::stale;
  }
  const auto known = peers_.find(peer);
  if (known == peers_.end()) return std::nullopt;
  const peer_stamp& ours = known->second.stamp;
  if (s.version < ours.version) return news_outcome::stale;
  if (s.version == ours.version && !is_later(s, ours)) return news_outcome::known;
  return std::nullopt;
}

news_outcome peer_versions::take(const peer_entry& entry, std::uint64_t now) {
  if (const auto no = refused(entry.peer, entry.stamp)) return *no;
  const auto known = peers_.find(entry.peer);
  if (known == peers_.end() || entry.stamp.version != known->second.stamp.version) {
    return news_outcome::gap;
  }
  known->second.stamp = entry.stamp;
  known->second.heard = std::max(known->second.heard, now);
  directory_.touch(entry.peer, known->second.heard);
  return news_outcome::taken;
}

news_outcome peer_versions::take(const peer_news& news, std::uint64_t now) {
  if (const auto no = refused(news.peer, news.stamp)) return *no;
  const auto known = peers_.find(news.peer);
  if (known != peers_.end() && news.stamp.version == known->second.stamp.version) {
    return take(peer_entry{.peer = news.peer, .stamp = news.stamp}, now);
  }
  if (!news.from) {
    keep(news, unpack(news.bytes, {.memory = options_.most_bits / 8}), now);
    return news_outcome::taken;
  }
  if (known == peers_.end() || known->second.stamp.version != *news.from) return news_outcome::gap;
  keep(news,
       patch(version_of(news.peer, known->second), news.bytes, {.memory = options_.most_bits / 8}),
       now);
  return news_outcome::taken;
}

void peer_versions::keep(const peer_news& news, const unpacked_filter& filter, std::uint64_t now) {
  auto known = peers_.find(news.peer);
  if (known == peers_.end() && peers_.size() >= options_.most_peers) {
    throw error(errc::full, "there are " + detail::to_text(std::uint64_t{peers_.size()}) +
                                " peers already, the most that are kept");
  }
  const std::uint64_t heard = known == peers_.end() ? now : std::max(now, known->second.heard);
  put_into(directory_, news.peer, filter.header, filter.words.words(), heard);
  if (known == peers_.end()) known = peers_.try_emplace(news.peer).first;
  known_version& k = known->second;
  // A version that came with an older beat than the last sign of life takes that one's.
  const bool same_life = k.stamp.version.epoch == news.stamp.version.epoch;
  const std::uint64_t beat = same_life ? std::max(k.stamp.beat, news.stamp.beat) : news.stamp.beat;
  k.stamp = {.version = news.stamp.version, .beat = beat};
  k.heard = heard;
  k.header = filter.header;
  if (!news.from) k.deltas.clear();
  if (news.from && options_.deltas != 0) {
    k.deltas.push_back(news);
    if (k.deltas.size() > options_.deltas) k.deltas.pop_front();
    // Nobody fetches a chain of deltas that is larger than the filter itself.
    while (bytes_of(k.deltas) > filter.words.words().size_bytes()) k.deltas.pop_front();
  }
  forgotten_.erase(news.peer);
}

// ---- our own ----------------------------------------------------------------------------------

peer_news peer_versions::publish(std::uint64_t self, std::uint64_t epoch,
                                 const filter_version& filter, std::uint64_t now) {
  peer_news news{.peer = self, .stamp = {.version = {.epoch = epoch}}, .from = {}, .bytes = {}};
  const auto known = peers_.find(self);
  if (known != peers_.end()) {
    const peer_stamp& last = known->second.stamp;
    if (epoch < last.version.epoch) {
      detail::throw_bad_argument("the epoch", epoch,
                                 "at least the last one, " + detail::to_text(last.version.epoch));
    }
    if (epoch == last.version.epoch) {
      news.stamp = {.version = {.epoch = epoch, .counter = last.version.counter + 1},
                    .beat = last.beat + 1};
      news.from = last.version;
      news.bytes = diff(version_of(self, known->second), filter);
    }
  }
  if (!news.from) news.bytes = pack(filter.header, filter.words);
  bit_array words(filter.header.planned.shape.bits);
  std::copy(filter.words.begin(), filter.words.end(), words.words().begin());
  keep(news, {.header = filter.header, .words = std::move(words)}, now);
  return news;
}

peer_entry peer_versions::live(std::uint64_t self, std::uint64_t now) {
  const auto known = peers_.find(self);
  if (known == peers_.end()) throw error(errc::bad_argument, "this peer has no filter here");
  peer_entry next{.peer = self, .stamp = known->second.stamp};
  ++next.stamp.beat;
  take(next, now);
  return next;
}

// ---- for others -------------------------------------------------------------------------------

std::vector<peer_news> peer_versions::news_for(std::uint64_t peer,
                                               std::optional<peer_version> theirs) const {
  const auto known = peers_.find(peer);
  if (known == peers_.end()) return {};
  const known_version& k = known->second;
  if (theirs && *theirs >= k.stamp.version) return {};
  std::vector<peer_news> all{{.peer = peer,
                              .stamp = k.stamp,
                              .from = {},
                              .bytes = pack(k.header, directory_.words_of(peer))}};
  const auto first = std::find_if(k.deltas.begin(), k.deltas.end(), [&](const peer_news& delta) {
    return theirs && delta.from == *theirs;
  });
  if (first == k.deltas.end()) return all;
  std::vector<peer_news> chain(first, k.deltas.end());
  chain.back().stamp = k.stamp;  // with the last beat
  return bytes_of(chain) < bytes_of(all) ? chain : all;
}

std::vector<peer_entry> peer_versions::versions() const {
  std::vector<peer_entry> all;
  for (const auto& [peer, k] : peers_) all.push_back({.peer = peer, .stamp = k.stamp});
  return all;
}

peer_versions::differences peer_versions::difference(std::span<const peer_entry> theirs) const {
  std::map<std::uint64_t, peer_version> there;
  for (const peer_entry& e : theirs) {
    const auto [at, fresh] = there.try_emplace(e.peer, e.stamp.version);
    if (!fresh) at->second = std::max(at->second, e.stamp.version);
  }
  differences all;
  for (const auto& [peer, k] : peers_) {
    const auto at = there.find(peer);
    if (at == there.end() || at->second < k.stamp.version) all.newer_here.push_back(peer);
  }
  for (const peer_entry& e : theirs) {
    const auto at = peers_.find(e.peer);
    const bool older = at == peers_.end() || at->second.stamp.version < e.stamp.version;
    if (older && !refused(e.peer, e.stamp)) all.newer_there.push_back(e.peer);
  }
  return all;
}

std::optional<peer_stamp> peer_versions::stamp_of(std::uint64_t peer) const {
  const auto known = peers_.find(peer);
  if (known == peers_.end()) return std::nullopt;
  return known->second.stamp;
}

std::optional<filter_version> peer_versions::filter_of(std::uint64_t peer) const {
  const auto known = peers_.find(peer);
  if (known == peers_.end()) return std::nullopt;
  return version_of(peer, known->second);
}

std::size_t peer_versions::expire(std::uint64_t now) {
  const auto older = [now](std::uint64_t since, std::uint64_t limit) {
    return now > since && now - since > limit;
  };
  std::erase_if(forgotten_, [&](const auto& gone) {
    return older(gone.second.forgotten, options_.remembered);
  });
  return std::erase_if(peers_, [&](const auto& known) {
    if (!older(known.second.heard, options_.longest_age)) return false;
    forgotten_[known.first] = {.stamp = known.second.stamp, .forgotten = now};
    directory_.remove(known.first);
    return true;
  });
}

}  // namespace bloomery
