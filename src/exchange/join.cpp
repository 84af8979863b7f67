#include "bloomery/exchange/join.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/sent_filter.hpp"
#include "join_protocol.hpp"
#include "wire.hpp"

namespace bloomery {

using namespace join_protocol;

namespace {

constexpr std::size_t batch_bytes = std::size_t{64} << 10U;
// A sender that finds nothing to send says so from time to time: a silent peer counts as gone.
constexpr std::uint64_t silent_rows = 1 << 18;

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

offer take_offer(const message& got) {
  const std::span<const std::byte> all(got.payload);
  wire::reader in(all);
  offer o;
  o.plan.offered_bits = static_cast<std::uint32_t>(in.number(most_fpr_bits));
  o.plan.asked_bits = static_cast<std::uint32_t>(in.number(most_fpr_bits));
  o.counts.rows = in.number();
  o.counts.keys = in.number(o.counts.rows);
  o.counts.bytes = in.number();
  o.about = in.text();
  if (o.plan.offered_bits == 0) {
    in.expect_end();
  } else {
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
    if (wanted && !wanted->contains(hash_of(key))) return;
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

class arrived_rows {  // rows of A that arrived and have a partner in B
 public:
  arrived_rows(const join_side& b, const join_limits& limits)
      : keys_(different(b.hashes())), most_bytes_(limits.held_bytes) {}

  void take(const message& batch, join_report& report) {
    wire::reader in(batch.payload);
    while (!in.at_end()) {
      const std::string_view key = in.text();
      const std::string_view rest = in.text();
      if (++report.rows_sent > report.a.rows) wire::reader::fail();
      if (!std::binary_search(keys_.begin(), keys_.end(), hash_of(key))) continue;
      if (text_.size() + key.size() + rest.size() > most_bytes_) {
        throw error(errc::no_memory, "the rows that match take more than " +
                                         detail::to_text(most_bytes_) + " bytes of memory");
      }
      rows_.push_back({.start = text_.size(), .key = key.size(), .rest = rest.size()});
      text_ += key;
      text_ += rest;
    }
  }

  void join_with(const join_side& b, const join_each& each, join_report& report) {
    keys_ = {};
    std::unordered_map<std::string_view, std::vector<std::string>> partners;
    partners.reserve(rows_.size());
    for (const row& r : rows_) partners.try_emplace(key_of(r));
    b.scan([&](std::string_view key, std::string_view rest) {
      const auto found = partners.find(key);
      if (found != partners.end()) found->second.emplace_back(rest);
    });
    for (const row& r : rows_) {
      const std::vector<std::string>& rests = partners.find(key_of(r))->second;
      if (!rests.empty()) ++report.rows_matched;
      for (const std::string& rest : rests) {
        each(key_of(r), std::string_view(text_).substr(r.start + r.key, r.rest), rest);
        ++report.pairs;
      }
    }
  }

 private:
  struct row {
    std::size_t start = 0;
    std::size_t key = 0;  // bytes of either
    std::size_t rest = 0;
  };

  [[nodiscard]] std::string_view key_of(const row& r) const {
    return std::string_view(text_).substr(r.start, r.key);
  }

  std::vector<std::uint64_t> keys_;
  std::uint64_t most_bytes_;
  std::string text_;
  std::vector<row> rows_;
};

offer ask_for(message_channel& peer, const join_side& b, const join_limits& limits,
              join_report& report) {
  say_hello(peer, wish::rows, b, report);
  const message got = receive(peer, step::offer, limits.message_bytes);
  offer o = take_offer(got);
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

join_side::join_side(row_scan rows) : rows_(std::move(rows)) {
  rows_([this](std::string_view key, std::string_view rest) {
    hashes_.push_back(hash_of(key));
    counts_.bytes += travel_bytes(key, rest);
  });
  std::sort(hashes_.begin(), hashes_.end());
  counts_.rows = hashes_.size();
  for_each_key(hashes_, [this](std::uint64_t, std::uint64_t times) {
    ++counts_.keys;
    counts_.squares += static_cast<double>(times) * static_cast<double>(times);
  });
}

join_report send_join(message_channel& peer, const join_side& a, std::string_view about,
                      const join_limits& limits) {
  const greeting g = hear_hello(peer);
  join_report report;
  report.a = a.counts();
  report.keys_b = g.keys;
  report.rows_b = g.rows;
  report.plain_bytes = a.counts().bytes;
  report.other_bytes += peer.bytes_received();
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
  const message asked = receive(peer, step::ask, limits.message_bytes);
  report.filter_bytes += offered_filter + asked.payload.size();
  report.other_bytes += framed(offered.size() - offered_filter) + message_channel::overhead_bytes;
  std::optional<sent_filter> wanted;
  if (o.plan.asked_bits != 0) wanted.emplace(asked.payload);
  send_rows(peer, a, wanted, report);
  peer.finish();
  return report;
}

join_report receive_join(message_channel& peer, const join_side& b, const join_begin& begin,
                         const join_each& each, const join_limits& limits) {
  join_report report;
  const offer o = ask_for(peer, b, limits, report);
  arrived_rows rows(b, limits);
  for (;;) {
    const message got = peer.receive(limits.message_bytes);
    if (got.type != static_cast<std::uint8_t>(step::rows)) {
      if (got.type != static_cast<std::uint8_t>(step::end)) wire::reader::fail();
      wire::reader in(got.payload);
      if (in.number() != report.rows_sent) wire::reader::fail();
      in.expect_end();
      report.other_bytes += framed(got.payload.size());
      break;
    }
    rows.take(got, report);
    report.row_bytes += got.payload.size();
    report.other_bytes += message_channel::overhead_bytes;
  }
  peer.finish();
  begin(o.about);
  rows.join_with(b, each, report);
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

void split_fields(std::string_view list, std::vector<std::string_view>& out) {
  out.clear();
  for (wire::reader in(wire::bytes_of(list)); !in.at_end();) out.push_back(in.text());
}

}  // namespace bloomery
