#include "cli/verbs/bench_runs.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <concepts>
#include <memory>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/bloomery.hpp"
#include "bloomery/measure/floor.hpp"

namespace bloomery::cli {

namespace {

using key_span = std::span<const std::uint64_t>;
using steady = std::chrono::steady_clock;

// Keys between two readings of the clock: 128 kB, which leaves room for the filter in the cache.
constexpr std::size_t largest_piece = std::size_t{1} << 14U;
// The smallest and the largest number of keys that are asked for or added in one repetition.
constexpr std::uint64_t least_work = std::uint64_t{1} << 17U;
constexpr std::uint64_t most_work = std::uint64_t{1} << 22U;
constexpr std::uint64_t absent_keys = std::uint64_t{1} << 20U;  // a rate of 1 % to within 1 % of it

volatile std::uint64_t sink = 0;  // what the compiler must not drop

long interruptions() {  // how often this thread was preempted
#ifdef RUSAGE_THREAD
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
#else
  return 0;
#endif
}

// Measures pieces of work. Pieces that were interrupted do not count, unless most of them were.
class stopwatch {
 public:
  template <class Work>
  void time(std::size_t keys, Work work) {
    const long before = interruptions();
    const auto start = steady::now();
    work();
    const auto taken = steady::now() - start;
    all_.add(keys, taken);
    if (interruptions() == before) undisturbed_.add(keys, taken);
  }
  [[nodiscard]] double nanoseconds() const {
    const sum& s = undisturbed_.keys * 2 >= all_.keys ? undisturbed_ : all_;
    return std::chrono::duration<double, std::nano>(s.taken).count() / static_cast<double>(s.keys);
  }
  [[nodiscard]] bool used() const { return all_.keys > 0; }

 private:
  struct sum {
    std::uint64_t keys = 0;
    steady::duration taken{};
    void add(std::size_t more, steady::duration time) {
      keys += more;
      taken += time;
    }
  };
  sum all_;
  sum undisturbed_;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Key number i. The multiplier is odd, so all keys differ. Only the first n are in the filter.
std::uint64_t key_number(std::uint64_t i) { return i * 0x9e3779b97f4a7c15U; }

struct workload {
  std::uint64_t keys;
  unsigned threads;

  [[nodiscard]] std::uint64_t work() const { return std::clamp(keys, least_work, most_work); }
  [[nodiscard]] std::size_t piece() const {
    return std::clamp<std::size_t>(static_cast<std::size_t>(keys / 16), 512, largest_piece);
  }
  // A small filter is made several times in one repetition.
  [[nodiscard]] std::uint64_t rounds() const { return (least_work + keys - 1) / keys; }

