// One question and its answer between hosts that share a secret: each proves that it has it, for
// these very bytes.
//
//     asker -> hello: nonce A (16 bytes)            both nonces are fresh, so that nothing that was
//     asker <- challenge: nonce B (16)              overheard is of use a second time
//     asker -> question, proof(question, A, B)
//     asker <- answer, proof(answer, A, B, proof of the question)
//
// What a stranger can do is to make a host draw a nonce and compute one proof. Nothing is
// encrypted: who listens on the way reads questions and answers. The proof is a function that the
// caller brings, since this room has no cryptography; crypto/message_proof.hpp has it.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "bloomery/exchange/transport.hpp"

namespace bloomery {

using proof_bytes = std::array<std::byte, 32>;
// A keyed function of the bytes that nobody can compute without the secret.
using proof_function = std::function<proof_bytes(std::span<const std::byte>)>;

struct question_limits {
  std::size_t question_bytes = std::size_t{1} << 16U;
  std::size_t answer_bytes = std::size_t{16} << 20U;
  patience waiting{.idle = std::chrono::seconds(10), .total = std::chrono::minutes(1)};
};

// Asks who is at the other end. Throws errc::mismatch when it has another secret, errc::corrupt
// when it does not keep to the protocol, errc::io, and with the peer's reason errc::unsupported
// when it has no answer.
[[nodiscard]] std::vector<std::byte> ask_proved(channel connection,
                                                std::span<const std::byte> question,
                                                const proof_function& prove,
                                                const question_limits& limits = {});

// Answers one question of who is at the other end: `answer` turns a question into an answer, and is
// called for those who have the secret only. An error of it is told to the peer, and thrown. Throws
// also when the peer has another secret, does not keep to the protocol, or is gone.
using answer_function = std::function<std::vector<std::byte>(std::span<const std::byte>)>;
void answer_proved(channel connection, const proof_function& prove, const answer_function& answer,
                   const question_limits& limits = {});

}  // namespace bloomery
