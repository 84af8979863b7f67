#include "bloomery/core/shape.hpp"

#include "bloomery/core/error.hpp"

namespace bloomery {

std::string_view kind_name(filter_kind kind) noexcept {
  switch (kind) {
    case filter_kind::classic:
      return "classic";
    case filter_kind::partitioned:
      return "partitioned";
    case filter_kind::blocked:
      return "blocked";
  }
  return "unknown";
}

void check_shape(const shape& s) {
  const bool blocked = s.kind == filter_kind::blocked;
  if (s.bits == 0 || s.bits > max_bits) {
    detail::throw_bad_argument("the number of bits", s.bits, "from 1 to 2^48");
  }
  if (s.probes == 0 || s.probes > (blocked ? max_blocked_probes : max_probes)) {
    detail::throw_bad_argument("the number of probes", std::uint64_t{s.probes},
                               blocked ? "from 1 to 16 in a blocked filter" : "from 1 to 64");
  }
  if (s.block_bits != (blocked ? bits_per_block : 0)) {
    detail::throw_bad_argument("the number of bits in a block", std::uint64_t{s.block_bits},
                               blocked ? "512" : "0 in a filter without blocks");
  }
  if (blocked && s.bits % bits_per_block != 0) {
    detail::throw_bad_argument("the number of bits", s.bits, "a multiple of 512");
  }
  if (s.kind == filter_kind::partitioned && s.bits % s.probes != 0) {
    detail::throw_bad_argument("the number of bits", s.bits,
                               "a multiple of the number of probes in a partitioned filter");
  }
  if (s.scheme == probe_scheme::modulo) {
    if (s.kind != filter_kind::classic) {
      throw error(errc::bad_argument,
                  "digests modulo the size are positions of classic filters only");
    }
    // A word of a digest has 32 bits; it would never reach the rest of a longer array.
    if (s.bits > std::uint64_t{1} << 32U) {
      detail::throw_bad_argument("the number of bits", s.bits,
                                 "at most 2^32 in a filter of foreign digests");
    }
  }
}

}  // namespace bloomery
