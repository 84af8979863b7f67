// The tables of docs/exchange.md on peers: 1,000 of them with 10,000 objects each, what their
// summaries take, how many requests go to peers that do not have the object, what a question costs
// in slices and filter by filter, and what summaries that are not the newest do. Usage:
// bloomery_peers_bench [PEERS [OBJECTS [FILE.svg]]]; the picture is docs/figures/peers.svg.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "bloomery/bloomery.hpp"
#include "bloomery/exchange/peers.hpp"
#include "cli/output/drawing.hpp"

namespace {

using namespace bloomery;

constexpr hash_spec spec{.id = hash_id::xxh3};
constexpr std::size_t asked = 20'000;

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Objects exist for a while and are then replaced by others; each has a phase of its own.
struct network {
  std::uint64_t peers;
  std::uint64_t objects;   // of a peer
  std::uint64_t lifetime;  // of an object, in hours

  [[nodiscard]] std::uint64_t object(std::uint64_t peer, std::uint64_t i,
                                     std::uint64_t hour) const {
    const std::uint64_t place = peer * objects + i;
    const std::uint64_t phase = splitmix64(place) % lifetime;
    return splitmix64((((hour + phase) / lifetime) << 32U) + place + 1);
  }
  [[nodiscard]] std::vector<std::uint64_t> objects_of(std::uint64_t peer,
                                                      std::uint64_t hour) const {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < objects; ++i) all.push_back(object(peer, i, hour));
    return all;
  }
};

// Objects that exist in this hour, and the peer of each.
struct question {
  std::vector<std::uint64_t> hashes;
  std::vector<std::uint64_t> holders;
};

question questions(const network& n, std::uint64_t hour) {
  question q;
  for (std::uint64_t i = 0; i < asked; ++i) {
    const std::uint64_t random = splitmix64(i + 77);
    q.holders.push_back(random % n.peers);
    q.hashes.push_back(n.object(q.holders.back(), (random >> 32U) % n.objects, hour));
  }
  return q;
}

struct outcome {
  double extraneous = 0;  // requests to peers without the object, for each question
  double missed = 0;      // share of the objects that no summary knows
};

outcome judge(const question& q, const std::vector<candidate>& found) {
  std::uint64_t right = 0;
  for (const candidate& c : found) right += std::uint64_t{c.peer == q.holders[c.object]};
  return {.extraneous = static_cast<double>(found.size() - right) / asked,
          .missed = 1 - static_cast<double>(right) / asked};
}

// The series shows measured points as dots and expected values as a line.
cli::series shown(const char* name, cli::hue colour) {
  return {.name = name, .colour = colour, .points = {}, .dots = {}};
}

cli::panel sizes(const network& n) {
  cli::series requests = shown("999 fpr", cli::hue::blue);
  std::printf(
      "| fpr | a summary | all summaries | extraneous requests | by the rate | us in slices | us "
      "filter by filter |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const double fpr : {0.1, 0.01, 0.001, 0.0001}) {
    const plan p = sizing::make_plan({.kind = filter_kind::blocked, .keys = n.objects, .fpr = fpr});
    peer_directory all(spec);
    std::vector<blocked_filter> filters;
    double rate = 0;
    for (std::uint64_t peer = 0; peer < n.peers; ++peer) {
      blocked_filter& f = filters.emplace_back(p);
      f.add_batch(n.objects_of(peer, 1000));
      rate += f.fpr();
      all.update(peer, f, spec, 0);
    }
    const question q = questions(n, 1000);
    std::vector<candidate> found;
    const double sliced = seconds_of([&] { found = all.ask(q.hashes, 0); });
    std::size_t listed = 0;
    const double one_by_one = seconds_of([&] {
      for (std::size_t i = 0; i < asked / 10; ++i) {
        for (const blocked_filter& f : filters) listed += std::size_t{f.contains(q.hashes[i])};
      }
    });
    if (listed == 0) std::abort();
    const outcome o = judge(q, found);
    if (o.missed != 0) std::abort();
    requests.points.push_back({fpr, fpr * static_cast<double>(n.peers - 1)});
    requests.dots.push_back({fpr, o.extraneous});
    const double bytes = static_cast<double>(p.shape.bits) / 8;
    std::printf("| %g %% | %.1f kB | %.1f MB | %.3f | %.3f | %.2f | %.1f |\n", fpr * 100,
                bytes / 1e3, bytes * static_cast<double>(n.peers) / 1e6, o.extraneous,
                rate * static_cast<double>(n.peers - 1) / static_cast<double>(n.peers),
                sliced / asked * 1e6, one_by_one / (asked / 10) * 1e6);
  }
  cli::axis asked_in_vain{
      .label = "requests in vain", .first = 0.01, .last = 1000, .log = true, .ticks = {}};
  for (const char* text : {"0.01", "0.1", "1", "10", "100", "1000"}) {
    asked_in_vain.ticks.push_back({std::strtod(text, nullptr), text});
  }
  return {.title = "A question to 1,000 peers",
          .x = cli::rate_axis("fpr of a summary", 0.1, 0.0001),
          .y = asked_in_vain,
          .all = {requests}};
}

