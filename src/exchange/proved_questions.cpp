#include "bloomery/exchange/proved_questions.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/random_seed.hpp"
#include "wire.hpp"

namespace bloomery {

namespace {

using question_nonce = std::array<std::byte, 16>;
constexpr std::string_view question_greeting = "BLMASK\1";  // with the version
constexpr std::size_t most_reason = 1000;

enum class question_step : std::uint8_t { hello = 1, challenge, question, answer, refused };

question_nonce fresh_nonce() {
  question_nonce n{};
  for (std::size_t half = 0; half < 2; ++half) {
    const std::uint64_t drawn = random_seed();
    for (std::size_t i = 0; i < 8; ++i) n[half * 8 + i] = static_cast<std::byte>(drawn >> (8 * i));
  }
  return n;
}

void append_bytes(wire::buffer& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// Both sides prove different things, so that a proof can not be sent back as one's own.
proof_bytes proof_over(const proof_function& prove, std::string_view purpose,
                       const question_nonce& asker, const question_nonce& host,
                       std::span<const std::byte> before, std::span<const std::byte> payload) {
  wire::buffer all;
  for (const auto part : {wire::bytes_of(purpose), std::span<const std::byte>(asker),
                          std::span<const std::byte>(host), before, payload}) {
    append_bytes(all, part);
  }
  return prove(all);
}
constexpr std::string_view asking = "bloomery question";
constexpr std::string_view answering = "bloomery answer";

// In a time that does not depend on where they differ.
bool is_proof(std::span<const std::byte> a, const proof_bytes& b) noexcept {
  std::byte different{0};
  for (std::size_t i = 0; i < b.size(); ++i) different |= a[i] ^ b[i];
  return different == std::byte{0};
}

void send_step(message_channel& peer, question_step step, std::span<const std::byte> payload) {
  peer.send(static_cast<std::uint8_t>(step), payload);
}

message receive_step(message_channel& peer, question_step wanted, std::size_t limit) {
  message got = peer.receive(limit);
  if (got.type == static_cast<std::uint8_t>(question_step::refused)) {
    const std::string_view reason = wire::text_of(got.payload).substr(0, most_reason);
    throw error(errc::unsupported, "the host refuses: " + std::string(reason));
  }
  if (got.type != static_cast<std::uint8_t>(wanted)) wire::reader::fail();
  return got;
}

struct proved_payload {
  std::span<const std::byte> payload;
  std::span<const std::byte> proof;
};
proved_payload split_proof(const message& m) {
  if (m.payload.size() < sizeof(proof_bytes)) wire::reader::fail();
  const std::span<const std::byte> all = m.payload;
  return {all.first(all.size() - sizeof(proof_bytes)), all.last(sizeof(proof_bytes))};
}

question_nonce nonce_from(std::span<const std::byte> bytes) {
  question_nonce n{};
  if (bytes.size() != n.size()) wire::reader::fail();
  std::ranges::copy(bytes, n.begin());
  return n;
}

[[noreturn]] void refuse_peer(message_channel& peer, errc code, const std::string& why) {
  send_step(peer, question_step::refused,
            wire::bytes_of(why).first(std::min(why.size(), most_reason)));
  peer.flush();
  throw error(code, why);
}

}  // namespace

std::vector<std::byte> ask_proved(channel connection, std::span<const std::byte> question,
                                  const proof_function& prove, const question_limits& limits) {
  message_channel peer(std::move(connection));
  peer.set_patience(limits.waiting);
  const question_nonce mine = fresh_nonce();
  wire::buffer hello;
  append_bytes(hello, wire::bytes_of(question_greeting));
  append_bytes(hello, mine);
  send_step(peer, question_step::hello, hello);
  const question_nonce theirs =
      nonce_from(receive_step(peer, question_step::challenge, most_reason).payload);
  const proof_bytes asked = proof_over(prove, asking, mine, theirs, {}, question);
  wire::buffer out(question.begin(), question.end());
  append_bytes(out, asked);
  send_step(peer, question_step::question, out);
  const message got =
      receive_step(peer, question_step::answer, limits.answer_bytes + sizeof(proof_bytes));
  const proved_payload answer = split_proof(got);
  if (!is_proof(answer.proof, proof_over(prove, answering, mine, theirs, asked, answer.payload))) {
    throw error(errc::mismatch, "the host has another key, or its answer was changed on the way");
  }
  return {answer.payload.begin(), answer.payload.end()};
}

void answer_proved(channel connection, const proof_function& prove, const answer_function& answer,
                   const question_limits& limits) {
  message_channel peer(std::move(connection));
  peer.set_patience(limits.waiting);
  const message hello = receive_step(peer, question_step::hello, 256);
  const std::span<const std::byte> greeting = hello.payload;
  if (!wire::text_of(greeting).starts_with(question_greeting)) wire::reader::fail();
  const question_nonce theirs = nonce_from(greeting.subspan(question_greeting.size()));
  const question_nonce mine = fresh_nonce();
  send_step(peer, question_step::challenge, mine);
  const message got =
      receive_step(peer, question_step::question, limits.question_bytes + sizeof(proof_bytes));
  const proved_payload question = split_proof(got);
  const proof_bytes asked = proof_over(prove, asking, theirs, mine, {}, question.payload);
  if (!is_proof(question.proof, asked)) {
    refuse_peer(peer, errc::mismatch, "whoever asks has another key");
  }
  wire::buffer out;
  try {
    out = answer(question.payload);
  } catch (const error& e) {
    refuse_peer(peer, e.code(), e.what());
  }
  append_bytes(out, proof_over(prove, answering, theirs, mine, asked, out));
  send_step(peer, question_step::answer, out);
  peer.flush();
}

}  // namespace bloomery