  // The i-th key to ask for: in the filter or not at random, so that branches cannot be predicted.
  [[nodiscard]] std::uint64_t asked(std::uint64_t i) const {
    const std::uint64_t random = splitmix64(i);
    return key_number(detail::multiply_high(random, keys) + (random % 2) * keys);
  }
};

// Calls visit(keys, piece number) for keys make(first), make(first + 1), ...
template <class Make, class Visit>
void for_each_piece(const workload& w, std::uint64_t first, std::uint64_t count, Make make,
                    Visit visit) {
  std::vector<std::uint64_t> keys(w.piece());
  std::uint64_t number = 0;
  for (std::uint64_t done = 0; done < count; done += keys.size()) {
    const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(keys.size(), count - done));
    for (std::size_t i = 0; i < now; ++i) keys[i] = make(first + done + i);
    visit(key_span(keys.data(), now), number++);
  }
}

// ---- making a filter --------------------------------------------------------------------------

struct sample {
  stopwatch add;
  stopwatch add_bulk;
  stopwatch contains;
  stopwatch contains_bulk;
};

plan plan_of(filter_kind kind, std::uint64_t keys) {
  return sizing::make_plan({.kind = kind, .keys = keys, .fpr = measured_fpr});
}

// A copy of an empty filter: unlike the memory of a new filter, that of a copy has been touched.
template <class Filter>
keyed<Filter> empty_filter(const workload& w) {
  const keyed<Filter> untouched{Filter(plan_of(Filter::kind, w.keys))};
  return keyed<Filter>(untouched);
}

// Adds all keys in bulk and one at a time: few keys to two filters in turn, each with the cache for
// itself; of many, some pieces one at a time, so that both ways meet the filter at every fill.
template <class Filter, class AddBulk, class AddOne>
keyed<Filter> add_all(const workload& w, sample& s, AddBulk add_bulk, AddOne add_one) {
  const auto add_singly = [&](keyed<Filter>& f, key_span keys) {
    s.add.time(keys.size(), [&] {
      for (const std::uint64_t& key : keys) add_one(f, key);
    });
  };
  const bool apart = w.keys <= most_work;
  if (apart) {
    keyed<Filter> f = empty_filter<Filter>(w);
    for_each_piece(w, 0, w.keys, key_number,
                   [&](key_span keys, std::uint64_t) { add_singly(f, keys); });
  }
  keyed<Filter> f = empty_filter<Filter>(w);
  const std::uint64_t every = std::max<std::uint64_t>(2, w.keys / most_work);
  for_each_piece(w, 0, w.keys, key_number, [&](key_span keys, std::uint64_t number) {
    if (!apart && number % every == 1) return add_singly(f, keys);
    s.add_bulk.time(keys.size(), [&] { add_bulk(f, keys); });
  });
  return f;
}

template <updatable Filter>
keyed<Filter> make_filter(const workload& w, sample& s) {
  return add_all<Filter>(
      w, s, [](keyed<Filter>& f, key_span keys) { f.add_batch(keys); },
      [](keyed<Filter>& f, std::uint64_t key) { f.add(key); });
}

// Builds a static kind from all hashes in one call. The time includes hashing, as with the others.
template <class Filter>
  requires std::derived_from<Filter, static_view<typename Filter::view>>
keyed<Filter> make_filter(const workload& w, sample& s) {
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(w.keys));
  const xxh3_hasher hash;
  std::size_t done = 0;
  for_each_piece(w, 0, w.keys, key_number, [&](key_span keys, std::uint64_t) {
    const std::span<std::uint64_t> out(hashes.data() + done, keys.size());
    s.add_bulk.time(0, [&] { mix64_batch(hash.integers(keys), out); });
    done += keys.size();
  });
  const plan p = plan_of(Filter::kind, w.keys);
  std::unique_ptr<Filter> built;
  if constexpr (std::constructible_from<Filter, plan, key_span, key_span>) {
    std::vector<std::uint64_t> values(hashes.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 256;
    s.add_bulk.time(hashes.size(), [&] { built = std::make_unique<Filter>(p, hashes, values); });
  } else {
    s.add_bulk.time(hashes.size(), [&] { built = std::make_unique<Filter>(p, hashes); });
  }
  return keyed<Filter>(std::move(*built), hash);
}

// Top-k stores the keys themselves, here the eight bytes of the integer.
template <std::same_as<top_k> Filter>
keyed<Filter> make_filter(const workload& w, sample& s) {
  const auto text = [](const std::uint64_t& key) {
    return std::string_view(reinterpret_cast<const char*>(&key), sizeof key);
  };
  const xxh3_hasher hash;
  std::vector<std::string_view> texts(w.piece());
  std::vector<std::uint64_t> hashes(w.piece());
  return add_all<Filter>(
      w, s,
      [&](keyed<Filter>& f, key_span keys) {
        for (std::size_t i = 0; i < keys.size(); ++i) texts[i] = text(keys[i]);
        mix64_batch(hash.integers(keys), hashes);
        f.filter().add_batch({texts.data(), keys.size()}, {hashes.data(), keys.size()});
      },
      [&](keyed<Filter>& f, const std::uint64_t& key) {
        f.filter().add(text(key), hash.integer(key));
      });
}

// ---- asking it --------------------------------------------------------------------------------

// Times visit(keys) for a repetition's keys, after an untimed call that fills the cache.
template <class Visit>
void time_asking(const workload& w, std::uint64_t count, stopwatch& timed, Visit visit) {
  stopwatch unused;
  for (stopwatch* const watch : {&unused, &timed}) {
    for_each_piece(
        w, 0, count, [&](std::uint64_t i) { return w.asked(i); },
        [&](key_span keys, std::uint64_t) { watch->time(keys.size(), [&] { visit(keys); }); });
  }
}

template <class Filter>
void ask(const workload& w, const keyed<Filter>& f, sample& s) {
  std::vector<std::uint64_t> bitmap((w.piece() + 63) / 64);
  const std::uint64_t count = w.work() / w.rounds();
  time_asking(w, count, s.contains_bulk, [&](key_span keys) {
    f.contains_bits(keys, bitmap);
    sink = bitmap[0];
  });
  time_asking(w, count, s.contains, [&](key_span keys) {
    std::uint64_t found = 0;
    for (const std::uint64_t key : keys) found += f.contains(key) ? 1U : 0U;
    sink = found;
  });
}

template <class Filter>
double rate_of(const workload& w, const keyed<Filter>& f) {
  std::uint64_t found = 0;
  for_each_piece(w, w.keys, absent_keys, key_number,
                 [&](key_span keys, std::uint64_t) { found += f.contains_count(keys); });
  return static_cast<double>(found) / static_cast<double>(absent_keys);
}

// ---- several threads --------------------------------------------------------------------------

// Million keys a second of all threads together; each calls work(its keys) once, at the same time.
template <class Make, class Work>
double rate_of_threads(const workload& w, Make make, Work work) {
  const auto count = static_cast<std::size_t>(
      std::clamp<std::uint64_t>(w.keys / w.threads, largest_piece, most_work / 4));
  std::vector<steady::time_point> ends(w.threads);
  steady::time_point start;
  std::barrier ready(static_cast<std::ptrdiff_t>(w.threads),
                     [&start]() noexcept { start = steady::now(); });
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < w.threads; ++t) {
      threads.emplace_back([&, t] {
        std::vector<std::uint64_t> keys(count);
        for (std::size_t i = 0; i < count; ++i) keys[i] = make(t * count + i);
        ready.arrive_and_wait();
        work(key_span(keys));
        ends[t] = steady::now();
      });
    }
  }
  const auto taken = *std::max_element(ends.begin(), ends.end()) - start;
  return static_cast<double>(count * w.threads) / 1e6 /
         std::chrono::duration<double>(taken).count();
}

