// Whether keys that come again are all of those that a filter which has grown was made of.
//
// A filter does not hold its keys, but all that it holds comes from them: each fingerprint of a
// scalable filter and each bit of a layered one is that of a key. So the keys mark what they would
// have put there, and what is left unmarked is of a key that did not come. One that lacks goes
// unnoticed only where others have marked all of its own, as a key that was never added is taken
// for one of the filter: by chance, at its rate f. Of k that lack, all go unnoticed in f^k of the
// cases. (To compare numbers would let as many lack as were added twice or taken for known.)
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace bloomery {

class any_filter;

class key_cover {
 public:
  // Takes as much memory as the filter, which it looks at and which must not change. Throws
  // errc::unsupported for one whose kind has no compact_plan().
  explicit key_cover(const any_filter& f);
  key_cover(key_cover&&) noexcept;
  key_cover& operator=(key_cover&&) noexcept;
  ~key_cover();

  // Keys by their hashes, in any order. May run in several threads at once.
  void take(std::span<const std::uint64_t> hashes) noexcept;

  // How many keys lack at least, of all that the filter holds.
  [[nodiscard]] std::uint64_t lacking() const noexcept;

  class marks;  // what is marked; one for each kind, in key_cover.cpp

 private:
  std::unique_ptr<marks> marks_;
};

}  // namespace bloomery
