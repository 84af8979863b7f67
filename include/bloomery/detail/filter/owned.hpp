// Owner and view, like string and string_view: a view borrows its words (from a mapped file, a
// message or an owner) and can only be asked; an owner holds its words and is a view of itself.
//
//     word_view    what every view of one array has: a plan, the words and the number of keys
//     owned        holds the words of a view; is copied, moved and assigned
//     changeable   an owner that starts empty and is changed by calls of add
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/core/sizing.hpp"

namespace bloomery {

// What most callers know. `seed` chooses the hash function (filter/keyed.hpp).
struct options {
  std::uint64_t keys = 0;
  double fpr = 0.01;
  std::uint64_t seed = 0;
};

namespace detail {

// Throws errc::bad_argument for another kind or scheme, and for a shape that no filter has.
void check_kind(const shape& s, filter_kind kind, probe_scheme scheme = probe_scheme::multiply);
// Throws errc::bad_argument also for too few or too many words. Returns the plan.
const plan& checked_plan(const plan& p, std::span<const std::uint64_t> words, filter_kind kind,
                         probe_scheme scheme = probe_scheme::multiply);

class word_view {
 public:
  [[nodiscard]] const bloomery::shape& shape() const noexcept { return plan_.shape; }
  [[nodiscard]] const plan& planned() const noexcept { return plan_; }
  // Calls of add, repetitions included, less successful ones of remove; different keys if static.
  [[nodiscard]] std::uint64_t keys() const noexcept { return keys_; }
  [[nodiscard]] std::span<const std::uint64_t> words() const noexcept {
    return {words_, static_cast<std::size_t>(bit_array::words_for(shape().bits))};
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return words().size_bytes(); }

  // The same answers: positions and words are equal. How often add was called does not matter.
  friend bool operator==(const word_view& a, const word_view& b) noexcept {
    return a.shape() == b.shape() && std::memcmp(a.words_, b.words_, a.words().size_bytes()) == 0;
  }

 protected:
  word_view(const plan& p, const std::uint64_t* words, std::uint64_t keys) noexcept
      : words_(words), plan_(p), keys_(keys) {}
  void borrow(const std::uint64_t* words) noexcept { words_ = words; }
  [[nodiscard]] std::uint64_t& key_count() noexcept { return keys_; }

  const std::uint64_t* words_;

 private:
  plan plan_;
  std::uint64_t keys_;
};

// The same as == of one array, for filters that grow in several.
template <class View>
bool same_parts(const View& a, const View& b) {
  const auto same = [](auto x, auto y) { return std::ranges::equal(x, y); };
  return a.shape() == b.shape() && std::ranges::equal(a.parts(), b.parts(), same);
}

struct payload {
  plan planned;
  bit_array array;
  std::uint64_t keys = 0;
};

// `View` is made from a plan, words and a number of keys, and has borrow(words).
template <class View>
class owned : public View {
 public:
  using view = View;

  // A copy that owns its words: what opening a file to change it needs.
  explicit owned(const view& other) : view(other), array_(other.words()) { rebind(); }

  owned(const owned& other) : view(other), array_(other.array_) { rebind(); }
  // A filter that was moved from may be destroyed or assigned to.
  // NOLINTNEXTLINE(performance-move-constructor-init): a view is copied, both keep its shape
  owned(owned&& other) noexcept : view(other), array_(std::move(other.array_)) { other.rebind(); }
  owned& operator=(const owned& other) {
    *this = owned(other);
    return *this;
  }
  owned& operator=(owned&& other) noexcept {
    view::operator=(other);
    array_ = std::move(other.array_);
    rebind();
    other.rebind();
    return *this;
  }
  ~owned() = default;

 protected:
  // A template, so that a filter({.keys = ...}) can only mean options.
  template <std::same_as<payload> Payload>
  explicit owned(Payload p)
      : view(p.planned, p.array.words(), p.keys), array_(std::move(p.array)) {}

  [[nodiscard]] std::span<std::uint64_t> mutable_words() noexcept { return array_.words(); }

 private:
  void rebind() noexcept { this->borrow(array_.words().data()); }

  bit_array array_;
};

template <class View>
class changeable : public owned<View> {
 public:
  // The smallest filter that holds o.keys keys at o.fpr.
  explicit changeable(const options& o)
      : changeable(plan_for({.kind = View::kind, .keys = o.keys, .fpr = o.fpr})) {}
  // An empty one of this shape. A template, so that filter({.keys = ...}) can only mean options.
  template <std::same_as<plan> Plan>
  explicit changeable(const Plan& p)
      : owned<View>(payload{.planned = p, .array = bit_array(checked_bits(p.shape))}) {}
  // One for what writes all of its words next, of a kind whose view does not read them before.
  changeable(const plan& p, unset_words unset)
      : owned<View>(payload{.planned = p, .array = bit_array(checked_bits(p.shape), unset)}) {}
  using owned<View>::owned;

  // Takes all keys out again. The size stays.
  void clear() noexcept {
    const std::span<std::uint64_t> words = mutable_words();
    std::fill(words.begin(), words.end(), 0);
    set_keys(0);
  }

  // The words, for what combines or loads whole arrays.
  using owned<View>::mutable_words;
  void set_keys(std::uint64_t keys) noexcept { this->key_count() = keys; }

 private:
  static plan plan_for(const sizing::request& r) {
    plan p = sizing::make_plan(r);
    p.shape.scheme = View::scheme;
    return p;
  }
  static std::uint64_t checked_bits(const shape& s) {
    check_kind(s, View::kind, View::scheme);
    return s.bits;
  }
};

}  // namespace detail
}  // namespace bloomery
