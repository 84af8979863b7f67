#include "bloomery/detail/filter/owned.hpp"

#include <string>

#include "bloomery/core/error.hpp"

namespace bloomery::detail {

void check_kind(const shape& s, filter_kind kind, probe_scheme scheme) {
  if (s.kind == kind && s.scheme == scheme) return check_shape(s);
  detail::fail(errc::bad_argument, "a shape of kind " + std::string(kind_name(s.kind)) +
                                       " given to a filter of kind " +
                                       std::string(kind_name(kind)));
}

const plan& checked_plan(const plan& p, std::span<const std::uint64_t> words, filter_kind kind,
                         probe_scheme scheme) {
  check_kind(p.shape, kind, scheme);
  if (words.size() != bit_array::words_for(p.shape.bits)) {
    throw_bad_argument("the number of words", std::uint64_t{words.size()},
                       to_text(bit_array::words_for(p.shape.bits)));
  }
  return p;
}

}  // namespace bloomery::detail
