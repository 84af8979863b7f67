// A hash function chosen at run time, called per batch: for files and front ends, which learn from
// a header or an option what a program that links the library knows at compile time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

class any_hasher {
 public:
  virtual ~any_hasher() = default;
  [[nodiscard]] virtual hash_spec spec() const noexcept = 0;
  // How many words its digests have; any number of probes for 64-bit hashes.
  [[nodiscard]] virtual std::uint32_t probes() const noexcept = 0;
  // One of the two throws errc::unsupported: a function gives 64-bit hashes or foreign digests.
  virtual void hash(std::span<const std::string_view> keys, std::span<std::uint64_t> out) const = 0;
  virtual void hash(std::span<const std::string_view> keys, std::span<digest> out) const = 0;
};

// The strings are keys or, with Integers, integers of eight little-endian bytes, hashed as such.
template <hasher Hasher, bool Integers = false>
class erased_hasher final : public any_hasher {
 public:
  erased_hasher(Hasher hasher, const key_form& form, key_rule rule)
      : hasher_(std::move(hasher)), form_(form), rule_(rule) {}

  [[nodiscard]] hash_spec spec() const noexcept override {
    hash_spec spec = hasher_.spec();
    spec.rule = rule_;
    spec.form = form_;
    return spec;
  }
  [[nodiscard]] std::uint32_t probes() const noexcept override {
    if constexpr (requires { hasher_.probes(); }) {
      return hasher_.probes();
    } else {
      return max_probes;
    }
  }
  void hash(std::span<const std::string_view> keys, std::span<std::uint64_t> out) const override {
    hash_as(keys, out);
  }
  void hash(std::span<const std::string_view> keys, std::span<digest> out) const override {
    hash_as(keys, out);
  }

 private:
  template <class Result>
  void hash_as(std::span<const std::string_view> keys, std::span<Result> out) const {
    if constexpr (std::is_same_v<Result, typename Hasher::result_type>) {
      for (std::size_t i = 0; i < keys.size(); ++i) out[i] = hash_one(keys[i]);
    } else {
      detail::fail(errc::unsupported, "the hash " + std::string(hash_name(Hasher::id)) +
                                          " does not fit this filter's probe scheme");
    }
  }

  [[nodiscard]] typename Hasher::result_type hash_one(std::string_view key) const {
    if constexpr (Integers) {
      std::uint64_t integer = 0;
      std::memcpy(&integer, key.data(), std::min(key.size(), sizeof integer));
      return hash_key(hasher_, detail::little_endian(integer));
    } else {
      return hash_key(hasher_, key);
    }
  }

  Hasher hasher_;
  key_form form_;
  key_rule rule_;
};

// Filters that are made with it know the form of their keys.
template <hasher Hasher>
[[nodiscard]] std::shared_ptr<const any_hasher> erase(Hasher hasher, const key_form& form = {},
                                                      key_rule rule = key_rule::plain) {
  if (form.type == key_type::integers) {
    return std::make_shared<erased_hasher<Hasher, true>>(std::move(hasher), form, rule);
  }
  return std::make_shared<erased_hasher<Hasher>>(std::move(hasher), form, rule);
}

}  // namespace bloomery
