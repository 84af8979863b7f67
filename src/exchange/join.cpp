#include "bloomery/exchange/join.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/sent_filter.hpp"
#include "bloomery/hash/hash.hpp"
#include "wire.hpp"

namespace bloomery {

namespace {

enum class step : std::uint8_t { hello = 1, offer, ask, rows, end, counts };
enum class wish : std::uint8_t { rows = 1, estimate };

constexpr std::uint64_t protocol_version = 1;
constexpr std::string_view protocol_name = "bloomery join";
constexpr std::size_t batch_bytes = std::size_t{64} << 10U;
// A sender that finds nothing to send says so from time to time: a silent peer counts as gone.
constexpr std::uint64_t silent_rows = 1 << 18;
// Of the filter of an estimate: an fpr of 1 in 128.
constexpr std::uint32_t estimate_bits = 7;

std::uint64_t hash_of(std::string_view key) { return hash_key(xxh3_hasher(), key); }

std::uint64_t travel_bytes(std::string_view key, std::string_view rest) {
  return key.size() + wire::size_of(key.size()) + rest.size() + wire::size_of(rest.size());
}

void send(message_channel& peer, step type, std::span<const std::byte> payload) {
  peer.send(static_cast<std::uint8_t>(type), payload);
}

message receive(message_channel& peer, step wanted, std::size_t limit) {
  message got = peer.receive(limit);
  if (got.type != static_cast<std::uint8_t>(wanted)) wire::reader::fail();
  return got;
}

std::vector<std::uint64_t> different(std::span<const std::uint64_t> sorted) {
  std::vector<std::uint64_t> keys;
  std::unique_copy(sorted.begin(), sorted.end(), std::back_inserter(keys));
  return keys;
}

// Calls work(hash, rows) for each key.
template <class Work>
void for_each_key(std::span<const std::uint64_t> sorted, Work work) {
  for (auto from = sorted.begin(); from != sorted.end();) {
    const auto to = std::find_if(from, sorted.end(), [&](std::uint64_t h) { return h != *from; });
    work(*from, static_cast<double>(to - from));
    from = to;
  }
}

// What B says first.
struct greeting {
  wish wanted = wish::rows;
  std::uint64_t keys = 0;
  std::uint64_t rows = 0;
};

void say_hello(message_channel& peer, const greeting& g) {
  wire::buffer hello;
  wire::put_text(hello, protocol_name);
  wire::put(hello, protocol_version);
  wire::put(hello, static_cast<std::uint64_t>(g.wanted));
  wire::put(hello, g.keys);
  wire::put(hello, g.rows);
  send(peer, step::hello, hello);
}

greeting hear_hello(message_channel& peer) {
  const message got = receive(peer, step::hello, 256);
  wire::reader in(got.payload);
  if (in.text() != protocol_name || in.number() != protocol_version) {
    throw error(errc::mismatch, "the peer does not speak this version of the join");
  }
  const std::uint64_t wanted = in.number(static_cast<std::uint64_t>(wish::estimate));
  if (wanted == 0) wire::reader::fail();
  greeting g{.wanted = static_cast<wish>(wanted), .keys = in.number(), .rows = in.number()};
  in.expect_end();
  return g;
}

// Sums of squares are whole numbers; above 2^63 nobody needs them exactly.
std::uint64_t whole(double value) { return static_cast<std::uint64_t>(std::min(value, 0x1p63)); }

// What A answers.
struct offer {
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
  wire::put(out, whole(o.counts.squares));
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
  o.counts.squares = static_cast<double>(in.number());
  o.about = in.text();
  if (o.plan.offered_bits == 0) {
    in.expect_end();
  } else {
    o.keys.emplace(in.rest());
  }
  return o;
}

std::uint64_t framed(std::uint64_t payload) { return payload + message_channel::overhead_bytes; }

// ---- A ---------------------------------------------------------------------------------------------------

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

// What of a table passes a filter of the other's keys.
passed_counts count_passing(const join_side& side, const sent_filter& keys) {
  passed_counts passed;
  for_each_key(side.hashes(), [&](std::uint64_t hash, double rows) {
    if (!keys.contains(hash)) return;
    ++passed.keys;
    passed.rows += rows;
    passed.squares += rows * rows;
  });
  return passed;
}

void send_counts(message_channel& peer, const passed_counts& passed, join_report& report) {
  wire::buffer counts;
  for (const double value : {passed.rows, passed.keys, passed.squares}) {
    wire::put(counts, whole(value));
  }
  send(peer, step::counts, counts);
  report.other_bytes += framed(counts.size());
}

// ---- B ---------------------------------------------------------------------------------------------------

// Rows of A that arrived and have a partner in B.
class arrived_rows {
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

// Greets, hears the offer and asks.
offer ask_for(message_channel& peer, const join_side& b, wish wanted, const join_limits& limits,
              join_report& report) {
  report.keys_b = b.counts().keys;
  report.rows_b = b.counts().rows;
  const std::uint64_t before = peer.bytes_sent();
  say_hello(peer, {.wanted = wanted, .keys = report.keys_b, .rows = report.rows_b});
  report.other_bytes += peer.bytes_sent() - before;
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
  for_each_key(hashes_, [this](std::uint64_t, double n) {
    ++counts_.keys;
    counts_.squares += n * n;
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
  offer o{.plan = plan_join(a.counts(), g.keys),
          .counts = a.counts(),
          .about = std::string(about),
          .keys = std::nullopt};
  if (g.wanted == wish::estimate) {
    // One filter, of the table with fewer keys; whoever has the other counts what passes.
    const bool ours = a.counts().keys < g.keys;
    o.plan = {.offered_bits = ours ? estimate_bits : 0, .asked_bits = ours ? 0 : estimate_bits};
  }
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
  if (g.wanted == wish::estimate) {
    send_counts(peer, wanted ? count_passing(a, *wanted) : passed_counts{}, report);
  } else {
    send_rows(peer, a, wanted, report);
  }
  peer.finish();
  return report;
}

join_report receive_join(message_channel& peer, const join_side& b, const join_begin& begin,
                         const join_each& each, const join_limits& limits) {
  join_report report;
  const offer o = ask_for(peer, b, wish::rows, limits, report);
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

join_size receive_estimate(message_channel& peer, const join_side& b, const join_limits& limits) {
  join_size size;
  join_report& report = size.report;
  const offer o = ask_for(peer, b, wish::estimate, limits, report);
  const message got = receive(peer, step::counts, 64);
  report.other_bytes += framed(got.payload.size());
  wire::reader in(got.payload);
  const auto number = [&in] { return static_cast<double>(in.number()); };
  passed_counts passed;
  passed.rows = number();
  passed.keys = number();
  passed.squares = number();
  in.expect_end();
  peer.finish();
  const auto fpr = [](std::uint32_t bits) { return std::ldexp(1.0, -static_cast<int>(bits)); };
  if (o.keys && o.plan.asked_bits == 0) {
    size.rows =
        estimate_join(count_passing(b, *o.keys), fpr(o.plan.offered_bits), b.counts(), report.a);
  } else if (!o.keys && o.plan.asked_bits != 0) {
    size.rows = estimate_join(passed, fpr(o.plan.asked_bits), report.a, b.counts());
  } else {
    wire::reader::fail();
  }
  return size;
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
