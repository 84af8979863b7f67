// A filter keeps absent keys from an expensive lookup (Bloom 1970; Broder and Mitzenmacher 2004).
//
//     bloomery::guard g(filter, [&](std::string_view key) { return store.get(key); });
//     if (auto value = g.find(key)) ...        lookups = hits + fpr * misses
//
// The lookup is anything that can be called with a key and returns something that is true when the
// key was found: an optional, a pointer, a bool. For a key that the filter does not have, find
// returns an empty one. The filter is a bloomery::filter or any other bloomery::keyed.
//
// Threads: find, add, removed, aged, rebuild and report may be called at the same time, if the
// lookup may. Readers never wait. For add the filter's kind must be classic, partitioned or
// blocked, which can be read while they are changed.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/guard/guard_counters.hpp"
#include "bloomery/detail/guard/replaceable.hpp"
#include "bloomery/guard/guard_report.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

struct guard_options {
  std::uint32_t sample_every = 64;  // every n-th call is timed; 0 means none
  // A filter has aged at this many times its target rate, or when this share of keys was removed.
  double most_times_target = 2.0;
  double most_removed = 0.1;
};

template <class Filter, class Lookup>
class guard {
 public:
  using filter_type = Filter;
  using hash_type = typename Filter::hash_type;

  guard(Filter f, Lookup lookup, guard_options o = {})
      : filter_(std::make_unique<Filter>(std::move(f))), options_(o), lookup_(std::move(lookup)) {}
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;
  // Waits for a running rebuild.
  ~guard() = default;

  // The result of the lookup, or an empty one without a lookup when the filter lacks the key.
  template <class Key>
    requires std::default_initializable<std::decay_t<std::invoke_result_t<Lookup&, const Key&>>>
  auto find(const Key& key) {
    using answer = std::decay_t<std::invoke_result_t<Lookup&, const Key&>>;
    stripe& mine = counters_.mine();
    if (!asked(key, mine)) {
      detail::count_one(mine.avoided);
      return answer{};
    }
    answer found = looked_up(key, mine);
    detail::count_one(static_cast<bool>(found) ? mine.hit : mine.wasted);
    return found;
  }
  template <class Key>
  auto operator()(const Key& key) {
    return find(key);
  }

  // Adds a key that the store has. It must be in the store before this call, so that a rebuild that
  // misses the call finds the key in its scan. Once add has returned, find lets the key through.
  template <class Key>
    requires requires(Filter& f, const hash_type& hash) { f.filter().concurrent().add(hash); }
  void add(const Key& key) {
    const std::lock_guard lock(changes_);
    Filter& f = filter_.current();
    const hash_type hash = hash_key(f.hash_function(), key);
    if (rebuilding_) added_.push_back(hash);
    f.filter().concurrent().add(hash);
  }
  // Counts keys removed from the store. They stay in the filter, so lookups for them are wasted.
  void removed(std::uint64_t keys = 1) {
    const std::lock_guard lock(changes_);
    removed_ += keys;
  }

  // The rate of the filter as it is now. It reads the whole filter, and add waits meanwhile.
  [[nodiscard]] double fpr() const {
    const std::lock_guard lock(changes_);
    return filter_.current().fpr();
  }
  // Whether the filter should be rebuilt, by the limits of guard_options.
  [[nodiscard]] bool aged() const {
    const std::lock_guard lock(changes_);
    const Filter& f = filter_.current();
    const auto keys = static_cast<double>(f.keys());
    return static_cast<double>(removed_) > options_.most_removed * keys ||
           f.fpr() > options_.most_times_target * target(f);
  }

