// A filter before a slow store: absent keys are answered without asking it, and the guard says what
// that saves. Keys that come are added, keys that go are reported, and when the filter has aged
// another takes its place while everybody goes on asking.
#include <bloomery/bloomery.hpp>
#include <bloomery/guard/guard.hpp>
#include <cassert>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace {

// A store that is as slow as a disk.
class store {
 public:
  void put(const std::string& key, int stock) {
    const std::lock_guard lock(mutex_);
    rows_[key] = stock;
  }
  void remove(const std::string& key) {
    const std::lock_guard lock(mutex_);
    rows_.erase(key);
  }
  std::optional<int> get(const std::string& key) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
    while (std::chrono::steady_clock::now() < until) continue;
    const std::lock_guard lock(mutex_);
    const auto at = rows_.find(key);
    return at == rows_.end() ? std::nullopt : std::optional(at->second);
  }
  bloomery::filter scan() {
    const std::lock_guard lock(mutex_);
    bloomery::filter f({.keys = 2 * rows_.size() + 1});  // room to grow
    for (const auto& [key, stock] : rows_) f.add(key);
    return f;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, int> rows_;
};

}  // namespace

int main() {
  store fruit;
  for (int i = 0; i < 1000; ++i) fruit.put("fruit " + std::to_string(i), i);
  bloomery::guard g(fruit.scan(), [&](const std::string& key) { return fruit.get(key); });

  // One key in ten is there.
  for (int i = 0; i < 10'000; ++i) {
    const std::optional<int> stock = g.find("fruit " + std::to_string(i));
    assert(stock.has_value() == (i < 1000));
  }
  const bloomery::guard_report r = g.report();
  std::printf("%llu asked, %llu lookups, %llu of them wasted; %.1f us a call instead of %.1f\n",
              static_cast<unsigned long long>(r.asked()),
              static_cast<unsigned long long>(r.passed()),
              static_cast<unsigned long long>(r.wasted), r.guarded_ns().value() / 1000,
              r.unguarded_ns().value() / 1000);
  assert(r.hit == 1000 && r.wasted < 200 && r.pays().value());

  fruit.put("mango", 3);  // first the store, then the guard
  g.add(std::string("mango"));
  assert(g.find(std::string("mango")) == 3);

  for (int i = 0; i < 500; ++i) fruit.remove("fruit " + std::to_string(i));
  g.removed(500);
  const bool rebuilding = g.rebuild_if_aged([&] { return fruit.scan(); });
  assert(rebuilding && g.find(std::string("mango")) == 3);  // at any time
  g.wait();
  assert(g.find(std::string("mango")) == 3 && !g.aged());
  return rebuilding ? 0 : 1;
}
