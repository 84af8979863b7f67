// Two parties, here two threads of one process, find out what the other lacks. Between hosts only
// the channel is another: bloomery::listener("0.0.0.0:4711").accept() and
// bloomery::connect("there.example:4711").
#include <bloomery/exchange/reconcile.hpp>
#include <cassert>
#include <cstdio>
#include <future>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

bloomery::reconciliation talk(bloomery::channel bytes, const std::vector<std::string>& keys) {
  bloomery::message_channel peer(std::move(bytes));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  bloomery::reconciliation found = bloomery::reconcile(peer, views);
  peer.finish();  // both have heard everything
  return found;
}

}  // namespace

int main() {
  std::vector<std::string> anna;
  std::vector<std::string> bert;
  for (int i = 0; i < 20'000; ++i) {
    const std::string photo = "photos/2024/" + std::to_string(i) + ".jpg";
    if (i % 2000 != 7) anna.push_back(photo);
    if (i % 5000 != 9) bert.push_back(photo);
  }

  auto [here, there] = bloomery::pipe_pair();
  auto at_berts = std::async(std::launch::async, talk, std::move(there), bert);
  const bloomery::reconciliation at_annas = talk(std::move(here), anna);
  const bloomery::reconciliation of_bert = at_berts.get();

  std::printf("Anna lacks %zu, the first is %s\n", at_annas.only_there.size(),
              at_annas.only_there.front().c_str());
  for (const std::size_t place : at_annas.only_here) {
    std::printf("Bert lacks %s\n", anna[place].c_str());
  }
  assert(at_annas.only_there.size() == 10 && at_annas.only_here.size() == 4);
  assert(of_bert.only_there.size() == 4 && of_bert.only_here.size() == 10);

  const bloomery::reconcile_report& r = at_annas.report;
  std::printf("%llu bytes by the method %s; all names have %llu\n",
              static_cast<unsigned long long>(r.all().both()),
              std::string(method_name(r.method)).c_str(),
              static_cast<unsigned long long>(r.everything_bytes()));
  assert(r.all().both() < 2500);
}
