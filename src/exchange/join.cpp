#include "bloomery/exchange/join.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/sent_filter.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/hash/random_seed.hpp"
#include "join_protocol.hpp"
#include "wire.hpp"

namespace bloomery {

using namespace join_protocol;

namespace {

constexpr std::size_t batch_bytes = std::size_t{64} << 10U;

std::uint64_t travel_bytes(std::string_view key, std::string_view rest) {
  return key.size() + wire::size_of(key.size()) + rest.size() + wire::size_of(rest.size());
}

struct offer {  // what A answers
  join_plan plan;
  table_counts counts;
  std::string about;
  std::optional<sent_filter> keys;  // those of A
};

void put_offer(wire::buffer& out, const offer& o) {
  wire::put(out, o.plan.offered_bits);
  wire::put(out, o.plan.asked_bits);
  wire::put(out, o.counts.rows);
  wire::put(out, o.counts.keys);
  wire::put(out, o.counts.bytes);
  wire::put_text(out, o.about);
  if (o.keys) out.insert(out.end(), o.keys->message().begin(), o.keys->message().end());
}

offer take_offer(const message& got, memory_budget& memory) {
  const std::span<const std::byte> all(got.payload);
  wire::reader in(all);
  offer o;
  o.plan.offered_bits = static_cast<std::uint32_t>(in.number(most_fpr_bits));
  o.plan.asked_bits = static_cast<std::uint32_t>(in.number(most_fpr_bits));
  o.counts.rows = in.number();
  o.counts.keys = in.number(o.counts.rows);
  o.counts.bytes = in.number();
  const std::string_view about = in.text();
  if (about.size() > most_about_bytes) wire::reader::fail();
  o.about = about;
  if (o.plan.offered_bits == 0) {
    in.expect_end();
  } else {
    memory.hold(got.payload.size());
    memory.hold_filter(in.rest());
    o.keys.emplace(in.rest());
  }
  return o;
}

// ---- A ----------------------------------------------------------------------------------------

void send_rows(message_channel& peer, const join_side& a, const std::optional<sent_filter>& wanted,
               join_report& report) {
  wire::buffer batch;
  std::uint64_t silent = 0;
  const auto flush = [&] {
    send(peer, step::rows, batch);
    report.row_bytes += batch.size();
    report.other_bytes += message_channel::overhead_bytes;
    batch.clear();
    silent = 0;
    if (!peer.has_room()) peer.flush();  // B only listens now
  };
  a.scan([&](std::string_view key, std::string_view rest) {
    if (++silent >= silent_rows) flush();
    if (wanted && !wanted->contains(a.hash(key))) return;
    wire::put_text(batch, key);
    wire::put_text(batch, rest);
    ++report.rows_sent;
    if (batch.size() >= batch_bytes) flush();
  });
  if (!batch.empty()) flush();
  wire::buffer end;
  wire::put(end, report.rows_sent);
  send(peer, step::end, end);
  report.other_bytes += framed(end.size());
}

// ---- B ----------------------------------------------------------------------------------------

// Rows in memory, in blocks: strings and vectors of their own would take several times the text of
// short rows, and twice that while they grow.
class held_rows {
 public:
  struct row {
    const char* text;  // the key, then the rest
    std::uint32_t key_bytes;
    std::uint32_t rest_bytes;
    std::uint32_t number;  // in order of arrival
    std::uint32_t hash;    // which of B's different hashes it has

    [[nodiscard]] std::string_view key() const { return {text, key_bytes}; }
    [[nodiscard]] std::string_view rest() const { return {text + key_bytes, rest_bytes}; }
  };

  void add(std::string_view key, std::string_view rest, std::uint32_t hash, memory_budget& memory) {
    const std::size_t bytes = key.size() + rest.size();
    if (std::max(bytes, rows_.size()) >= UINT32_MAX) {
      throw error(errc::no_memory, "a row of 4 GiB, or 2^32 rows that match, are too much to join");
    }
    if (bytes > block_left_) {
      const std::size_t size = std::max(bytes, block_bytes);
      memory.hold(size);
      blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
      next_ = blocks_.back().get();
      block_left_ = size;
    }
    memory.hold(sizeof(row));
    rows_.push_back({.text = next_,
                     .key_bytes = static_cast<std::uint32_t>(key.size()),
                     .rest_bytes = static_cast<std::uint32_t>(rest.size()),
                     .number = static_cast<std::uint32_t>(rows_.size()),
                     .hash = hash});
    next_ = std::copy(rest.begin(), rest.end(), std::copy(key.begin(), key.end(), next_));
    block_left_ -= bytes;
  }

