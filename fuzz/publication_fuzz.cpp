// Arbitrary bytes as a manifest (exchange/publication.hpp): refused with an error of ours, or one
// whose text reads back as itself, and from which every version finds its way.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/publication.hpp"
#include "input.hpp"

namespace {

using namespace bloomery;
using bloomery_fuzz::require;

void follow(const publication& p, std::optional<std::uint64_t> have) {
  const update_plan plan = plan_update(p, have);
  require((plan.by == update_plan::way::nothing) == (have == p.version));
  require(plan.bytes <= p.packed_bytes);
  if (plan.by != update_plan::way::deltas) return;
  std::uint64_t at = *have;
  for (const published_delta& d : plan.steps) {
    require(d.from == at);
    at = d.to;
  }
  require(at == p.version);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const publication p = parse_manifest({reinterpret_cast<const char*>(data), size});
    require(parse_manifest(manifest_text(p)) == p);
    follow(p, std::nullopt);
    follow(p, p.version);
    for (const published_delta& d : p.deltas) follow(p, d.from);
  } catch (const error&) {
  }
  return 0;
}