template <class Filter>
double parallel_contains(const workload& w, const keyed<Filter>& f) {
  const auto asked = [&](std::uint64_t i) { return w.asked(i); };
  return rate_of_threads(w, asked, [&](key_span keys) {
    std::vector<std::uint64_t> bitmap((keys.size() + 63) / 64);
    f.contains_bits(keys, bitmap);
  });
}

template <class Filter>
double parallel_add(const workload& w) {
  keyed<Filter> f = empty_filter<Filter>(w);
  return rate_of_threads(w, key_number, [&](key_span keys) { f.concurrent().add_batch(keys); });
}

// ---- a kind -----------------------------------------------------------------------------------

struct kind_samples {
  std::vector<double> add;
  std::vector<double> add_bulk;
  std::vector<double> contains;
  std::vector<double> contains_bulk;
  std::vector<double> parallel_add;
  std::vector<double> parallel_contains;
  double bits_per_key = 0;
  std::uint32_t lines = 1;
  std::uint32_t add_lines = 1;
  double fpr = -1;

  void append(const sample& s) {
    if (s.add.used()) add.push_back(s.add.nanoseconds());
    add_bulk.push_back(s.add_bulk.nanoseconds());
    contains.push_back(s.contains.nanoseconds());
    contains_bulk.push_back(s.contains_bulk.nanoseconds());
  }
  [[nodiscard]] measured_kind summary(filter_kind kind) const {
    const auto some = [](const std::vector<double>& values) {
      return values.empty() ? std::nullopt : std::optional(median(values));
    };
    return {.kind = kind,
            .bits_per_key = bits_per_key,
            .lines = lines,
            .add_lines = add_lines,
            .fpr = fpr,
            .add = some(add),
            .add_bulk = median(add_bulk),
            .contains = median(contains),
            .contains_bulk = median(contains_bulk),
            .parallel_add = some(parallel_add),
            .parallel_contains = some(parallel_contains)};
  }
};

