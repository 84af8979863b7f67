// The protocol of exchange/reconcile.hpp against a hostile peer.
//
//     byte 0       bits 0 and 1: the method that we ask for; bit 2: a limit of 30,000 bytes for
//                  what the peer makes us hold
//     the rest     what the peer says: type (1 byte), length (2), payload, as often as it goes.
//                  Frames and checksums are made here, so that mutations get past them.
//
// The peer never listens, and has gone when we begin. Whatever it says, we find an error, or a
// difference that makes sense.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/reconcile.hpp"
#include "input.hpp"

namespace {

const std::vector<std::string>& own_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> made;
    for (int i = 0; i < 60; ++i) made.push_back("key-" + std::to_string(i));
    return made;
  }();
  return keys;
}

void speak(bloomery::message_channel& to, bloomery_fuzz::input& in) {
  std::size_t total = 0;
  while (!in.empty()) {
    const auto type = static_cast<std::uint8_t>(in.take(1));
    std::vector<std::byte> payload;
    for (std::uint64_t left = in.take(2); left > 0 && !in.empty(); --left) {
      payload.push_back(static_cast<std::byte>(in.take(1)));
    }
    // What the buffer of a socket holds for certain.
    total += payload.size() + 512;
    if (total > 60'000) return;
    to.send(type, payload);
  }
  to.flush();
}

void check(const bloomery::reconciliation& r) {
  using bloomery_fuzz::require;
  const std::vector<std::string>& own = own_keys();
  require(std::is_sorted(r.only_here.begin(), r.only_here.end()));
  require(std::adjacent_find(r.only_here.begin(), r.only_here.end()) == r.only_here.end());
  for (const std::size_t place : r.only_here) require(place < own.size());
  require(std::is_sorted(r.only_there.begin(), r.only_there.end()));
  require(std::adjacent_find(r.only_there.begin(), r.only_there.end()) == r.only_there.end());
  for (const std::string& key : r.only_there) {
    require(std::find(own.begin(), own.end(), key) == own.end());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  bloomery_fuzz::input in(data, size);
  const std::uint64_t choice = in.take(1);
  bloomery::reconcile_options o;
  o.method = static_cast<bloomery::reconcile_method>(choice & 3U);
  o.nonce = 1001;
  o.most_keys = 5000;
  o.memory_bytes = (choice & 4U) != 0 ? 30'000 : 1'000'000;
  const bloomery::patience limits{.idle = std::chrono::milliseconds(1000),
                                  .total = std::chrono::milliseconds(10'000)};
  auto [here, there] = bloomery::pipe_pair(limits);
  {
    bloomery::message_channel liar(std::move(there));
    speak(liar, in);
  }
  bloomery::message_channel peer(std::move(here));
  const std::vector<std::string_view> keys(own_keys().begin(), own_keys().end());
  try {
    check(bloomery::reconcile(peer, keys, o));
  } catch (const bloomery::error&) {
  }
  return 0;
}
