// A join of two tables on two hosts: here two threads with a pair of sockets between them. Rows of
// A travel, but only those that a filter of B's keys lets pass.
#include <bloomery/exchange/join.hpp>
#include <cassert>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

int main() {
  using table = std::vector<std::pair<std::string, std::string>>;
  table orders;
  for (int i = 0; i < 10'000; ++i) orders.emplace_back("customer " + std::to_string(i), "an order");
  const table customers = {{"customer 17", "Anna"}, {"customer 4711", "Bert"}, {"nobody", "Clara"}};
  const auto scan = [](const table& t) {
    return [&t](const bloomery::row_visit& visit) {
      for (const auto& [key, rest] : t) visit(key, rest);
    };
  };

  auto [here, there] = bloomery::pipe_pair();  // listener and connect do this between hosts
  const bloomery::join_side a(scan(orders));
  std::jthread other_host([&a, end = std::move(there)]() mutable {
    bloomery::message_channel peer(std::move(end));
    bloomery::send_join(peer, a, "orders");
  });
  bloomery::message_channel peer(std::move(here));
  const bloomery::join_report report = bloomery::receive_join(
      peer, scan(customers), [](std::string_view about) { assert(about == "orders"); },
      [](std::string_view key, std::string_view order, std::string_view name) {
        std::printf("%s: %s of %s\n", std::string(key).c_str(), std::string(order).c_str(),
                    std::string(name).c_str());
      });
  std::printf("%llu bytes instead of %llu\n", static_cast<unsigned long long>(report.bytes()),
              static_cast<unsigned long long>(report.plain_bytes));
  assert(report.pairs == 2 && report.bytes() < report.plain_bytes / 100);
}
