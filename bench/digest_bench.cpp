// The table and the figure of docs/digests.md: what old digests cost in hits, in a simulation of
// four caches that follow each other's (exchange/live_digest.hpp).
//
//     bloomery_digest_bench [FILE.svg]
//
// Each cache has room for 20,000 documents and forgets the one that was not asked for the longest.
// Documents are asked for by Zipf's law with exponent 0.8 among a million, which is what logs of
// proxies look like (Breslau and others 1999), and without a memory of what was asked before. A
// document that is not here is asked of a sibling whose digest has it, at random among several, and
// else of the server. After 300,000 requests the caches are full and counting begins.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "bloomery/bloomery.hpp"
#include "bloomery/exchange/live_digest.hpp"
#include "cli/output/drawing.hpp"

namespace {

using namespace bloomery;

using document = std::uint32_t;

constexpr std::size_t caches = 4;
constexpr std::uint32_t documents = 1'000'000;
constexpr std::uint32_t room = 20'000;
constexpr double exponent = 0.8;
constexpr std::uint64_t warm_up = 300'000;
constexpr std::uint64_t counted_requests = 600'000;

std::vector<double> zipf_sums() {
  std::vector<double> sums(documents);
  double sum = 0;
  for (std::uint32_t i = 0; i < documents; ++i) sums[i] = sum += std::pow(i + 1, -exponent);
  return sums;
}

// The least recently used goes first: a ring of documents through two arrays.
class lru_cache {
 public:
  lru_cache() : next_(documents + 1, nobody), before_(documents + 1, nobody) {
    next_[end] = before_[end] = end;
  }
  [[nodiscard]] bool has(document d) const { return next_[d] != nobody; }
  void touch(document d) {
    if (has(d)) {
      unlink(d);
    } else {
      ++size_;
    }
    next_[d] = next_[end];
    before_[d] = end;
    before_[next_[d]] = d;
    next_[end] = d;
  }
  [[nodiscard]] bool too_full() const { return size_ > room; }
  document drop() {
    const document oldest = before_[end];
    unlink(oldest);
    next_[oldest] = nobody;
    --size_;
    return oldest;
  }

 private:
  static constexpr document nobody = UINT32_MAX;
  static constexpr document end = documents;

  void unlink(document d) {
    next_[before_[d]] = next_[d];
    before_[next_[d]] = before_[d];
  }
  std::vector<document> next_;
  std::vector<document> before_;
  std::uint32_t size_ = 0;
};

struct tally {
  double here = 0;       // hits in the cache that was asked
  double there = 0;      // misses here that some sibling could have answered
  double found = 0;      // and those of which the digests said so
  double in_vain = 0;    // questions to siblings that do not have it
  double published = 0;  // versions
  double bytes = 0;      // of them, for one follower
};

tally simulate(const std::vector<double>& zipf, std::uint32_t bits, double share) {
  std::vector<lru_cache> stores(caches);
  std::vector<live_digest> ours;
  std::vector<followed_digest> theirs(caches);
  for (std::size_t i = 0; i < caches; ++i) {
    ours.emplace_back(
        live_digest_options{.keys = room, .bits_per_key = bits, .publish_share = share});
  }
  std::mt19937_64 random(7);  // the same requests each time
  tally t;
  for (std::uint64_t i = 0; i < warm_up + counted_requests; ++i) {
    const bool counts = i >= warm_up;
    const double place = std::uniform_real_distribution<double>(0, zipf.back())(random);
    const auto wanted = static_cast<document>(std::ranges::lower_bound(zipf, place) - zipf.begin());
    const std::size_t at = random() % caches;
    const std::uint64_t hash = splitmix64(wanted);
    const bool hit = stores[at].has(wanted);
    if (counts && hit) ++t.here;
    if (!hit && counts) {
      bool there = false;
      bool found = false;
      std::array<std::size_t, caches> said{};
      std::size_t promises = 0;
      for (std::size_t c = 0; c < caches; ++c) {
        if (c == at) continue;
        there = there || stores[c].has(wanted);
        if (theirs[c].contains(hash)) said[promises++] = c;
      }
      // One sibling is asked, then the server: that is what Squid does.
      if (promises != 0) {
        found = stores[said[splitmix64(i) % promises]].has(wanted);
        if (!found) ++t.in_vain;
      }
      t.there += there ? 1 : 0;
      t.found += found ? 1 : 0;
    }
    if (!hit) ours[at].add(hash);
    stores[at].touch(wanted);
    if (stores[at].too_full()) ours[at].remove(splitmix64(stores[at].drop()));
    // While they fill up, digests would be due all the time.
    if (i + 1 < warm_up || !ours[at].due()) continue;
    const std::vector<std::byte> news = ours[at].publish();
    theirs[at].take(news);
    if (!counts) continue;
    t.published += 1;
    t.bytes += static_cast<double>(news.size());
  }
  return t;
}

cli::series line_of(const std::string& name, std::size_t index) {
  return {.name = name, .colour = cli::series_hue(index), .points = {}, .dots = {}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<double> zipf = zipf_sums();
  const auto requests = static_cast<double>(counted_requests);
  std::vector<cli::series> lost;
  std::vector<cli::series> vain;
  std::printf(
      "| bits a document | published at | hits here | hits there, lost | asked in vain | bytes a "
      "version | bytes a request |\n|---|---|---|---|---|---|---|\n");
  for (const std::uint32_t bits : {8U, 16U, 32U}) {
    const std::string name = std::to_string(bits) + " bits";
    lost.push_back(line_of(name, lost.size()));
    vain.push_back(line_of(name, vain.size()));
    for (const double share : {0.005, 0.01, 0.02, 0.05, 0.1, 0.2}) {
      const tally t = simulate(zipf, bits, share);
      const double missed = 100 * (1 - t.found / t.there);
      std::printf("| %u | %g %% | %.2f %% | %.2f %%, %.2f %% of them | %.2f %% | %.0f | %.2f |\n",
                  bits, 100 * share, 100 * t.here / requests, 100 * t.there / requests, missed,
                  100 * t.in_vain / requests, t.bytes / t.published,
                  static_cast<double>(caches - 1) * t.bytes / requests);
      std::fflush(stdout);
      lost.back().points.push_back({100 * share, missed});
      vain.back().points.push_back({100 * share, 100 * t.in_vain / requests});
    }
    lost.back().dots = lost.back().points;
    vain.back().dots = vain.back().points;
  }
  if (argc < 2) return 0;
  const auto shares = [] {
    cli::axis a{.label = "published when so much has changed, %",
                .first = 0.5,
                .last = 20,
                .log = true,
                .ticks = {}};
    for (const char* text : {"0.5", "1", "2", "5", "10", "20"}) {
      a.ticks.push_back({std::strtod(text, nullptr), text});
    }
    return a;
  };
  const cli::figure drawn{.title = "What old digests cost",
                          .panels = {{.title = "Hits at siblings that are lost",
                                      .x = shares(),
                                      .y = cli::linear_axis("of those that there are, %", 0, 12, 2),
                                      .all = lost},
                                     {.title = "Siblings asked in vain",
                                      .x = shares(),
                                      .y = cli::linear_axis("of all requests, %", 0, 6, 1),
                                      .all = vain}}};
  std::ofstream(argv[1]) << cli::svg_of(cli::laid_out(drawn));
  return 0;
}
