// The suite: every kind in bulk and one key at a time, asked and added to, against the floor
// (measure/floor.hpp) next to it; the operations on whole filters against memcpy; and what people
// use instead. Google Benchmark's options, then sizes:
//
//     bloomery_suite [--benchmark_...] 1000000 50000000 100000000:blocked
//
// A size is a number of keys, with the groups to run if not all. scripts/bench runs it and writes
// docs/performance.md. Lookups are for keys of the filter and for others, half and half in random
// order; adding begins with an empty filter and ends with a full one, since what fills up becomes
// slower. Keys are 64-bit integers. Times are those that the thread had the processor.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bloomery/bloomery.hpp"
#include "bloomery/measure/floor.hpp"
#include "plain_cuckoo.hpp"
#include "split_block.hpp"
#include "suite_keys.hpp"
#include "suite_peers.hpp"

namespace {

using namespace bloomery;
using namespace bloomery::bench;
using keys_type = key_list;
using benchmark::State;

constexpr double fpr = 0.01;

template <class Filter>
constexpr bool is_static = std::derived_from<Filter, static_view<typename Filter::view>>;

template <class Filter>
plan plan_of(std::uint64_t n) {
  return sizing::make_plan({.kind = Filter::kind, .keys = n, .fpr = fpr});
}

template <class Filter>
Filter build_static(std::span<const std::uint64_t> hashes) {
  const plan p = plan_of<Filter>(hashes.size());
  if constexpr (Filter::kind == filter_kind::bloomier) {
    return Filter(p, hashes, keys_type(hashes.size(), 5));
  } else {
    return Filter(p, hashes);
  }
}

// Top-k stores the keys themselves, here the eight bytes of an integer.
std::string_view text_of(const std::uint64_t& key) {
  return {reinterpret_cast<const char*>(&key), sizeof key};
}

template <class Filter>
void add_bulk(keyed<Filter>& f, const keys_type& keys) {
  if constexpr (std::same_as<Filter, top_k>) {
    // In pieces: texts and hashes of four million keys would be 96 MB of new memory.
    constexpr std::size_t piece = 16384;
    std::vector<std::string_view> texts(piece);
    keys_type hashes(piece);
    for (std::size_t first = 0; first < keys.size(); first += piece) {
      const auto some = std::span(keys).subspan(first, std::min(piece, keys.size() - first));
      std::transform(some.begin(), some.end(), texts.begin(), text_of);
      mix64_batch(f.hash_function().integers(some), hashes);
      f.filter().add_batch(std::span(texts).first(some.size()),
                           std::span(hashes).first(some.size()));
    }
  } else {
    f.add_batch(keys);
  }
}

template <class Filter>
void add_one(keyed<Filter>& f, const std::uint64_t& key) {
  if constexpr (std::same_as<Filter, top_k>) {
    f.filter().add(text_of(key), f.hash_function().integer(key));
  } else {
    f.add(key);
  }
}

template <class Filter>
keyed<Filter> make_filled(std::uint64_t n) {
  if constexpr (is_static<Filter>) {
    keys_type hashes = make_keys(0, n, key_number);
    mix64_batch(xxh3_hasher().integers(hashes), hashes);
    return keyed<Filter>(build_static<Filter>(hashes));
  } else {
    keyed<Filter> f{Filter(plan_of<Filter>(n))};
    for_all_keys(n, [&](const keys_type& keys) { add_bulk(f, keys); });
    return f;
  }
}

std::string group_name(std::string_view what, std::uint64_t n) {
  return std::string(what) + '/' + std::to_string(n);
}

template <class Filter>
std::shared_ptr<keyed<Filter>> filled(std::uint64_t n) {
  return hold<keyed<Filter>>(group_name(kind_name(Filter::kind), n),
                             [n] { return make_filled<Filter>(n); });
}

void count_keys(State& state, std::size_t keys) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(keys));
}

// For the floor of a kind, and its memory.
template <class Filter>
void count_lines(State& state, const keyed<Filter>& f, std::uint64_t n) {
  const shape& s = f.filter().shape();
  state.counters["lines"] = sizing::lines_of_lookup(s);
  state.counters["bits_per_key"] = static_cast<double>(s.bits) / static_cast<double>(n);
}

// ---- the kinds --------------------------------------------------------------------------------

template <class Filter>
void lookup_bulk(State& state, std::uint64_t n) {
  const auto f = filled<Filter>(n);
  const keys_type keys = asked_keys(n);
  keys_type bitmap((keys.size() + 63) / 64);
  for (auto _ : state) {
    f->contains_bits(keys, bitmap);
    benchmark::DoNotOptimize(bitmap.data());
    benchmark::ClobberMemory();
  }
  count_keys(state, keys.size());
  count_lines(state, *f, n);
}