  void sort_by_hash() {
    std::sort(rows_.begin(), rows_.end(), [](const row& a, const row& b) {
      return std::pair(a.hash, a.number) < std::pair(b.hash, b.number);
    });
  }
  [[nodiscard]] const std::deque<row>& rows() const noexcept { return rows_; }

 private:
  static constexpr std::size_t block_bytes = std::size_t{64} << 10U;

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t block_left_ = 0;
  std::deque<row> rows_;
};

class arrived_rows {  // rows of A that arrived and have a partner in B
 public:
  arrived_rows(const join_side& b, memory_budget& memory)
      : b_(&b), keys_(different(b.hashes())), met_(keys_.size(), false), memory_(&memory) {}

  void take(const message& batch, join_report& report) {
    wire::reader in(batch.payload);
    while (!in.at_end()) {
      const std::string_view key = in.text();
      const std::string_view rest = in.text();
      if (++report.rows_sent > report.a.rows) wire::reader::fail();
      const auto hash = place_of(key);
      if (!hash) continue;
      met_[*hash] = true;
      rows_.add(key, rest, *hash, *memory_);
    }
  }

  void join_with(const row_scan& b, const join_each& each, join_report& report) {
    held_rows partners;
    b([&](std::string_view key, std::string_view rest) {
      const auto hash = place_of(key);
      if (hash && met_[*hash]) partners.add(key, rest, *hash, *memory_);
    });
    partners.sort_by_hash();
    const auto& of_b = partners.rows();
    for (const held_rows::row& r : rows_.rows()) {
      auto at = std::lower_bound(
          of_b.begin(), of_b.end(), r.hash,
          [](const held_rows::row& row, std::uint32_t hash) { return row.hash < hash; });
      bool matched = false;
      for (; at != of_b.end() && at->hash == r.hash; ++at) {
        if (at->key() != r.key()) continue;  // 64 bits of two keys met
        each(r.key(), r.rest(), at->rest());
        ++report.pairs;
        matched = true;
      }
      if (matched) ++report.rows_matched;
    }
  }

 private:
  [[nodiscard]] std::optional<std::uint32_t> place_of(std::string_view key) const {
    const std::uint64_t hash = b_->hash(key);
    const auto at = std::lower_bound(keys_.begin(), keys_.end(), hash);
    if (at == keys_.end() || *at != hash) return std::nullopt;
    return static_cast<std::uint32_t>(at - keys_.begin());
  }

