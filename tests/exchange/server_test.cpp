// Many connections, a thread for each: strangers who say nothing stop nobody.
#include "bloomery/exchange/server.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

namespace bloomery {
namespace {

// Sends a byte back for each that comes.
void echo_bytes(channel c) {
  std::array<std::byte, 1> byte{};
  for (;;) {
    c.read(byte);
    c.write(byte);
  }
}

class echo_server {
 public:
  explicit echo_server(const server_options& o) {
    thread_ = std::thread([this, o] { serve_connections(door_, o, echo_bytes, stop_); });
  }
  echo_server(const echo_server&) = delete;
  echo_server& operator=(const echo_server&) = delete;
  ~echo_server() { stop(); }

  [[nodiscard]] channel dial() const {
    return connect("127.0.0.1:" + std::to_string(door_.port()),
                   {.idle = std::chrono::seconds(60), .total = std::chrono::seconds(60)});
  }
  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  listener door_{"127.0.0.1:0"};
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

std::byte echo_of(channel& c, std::byte sent) {
  std::array<std::byte, 1> byte = {sent};
  c.write(byte);
  c.read(byte);
  return byte[0];
}

bool is_closed(channel& c) {
  std::array<std::byte, 1> byte{};
  return c.move({}, byte).ended;
}

TEST(serve_connections, who_says_nothing_takes_no_place_from_others) {
  const server_options o = {.connections = 1, .limits = {.idle = std::chrono::minutes(10)}};
  const echo_server server(o);
  std::vector<channel> silent;
  silent.reserve(20);
  for (int i = 0; i < 20; ++i) silent.push_back(server.dial());
  channel other = server.dial();
  EXPECT_EQ(echo_of(other, std::byte{7}), std::byte{7});
  other.end_writing();
  EXPECT_TRUE(is_closed(other));
  EXPECT_EQ(echo_of(silent[3], std::byte{8}), std::byte{8});  // it has waited, not been dropped
}

TEST(serve_connections, of_too_many_silent_ones_the_oldest_goes) {
  const server_options o = {
      .connections = 1, .waiting = 2, .limits = {.idle = std::chrono::minutes(10)}};
  const echo_server server(o);
  std::vector<channel> silent;
  silent.reserve(20);
  for (int i = 0; i < 5; ++i) silent.push_back(server.dial());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(is_closed(silent[i])) << i;
  EXPECT_EQ(echo_of(silent[3], std::byte{9}), std::byte{9});
}

TEST(serve_connections, silence_ends) {
  const server_options o = {.limits = {.idle = std::chrono::milliseconds(1)}};
  const echo_server server(o);
  channel silent = server.dial();
  EXPECT_TRUE(is_closed(silent));
}

TEST(serve_connections, more_than_its_threads_wait_for_their_turn) {
  const server_options o = {.connections = 1};
  const echo_server server(o);
  channel first = server.dial();
  EXPECT_EQ(echo_of(first, std::byte{1}), std::byte{1});
  channel second = server.dial();
  const std::array<std::byte, 1> sent = {std::byte{2}};
  second.write(sent);
  EXPECT_EQ(echo_of(first, std::byte{3}), std::byte{3});
  first.end_writing();
  std::array<std::byte, 1> got{};
  second.read(got);
  EXPECT_EQ(got, sent);
}

TEST(serve_connections, the_end_does_not_wait_for_those_who_stay) {
  const server_options o = {.limits = {.idle = std::chrono::minutes(10)}};
  echo_server server(o);
  channel silent = server.dial();
  channel speaking = server.dial();
  EXPECT_EQ(echo_of(speaking, std::byte{1}), std::byte{1});
  server.stop();
  EXPECT_TRUE(is_closed(silent));
  EXPECT_TRUE(is_closed(speaking));
}

}  // namespace
}  // namespace bloomery
