// Prints the tables of docs/exchange.md: what two hosts exchange to reconcile a million keys, by
// the size of the difference.
//
//     bloomery_reconcile_bench [KEYS]
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bloomery/exchange/reconcile.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/sketch/riblt.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

// File names of 44 characters, in no order.
std::string name_of(std::uint64_t i) {
  char text[64];
  std::snprintf(text, sizeof text, "pool/%02llx/%016llx/package_%llu.deb",
                static_cast<unsigned long long>(bloomery::splitmix64(i) & 0xffU),
                static_cast<unsigned long long>(bloomery::splitmix64(i)),
                static_cast<unsigned long long>(i % 1'000'000));
  return text;
}

std::vector<std::string> names(std::uint64_t from, std::uint64_t count) {
  std::vector<std::string> made;
  for (std::uint64_t i = from; i < from + count; ++i) made.push_back(name_of(i));
  return made;
}

bloomery::reconciliation talk(bloomery::channel bytes, const std::vector<std::string>& keys,
                              const bloomery::reconcile_options& o) {
  bloomery::message_channel peer(std::move(bytes));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  bloomery::reconciliation r = bloomery::reconcile(peer, views, o);
  peer.finish();
  return r;
}

// Half of the difference is on each side.
void row(std::uint64_t keys, std::uint64_t difference, bloomery::reconcile_method method) {
  const std::vector<std::string> a = names(0, keys);
  const std::vector<std::string> b = names(difference / 2, keys);
  auto [here, there] = bloomery::pipe_pair();
  const auto start = clock_type::now();
  auto other = std::async(std::launch::async, talk, std::move(there), b,
                          bloomery::reconcile_options{.method = method, .nonce = 1});
  const auto of_a = talk(std::move(here), a, {.method = method, .nonce = 2});
  const auto of_b = other.get();
  const double seconds = std::chrono::duration<double>(clock_type::now() - start).count();
  const auto& r = of_a.report;
  if (of_a.only_there.size() != difference / 2 || of_b.only_there.size() != difference / 2) {
    std::printf("wrong\n");
    std::exit(1);
  }
  const double everything = static_cast<double>(r.everything_bytes());
  std::printf("| %llu | %s%s | %llu | %llu | %llu | %llu | %llu | %.3f %% | %u | %.1f |\n",
              static_cast<unsigned long long>(difference),
              method == bloomery::reconcile_method::automatic ? "auto: " : "",
              std::string(method_name(r.method)).c_str(),
              static_cast<unsigned long long>(r.filters.both()),
              static_cast<unsigned long long>(r.tables.both()),
              static_cast<unsigned long long>(r.keys.both()),
              static_cast<unsigned long long>(r.greetings.both()),
              static_cast<unsigned long long>(r.all().both()),
              100 * static_cast<double>(r.all().both()) / everything, r.round_trips, seconds);
  std::fflush(stdout);
}

// The mean number of symbols until the difference is known.
void overhead(std::uint64_t difference, int trials) {
  double sum = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<std::uint64_t> items;
    for (std::uint64_t i = 0; i < difference; ++i) {
      items.push_back(bloomery::splitmix64((static_cast<std::uint64_t>(trial) << 32U) + i));
    }
    bloomery::riblt_encoder there(items);
    bloomery::riblt_decoder here({});
    while (!here.complete()) {
      const bloomery::riblt_symbol next = there.symbol(here.symbols());
      here.add({&next, 1});
    }
    sum += static_cast<double>(here.symbols()) / static_cast<double>(difference);
  }
  std::printf("| %llu | %.3f |\n", static_cast<unsigned long long>(difference), sum / trials);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t keys = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  using bloomery::reconcile_method;
  std::printf(
      "| difference | method | filters | symbols | keys | greetings | all bytes | of everything | "
      "round trips | s |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n");
  for (const std::uint64_t difference : {0U, 10U, 1000U, 3500U, 100'000U, 1'000'000U}) {
    row(keys, difference, reconcile_method::automatic);
  }
  for (const reconcile_method method :
       {reconcile_method::sketch, reconcile_method::filter, reconcile_method::full}) {
    row(keys, 100'000, method);
  }
  std::printf("\n| difference | symbols each |\n|---|---|\n");
  for (const std::uint64_t difference : {1U, 2U, 4U, 10U, 30U, 100U, 300U, 1000U, 3000U, 10'000U}) {
    overhead(difference, difference < 1000 ? 400 : 40);
  }
}
