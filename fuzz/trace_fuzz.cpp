// What routers send each other about packets, and what a folder of slices and a list of routers may
// say: none of it is trusted.
//
//     byte 0       0: a question; 1: an answer to byte 1 packets; 2: the name of a slice; 3: a
//                  topology; 4: a packet, from its IP header on; 5: what a peer says to a host:
//                  type (1 byte), length (1), payload, as often as it goes; 6: what a host says
//     the rest     its bytes
//
// What is accepted is written again, and must be the same then.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/proved_questions.hpp"
#include "bloomery/measure/congestion_mark.hpp"
#include "bloomery/measure/trace_path.hpp"
#include "bloomery/measure/traceback.hpp"
#include "input.hpp"

namespace {

using bloomery_fuzz::require;

void read_question(std::span<const std::byte> bytes) {
  const bloomery::trace_question q = bloomery::question_from(bytes);
  const bloomery::trace_question again = bloomery::question_from(bloomery::to_message(q));
  require(again.when == q.when && again.packets.size() == q.packets.size());
  require(q.packets.size() <= bloomery::most_packets_asked);
}

void read_answers(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const auto packets = std::to_integer<std::size_t>(bytes[0]);
  const auto answers = bloomery::answers_from(bytes.subspan(1), packets);
  const auto again = bloomery::answers_from(bloomery::to_message(answers), packets);
  require(answers.size() == packets && again.size() == packets);
  for (std::size_t i = 0; i < packets; ++i) {
    require(again[i].sightings == answers[i].sightings);
    require(answers[i].sightings.size() <= bloomery::most_sightings_sent);
    static_cast<void>(bloomery::reply_from(answers[i], {}));
  }
}

void read_name(std::string_view text) {
  const auto slice = bloomery::trace_slice::from_name(text, 1);
  if (!slice) return;
  require(slice->name() == text);
  require(slice->time.from_ns <= slice->time.to_ns);
}

void read_topology(std::string_view text) {
  const auto t = bloomery::trace_topology::parse(text);
  for (std::size_t i = 0; i < t.routers.size(); ++i) {
    for (const std::size_t n : t.routers[i].neighbours) {
      require(n < t.routers.size() && n != i);
      require(std::ranges::find(t.routers[n].neighbours, i) != t.routers[n].neighbours.end());
    }
  }
  if (t.routers.empty()) return;
  // Everybody has seen it: all that can be reached are asked, each once.
  const auto g = bloomery::trace_back(t, 0, [](std::span<const std::size_t> numbers) {
    bloomery::router_reply seen;
    seen.state = bloomery::router_state::seen;
    return std::vector<bloomery::router_reply>(numbers.size(), seen);
  });
  require(g.seen.size() == g.asked.size() && g.asked.size() <= t.routers.size());
}

void read_packet(std::span<const std::byte> bytes) {
  const auto p = bloomery::parse_ip(bytes, UINT32_MAX);
  if (const auto identity = bloomery::identity_of(p)) {
    const auto again = bloomery::packet_identity::from(identity->bytes());
    require(again && std::ranges::equal(again->bytes(), identity->bytes()));
  }
  if (const auto quoted = bloomery::quoted_packet(p)) {
    static_cast<void>(bloomery::identity_of(*quoted));
  }
  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  if (bloomery::mark_congestion(copy)) {  // marked twice is marked once
    std::vector<std::byte> twice = copy;
    require(bloomery::mark_congestion(twice) && twice == copy);
  }
}

bloomery::proof_bytes easy_proof(std::span<const std::byte> bytes) {
  bloomery::proof_bytes p{};
  for (std::size_t i = 0; i < bytes.size(); ++i) p[i % p.size()] ^= bytes[i];
  return p;
}

void meet_peer(std::span<const std::byte> bytes, bool as_host) {
  const bloomery::patience brief{.idle = std::chrono::milliseconds(100),
                                 .total = std::chrono::milliseconds(200)};
  auto [here, there] = bloomery::pipe_pair(brief);
  {
    bloomery::message_channel peer(std::move(there));
    while (bytes.size() >= 2) {
      const auto type = std::to_integer<std::uint8_t>(bytes[0]);
      const auto length = std::min(std::to_integer<std::size_t>(bytes[1]), bytes.size() - 2);
      peer.send(type, bytes.subspan(2, length));
      bytes = bytes.subspan(2 + length);
    }
    peer.flush();
  }
  bloomery::question_limits limits;
  limits.waiting = brief;
  if (as_host) {
    bloomery::answer_proved(
        std::move(here), easy_proof,
        [](std::span<const std::byte> q) { return std::vector<std::byte>(q.begin(), q.end()); },
        limits);
  } else {
    static_cast<void>(bloomery::ask_proved(std::move(here), {}, easy_proof, limits));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 20'000) return 0;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data + 1, size - 1));
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    switch (data[0] % 7) {
      case 0: read_question(bytes); break;
      case 1: read_answers(bytes); break;
      case 2: read_name(text); break;
      case 3: read_topology(text); break;
      case 4: read_packet(bytes); break;
      case 5: meet_peer(bytes, true); break;
      default: meet_peer(bytes, false); break;
    }
  } catch (const bloomery::error&) {
    // Refused.
  }
  return 0;
}
