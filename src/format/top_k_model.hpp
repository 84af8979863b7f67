// The top-k sketch behind any_filter's face. It differs from the filters in two ways: it needs the
// keys themselves and not only their hashes, and its words are made when they are asked for.
#pragma once

#include <utility>

#include "bloomery/sketch/top_k.hpp"
#include "models.hpp"

namespace bloomery::detail {

template <>
constexpr abilities abilities_of_owner<top_k>() {
  return {.add = true, .count = true, .lists_top = true};
}

class top_k_model final : public any_filter::model {
 public:
  explicit top_k_model(top_k sketch) : sketch_(std::move(sketch)) {}

  [[nodiscard]] const plan& planned() const noexcept override { return sketch_.planned(); }
  [[nodiscard]] std::uint64_t keys() const noexcept override { return sketch_.keys(); }
  [[nodiscard]] std::vector<std::span<const std::uint64_t>> parts() const override {
    if (words_.words().empty()) words_ = sketch_.serialise();
    return {words_.words()};
  }
  [[nodiscard]] double fill() const noexcept override { return sketch_.fill(); }
  [[nodiscard]] double fpr() const noexcept override { return sketch_.fpr(); }
  [[nodiscard]] abilities can() const noexcept override { return abilities_of_owner<top_k>(); }
  [[nodiscard]] std::unique_ptr<any_filter::model> clone() const override {
    return std::make_unique<top_k_model>(top_k(sketch_));
  }
  [[nodiscard]] const void* owned() const noexcept override { return &sketch_; }
  // Whoever may change the sketch has no use for words of how it was.
  [[nodiscard]] void* owned() noexcept override {
    forget_words();
    return &sketch_;
  }
  [[nodiscard]] std::vector<fact> facts() const override {
    return {{"total", static_cast<double>(sketch_.total())}};
  }

  void contains_bits(keys_type keys, const any_hasher& hash,
                     std::span<std::uint64_t> bitmap) const override {
    for_each_hashed<std::uint64_t>(keys, hash,
                                   [&](std::size_t first, std::span<const std::uint64_t> hashes) {
                                     sketch_.contains_bits(hashes, bitmap.subspan(first / 64));
                                   });
  }
  void count(keys_type keys, const any_hasher& hash,
             std::span<std::uint64_t> counts) const override {
    for_each_hashed<std::uint64_t>(
        keys, hash, [&](std::size_t first, std::span<const std::uint64_t> hashes) {
          sketch_.count_batch(hashes, counts.subspan(first, hashes.size()));
        });
  }
  void add(keys_type keys, const any_hasher& hash) override {
    forget_words();
    for_each_hashed<std::uint64_t>(keys, hash,
                                   [&](std::size_t first, std::span<const std::uint64_t> hashes) {
                                     sketch_.add_batch(keys.subspan(first, hashes.size()), hashes);
                                   });
  }
  void add_hashes(std::span<const std::uint64_t> hashes, keys_type keys) override {
    if (keys.size() != hashes.size()) {
      detail::fail(errc::bad_argument, "a top-k sketch needs the keys, not only their hashes");
    }
    forget_words();
    sketch_.add_batch(keys, hashes);
  }

 private:
  void forget_words() noexcept { words_ = bit_array(); }

  top_k sketch_;
  mutable bit_array words_;
};

}  // namespace bloomery::detail
