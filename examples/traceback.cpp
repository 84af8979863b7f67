// Which of three routers has a packet passed? Each keeps a filter of the packets of every second;
// whoever received the packet asks them, and the time to live that has changed on the way does not
// matter.
#include <array>
#include <bloomery/measure/trace_path.hpp>
#include <bloomery/measure/traceback.hpp>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using bytes = std::array<std::byte, 40>;

// An IPv4 packet with a number of its own, and so many hops left.
bytes packet(unsigned number, unsigned hops) {
  bytes p{};
  p[0] = std::byte{0x45};
  p[3] = std::byte{40};
  p[4] = static_cast<std::byte>(number >> 8U);
  p[5] = static_cast<std::byte>(number);
  p[8] = static_cast<std::byte>(hops);
  p[9] = std::byte{17};
  p[12] = std::byte{192};  // an address that the sender made up
  return p;
}

}  // namespace

int main() {
  namespace fs = std::filesystem;
  const auto routers = bloomery::trace_topology::parse(
      "gate    10.0.0.1:4711  east west\n"
      "east    10.0.0.2:4711\n"
      "west    10.0.0.3:4711\n");
  const fs::path folder = "traces";
  fs::remove_all(folder);
  constexpr std::uint64_t now = 1'762'345'678'000'000'000;
  for (const auto& router : routers.routers) {
    bloomery::trace_recorder recorder(folder / router.name);
    for (unsigned i = 0; i < 1000; ++i) {
      const bool here = router.name == "gate" || (i % 2 == 0) == (router.name == "west");
      const bytes seen = packet(i, router.name == "gate" ? 62 : 63);
      if (here) recorder.add(bloomery::parse_ip(seen, seen.size()), now + i);
    }
    recorder.finish();
  }

  const bytes received = packet(500, 61);  // it came through west
  const auto identity = bloomery::identity_of(bloomery::parse_ip(received, received.size()));
  const bloomery::time_range when{now - 1, now + 1'000'000};
  // A program on several hosts would ask by exchange/proved_questions.hpp.
  const auto graph =
      bloomery::trace_back(routers, routers.find("gate"), [&](std::span<const std::size_t> asked) {
        std::vector<bloomery::router_reply> replies;
        for (const std::size_t number : asked) {
          const bloomery::trace_folder slices(folder / routers.routers[number].name);
          replies.push_back(bloomery::reply_from(slices.ask(*identity, when), when));
        }
        return replies;
      });
  for (const std::size_t at : graph.seen) {
    std::printf("%s\n", routers.routers[graph.asked[at].router].name.c_str());
  }
  // A filter never forgets; that it takes another packet for this one is rare, and drawn anew.
  bool by_west = false;
  for (const std::size_t at : graph.seen) by_west |= graph.asked[at].router == routers.find("west");
  assert(by_west);
  fs::remove_all(folder);
}
