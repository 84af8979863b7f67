// Channels and messages, and peers that are slow, gone, hostile or as talkative as we are.
#include "bloomery/exchange/transport.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <span>
#include <string>
#include <vector>

#include "bloomery/core/error.hpp"

namespace {

using bloomery::channel;
using bloomery::errc;
using bloomery::message;
using bloomery::message_channel;
using std::chrono::milliseconds;
using bytes = std::vector<std::byte>;

bytes pattern(std::size_t size, unsigned start = 0) {
  bytes made(size);
  for (std::size_t i = 0; i < size; ++i)
    made[i] = static_cast<std::byte>(start + i * 7 + (i >> 8U));
  return made;
}

bytes of(std::initializer_list<int> values) {
  bytes made;
  for (const int value : values) made.push_back(static_cast<std::byte>(value));
  return made;
}

errc code_of(const std::function<void()>& work, const std::string& text = "") {
  try {
    work();
  } catch (const bloomery::error& e) {
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    return e.code();
  }
  ADD_FAILURE() << "no error";
  return {};
}

constexpr bloomery::patience impatient = {.idle = milliseconds(30), .total = milliseconds(10'000)};

TEST(Channel, MovesBytesBothWaysAndCountsThem) {
  auto [here, there] = bloomery::pipe_pair();
  const bytes sent = pattern(1000);
  here.write(sent);
  there.write(of({1, 2, 3}));
  bytes got(1000);
  there.read(got);
  EXPECT_EQ(got, sent);
  bytes three(3);
  here.read(three);
  EXPECT_EQ(three, of({1, 2, 3}));
  EXPECT_EQ(here.bytes_sent(), 1000U);
  EXPECT_EQ(here.bytes_received(), 3U);
  EXPECT_EQ(there.bytes_sent(), 3U);
  EXPECT_EQ(there.bytes_received(), 1000U);
}

TEST(Channel, MovesOver) {
  auto [here, there] = bloomery::pipe_pair();
  channel moved(std::move(here));
  moved.write(of({1}));
  channel again = bloomery::pipe_pair().first;
  again = std::move(moved);
  again.write(of({2}));
  EXPECT_EQ(again.bytes_sent(), 2U);
  bytes got(2);
  there.read(got);
  EXPECT_EQ(got, of({1, 2}));
}

TEST(Channel, TellsThatThePeerHasGone) {
  auto ends = bloomery::pipe_pair();  // no structured binding: lambdas use them
  channel& here = ends.first;
  channel& there = ends.second;
  there.write(of({1}));
  { const channel gone = std::move(there); }
  bytes got(2);
  EXPECT_EQ(code_of([&] { here.read(got); }, "closed"), errc::io);
  // Would be SIGPIPE, and the end of the test, if nobody had thought of it.
  EXPECT_EQ(code_of([&] { here.write(pattern(1000)); }, "closed"), errc::io);
}

TEST(Channel, DoesNotWaitForEverForASilentPeer) {
  auto ends = bloomery::pipe_pair(impatient);  // no structured binding: lambdas use them
  channel& here = ends.first;
  bytes got(1);
  EXPECT_EQ(code_of([&] { here.read(got); }, "silent"), errc::io);
  // Nobody reads, so the buffers fill.
  EXPECT_EQ(code_of([&] { here.write(bytes(std::size_t{1} << 24U)); }, "silent"), errc::io);
}

TEST(Channel, DoesNotWaitForEverForASlowPeer) {
  auto ends =
      bloomery::pipe_pair({.idle = milliseconds(0),
                           .total = milliseconds(50)});  // no structured binding: lambdas use them
  channel& here = ends.first;
  channel& there = ends.second;
  const auto trickle = [&] {
    bytes got(1);
    for (;;) {  // never silent, never done
      there.write(got);
      here.read(got);
    }
  };
  EXPECT_EQ(code_of(trickle, "too slow"), errc::io);
}

TEST(Tcp, ConnectsToAFreePort) {
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    bloomery::listener door(host + ":0");
    ASSERT_NE(door.port(), 0);
    auto there = std::async(std::launch::async, [&] { return door.accept(); });
    channel here = bloomery::connect(host + ":" + std::to_string(door.port()));
    channel other = there.get();
    here.write(pattern(5000));
    bytes got(5000);
    other.read(got);
    EXPECT_EQ(got, pattern(5000));
  }
}

TEST(Tcp, RefusesWhatIsNoAddress) {
  for (const std::string text : {"", "host", "host:", ":80", "host:http", "host:65536", "::1:80",
                                 "[::1]", "[]:80", "host:-1", "a:b:80", "host:000080"}) {
    EXPECT_EQ(code_of([&] { bloomery::connect(text); }, "no address"), errc::bad_argument) << text;
    EXPECT_EQ(code_of([&] { bloomery::listener door(text); }, "no address"), errc::bad_argument)
        << text;
  }
}

TEST(Tcp, SaysWhoCouldNotBeReached) {
  std::string address;
  {
    const bloomery::listener door("127.0.0.1:0");
    address = "127.0.0.1:" + std::to_string(door.port());
    EXPECT_EQ(code_of([&] { const bloomery::listener second(address); }, address), errc::io);
  }
  EXPECT_EQ(code_of([&] { bloomery::connect(address, impatient); }, address), errc::io);
}

TEST(Tcp, DoesNotWaitForEverForAGuest) {
  bloomery::listener door("127.0.0.1:0");
  EXPECT_EQ(code_of([&] { door.accept({}, milliseconds(20)); }, "nobody"), errc::io);
}

TEST(Messages, KeepTheirTypesAndBorders) {
  auto [a, b] = bloomery::pipe_pair();
  message_channel here(std::move(a));
  message_channel there(std::move(b));
  here.send(7, pattern(10));
  here.send(0, {});
  here.send(255, pattern(300'000));
  here.send(1, pattern(70'000, 9));
  for (const auto& [type, payload] : {std::pair{7, pattern(10)}, std::pair{0, bytes{}}}) {
    const message got = there.receive(10);
    EXPECT_EQ(got.type, type);
    EXPECT_EQ(got.payload, payload);
  }
  auto rest = std::async(std::launch::async, [&] { here.flush(); });
  EXPECT_EQ(there.receive(300'000).payload, pattern(300'000));
  EXPECT_EQ(there.receive(300'000).payload, pattern(70'000, 9));
  rest.get();
  EXPECT_EQ(here.messages_sent(), 4U);
  EXPECT_EQ(there.messages_received(), 4U);
  EXPECT_EQ(here.bytes_sent(), 370'010 + 4 * message_channel::overhead_bytes);
  EXPECT_EQ(there.bytes_received(), here.bytes_sent());
}

// Sixteen times what the buffers of a socket hold, in both directions, before anybody reads.
TEST(Messages, BothMaySendMuchAtOnce) {
  auto [a, b] = bloomery::pipe_pair({.idle = milliseconds(5000)});
  const auto side = [](channel end, unsigned own, unsigned other) {
    message_channel peer(std::move(end));
    for (unsigned i = 0; i < 8; ++i) peer.send(1, pattern(500'000, own + i));
    for (unsigned i = 0; i < 8; ++i) {
      EXPECT_EQ(peer.receive(500'000).payload, pattern(500'000, other + i));
    }
    peer.finish();
  };
  auto there = std::async(std::launch::async, side, std::move(b), 100, 0);
  side(std::move(a), 0, 100);
  there.get();
}

TEST(Messages, StreamsInBothDirectionsNeedLittleMemory) {
  auto [a, b] = bloomery::pipe_pair({.idle = milliseconds(5000)});
  const auto side = [](channel end) {
    constexpr int messages = 100;
    constexpr std::size_t size = 100'000;
    message_channel peer(std::move(end));
    int received = 0;
    for (int i = 0; i < messages; ++i) {
      while (!peer.has_room()) {
        if (peer.receive_or_room(size)) ++received;
      }
      peer.send(1, pattern(size));
      EXPECT_LE(peer.bytes_sent() - peer.bytes().bytes_sent(),
                message_channel::outbox_bytes + 2 * size);
    }
    for (; received < messages; ++received) EXPECT_EQ(peer.receive(size).payload.size(), size);
    peer.finish();
  };
  auto there = std::async(std::launch::async, side, std::move(b));
  side(std::move(a));
  there.get();
}

TEST(Messages, RefuseWhatIsTooLongBeforeItComes) {
  auto [a, b] = bloomery::pipe_pair(impatient);
  message_channel here(std::move(a));
  b.write(of({1, 0xff, 0xff, 0xff, 0xff}));
  EXPECT_EQ(code_of([&] { here.receive(1000); }, "at most 1000"), errc::corrupt);
}

TEST(Messages, FindDamage) {
  for (const std::size_t at :
       {0U, 5U, 8U, 9U}) {  // type, payload, checksum; a changed length never ends
    auto [a, b] = bloomery::pipe_pair(impatient);
    message_channel writer(std::move(a));
    writer.send(3, of({10, 20, 30, 40}));
    bytes raw(13);
    b.read(raw);
    raw[at] ^= std::byte{4};
    auto [c, d] = bloomery::pipe_pair(impatient);
    c.write(raw);
    message_channel reader(std::move(d));
    EXPECT_EQ(code_of([&] { reader.receive(100); }, "checksum"), errc::corrupt) << at;
  }
}

TEST(Messages, EndInTheMiddle) {
  auto [a, b] = bloomery::pipe_pair(impatient);
  message_channel here(std::move(a));
  b.write(of({1, 4, 0, 0, 0, 1, 2}));
  { const channel gone = std::move(b); }
  EXPECT_EQ(code_of([&] { here.receive(100); }, "middle"), errc::io);
}

TEST(Messages, LastWordsOfAPeerThatHasGoneAreHeard) {
  auto [a, b] = bloomery::pipe_pair(impatient);
  message_channel here(std::move(a));
  {
    message_channel there(std::move(b));
    there.send(9, of({1, 2}));
    there.flush();
  }
  here.send(1, pattern(100));
  EXPECT_EQ(here.receive(10).payload, of({1, 2}));
  EXPECT_EQ(code_of([&] { here.receive(10); }, "closed"), errc::io);
}

TEST(Messages, FinishTakesNoMore) {
  auto [a, b] = bloomery::pipe_pair(impatient);
  message_channel here(std::move(a));
  b.write(of({1}));
  EXPECT_EQ(code_of([&] { here.finish(); }, "more"), errc::corrupt);
}

}  // namespace
