// Compact filters (format/compact.hpp): arbitrary bytes as one, and one built from arbitrary
// hashes.
//
//     byte 0       bit 0: the kind; bit 1: the rest is a filter whose check is put behind it, so
//                  that mutations get past it
//     the rest     a filter; and hashes, 8 bytes each
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bloomery/core/shape.hpp"
#include "bloomery/format/compact.hpp"
#include "bloomery/hash/hash.hpp"
#include "input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bloomery;
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if ((data[0] & 2U) != 0) {
    const std::uint64_t check = XXH3_64bits(bytes.data(), bytes.size());
    for (const unsigned shift : {0U, 8U}) bytes.push_back(static_cast<char>(check >> shift));
  }
  const std::vector<char> exact(bytes.begin(), bytes.end());  // no byte behind the end

  std::vector<std::uint64_t> hashes;
  bloomery_fuzz::input in(data + 1, size - 1);
  while (!in.empty() && hashes.size() < 1000) hashes.push_back(in.take(8));
  for (const std::uint64_t hash : hashes)
    (void)compact_contains({exact.data(), exact.size()}, hash);

  static const compact_builder blocked({.kind = filter_kind::blocked});
  static const compact_builder ribbon({.kind = filter_kind::ribbon});
  const std::string built = ((data[0] & 1U) != 0 ? ribbon : blocked).build(hashes);
  for (const std::uint64_t hash : hashes) bloomery_fuzz::require(compact_contains(built, hash));
  return 0;
}
