// The face of a filter whose kind is known at run time only: what any_filter asks of it, once for
// each batch of keys. A call that a kind lacks is refused here, with the kind in the message.
//
// any_filter adds the hash function and the file, and hands out the rest by ->. Where keys are
// given as strings, call any_filter: it brings the hash that the calls here want.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "bloomery/core/kinds.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/hash/any_hasher.hpp"

namespace bloomery {

struct explanation;  // filter/explanation.hpp
struct cell_array;
class loss_meter;  // format/loss_meter.hpp

// Something to tell about a filter that other kinds do not have, such as its layers.
struct fact {
  std::string_view name;
  // A number of things, a share or chance, or words.
  std::variant<std::uint64_t, double, std::string_view> value;
};

// The join of two streams that were counted: the sum of count here times count there over all keys.
struct stream_product {
  std::uint64_t total = 0;  // of the counts here
  std::uint64_t other_total = 0;
  std::uint64_t product = 0;  // never too low, and too high by more than `error` with a probability
  double error = 0;           // of at most delta
  double delta = 0;
};

class filter_face {
 public:
  using keys_type = std::span<const std::string_view>;

  filter_face() = default;
  filter_face(const filter_face&) = delete;
  filter_face& operator=(const filter_face&) = delete;
  virtual ~filter_face() = default;

  // ---- what it is -----------------------------------------------------------------------------

  [[nodiscard]] virtual const plan& planned() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t keys() const noexcept = 0;
  // The words, wherever they are; those of a filter that grows in memory are in several parts.
  [[nodiscard]] virtual std::vector<std::span<const std::uint64_t>> parts() const = 0;
  [[nodiscard]] virtual double fill() const noexcept = 0;
  [[nodiscard]] virtual double fpr() const noexcept = 0;
  // The most that a counter holds: a count of this means "at least". UINT64_MAX where none is.
  [[nodiscard]] virtual std::uint64_t most_count() const noexcept = 0;
  [[nodiscard]] virtual abilities can() const noexcept = 0;
  // The keys that a growing filter takes before it grows, else UINT64_MAX; the bytes it grows by.
  [[nodiscard]] virtual std::uint64_t room() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t growth_bytes() const noexcept = 0;
  // For a filter that has grown: one of the right size for the keys that it has.
  [[nodiscard]] virtual std::optional<plan> compact_plan() const = 0;
  // Different keys, by the content, where the kind tells it; infinite when it is full.
  [[nodiscard]] virtual std::optional<double> keys_estimated() const = 0;
  [[nodiscard]] virtual std::vector<fact> facts() const = 0;
  // The cells whose fill can be drawn; no parts where the kind has none that can be empty.
  [[nodiscard]] virtual cell_array cells() const = 0;
  // Throws errc::corrupt when what the filter says of itself is not so; may read all of it.
  virtual void check() const = 0;

  // ---- what it answers ------------------------------------------------------------------------

  virtual void contains_bits(keys_type keys, const any_hasher& hash,
                             std::span<std::uint64_t> bitmap) const = 0;
  // One key, without the pipeline of many.
  [[nodiscard]] virtual bool contains(std::string_view key, const any_hasher& hash) const = 0;
  [[nodiscard]] virtual explanation explain(std::string_view key, const any_hasher& hash) const = 0;
  virtual void count(keys_type, const any_hasher&, std::span<std::uint64_t>) const {
    refuse("count");
  }
  virtual void value(keys_type, const any_hasher&, std::span<std::uint64_t>,
                     std::span<std::uint64_t>) const {
    refuse("have values");
  }
  // Null where the kind has none; any_filter has compared the hash functions.
  [[nodiscard]] virtual std::optional<stream_product> inner_product(const filter_face&) const {
    return std::nullopt;
  }

  // ---- what changes it ------------------------------------------------------------------------

  virtual void add(keys_type, const any_hasher&) { refuse("be added to"); }
  virtual void add_concurrent(keys_type, const any_hasher&) {
    refuse("be added to by several threads");
  }
  // Keys hashed by the filter's own function. A sketch that keeps keys needs them too.
  virtual void add_hashes(std::span<const std::uint64_t>, keys_type = {}) { refuse("be added to"); }
  virtual void add_hashes_concurrent(std::span<const std::uint64_t>) {
    refuse("be added to by several threads");
  }
  // Adds those that are not in the filter yet, in order: a repeated hash is new once. Returns how
  // many were new; bit i % 64 of is_new[i / 64] tells about hashes[i].
  // The meter, where there is one, learns what it takes to say how many keys were lost.
  virtual std::size_t add_new(std::span<const std::uint64_t>, std::span<std::uint64_t>,
                              loss_meter* = nullptr) {
    refuse("be added to by hashes");
  }
  virtual std::size_t remove(keys_type, const any_hasher&) { refuse("have keys removed"); }
  // Gives keys of a map, by their hashes, other values; returns how many were in it.
  virtual std::size_t update_values(std::span<const std::uint64_t>,
                                    std::span<const std::uint64_t>) {
    refuse("have values");
  }
  virtual void merge(const filter_face&) { refuse("be merged"); }
  // Takes all keys out again; for all kinds that keys can be added to.
  virtual void clear() { refuse("be cleared"); }
  // From now on keys that would make the filter grow beyond the limit throw errc::no_memory, and
  // those before them are in; see opening::memory, whose 0 stands for a limit by its size.
  virtual void limit_memory(std::uint64_t) {}
  // Makes an unused filter that forgets keep keys for this long, in the unit of its clock.
  virtual void set_window(std::uint64_t) { refuse("forget"); }
  // Tells a filter that forgets what time it is, in the unit of its window. Others do not care.
  virtual void advance(std::uint64_t) {}

  [[nodiscard]] virtual std::unique_ptr<filter_face> clone() const {
    refuse("be copied while it is mapped");
  }
  // The filter itself, of the type that its row in the table says; null when it is only looked at.
  [[nodiscard]] virtual void* owned() noexcept { return nullptr; }
  [[nodiscard]] virtual const void* owned() const noexcept { return nullptr; }

 protected:
  [[noreturn]] void refuse(std::string_view what) const;
};

}  // namespace bloomery
