// Filters of strings that are derived from a user's keys by a rule: the forms of a password, the
// parents of a domain. One key gives several strings, so their number is known only when all are
// made. Until then their hashes wait in a spool, 8 bytes each, beyond 32 MiB on disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/format/any_filter.hpp"
#include "bloomery/format/sliced_build.hpp"
#include "bloomery/hash/hash.hpp"

namespace bloomery {

class derived_keys {
 public:
  // The directory is where the spool may grow.
  explicit derived_keys(key_rule rule, const std::filesystem::path& directory = ".",
                        std::uint64_t seed = 0);

  void add(std::string_view derived);
  [[nodiscard]] std::uint64_t size() const noexcept { return spool_.keys() + waiting_.size(); }

  // A blocked filter of all of them, at most `fpr` for each string that it is asked for; with room
  // for `keys`, so that filters of several lists are alike and can be merged.
  [[nodiscard]] any_filter build(double fpr, std::uint64_t keys = 0);

 private:
  void pass_on();

  key_rule rule_;
  xxh3_hasher hasher_;
  hash_spool spool_;
  std::vector<std::uint64_t> waiting_;
};

// The rate for one string, so that `strings` of them together stay below `fpr`.
[[nodiscard]] double rate_of_one(double fpr, std::size_t strings);

// The hash function of a filter that was made by a rule, to open it with. Throws errc::mismatch
// when the header has another rule.
[[nodiscard]] std::shared_ptr<const any_hasher> derived_hasher(const image_header& header,
                                                               key_rule rule);

// Strings to ask for together.
class derived_question {
 public:
  void clear() noexcept;
  void add(std::string_view derived);
  [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
  // The number of the first string that the filter may contain, or size() when it contains none.
  [[nodiscard]] std::size_t first_in(const any_filter& f);

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
  std::vector<std::string_view> keys_;
  std::vector<std::uint64_t> bitmap_;
};

}  // namespace bloomery
