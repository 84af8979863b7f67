// Filters of strings that are derived from a user's keys by a rule: the forms of a password, the
// parents of a domain. One key gives several strings, so their number is known only at the end.
// Until then their hashes are kept in a spool, 8 bytes each, which goes to disk beyond 32 MiB.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/format/any_filter.hpp"
#include "bloomery/format/sliced_build.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/sketch/hyperloglog.hpp"

namespace bloomery {

class derived_keys {
 public:
  // The spool may write a file in the directory.
  explicit derived_keys(key_rule rule, const std::filesystem::path& directory = ".",
                        std::uint64_t seed = 0);

  void add(std::string_view derived);
  [[nodiscard]] std::uint64_t size() const noexcept { return spool_.keys() + waiting_.size(); }

  // A blocked filter of all strings, with a rate of at most `fpr` for a lookup that asks for so
  // many of them: the rate of one is less, and `fpr` is what the file says was asked for. Sized for
  // the different strings, which lists from several sources have far fewer of, or for `keys`, if
  // given, so that filters of several lists can be merged.
  [[nodiscard]] any_filter build(double fpr, std::size_t strings, std::uint64_t keys = 0);

 private:
  void pass_on();

  key_rule rule_;
  xxh3_hasher hasher_;
  hash_spool spool_;
  hyperloglog different_;
  std::vector<std::uint64_t> waiting_;
};

// The hash function of filters made by this rule. errc::mismatch when the header has another.
[[nodiscard]] std::shared_ptr<const any_hasher> derived_hasher(const image_header& header,
                                                               key_rule rule);

// The strings that a filter is asked for together.
class derived_question {
 public:
  void clear() noexcept;
  void add(std::string_view derived);
  [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
  // The index of the first string that the filter may contain, or size() when it contains none.
  [[nodiscard]] std::size_t first_in(const any_filter& f);

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
  std::vector<std::string_view> keys_;
  std::vector<std::uint64_t> bitmap_;
};

}  // namespace bloomery
