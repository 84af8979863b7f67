// Puts a view behind filter_face, and of an owner all that does not change it. The face refuses
// calls that the type does not have.
#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bloomery/core/sizing.hpp"
#include "bloomery/detail/core/scratch.hpp"
#include "bloomery/detail/filter/batch.hpp"
#include "bloomery/filter/explanation.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/format/filter_face.hpp"
#include "bloomery/set/algebra.hpp"
#include "filter_traits.hpp"

namespace bloomery::detail {

// Calls work(first, hashes) for the keys, a piece at a time.
template <class Hash, std::size_t Piece = batch_keys, class Work>
void for_each_hashed(std::span<const std::string_view> keys, const any_hasher& hash, Work work) {
  detail::scratch<Hash, Piece> buffer;
  for (std::size_t first = 0; first < keys.size(); first += buffer.size()) {
    const auto piece = keys.subspan(first, std::min(buffer.size(), keys.size() - first));
    const std::span<Hash> hashes(buffer.data(), piece.size());
    hash.hash(piece, hashes);
    work(first, std::span<const Hash>(hashes));
  }
}

// The words of a sketch that keeps keys, made when they are first asked for. Several threads may
// ask at once, but none while the sketch is changed.
class made_words {
 public:
  template <class Sketch>
  std::span<const std::uint64_t> of(const Sketch& sketch) {
    const std::scoped_lock lock(mutex_);
    if (words_.words().empty()) words_ = sketch.serialise();
    return std::as_const(words_).words();
  }
  void forget() { words_ = bit_array(); }

 private:
  std::mutex mutex_;
  bit_array words_;
};
struct no_words {
  static void forget() noexcept {}
};

// What owners and views share.
template <class Filter>
class reading_face : public filter_face {
 public:
  using hash_type = typename Filter::hash_type;

  explicit reading_face(Filter filter) : filter_(std::move(filter)) {}

  [[nodiscard]] const Filter& inner() const noexcept { return filter_; }
  [[nodiscard]] const plan& planned() const noexcept override { return filter_.planned(); }
  [[nodiscard]] std::uint64_t keys() const noexcept override { return filter_.keys(); }
  [[nodiscard]] std::vector<std::span<const std::uint64_t>> parts() const override {
    if constexpr (keeps_keys<Filter>) {
      return {made_words_.of(filter_)};
    } else {
      return parts_of(filter_);
    }
  }
  [[nodiscard]] double fill() const noexcept override { return filter_.fill(); }
  [[nodiscard]] double fpr() const noexcept override { return filter_.fpr(); }
  [[nodiscard]] std::uint64_t most_count() const noexcept override {
    if constexpr (requires { filter_.most_count(); }) return filter_.most_count();
    return UINT64_MAX;
  }
  [[nodiscard]] abilities can() const noexcept override {
    return {.count = countable<Filter>, .value = has_values<Filter>};
  }
  [[nodiscard]] std::uint64_t room() const noexcept override {
    if constexpr (requires { filter_.room(); }) return filter_.room();
    return UINT64_MAX;
  }
  [[nodiscard]] std::uint64_t growth_bytes() const noexcept override {
    if constexpr (requires { filter_.growth_bytes(); }) return filter_.growth_bytes();
    return 0;
  }
  [[nodiscard]] std::optional<plan> compact_plan() const override {
    if constexpr (requires { filter_.compact_plan(); }) return filter_.compact_plan();
    return std::nullopt;
  }
  [[nodiscard]] std::optional<double> keys_estimated() const override {
    if constexpr (requires { filter_.bits_set(); }) {
      return sizing::estimate_keys(filter_.shape(), filter_.bits_set());
    } else if constexpr (requires { filter_.keys_stored(); }) {
      return static_cast<double>(filter_.keys_stored());
    } else if constexpr (requires { filter_.keys_estimated(); }) {
      return filter_.keys_estimated();
    } else {
      return std::nullopt;
    }
  }
  [[nodiscard]] std::vector<fact> facts() const override {
    std::vector<fact> all;
    const auto tell = [&]<class Value>(std::string_view name, Value value) {
      if constexpr (std::integral<Value>) {
        all.push_back({name, static_cast<std::uint64_t>(value)});
      } else {
        all.push_back({name, value});
      }
    };
    if constexpr (requires { filter_.layers(); }) tell("layers", filter_.layers());
    if constexpr (requires { filter_.doublings(); }) tell("doublings", filter_.doublings());
    if constexpr (requires { filter_.saturated(); }) tell("saturated", filter_.saturated());
    if constexpr (requires { filter_.overflow_bound(); }) {
      tell("overflow_bound", filter_.overflow_bound());
    }
    if constexpr (requires { filter_.total(); }) tell("total", filter_.total());
    if constexpr (requires { filter_.epsilon(); }) tell("epsilon", filter_.epsilon());
    if constexpr (requires { filter_.delta(); }) tell("delta", filter_.delta());
    if constexpr (requires { filter_.pairwise(); }) {
      if (filter_.pairwise()) tell("rows", std::string_view("pairwise"));
      if (filter_.one_line()) tell("rows", std::string_view("in one line"));
    }
    if constexpr (requires { filter_.window(); }) {
      tell("window", filter_.window());
      if (filter_.by_time()) tell("window_covered", filter_.covered());
    }
    return all;
  }
  [[nodiscard]] cell_array cells() const override {
    if constexpr (requires { filter_.cells(); }) return filter_.cells();
    return {};
  }
  void advance(std::uint64_t now) override {
    if constexpr (has_clock<Filter>) filter_.advance(now);
  }

