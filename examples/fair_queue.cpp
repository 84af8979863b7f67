// A fair queue before a slow link: a flood of ten times what the link carries, and three calls that
// send little. Time is made up, so that the program takes none.
#include <bloomery/hash/random_seed.hpp>
#include <bloomery/hash/secret_hasher.hpp>
#include <bloomery/measure/fair_queue.hpp>
#include <cassert>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

namespace {

using namespace std::chrono_literals;

// How many packets of each flow pass the link in ten seconds.
std::map<std::string, int> packets_through(bool fair) {
  bloomery::fair_queue queue({.bytes_per_second = 1'250'000, .fair = fair});  // 10 Mbit/s
  // Keyed, or strangers choose who shares their bins. A real program hashes a flow_key's bytes.
  const bloomery::secret_hasher hash(bloomery::random_seed());
  std::map<std::uint64_t, std::string> names;
  for (const std::string name : {"flood", "call 1", "call 2", "call 3"}) {
    names[hash.bytes(name.data(), name.size())] = name;
  }
  std::map<std::string, int> through;
  std::uint64_t id = 0;
  for (bloomery::queue_time now = 0s; now < 10s; now += 100us) {
    for (const auto& [flow, name] : names) {
      const bloomery::queue_time every = name == "flood" ? 100us : 20ms;
      if (now % every != 0s) continue;
      queue.offer({.id = id++, .bytes = 1250, .flow = flow}, now);  // a real one drops what it says
    }
    while (const auto p = queue.release(now)) ++through[names.at(p->flow)];
  }
  return through;
}

}  // namespace

int main() {
  const auto plain = packets_through(false);
  auto fair = packets_through(true);
  for (const auto& [name, packets] : plain) {
    std::printf("%-8s %5d packets through a plain queue, %5d through the fair one\n", name.c_str(),
                packets, fair[name]);
    assert(name == "flood" ? fair[name] < 2000 : fair[name] > 400);  // of the 500 of each call
  }
}
