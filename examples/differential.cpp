// A store whose changes wait in a log until they are merged. The filter says which records have
// changed, so that the others are read from the base alone.
#include <bloomery/store/differential.hpp>
#include <cassert>
#include <cstdio>
#include <filesystem>
#include <string>

int main() {
  std::filesystem::remove_all("accounts");
  bloomery::differential_store accounts("accounts", 0.01);

  // The base: ten thousand records in the order of their keys.
  std::string key;
  int next = 10'000;
  accounts.load([&](std::string_view& k, std::string_view& v) {
    if (next == 20'000) return false;
    key = std::to_string(next++);
    k = key;
    v = "old";
    return true;
  });
  for (int i = 10'000; i < 10'500; ++i) accounts.put(std::to_string(i), "new");
  accounts.erase("19999");
  accounts.sync();

  for (int i = 10'000; i < 20'000; ++i) (void)accounts.find(std::to_string(i));
  const auto& counts = accounts.counts();
  std::printf("%llu lookups, %llu searched the log, %llu of them in vain\n",
              static_cast<unsigned long long>(counts.asked),
              static_cast<unsigned long long>(counts.log_searches),
              static_cast<unsigned long long>(counts.wasted_searches));
  assert(counts.wasted_searches < 200);  // 9,499 records did not change: 95 at a rate of 1 %

  accounts.merge();
  assert(accounts.find("10499") == "new" && accounts.find("10500") == "old");
  assert(!accounts.find("19999") && accounts.base_records() == 9'999);
}