  void contains_bits(keys_type keys, const any_hasher& hash,
                     std::span<std::uint64_t> bitmap) const override {
    for_each_hashed<hash_type>(keys, hash,
                               [&](std::size_t first, std::span<const hash_type> hashes) {
                                 filter_.contains_bits(hashes, bitmap.subspan(first / 64));
                               });
  }
  [[nodiscard]] bool contains(std::string_view key, const any_hasher& hash) const override {
    hash_type one;
    hash.hash({&key, 1}, std::span<hash_type>(&one, 1));
    return filter_.contains(one);
  }
  void check() const override {
    if constexpr (requires { filter_.check(); }) filter_.check();
  }
  [[nodiscard]] explanation explain(std::string_view key, const any_hasher& hash) const override {
    if constexpr (requires(const hash_type& one) { filter_.explain(one); }) {
      hash_type one;
      hash.hash({&key, 1}, std::span<hash_type>(&one, 1));
      return filter_.explain(one);
    } else if constexpr (keeps_keys<Filter>) {  // its view tells, of the words that it would save
      hash_type one;
      hash.hash({&key, 1}, std::span<hash_type>(&one, 1));
      return typename Filter::view(planned(), parts().front(), keys()).explain(one);
    } else {
      return {};
    }
  }
  void count(keys_type keys, const any_hasher& hash,
             std::span<std::uint64_t> counts) const override {
    if constexpr (countable<Filter>) {
      for_each_hashed<hash_type>(
          keys, hash, [&](std::size_t first, std::span<const hash_type> hashes) {
            filter_.count_batch(hashes, counts.subspan(first, hashes.size()));
          });
    } else {
      filter_face::count(keys, hash, counts);
    }
  }
  void value(keys_type keys, const any_hasher& hash, std::span<std::uint64_t> values,
             std::span<std::uint64_t> bitmap) const override {
    if constexpr (has_values<Filter>) {
      for_each_hashed<hash_type>(keys, hash,
                                 [&](std::size_t first, std::span<const hash_type> hashes) {
                                   filter_.value_batch(hashes, values.subspan(first, hashes.size()),
                                                       bitmap.subspan(first / 64));
                                 });
    } else {
      filter_face::value(keys, hash, values, bitmap);
    }
  }
  [[nodiscard]] std::optional<stream_product> inner_product(
      const filter_face& other) const override {
    if constexpr (requires { filter_.inner_product(filter_); }) {
      check_combinable(planned().shape, other.planned().shape);
      const typename viewed<Filter>::type there(other.planned(), other.parts().front(),
                                                other.keys());
      const double most = filter_.epsilon() * static_cast<double>(filter_.total()) *
                          static_cast<double>(there.total());
      return stream_product{.total = filter_.total(),
                            .other_total = there.total(),
                            .product = filter_.inner_product(there),
                            .error = most,
                            .delta = filter_.delta()};
    } else {
      return filter_face::inner_product(other);
    }
  }

 protected:
  Filter filter_;
  [[no_unique_address]] mutable std::conditional_t<keeps_keys<Filter>, made_words, no_words>
      made_words_;
};

}  // namespace bloomery::detail
