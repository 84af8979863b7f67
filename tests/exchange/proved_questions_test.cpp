// One question and one answer between hosts that share a secret.
#include "bloomery/exchange/proved_questions.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/hash.hpp"

namespace {

using namespace bloomery;

// A stand-in for a keyed function: the room has no cryptography, and the test needs none.
proof_function toy_secret(std::uint64_t seed) {
  return [seed](std::span<const std::byte> bytes) {
    proof_bytes p{};
    for (std::size_t i = 0; i < p.size(); ++i) {
      p[i] = static_cast<std::byte>(xxh3_hasher(seed + i).bytes(bytes.data(), bytes.size()));
    }
    return p;
  };
}

std::vector<std::byte> as_question(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

struct outcome {
  std::optional<std::vector<std::byte>> answer;
  std::string asker_error;
  std::string host_error;
};

outcome converse(std::uint64_t asker_seed, std::uint64_t host_seed, const answer_function& answer) {
  auto [here, there] =
      pipe_pair({.idle = std::chrono::seconds(5), .total = std::chrono::seconds(5)});
  outcome o;
  std::thread host([&, end = std::move(there)]() mutable {
    try {
      answer_proved(std::move(end), toy_secret(host_seed), answer);
    } catch (const error& e) {
      o.host_error = e.what();
    }
  });
  try {
    o.answer = ask_proved(std::move(here), as_question("who was here"), toy_secret(asker_seed));
  } catch (const error& e) {
    o.asker_error = e.what();
  }
  host.join();
  return o;
}

TEST(proved_questions, who_has_the_secret_gets_the_answer) {
  std::vector<std::byte> asked;
  const outcome o = converse(1, 1, [&](std::span<const std::byte> q) {
    asked.assign(q.begin(), q.end());
    return as_question("nobody");
  });
  EXPECT_EQ(o.answer, as_question("nobody"));
  EXPECT_EQ(asked, as_question("who was here"));
  EXPECT_EQ(o.asker_error + o.host_error, "");
}

TEST(proved_questions, another_secret_is_refused_before_the_question_is_read) {
  bool called = false;
  const outcome o = converse(1, 2, [&](std::span<const std::byte>) {
    called = true;
    return as_question("");
  });
  EXPECT_FALSE(called);
  EXPECT_FALSE(o.answer);
  EXPECT_EQ(o.asker_error, "the host refuses: whoever asks has another key");
  EXPECT_EQ(o.host_error, "whoever asks has another key");
}

TEST(proved_questions, what_the_host_cannot_answer_is_told) {
  const outcome o = converse(1, 1, [](std::span<const std::byte>) -> std::vector<std::byte> {
    throw error(errc::corrupt, "no such question");
  });
  EXPECT_EQ(o.asker_error, "the host refuses: no such question");
  EXPECT_EQ(o.host_error, "no such question");
}

// Somebody between the two records a question and an answer, and sends them again.
TEST(proved_questions, nothing_overheard_is_of_use_again) {
  auto [asker, near_end] = pipe_pair();
  auto [far_end, host] = pipe_pair();
  message question;
  std::thread answering([end = std::move(host)]() mutable {
    answer_proved(std::move(end), toy_secret(1),
                  [](std::span<const std::byte>) { return as_question("yes"); });
  });
  std::thread asking([end = std::move(asker)]() mutable {
    EXPECT_EQ(ask_proved(std::move(end), as_question("q"), toy_secret(1)), as_question("yes"));
  });
  message_channel to_asker(std::move(near_end));
  message_channel to_host(std::move(far_end));
  const message hello = to_asker.receive(1000);
  to_host.send(hello.type, hello.payload);
  const message challenge = to_host.receive(1000);
  to_asker.send(challenge.type, challenge.payload);
  question = to_asker.receive(1000);
  to_host.send(question.type, question.payload);
  const message answer = to_host.receive(1000);
  to_asker.send(answer.type, answer.payload);
  to_asker.flush();
  asking.join();
  answering.join();

  auto [again, host2] = pipe_pair();
  std::thread second([end = std::move(host2)]() mutable {
    EXPECT_THROW(answer_proved(std::move(end), toy_secret(1),
                               [](std::span<const std::byte>) { return as_question("yes"); }),
                 error);
  });
  message_channel replay(std::move(again));
  replay.send(hello.type, hello.payload);
  static_cast<void>(replay.receive(1000));
  replay.send(question.type, question.payload);
  EXPECT_NE(replay.receive(1000).type, answer.type);
  second.join();
}

TEST(proved_questions, strangers_and_garbage_end_in_an_error) {
  const auto host_meets = [](const std::function<void(message_channel&)>& stranger) {
    auto [here, there] = pipe_pair();
    std::thread host([end = std::move(there)]() mutable {
      question_limits limits;
      limits.waiting = {.idle = std::chrono::milliseconds(300), .total = std::chrono::seconds(2)};
      EXPECT_THROW(answer_proved(
                       std::move(end), toy_secret(1),
                       [](std::span<const std::byte>) { return as_question("x"); }, limits),
                   error);
    });
    {
      message_channel peer(std::move(here));
      try {
        stranger(peer);
      } catch (const error&) {
        // The host has gone.
      }
      host.join();
    }
  };
  host_meets([](message_channel&) {});  // says nothing
  host_meets([](message_channel& p) {
    p.send(1, as_question("HELLO"));
    p.flush();
  });
  host_meets([](message_channel& p) {
    p.send(9, as_question("BLMASK\1"));
    p.flush();
  });
  host_meets([](message_channel& p) {
    p.send(1, as_question(std::string("BLMASK\1") + std::string(16, 'n')));
    static_cast<void>(p.receive(1000));
    p.send(3, as_question("shorter than a proof"));
    p.flush();
  });
  host_meets([](message_channel& p) {
    p.send(1, as_question(std::string("BLMASK\1") + std::string(16, 'n')));
    static_cast<void>(p.receive(1000));
    p.send(3, std::vector<std::byte>(1U << 17U));
    p.flush();
  });
}

}  // namespace