template <class Filter>
void lookup_one(State& state, std::uint64_t n) {
  const auto f = filled<Filter>(n);
  const keys_type keys = asked_keys(n);
  for (auto _ : state) {
    std::uint64_t found = 0;
    for (const std::uint64_t key : keys) found += f->contains(key) ? 1U : 0U;
    benchmark::DoNotOptimize(found);
  }
  count_keys(state, keys.size());
  count_lines(state, *f, n);
}

// Adds all keys to a copy of an empty filter: unlike the memory of a new filter, that of a copy has
// been touched.
template <class Filter, class Add>
void fill_empty(State& state, std::uint64_t n, Add add) {
  const keyed<Filter> empty{Filter(plan_of<Filter>(n))};
  for (auto _ : state) {
    state.PauseTiming();
    auto f = std::make_unique<keyed<Filter>>(empty);
    for_all_keys(n, [&](const keys_type& keys) {
      state.ResumeTiming();
      add(*f, keys);
      benchmark::ClobberMemory();
      state.PauseTiming();
    });
    f.reset();
    state.ResumeTiming();
  }
  count_keys(state, n);
  state.counters["lines"] = sizing::lines_of_add(empty.filter().shape());
}

// From a copy of the full filter.
template <class Filter, class Remove>
void remove_some(State& state, std::uint64_t n, Remove remove) {
  const auto full = filled<Filter>(n);
  const keys_type keys = make_keys(0, std::min(n, most_keys), key_number);
  for (auto _ : state) {
    state.PauseTiming();
    auto f = std::make_unique<keyed<Filter>>(*full);
    state.ResumeTiming();
    remove(*f, keys);
    benchmark::ClobberMemory();
    state.PauseTiming();
    f.reset();
    state.ResumeTiming();
  }
  count_keys(state, keys.size());
  state.counters["lines"] = sizing::lines_of_add(full->filter().shape());
}

template <class Filter>
void build_all(State& state, std::uint64_t n) {
  const keys_type keys = make_keys(0, n, key_number);
  keys_type hashes(keys.size());
  for (auto _ : state) {
    mix64_batch(xxh3_hasher().integers(keys), hashes);
    benchmark::DoNotOptimize(build_static<Filter>(hashes).words().data());
  }
  count_keys(state, keys.size());
}

// ---- the floor, for each kind anew: it is compared with what ran just before and after it -----

// The fastest pipeline, found once for each size.
const floor_pipeline& best_pipeline(bit_array& array, const mixed_integers& keys, bool write) {
  static std::map<std::pair<std::size_t, bool>, const floor_pipeline*> known;
  const floor_pipeline*& best = known[{array.words().size(), write}];
  if (best == nullptr) {
    best = write ? &fastest_write(array.words(), keys) : &fastest_read(array.words(), keys);
  }
  return *best;
}

void run_floor(State& state, std::uint64_t n, bool write) {
  bit_array array(plan_of<blocked_filter>(n).shape.bits);
  std::fill(array.words().begin(), array.words().end(), 1);  // untouched pages are all one page
  const keys_type keys = asked_keys(n);
  const mixed_integers mixed = xxh3_hasher().integers(keys);
  const floor_pipeline& best = best_pipeline(array, mixed, write);
  for (auto _ : state) {
    if (write) {
      best.write(array.words(), mixed);
      benchmark::ClobberMemory();
    } else {
      benchmark::DoNotOptimize(best.read(array.words(), mixed));
    }
  }
  count_keys(state, keys.size());
  state.SetLabel(std::string(best.name()));
}

// ---- whole filters, against memcpy ------------------------------------------------------------

// A filter with as many bits as that of n keys, half of them set, and an even number of blocks, so
// that it can be folded by 2.
filter random_filter(std::uint64_t n) {
  plan p = plan_of<blocked_filter>(n);
  p.shape.bits += p.shape.bits % (std::uint64_t{2} * bits_per_block);
  filter f{blocked_filter(p)};
  std::uint64_t seed = 0;
  for (std::uint64_t& word : f.filter().mutable_words()) word = splitmix64(seed++);
  return f;
}

// `moved` is how often the bytes of a filter are read or written.
template <class Work>
void whole_filter(State& state, std::uint64_t n, double moved, Work work) {
  const auto f = hold<filter>(group_name("whole", n), [n] { return random_filter(n); });
  filter into = *f;
  for (auto _ : state) {
    work(into, *f);
    benchmark::ClobberMemory();
  }
  const auto bytes = static_cast<double>(f->filter().words().size_bytes());
  state.SetBytesProcessed(
      static_cast<std::int64_t>(static_cast<double>(state.iterations()) * bytes * moved));
}