// One repetition.
template <class Filter>
void measure_kind(const workload& w, kind_samples& all) {
  sample s;
  for (std::uint64_t round = 0; round < w.rounds(); ++round) {
    const keyed<Filter> f = make_filter<Filter>(w, s);
    ask(w, f, s);
    if (round > 0) continue;
    if (all.fpr < 0) {
      all.fpr = rate_of(w, f);
      const shape& made = f.filter().shape();
      all.bits_per_key = static_cast<double>(made.bits) / static_cast<double>(w.keys);
      all.lines = sizing::lines_of_lookup(made);
      all.add_lines = sizing::lines_of_add(made);
    }
    if (w.threads > 1) all.parallel_contains.push_back(parallel_contains(w, f));
  }
  if constexpr (requires(Filter& f) { f.concurrent(); }) {
    if (w.threads > 1) all.parallel_add.push_back(parallel_add<Filter>(w));
  }
  all.append(s);
}

struct kind_row {
  filter_kind kind;
  void (*measure)(const workload& w, kind_samples& all);
};

template <class... Filters>
constexpr std::array<kind_row, sizeof...(Filters)> rows_of(filter_list<Filters...>) {
  return {{{Filters::kind, measure_kind<Filters>}...}};
}

constexpr auto kind_rows = rows_of(all_filters{});

void measure_kind(filter_kind kind, const workload& w, kind_samples& all) {
  for (const kind_row& row : kind_rows) {
    if (row.kind == kind) return row.measure(w, all);
  }
  throw error(errc::unsupported,
              "there is no measurement of the kind " + std::string(kind_name(kind)));
}

// ---- the floor --------------------------------------------------------------------------------

class floor_measurement {
 public:
  explicit floor_measurement(const workload& w)
      : w_(w), array_(plan_of(filter_kind::blocked, w.keys).shape.bits) {
    std::fill(array_.words().begin(), array_.words().end(), 1);  // untouched pages are all one page
    // Enough keys for 64 MB of lines, which is more than a cache holds.
    std::vector<std::uint64_t> keys(
        static_cast<std::size_t>(std::min<std::uint64_t>(w.work(), most_work / 4)));
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = w_.asked(i);
    reading_ = &fastest_read(array_.words(), hash_.integers(keys));
    writing_ = &fastest_write(array_.words(), hash_.integers(keys));
  }

  void repeat() {
    stopwatch read;
    time_asking(w_, w_.work(), read, [&](key_span keys) {
      sink = reading_->read(array_.words(), hash_.integers(keys));
    });
    reads_.push_back(read.nanoseconds());
    stopwatch write;
    time_asking(w_, w_.work(), write,
                [&](key_span keys) { writing_->write(array_.words(), hash_.integers(keys)); });
    writes_.push_back(write.nanoseconds());
  }
  [[nodiscard]] measured_floor summary() const {
    return {.read = median(reads_),
            .write = median(writes_),
            .read_pipeline = std::string(reading_->name()),
            .write_pipeline = std::string(writing_->name()),
            .bytes = array_.words().size() * sizeof(std::uint64_t)};
  }

 private:
  workload w_;
  xxh3_hasher hash_;
  bit_array array_;
  const floor_pipeline* reading_ = nullptr;
  const floor_pipeline* writing_ = nullptr;
  std::vector<double> reads_;
  std::vector<double> writes_;
};

}  // namespace

measured_machine measure(const measurement& m) {
  const workload w{.keys = m.keys, .threads = m.threads};
  floor_measurement floor(w);
  std::vector<kind_samples> samples(m.kinds.size());
  for (int repetition = 1; repetition <= measured_repetitions; ++repetition) {
    for (std::size_t i = 0; i < m.kinds.size(); ++i) {
      m.tell(m.kinds[i], repetition);
      measure_kind(m.kinds[i], w, samples[i]);
      floor.repeat();
    }
  }
  measured_machine all{.floor = floor.summary(), .rows = {}};
  for (std::size_t i = 0; i < m.kinds.size(); ++i) {
    all.rows.push_back(samples[i].summary(m.kinds[i]));
  }
  return all;
}

}  // namespace bloomery::cli
