#include "static_shards.hpp"

#include <string>

namespace bloomery::detail {

std::span<std::uint64_t> drop_repetitions(std::span<std::uint64_t> items) {
  std::sort(items.begin(), items.end());
  const auto end = std::unique(items.begin(), items.end());
  return items.first(static_cast<std::size_t>(end - items.begin()));
}

std::span<valued_hash> drop_repetitions(std::span<valued_hash> items) {
  std::sort(items.begin(), items.end(),
            [](const valued_hash& a, const valued_hash& b) { return a.hash < b.hash; });
  const auto end = std::unique(items.begin(), items.end(), [](const auto& a, const auto& b) {
    if (a.hash == b.hash && a.value != b.value) {
      detail::fail(errc::bad_argument, "a key has two values, " + to_text(a.value) + " and " +
                                           to_text(b.value) + ", but it can have one only");
    }
    return a.hash == b.hash;
  });
  return items.first(static_cast<std::size_t>(end - items.begin()));
}

void throw_no_seed(filter_kind kind, std::uint64_t shard, std::uint64_t keys) {
  detail::fail(errc::unreachable,
               "the " + to_text(keys) + " hashes of shard " + to_text(shard) + " of a " +
                   std::string(kind_name(kind)) + " filter fit with none of " +
                   to_text(std::uint64_t{max_tries}) + " seeds; are they hashes at all?");
}

void check_shard_keys(std::uint64_t keys) {
  if (keys > sizing::max_shard_keys) {
    throw_bad_argument("the number of keys in a shard", keys,
                       "at most 2^31; plan for the number of keys that there are");
  }
}

plan finished_plan(const plan& p, std::uint64_t words) {
  plan finished = p;
  finished.shape.bits = 64 * words;
  check_shape(finished.shape);
  return finished;
}

const plan& checked_static_plan(const plan& p, filter_kind kind) {
  shape checked = p.shape;
  checked.bits = 64;  // what it comes to is known when it is built
  check_kind(checked, kind);
  return p;
}

explanation no_keys_in_shard() { return {.why = {.text = "its shard has no keys"}}; }

void compare_prints(explanation& e, std::uint64_t expected, std::uint64_t found) {
  e.findings.push_back({.text = "expected {fingerprint:x}, found {found:x}",
                        .numbers = {{"fingerprint", expected}, {"found", found}}});
  e.why.text = expected == found ? "what is stored for it is its fingerprint"
                                 : "what is stored for it is not its fingerprint";
}

}  // namespace bloomery::detail
