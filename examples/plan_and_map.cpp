// One process builds a filter of a given size and saves it; others map the file and ask at once.
#include <bloomery/bloomery.hpp>
#include <cstdint>
#include <cstdio>
#include <string>

int main() {
  using namespace bloomery;

  // The filter may take two megabytes. What will its rate be?
  const plan p = sizing::make_plan(
      {.kind = filter_kind::blocked, .keys = 1'000'000, .bytes = std::uint64_t{2} << 20U});
  std::printf("a million keys in 2 MiB: %u probes, fpr %.4f %%\n", p.shape.probes, 100 * p.fpr);

  filter f(blocked_filter(p), xxh3_hasher(/*seed=*/7));
  for (int i = 0; i < 1'000'000; ++i) f.add("user-" + std::to_string(i));
  save(f, "users.bloom");

  const auto mapped = map<filter>("users.bloom");
  int wrong = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    wrong += mapped->contains("guest-" + std::to_string(i)) ? 1 : 0;
  }
  std::printf("of a million others %d passed; expected %.0f\n", wrong, 1e6 * mapped->fpr());
  return mapped->contains("user-999999") && wrong < 2 * 1e6 * p.fpr ? 0 : 1;
}
