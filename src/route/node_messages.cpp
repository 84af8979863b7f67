#include "bloomery/route/node_messages.hpp"

#include <algorithm>

#include "exchange/wire.hpp"

namespace bloomery {

namespace {

using wire::put;
using wire::put_bytes;
using wire::put_text;

constexpr std::uint64_t hello_magic = 0x424c4e31;  // "BLN1"
constexpr std::size_t most_name_bytes = 255;
constexpr std::size_t most_refusal_bytes = 1000;

std::string take_name(wire::reader& in) {
  const std::string_view text = in.text();
  // Programs print them: a line end or an escape would be somebody else's words.
  const auto printable = [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; };
  if (text.size() > most_name_bytes || !std::ranges::all_of(text, printable)) wire::reader::fail();
  return std::string(text);
}

template <class Enum>
Enum take_enum(wire::reader& in, Enum last) {
  return static_cast<Enum>(in.number(static_cast<std::uint64_t>(last)));
}

void put_version(wire::buffer& out, const peer_version& v) {
  put(out, v.epoch);
  put(out, v.counter);
}

peer_version take_version(wire::reader& in) {
  const std::uint64_t epoch = in.number();
  return {.epoch = epoch, .counter = in.number()};
}

void put_stamp(wire::buffer& out, const peer_stamp& s) {
  put_version(out, s.version);
  put(out, s.beat);
}

peer_stamp take_stamp(wire::reader& in) {
  const peer_version version = take_version(in);
  return {.version = version, .beat = in.number()};
}

std::optional<peer_version> take_optional_version(wire::reader& in) {
  if (in.number(1) == 0) return std::nullopt;
  return take_version(in);
}

void put_optional_version(wire::buffer& out, const std::optional<peer_version>& v) {
  put(out, v ? 1 : 0);
  if (v) put_version(out, *v);
}

}  // namespace

message_bytes encode(const node_hello& m) {
  wire::buffer out;
  put(out, hello_magic);
  put(out, static_cast<std::uint64_t>(m.role));
  put(out, static_cast<std::uint64_t>(m.mode));
  for (const std::string* text : {&m.name, &m.address, &m.group}) put_text(out, *text);
  for (const std::uint64_t n :
       {m.bits, std::uint64_t{m.probes}, std::uint64_t{m.depth}, m.hash_check, m.epoch}) {
    put(out, n);
  }
  return out;
}

node_hello decode_hello(std::span<const std::byte> bytes) {
  wire::reader in(bytes);
  node_hello m;
  if (in.number() != hello_magic) wire::reader::fail();
  m.role = take_enum(in, link_role::asker);
  m.mode = take_enum(in, route_mode::flood);
  m.name = take_name(in);
  m.address = take_name(in);
  m.group = take_name(in);
  m.bits = in.number();
  m.probes = static_cast<std::uint32_t>(in.number(UINT32_MAX));
  m.depth = static_cast<std::uint32_t>(in.number(UINT32_MAX));
  m.hash_check = in.number();
  m.epoch = in.number();
  in.expect_end();
  return m;
}

message_bytes encode_refusal(const std::string& why) {
  wire::buffer out;
  put_text(out, why);
  return out;
}

std::string decode_refusal(std::span<const std::byte> bytes) {
  wire::reader in(bytes);
  const std::string_view text = in.text();
  in.expect_end();
  return std::string(text.substr(0, most_refusal_bytes));
}

message_bytes encode(const tree_claim& m) {
  wire::buffer out;
  for (const std::uint64_t n : {m.root, m.sequence, std::uint64_t{m.distance}, m.parent}) {
    put(out, n);
  }
  return out;
}

tree_claim decode_claim(std::span<const std::byte> bytes) {
  wire::reader in(bytes);
  tree_claim m;
  m.root = in.number();
  m.sequence = in.number();
  m.distance = static_cast<std::uint32_t>(in.number(UINT32_MAX));
  m.parent = in.number();
  in.expect_end();
  return m;
}

message_bytes encode(const announcement& m) {
  wire::buffer out;
  put(out, 2 * std::uint64_t{m.level} + (m.whole ? 1 : 0));
  for (std::uint32_t i = 0; i < 4; ++i) out.push_back(static_cast<std::byte>(m.check >> (8 * i)));
  out.insert(out.end(), m.bytes.begin(), m.bytes.end());
  return out;
}

announcement decode_announcement(std::span<const std::byte> bytes) {
  wire::reader in(bytes);
  announcement m;
  const std::uint64_t level = in.number(UINT32_MAX);
  m.level = static_cast<std::uint32_t>(level / 2);
  m.whole = level % 2 != 0;
  const std::span<const std::byte> rest = in.rest();
  if (rest.size() < 4) wire::reader::fail();
  for (std::uint32_t i = 0; i < 4; ++i) {
    m.check |= std::to_integer<std::uint32_t>(rest[i]) << (8 * i);
  }
  m.bytes.assign(rest.begin() + 4, rest.end());
  return m;
}

message_bytes encode(std::span<const peer_entry> m) {
  wire::buffer out;
  for (const peer_entry& e : m) {
    put(out, e.peer);
    put_stamp(out, e.stamp);
  }
  return out;
}

std::vector<peer_entry> decode_digest(std::span<const std::byte> bytes) {
  wire::reader in(bytes);
  std::vector<peer_entry> all;
  while (!in.at_end()) {
    const std::uint64_t peer = in.number();
    all.push_back({.peer = peer, .stamp = take_stamp(in)});
  }
  return all;
}

message_bytes encode(std::span<const node_want> m) {
  wire::buffer out;
  for (const node_want& w : m) {
    put(out, w.peer);
    put_optional_version(out, w.have);
  }
  return out;
}

std::vector<node_want> decode_want(std::span<const std::byte> bytes) {
  wire::reader in(bytes);
  std::vector<node_want> all;
  while (!in.at_end()) {
    const std::uint64_t peer = in.number();
    all.push_back({.peer = peer, .have = take_optional_version(in)});
  }
  return all;
}

message_bytes encode(const node_news& m) {
  wire::buffer out;
  for (const std::string* text : {&m.name, &m.address, &m.group}) put_text(out, *text);
  put(out, m.news.peer);
  put_stamp(out, m.news.stamp);
  put_optional_version(out, m.news.from);
  put_bytes(out, m.news.bytes);
  return out;
}

node_news decode_news(std::span<const std::byte> bytes) {
  wire::reader in(bytes);
  node_news m;
  m.name = take_name(in);
  m.address = take_name(in);
  m.group = take_name(in);
  m.news.peer = in.number();
  m.news.stamp = take_stamp(in);
  m.news.from = take_optional_version(in);
  const std::span<const std::byte> filter = in.bytes();
  m.news.bytes.assign(filter.begin(), filter.end());
  in.expect_end();
  return m;
}

message_bytes encode(const node_question& m) {
  wire::buffer out;
  put(out, m.id);
  put(out, static_cast<std::uint64_t>(m.kind));
  put(out, m.nearest ? 1 : 0);
  put(out, m.hops);
  put(out, m.patience);
  put(out, m.hashes.size());
  for (const std::uint64_t hash : m.hashes) put(out, hash);
  return out;
}

node_question decode_question(std::span<const std::byte> bytes) {
  wire::reader in(bytes);
  node_question m;
  m.id = in.number();
  m.kind = take_enum(in, question_kind::your_group);
  m.nearest = in.number(1) != 0;
  m.hops = static_cast<std::uint32_t>(in.number(most_hops));
  m.patience = in.number();
  const std::uint64_t hashes = in.number(most_question_hashes);
  for (std::uint64_t i = 0; i < hashes; ++i) m.hashes.push_back(in.number());
  in.expect_end();
  return m;
}

message_bytes encode(const node_answer& m) {
  wire::buffer out;
  put(out, m.id);
  put(out, (m.complete ? 1U : 0U) + (m.fallback ? 2U : 0U));
  put(out, m.messages);
  put(out, m.bytes);
  put(out, m.holders.size());
  for (const resource_holder& h : m.holders) {
    put_text(out, h.name);
    put(out, h.path.size());
    for (const std::string& name : h.path) put_text(out, name);
  }
  return out;
}

node_answer decode_answer(std::span<const std::byte> bytes) {
  wire::reader in(bytes);
  node_answer m;
  m.id = in.number();
  const std::uint64_t flags = in.number(3);
  m.complete = (flags & 1U) != 0;
  m.fallback = (flags & 2U) != 0;
  m.messages = in.number();
  m.bytes = in.number();
  const std::uint64_t holders = in.number(most_holders);
  for (std::uint64_t i = 0; i < holders; ++i) {
    resource_holder h{.name = take_name(in), .path = {}};
    const std::uint64_t length = in.number(most_hops + 1);
    for (std::uint64_t j = 0; j < length; ++j) h.path.push_back(take_name(in));
    m.holders.push_back(std::move(h));
  }
  in.expect_end();
  return m;
}

}  // namespace bloomery