cli::panel ages(const network& n) {
  cli::series missed = shown("expected", cli::hue::orange);
  std::printf(
      "\n| update every | missed | expected | extraneous requests | kB a peer and hour, packed | "
      "as deltas |\n"
      "|---|---|---|---|---|---|\n");
  const plan p = sizing::make_plan({.kind = filter_kind::blocked, .keys = n.objects, .fpr = 0.01});
  for (const std::uint64_t period : {1U, 4U, 12U, 24U, 72U}) {
    peer_directory all(spec);
    constexpr std::uint64_t now = 1000;
    double ages = 0;
    for (std::uint64_t peer = 0; peer < n.peers; ++peer) {
      const std::uint64_t age = peer % period;
      ages += static_cast<double>(age);
      blocked_filter f(p);
      f.add_batch(n.objects_of(peer, now - age));
      all.update(peer, f, spec, now - age);
    }
    const question q = questions(n, now);
    const outcome o = judge(q, all.ask(q.hashes, now));
    blocked_filter old(p), young(p);
    old.add_batch(n.objects_of(0, now - period));
    young.add_batch(n.objects_of(0, now));
    const image_header header{.planned = p, .hash = spec, .keys = n.objects};
    const double packed = static_cast<double>(pack(header, young.words()).size());
    const double delta = static_cast<double>(
        diff({.header = header, .words = old.words()}, {.header = header, .words = young.words()})
            .size());
    const double hours = static_cast<double>(period);
    const double expected = ages / static_cast<double>(n.peers * n.lifetime);
    missed.points.push_back({hours, 100 * expected});
    missed.dots.push_back({hours, 100 * o.missed});
    std::printf("| %.0f h | %.2f %% | %.2f %% | %.3f | %.2f | %.2f |\n", hours, 100 * o.missed,
                100 * expected, o.extraneous, packed / hours / 1e3, delta / hours / 1e3);
  }
  return {.title = "Objects that live ten days",
          .x = cli::linear_axis("hours between updates", 0, 72, 12),
          .y = cli::linear_axis("objects missed, %", 0, 16, 4),
          .all = {missed}};
}

void groups(const network& n) {
  std::printf(
      "\n| peers in a group | a leader's filter | all leaders' | leaders asked | peers asked "
      "|\n|---|---|---|---|---|\n");
  for (const std::uint64_t size : {10U, 32U, 100U}) {
    const plan p =
        sizing::make_plan({.kind = filter_kind::blocked, .keys = n.objects * size, .fpr = 0.01});
    // A part of the network is enough, because the filters of the members are as large as that of
    // their leader.
    const network part{.peers = std::min<std::uint64_t>(n.peers, 10 * size),
                       .objects = n.objects / 10,
                       .lifetime = n.lifetime};
    const plan small =
        sizing::make_plan({.kind = filter_kind::blocked, .keys = part.objects * size, .fpr = 0.01});
    peer_groups all(spec);
    for (std::uint64_t peer = 0; peer < part.peers; ++peer) {
      blocked_filter f(small);
      f.add_batch(part.objects_of(peer, 1000));
      all.update(peer / size, peer, f, 0);
    }
    const question q = questions(part, 1000);
    const peer_groups::answer a = all.ask(q.hashes, 0);
    const double bytes = static_cast<double>(p.shape.bits) / 8;
    std::printf("| %llu | %.0f kB | %.1f MB | %.3f of %llu | %.3f of %llu |\n",
                static_cast<unsigned long long>(size), bytes / 1e3,
                bytes * static_cast<double>(n.peers) / static_cast<double>(size) / 1e6,
                static_cast<double>(a.leaders.size()) / asked,
                static_cast<unsigned long long>(part.peers / size),
                static_cast<double>(a.candidates.size()) / asked,
                static_cast<unsigned long long>(part.peers));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const network n{.peers = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000,
                  .objects = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'000,
                  .lifetime = 240};
  const cli::figure drawn{.title = "Summaries of peers", .panels = {sizes(n), ages(n)}};
  groups(n);
  if (argc > 3) std::ofstream(argv[3]) << cli::svg_of(cli::laid_out(drawn));
}
