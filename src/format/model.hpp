// The face of a kind: what any_filter asks, per batch of keys. A call that a kind lacks is refused
// here, with the kind in the message. models.hpp puts the filters of the library behind it;
// filter_table.cpp lists them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/format/any_filter.hpp"

namespace bloomery {

class any_filter::model {
 public:
  using keys_type = std::span<const std::string_view>;

  virtual ~model() = default;
  [[nodiscard]] virtual const plan& planned() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t keys() const noexcept = 0;
  [[nodiscard]] virtual std::vector<std::span<const std::uint64_t>> parts() const = 0;
  [[nodiscard]] virtual double fill() const noexcept = 0;
  [[nodiscard]] virtual double fpr() const noexcept = 0;
  [[nodiscard]] virtual abilities can() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t room() const noexcept { return UINT64_MAX; }
  [[nodiscard]] virtual std::uint64_t growth_bytes() const noexcept { return 0; }
  [[nodiscard]] virtual std::optional<double> keys_estimated() const { return std::nullopt; }
  [[nodiscard]] virtual std::vector<fact> facts() const { return {}; }
  virtual void contains_bits(keys_type keys, const any_hasher& hash,
                             std::span<std::uint64_t> bitmap) const = 0;
  // One key, without the pipeline of many.
  [[nodiscard]] virtual bool contains(std::string_view key, const any_hasher& hash) const {
    std::uint64_t answer = 0;
    contains_bits({&key, 1}, hash, {&answer, 1});
    return answer != 0;
  }
  virtual void advance(std::uint64_t) {}
  // The filter behind this face, of the type that the row in the table says; null when it is only
  // looked at.
  [[nodiscard]] virtual void* owned() noexcept { return nullptr; }
  [[nodiscard]] virtual const void* owned() const noexcept { return nullptr; }
  virtual void set_window(std::uint64_t) { refuse("forget"); }

  virtual void add(keys_type, const any_hasher&) { refuse("be added to"); }
  virtual void add_concurrent(keys_type, const any_hasher&) {
    refuse("be added to by several threads");
  }
  virtual void add_hashes(std::span<const std::uint64_t>, keys_type) { refuse("be added to"); }
  virtual std::size_t add_new(std::span<const std::uint64_t>, std::span<std::uint64_t>) {
    refuse("be added to by hashes");
  }
  virtual std::size_t remove(keys_type, const any_hasher&) { refuse("have keys removed"); }
  virtual void count(keys_type, const any_hasher&, std::span<std::uint64_t>) const {
    refuse("count");
  }
  virtual void value(keys_type, const any_hasher&, std::span<std::uint64_t>,
                     std::span<std::uint64_t>) const {
    refuse("have values");
  }
  virtual std::size_t update_values(std::span<const std::uint64_t>,
                                    std::span<const std::uint64_t>) {
    refuse("have values");
  }
  virtual void merge(const model&) { refuse("be merged"); }
  [[nodiscard]] virtual std::unique_ptr<model> clone() const {
    refuse("be copied while it is mapped");
  }

 protected:
  [[noreturn]] void refuse(std::string_view what) const {
    const filter_kind kind = planned().shape.kind;
    const bool mapped =
        abilities_of(kind).add && !can().add && what.find("added") != std::string_view::npos;
    detail::fail(errc::unsupported, mapped ? "a mapped filter cannot be changed; load it instead"
                                           : "a " + std::string(kind_name(kind)) +
                                                 " filter cannot " + std::string(what));
  }
};

namespace detail {

using model_ptr = std::unique_ptr<any_filter::model>;

// The row of a filter type: which shapes it has, and how to make one.
struct filter_row {
  filter_kind kind;
  probe_scheme scheme;
  bool shard;
  model_ptr (*make)(const plan&);
  // From all keys at once; null for the kinds that take keys one by one.
  model_ptr (*build)(const plan&, std::span<const std::uint64_t> hashes,
                     std::span<const std::uint64_t> values, unsigned threads);
  // To look at given words, and to copy them.
  model_ptr (*borrow)(const filter_version&);
  model_ptr (*copy)(const filter_version&);
};

[[nodiscard]] std::span<const filter_row> filter_table() noexcept;

}  // namespace detail
}  // namespace bloomery
