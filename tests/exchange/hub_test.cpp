// Many connections in one thread: messages arrive whole and in order, and bad peers lose theirs
// without others noticing.
#include "bloomery/exchange/hub.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "bloomery/core/error.hpp"

namespace bloomery {
namespace {

std::vector<std::byte> hub_payload(std::size_t bytes) {
  return std::vector<std::byte>(bytes, std::byte{42});
}

// Runs both until `done`; fails the test after some thousand turns.
void run_hubs(hub& a, hub& b, const std::function<void(hub&, const hub_event&)>& on,
              const std::function<bool()>& done) {
  for (int i = 0; i < 5000 && !done(); ++i) {
    for (hub* h : {&a, &b}) {
      for (const hub_event& e : h->wait(std::chrono::milliseconds(1))) on(*h, e);
    }
  }
  EXPECT_TRUE(done());
}

TEST(hub, carries_messages_of_many_connections_both_ways) {
  listener door("127.0.0.1:0");
  EXPECT_TRUE(door.is_loopback());
  EXPECT_FALSE(listener("0.0.0.0:0").is_loopback());
  const std::string address = "127.0.0.1:" + std::to_string(door.port());
  hub server({.most_message_bytes = 3'000'000});
  hub clients({.most_message_bytes = 3'000'000});
  server.listen(std::move(door));
  constexpr std::size_t count = 30;
  for (std::size_t i = 0; i < count; ++i) clients.dial(address);
  std::map<hub_id, std::vector<std::size_t>> echoed;
  const auto on = [&](hub& h, const hub_event& e) {
    if (e.kind == hub_event_kind::accepted) server.trust(e.id);
    if (e.kind == hub_event_kind::connected) {
      clients.trust(e.id);
      for (const std::size_t bytes : {1U, 70'000U, 2'000'000U, 0U}) {
        clients.send(e.id, 3, hub_payload(bytes));
      }
    }
    if (e.kind != hub_event_kind::received) return;
    if (&h == &server) return server.send(e.id, 4, e.what.payload);
    EXPECT_EQ(e.what.type, 4);
    echoed[e.id].push_back(e.what.payload.size());
  };
  run_hubs(server, clients, on, [&] {
    return echoed.size() == count &&
           std::ranges::all_of(echoed, [](const auto& e) { return e.second.size() == 4; });
  });
  for (const auto& [id, sizes] : echoed) {
    EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 70'000, 2'000'000, 0}));
  }
  EXPECT_EQ(server.messages_received(), 4 * count);
}

TEST(hub, drops_who_announces_too_much_and_tells_of_the_end) {
  listener door("127.0.0.1:0");
  const std::string address = "127.0.0.1:" + std::to_string(door.port());
  hub server({.most_message_bytes = 1000, .most_stranger_bytes = 10});
  hub clients;
  server.listen(std::move(door));
  const hub_id stranger = clients.dial(address);
  const hub_id friendly = clients.dial(address);
  std::vector<std::string> ends;
  std::size_t received = 0;
  const auto on = [&](hub& h, const hub_event& e) {
    if (e.kind == hub_event_kind::connected) {
      clients.send(e.id, 1, hub_payload(e.id == stranger ? 11 : 10));
    }
    if (e.kind == hub_event_kind::received) ++received;
    if (e.kind == hub_event_kind::closed && &h == &server) ends.push_back(e.why);
  };
  run_hubs(server, clients, on, [&] { return received == 1 && ends.size() == 1; });
  EXPECT_NE(ends[0].find("11 bytes where at most 10"), std::string::npos);
  clients.close(friendly);
  run_hubs(server, clients, on, [&] { return ends.size() == 2; });
  EXPECT_EQ(server.connections(), 0);
}

TEST(hub, a_dial_that_nobody_answers_fails) {
  std::uint16_t port = 0;
  {
    const listener gone("127.0.0.1:0");
    port = gone.port();
  }
  hub alone;
  hub other;
  alone.dial("127.0.0.1:" + std::to_string(port));
  std::string why;
  const auto on = [&](hub& /*h*/, const hub_event& e) {
    if (e.kind == hub_event_kind::failed) why = e.why;
  };
  run_hubs(alone, other, on, [&] { return !why.empty(); });
  EXPECT_THROW(alone.dial("nowhere"), error);
}

}  // namespace
}  // namespace bloomery
