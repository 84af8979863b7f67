// Many threads add to one filter and ask it at the same time, without locks: each has its own
// handle.
#include <bloomery/bloomery.hpp>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

int main() {
  constexpr std::uint64_t per_thread = 250'000;
  constexpr std::uint64_t threads = 4;
  bloomery::filter crawled({.keys = threads * per_thread, .fpr = 0.01});
  {
    std::vector<std::jthread> crawlers;
    for (std::uint64_t t = 0; t < threads; ++t) {
      crawlers.emplace_back([&, t] {
        auto handle = crawled.concurrent();
        for (std::uint64_t page = t * per_thread; page < (t + 1) * per_thread; ++page) {
          if (!handle.contains(page)) handle.add(page);
        }
      });
    }
  }
  // A page that a false positive reported as crawled was not added; all others were.
  std::printf("%llu of %llu pages crawled, fpr now %.2f %%\n",
              static_cast<unsigned long long>(crawled.keys()),
              static_cast<unsigned long long>(threads * per_thread), 100 * crawled.fpr());
  return crawled.keys() > 990'000 ? 0 : 1;
}
