// Small filters at rest. A filter that can be asked is half a dozen objects, with room for what all
// kinds have: more than a few hundred bits of content deserve. So a small value is kept as its
// words and little else, and becomes a filter again for the command that needs it.
//
// What many values have in common, the plan, the hash function and the facts that commands store,
// is held once for all of them. Of words that are mostly zero only the others are kept, with a bit
// for each word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "dump.hpp"

namespace bloomery_redis {

class packed_filter {
 public:
  struct deleter {
    void operator()(packed_filter* p) const noexcept;
  };
  using pointer = std::unique_ptr<packed_filter, deleter>;

  // Whether it is small enough for this to be worth while; pack returns null otherwise.
  [[nodiscard]] static bool fits(const bloomery::any_filter& f) noexcept;
  [[nodiscard]] static pointer pack(const bloomery::any_filter& f, const fact_list& facts);
  [[nodiscard]] dumped unpack() const;
  // The same for equal values: facts of its own, which depend on who else is there, left out.
  [[nodiscard]] std::size_t bytes() const noexcept;

  // Around fork(): no other thread has locked what the child needs.
  static void lock_all();
  static void unlock_all();

 private:
  struct common;  // to many values
  friend class commons;

  packed_filter() = default;
  [[nodiscard]] const std::uint64_t* data() const noexcept {
    return reinterpret_cast<const std::uint64_t*>(this + 1);
  }

  const common* shared_ = nullptr;
  std::uint64_t keys_ = 0;
  std::uint16_t words_ = 0;      // of the filter
  std::uint16_t kept_ = 0;       // of these, behind this object,
  std::uint16_t own_facts_ = 0;  // after a bit for each fact that is not the common one: the facts,
  bool sparse_ = false;          // and a bit for each word that is kept, if these are not all
};

}  // namespace bloomery_redis
