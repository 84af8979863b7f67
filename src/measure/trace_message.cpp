// Questions and answers of routers as bytes: varints, as all messages of ours have them.
//
//     question   version 1; first and last time; packets; for each: its bytes, with their length
//     answer     version 1; packets; for each: slices of all times, asked, first and last time
//                covered, expected false (8 bytes), unreadable, sightings; for each sighting: first
//                and last time, fpr (8 bytes)
#include <algorithm>
#include <bit>

#include "bloomery/core/error.hpp"
#include "bloomery/measure/traceback.hpp"
#include "format/bit_code.hpp"

namespace bloomery {

namespace {

constexpr std::uint64_t trace_version = 1;

[[noreturn]] void fail_trace_message() {
  throw error(errc::corrupt, "the peer sent a message that is damaged or of another version");
}

void put_fixed(std::vector<std::byte>& out, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (unsigned i = 0; i < 64; i += 8) out.push_back(static_cast<std::byte>(bits >> i));
}

double take_share(bit_code::reader& in, double most) {
  const auto value = std::bit_cast<double>(in.fixed64());
  if (!(value >= 0 && value <= most)) fail_trace_message();
  return value;
}

std::uint64_t take_at_most(bit_code::reader& in, std::uint64_t most) {
  const std::uint64_t value = in.varint();
  if (value > most) fail_trace_message();
  return value;
}

void put_range(std::vector<std::byte>& out, const time_range& t) {
  bit_code::put_varint(out, t.from_ns);
  bit_code::put_varint(out, t.to_ns);
}

time_range take_range(bit_code::reader& in) {
  const std::uint64_t from = in.varint();
  return {from, in.varint()};
}

// The texts of bit_code are about files.
template <class Read>
auto reading_trace(std::span<const std::byte> message, Read read) {
  bit_code::reader in(message);
  try {
    if (in.varint() != trace_version) fail_trace_message();
    auto result = read(in);
    if (!in.rest().empty()) fail_trace_message();
    return result;
  } catch (const error&) {
    fail_trace_message();
  }
}

trace_answer take_answer(bit_code::reader& in) {
  trace_answer a;
  a.slices = in.varint();
  a.asked = take_at_most(in, a.slices);
  a.covered = take_range(in);
  a.false_expected = take_share(in, static_cast<double>(a.asked));
  if (in.varint() != 0) a.unreadable.emplace_back("the router could not read some of its slices");
  const std::uint64_t sightings =
      take_at_most(in, std::min<std::uint64_t>(a.asked, most_sightings_sent));
  for (std::uint64_t i = 0; i < sightings; ++i) {
    const time_range time = take_range(in);
    a.sightings.push_back({.time = time, .fpr = take_share(in, 1)});
  }
  return a;
}

}  // namespace

std::vector<std::byte> to_message(const trace_question& q) {
  std::vector<std::byte> out;
  bit_code::put_varint(out, trace_version);
  put_range(out, q.when);
  bit_code::put_varint(out, q.packets.size());
  for (const packet_identity& p : q.packets) {
    bit_code::put_varint(out, p.size);
    const auto bytes = p.bytes();
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

std::vector<std::byte> to_message(const std::vector<trace_answer>& answers) {
  std::vector<std::byte> out;
  bit_code::put_varint(out, trace_version);
  bit_code::put_varint(out, answers.size());
  for (const trace_answer& a : answers) {
    bit_code::put_varint(out, a.slices);
    bit_code::put_varint(out, a.asked);
    put_range(out, a.covered);
    put_fixed(out, a.false_expected);
    bit_code::put_varint(out, a.unreadable.size());
    const std::size_t sent = std::min(a.sightings.size(), most_sightings_sent);
    bit_code::put_varint(out, sent);
    for (std::size_t i = a.sightings.size() - sent; i < a.sightings.size(); ++i) {
      put_range(out, a.sightings[i].time);
      put_fixed(out, a.sightings[i].fpr);
    }
  }
  return out;
}

trace_question question_from(std::span<const std::byte> message) {
  return reading_trace(message, [](bit_code::reader& in) {
    trace_question q;
    q.when = take_range(in);
    const std::uint64_t packets = take_at_most(in, most_packets_asked);
    for (std::uint64_t i = 0; i < packets; ++i) {
      const auto p = packet_identity::from(in.take(in.varint()));
      if (!p) fail_trace_message();
      q.packets.push_back(*p);
    }
    return q;
  });
}

std::vector<trace_answer> answers_from(std::span<const std::byte> message, std::size_t packets) {
  return reading_trace(message, [&](bit_code::reader& in) {
    if (in.varint() != packets) fail_trace_message();
    std::vector<trace_answer> all;
    for (std::size_t i = 0; i < packets; ++i) all.push_back(take_answer(in));
    return all;
  });
}

}  // namespace bloomery