void copy_words(filter& into, const filter& from) {
  std::memcpy(into.filter().mutable_words().data(), from.filter().words().data(),
              from.filter().words().size_bytes());
}

// ---- what people use instead ------------------------------------------------------------------

template <class Peer>
void peer_lookup(State& state, std::uint64_t n) {
  const auto peer =
      hold<Peer>(group_name(Peer::name, n), [n] { return Peer(make_keys(0, n, key_number)); });
  const keys_type keys = asked_keys(n);
  for (auto _ : state) {
    std::uint64_t found = 0;
    if constexpr (requires { peer->count(keys); }) {
      found = peer->count(keys);
    } else {
      for (const std::uint64_t key : keys) found += peer->contains(key) ? 1U : 0U;
    }
    benchmark::DoNotOptimize(found);
  }
  count_keys(state, keys.size());
}

template <class Peer>
void peer_build(State& state, std::uint64_t n) {
  const keys_type keys = make_keys(0, n, key_number);
  for (auto _ : state) {
    const Peer peer(keys);
    benchmark::DoNotOptimize(&peer);
    benchmark::ClobberMemory();
  }
  count_keys(state, keys.size());
}

// The plain cuckoo filter, which has no batches: what ours does one key at a time. Its table is
// that of `keys_planned` keys, and full.
void plain_cuckoo_one(State& state, std::uint64_t keys_planned, std::string_view what) {
  const std::uint64_t n = plain_cuckoo::full_with(keys_planned);
  const xxh3_hasher hasher;
  const bool adding = what == "add_one";
  const auto full = hold<plain_cuckoo>(group_name("plain_cuckoo", n), [&] {
    plain_cuckoo f(n);
    for_all_keys(n, [&](const keys_type& keys) {
      for (const std::uint64_t key : keys) f.add(hasher.integer(key));
    });
    return f;
  });
  const keys_type asked = asked_keys(n);
  const keys_type removed = make_keys(0, std::min(n, most_keys), key_number);
  const plain_cuckoo empty(n);
  for (auto _ : state) {
    if (what == "lookup_one") {
      std::uint64_t found = 0;
      for (const std::uint64_t key : asked) found += full->contains(hasher.integer(key)) ? 1U : 0U;
      benchmark::DoNotOptimize(found);
      continue;
    }
    state.PauseTiming();
    auto f = std::make_unique<plain_cuckoo>(adding ? empty : *full);
    const auto timed = [&](const keys_type& keys, auto work) {
      state.ResumeTiming();
      for (const std::uint64_t key : keys) work(hasher.integer(key));
      benchmark::ClobberMemory();
      state.PauseTiming();
    };
    if (adding) {
      for_all_keys(n, [&](const keys_type& keys) {
        timed(keys, [&](std::uint64_t hash) { f->add(hash); });
      });
    } else {
      timed(removed, [&](std::uint64_t hash) { f->remove(hash); });
    }
    f.reset();
    state.ResumeTiming();
  }
  count_keys(state, adding ? n : asked.size());
  state.counters["bits_per_key"] = full->bits_per_key(n);
}

// ---- names: group/what/keys -------------------------------------------------------------------

template <class Work>
void enter(std::string_view group, std::string_view what, std::uint64_t n, Work work) {
  const std::string name = std::string(group) + '/' + group_name(what, n);
  benchmark::RegisterBenchmark(name.c_str(), work)->Unit(benchmark::kMillisecond);
}

template <class Filter>
void enter_kind(std::string_view groups, std::uint64_t n) {
  const std::string_view kind = kind_name(Filter::kind);
  if (groups != "all" && groups.find(kind) == std::string_view::npos) return;
  enter(kind, "lookup_bulk", n, [n](State& s) { lookup_bulk<Filter>(s, n); });
  enter(kind, "floor_read", n, [n](State& s) { run_floor(s, n, false); });
  enter(kind, "lookup_one", n, [n](State& s) { lookup_one<Filter>(s, n); });
  if constexpr (is_static<Filter>) {
    // A large filter is built only once, for the lookups.
    if (n <= most_keys) enter(kind, "build", n, [n](State& s) { build_all<Filter>(s, n); });
  } else {
    enter(kind, "add_bulk", n, [n](State& s) {
      fill_empty<Filter>(s, n, [](auto& f, const keys_type& keys) { add_bulk(f, keys); });
    });
    enter(kind, "floor_write", n, [n](State& s) { run_floor(s, n, true); });
    enter(kind, "add_one", n, [n](State& s) {
      fill_empty<Filter>(s, n, [](auto& f, const keys_type& keys) {
        for (const std::uint64_t& key : keys) add_one(f, key);
      });
    });
    if constexpr (removable<Filter>) {
      enter(kind, "remove_bulk", n, [n](State& s) {
        keys_type hashes(most_keys);
        remove_some<Filter>(s, n, [&](auto& f, const keys_type& keys) {
          mix64_batch(f.hash_function().integers(keys), hashes);
          f.filter().remove_batch(std::span(hashes).first(keys.size()));
        });
      });
      enter(kind, "remove_one", n, [n](State& s) {
        remove_some<Filter>(s, n, [](auto& f, const keys_type& keys) {
          for (const std::uint64_t& key : keys) f.remove(key);
        });
      });
    }
  }
}