  const join_side* b_;
  std::vector<std::uint64_t> keys_;
  std::vector<bool> met_;  // the keys that rows of A have
  memory_budget* memory_;
  held_rows rows_;
};

offer ask_for(message_channel& peer, const join_side& b, const join_limits& limits,
              memory_budget& memory, join_report& report) {
  const message got = receive(peer, step::offer, limits.message_bytes());
  offer o = take_offer(got, memory);
  report.plan = o.plan;
  report.a = o.counts;
  report.plain_bytes = o.counts.bytes;
  const std::uint64_t offered = o.keys ? o.keys->message().size() : 0;
  report.filter_bytes += offered;
  report.other_bytes += framed(got.payload.size() - offered);
  wire::buffer none;
  std::span<const std::byte> question(none);
  std::optional<sent_filter> keys;
  if (o.plan.asked_bits != 0) {
    std::vector<std::uint64_t> hashes = different(b.hashes());
    if (o.keys) std::erase_if(hashes, [&](std::uint64_t h) { return !o.keys->contains(h); });
    keys.emplace(std::move(hashes), o.plan.asked_bits);
    question = keys->message();
  }
  send(peer, step::ask, question);
  report.filter_bytes += question.size();
  report.other_bytes += message_channel::overhead_bytes;
  return o;
}

}  // namespace

join_side::join_side(row_scan rows) : join_side(std::move(rows), random_seed()) {}

join_side::join_side(row_scan rows, std::uint64_t seed) : rows_(std::move(rows)), seed_(seed) {
  rows_([this](std::string_view key, std::string_view rest) {
    hashes_.push_back(hash(key));
    counts_.bytes += travel_bytes(key, rest);
  });
  std::sort(hashes_.begin(), hashes_.end());
  counts_.rows = hashes_.size();
  for_each_key(hashes_, [this](std::uint64_t, std::uint64_t times) {
    ++counts_.keys;
    counts_.squares += static_cast<double>(times) * static_cast<double>(times);
  });
}

std::uint64_t join_side::hash(std::string_view key) const noexcept {
  return hash_key(xxh3_hasher(seed_), key);
}

join_report send_join(message_channel& peer, const join_side& a, std::string_view about,
                      const join_limits& limits) {
  if (about.size() > most_about_bytes) {
    detail::throw_bad_argument("what is said about a table", std::uint64_t{about.size()},
                               "at most 1048576 bytes");
  }
  join_report report;
  report.a = a.counts();
  report.plain_bytes = a.counts().bytes;
  const greeting g = hear_hello(peer, a, report);
  if (g.wanted == wish::estimate) {
    send_estimate(peer, a, g, limits, report);
    return report;
  }
  offer o{.plan = plan_join(a.counts(), g.keys),
          .counts = a.counts(),
          .about = std::string(about),
          .keys = std::nullopt};
  if (o.plan.offered_bits != 0) o.keys.emplace(different(a.hashes()), o.plan.offered_bits);
  report.plan = o.plan;
  wire::buffer offered;
  put_offer(offered, o);
  send(peer, step::offer, offered);
  const std::uint64_t offered_filter = o.keys ? o.keys->message().size() : 0;
  const message asked = receive(peer, step::ask, limits.message_bytes());
  report.filter_bytes += offered_filter + asked.payload.size();
  report.other_bytes += framed(offered.size() - offered_filter) + message_channel::overhead_bytes;
  std::optional<sent_filter> wanted;
  if (o.plan.asked_bits != 0) {
    memory_budget memory(limits);
    memory.hold(asked.payload.size());
    memory.hold_filter(asked.payload);
    wanted.emplace(asked.payload);
  }
  send_rows(peer, a, wanted, report);
  // B says that it has got them: when it closes without a word, it gave up.
  static_cast<void>(receive(peer, step::end, 0));
  report.other_bytes += message_channel::overhead_bytes;
  peer.finish();
  return report;
}

join_report receive_join(message_channel& peer, const row_scan& rows, const join_begin& begin,
                         const join_each& each, const join_limits& limits) {
  join_report report;
  memory_budget memory(limits);
  const join_side b = say_hello(peer, wish::rows, rows, report);
  const offer o = ask_for(peer, b, limits, memory, report);
  arrived_rows arrived(b, memory);
  for (;;) {
    const message got = peer.receive(limits.message_bytes());
    if (got.type != static_cast<std::uint8_t>(step::rows)) {
      if (got.type != static_cast<std::uint8_t>(step::end)) wire::reader::fail();
      wire::reader in(got.payload);
      if (in.number() != report.rows_sent) wire::reader::fail();
      in.expect_end();
      report.other_bytes += framed(got.payload.size());
      break;
    }
    arrived.take(got, report);
    report.row_bytes += got.payload.size();
    report.other_bytes += message_channel::overhead_bytes;
  }
  send(peer, step::end, {});
  report.other_bytes += message_channel::overhead_bytes;
  peer.finish();
  begin(o.about);
  arrived.join_with(rows, each, report);
  return report;
}

void append_field(std::string& list, std::string_view field) {
  if (field.size() < 0x80U) {
    list.push_back(static_cast<char>(field.size()));
  } else {
    wire::buffer length;
    wire::put(length, field.size());
    list += wire::text_of(length);
  }
  list += field;
}

void split_fields(std::string_view list, std::vector<std::string_view>& out, std::size_t most) {
  out.clear();
  for (wire::reader in(wire::bytes_of(list)); !in.at_end();) {
    if (out.size() == most) wire::reader::fail();
    out.push_back(in.text());
  }
}

}  // namespace bloomery