  // Replaces the filter by the result of make(), which scans the store, in a thread of its own.
  // Keys that are added meanwhile go into both filters. Returns false, and does nothing, while
  // another rebuild is running. The new filter must have the same hash function.
  template <class Make>
    requires std::convertible_to<std::invoke_result_t<Make&>, Filter>
  bool rebuild(Make make) {
    const std::lock_guard one_at_a_time(starting_);
    {
      const std::lock_guard lock(changes_);
      if (rebuilding_) return false;
    }
    if (worker_.joinable()) worker_.join();
    begin_rebuild();
    try {
      worker_ = std::jthread([this, make = std::move(make)]() mutable { run(make); });
    } catch (...) {
      end_rebuild(nullptr);
      throw;
    }
    return true;
  }
  template <class Make>
  bool rebuild_if_aged(Make make) {
    return aged() && rebuild(std::move(make));
  }
  // Waits until no rebuild is running. Throws what the last one threw, in which case the old filter
  // is still in use.
  void wait() {
    const std::lock_guard one_at_a_time(starting_);
    if (worker_.joinable()) worker_.join();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  [[nodiscard]] guard_report report() const { return counters_.report(); }

 private:
  using clock = std::chrono::steady_clock;
  using stripe = detail::guard_counters::stripe;

  // The last of every n calls is timed, and not the first, which runs with cold caches.
  [[nodiscard]] bool sampled(std::uint64_t calls) const noexcept {
    return options_.sample_every != 0 && calls % options_.sample_every == options_.sample_every - 1;
  }

  template <class Key>
  [[nodiscard]] bool asked(const Key& key, stripe& mine) {
    const auto ask = [&] {
      return filter_.read([&](Filter& f) {
        if constexpr (requires { f.filter().concurrent(); }) {
          return f.concurrent().contains(key);
        } else {
          return f.contains(key);
        }
      });
    };
    if (!sampled(mine.asked())) return ask();
    // Reading the clock takes longer than asking the filter, so its cost is subtracted.
    const auto before = clock::now();
    const auto start = clock::now();
    const bool answer = ask();
    mine.filter_times.take(clock::now() - start - (start - before));
    return answer;
  }

  template <class Key>
  auto looked_up(const Key& key, stripe& mine) {
    if (!sampled(mine.passed())) return std::invoke(lookup_, key);
    const auto start = clock::now();
    auto found = std::invoke(lookup_, key);
    mine.lookup_times.take(clock::now() - start);
    return found;
  }

  [[nodiscard]] static double target(const Filter& f) {
    const plan& p = f.filter().planned();
    return p.fpr_target > 0 ? p.fpr_target : p.fpr;
  }

  void begin_rebuild() {
    const std::lock_guard lock(changes_);
    rebuilding_ = true;
    removed_before_ = removed_;
    failure_ = nullptr;
  }
  void end_rebuild(std::exception_ptr failure) {
    const std::lock_guard lock(changes_);
    failure_ = std::move(failure);
    added_ = {};
    rebuilding_ = false;
  }
  template <class Make>
  void run(Make& make) {
    try {
      const auto old = replaced_by(std::make_unique<Filter>(make()));
      filter_.await_readers();
      end_rebuild(nullptr);
    } catch (...) {
      end_rebuild(std::current_exception());
    }
  }
  // Installs the new filter and returns the old one, which may still be in use.
  [[nodiscard]] std::unique_ptr<Filter> replaced_by(std::unique_ptr<Filter> fresh) {
    const std::lock_guard lock(changes_);
    if (fresh->hash_function().spec() != filter_.current().hash_function().spec()) {
      throw error(errc::mismatch, "the rebuilt filter has another hash or seed than the old one");
    }
    if constexpr (requires(const hash_type& hash) { fresh->filter().concurrent().add(hash); }) {
      fresh->filter().add_batch(added_);
    }
    removed_ -= removed_before_;
    return filter_.exchange(std::move(fresh));
  }

  detail::guard_counters counters_;
  detail::replaceable<Filter> filter_;
  guard_options options_;
  Lookup lookup_;

  mutable std::mutex changes_;  // guards the filter and the next members; find does not lock it
  bool rebuilding_ = false;
  std::vector<hash_type> added_;  // during a rebuild
  std::uint64_t removed_ = 0;
  std::uint64_t removed_before_ = 0;  // the value when the rebuild began
  std::exception_ptr failure_;

  std::mutex starting_;  // guards worker_
  std::jthread worker_;  // the last member, so that it is joined first
};

}  // namespace bloomery