template <class Peer>
void enter_peer(std::uint64_t n) {
  enter(Peer::name, "lookup_one", n, [n](State& s) { peer_lookup<Peer>(s, n); });
  if (n <= most_keys) enter(Peer::name, "build", n, [n](State& s) { peer_build<Peer>(s, n); });
}

void enter_plain_cuckoo(std::uint64_t n) {
  for (const std::string_view what : {"lookup_one", "add_one", "remove_one"}) {
    enter("plain_cuckoo", what, n, [n, what](State& s) { plain_cuckoo_one(s, n, what); });
  }
}

void enter_whole(std::uint64_t n) {
  const auto add = [n](std::string_view what, double moved, auto work) {
    enter("whole", what, n, [n, moved, work](State& s) { whole_filter(s, n, moved, work); });
  };
  add("memcpy", 2, copy_words);
  add("memcpy_new", 2, [](filter&, const filter& from) {
    benchmark::DoNotOptimize(bit_array(from.filter().words()).words().data());
  });
  add("merge", 3, [](filter& into, const filter& from) { into |= from; });
  add("intersect", 3, [](filter& into, const filter& from) { into &= from; });
  add("fold", 1.5, [](filter&, const filter& from) {
    benchmark::DoNotOptimize(fold(from, 2).filter().words().data());
  });
  add("count_bits", 1,
      [](filter&, const filter& from) { benchmark::DoNotOptimize(from.filter().bits_set()); });
}

// Reads an argument such as "50000000" or "100000000:blocked,classic". Groups are the kinds, peers
// and whole.
bool enter_size(const std::string& argument) {
  char* rest = nullptr;
  const std::uint64_t n = std::strtoull(argument.c_str(), &rest, 10);
  if (n == 0 || (*rest != '\0' && *rest != ':')) return false;
  const std::string groups = *rest == ':' ? rest + 1 : "all";
  [&]<class... Filters>(std::type_identity<Filters>...) { (enter_kind<Filters>(groups, n), ...); }(
      std::type_identity<blocked_filter>{}, std::type_identity<split_block_filter>{},
      std::type_identity<classic_filter>{}, std::type_identity<partitioned_filter>{},
      std::type_identity<counting_filter>{}, std::type_identity<cuckoo_filter>{},
      std::type_identity<scalable_filter>{}, std::type_identity<layered_filter>{},
      std::type_identity<windowed_filter>{}, std::type_identity<fuse_filter>{},
      std::type_identity<ribbon_filter>{}, std::type_identity<bloomier_filter>{},
      std::type_identity<count_min>{}, std::type_identity<spectral_filter>{},
      std::type_identity<top_k>{});
  const auto wanted = [&](std::string_view group) {
    return groups == "all" || groups.find(group) != std::string::npos;
  };
  if (wanted("whole")) enter_whole(n);
  if (wanted("peers")) {
    enter_peer<hash_set>(n);
    enter_peer<sorted_hashes>(n);
#ifdef BLOOMERY_HAS_LEVELDB
    enter_peer<leveldb_policy>(n);
#endif
#ifdef BLOOMERY_HAS_LIBBLOOM
    enter_peer<libbloom>(n);
#endif
#ifdef BLOOMERY_HAS_ROCKSDB
    if (n <= most_keys) enter_peer<rocksdb_database>(n);
#endif
    enter_plain_cuckoo(n);
#if defined(__x86_64__)
    enter_peer<split_block_sse2>(n);
    if (__builtin_cpu_supports("avx2")) enter_peer<split_block_avx2>(n);
#endif
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::vector<std::string> sizes(argv + 1, argv + argc);
  if (sizes.empty()) sizes = {"1000000", "50000000"};
  for (const std::string& size : sizes) {
    if (enter_size(size)) continue;
    std::fprintf(stderr, "suite: '%s' is not a size like 1000000 or 1000000:blocked,peers\n",
                 size.c_str());
    return 2;
  }
  benchmark::AddCustomContext("kernel", std::string(kernel_in_use()));
  benchmark::RunSpecifiedBenchmarks();
  held() = {};  // a database cannot be closed when the program's own objects are gone
}
