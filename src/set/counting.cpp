#include "bloomery/set/counting.hpp"

#include <string>

#include "bloomery/bits/counter_array.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/set/algebra.hpp"

namespace bloomery {

namespace {

void check_layout(const counting_view& f, bool in_lines) {
  if (f.probes().in_lines() == in_lines) return;
  detail::fail(errc::mismatch,
               std::string("the counters of this filter are ") +
                   (in_lines ? "unblocked: they project to a classic filter, not to a blocked one"
                             : "in lines: they project to a blocked filter, not to a classic one"));
}

// The plan of the plain filter. Its rate is that of the counting filter, since the answers are.
plan projected_plan(const counting_view& f, const shape& s) {
  plan p = f.planned();
  p.shape = s;
  return p;
}

}  // namespace

classic_filter project_classic(const counting_view& f) {
  check_layout(f, false);
  const shape s{.kind = filter_kind::classic, .probes = f.shape().probes, .bits = f.counters()};
  classic_filter plain(projected_plan(f, s));
  std::uint64_t* const bits = plain.mutable_words().data();
  const std::uint32_t width = f.probes().width();
  std::uint64_t first = 0;  // counter of the word
  for (const std::uint64_t raw : f.words()) {
    std::uint64_t used = detail::nonzero_cells(detail::little_endian(raw), width);
    for (; used != 0; used &= used - 1) {
      const auto bit = static_cast<std::uint64_t>(std::countr_zero(used));
      detail::set_bit(bits, first + bit / width);
    }
    first += 64 / width;
  }
  plain.set_keys(f.keys());
  return plain;
}

blocked_filter project_blocked(const counting_view& f) {
  check_layout(f, true);
  shape s = f.shape();
  s.kind = filter_kind::blocked;
  s.cell_bits = 0;
  blocked_filter plain(projected_plan(f, s));
  const std::span<const std::uint64_t> counters = f.words();
  const std::span<std::uint64_t> bits = plain.mutable_words();
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const std::uint64_t word = detail::little_endian(counters[i]);
    bits[i] = detail::little_endian(detail::spread_cells(word, f.probes().width()));
  }
  plain.set_keys(f.keys());
  return plain;
}

counting_filter& operator+=(counting_filter& into, const counting_view& from) {
  check_combinable(into.shape(), from.shape());
  const std::uint32_t width = into.probes().width();
  const std::span<std::uint64_t> words = into.mutable_words();
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = detail::little_endian(detail::add_cells(
        detail::little_endian(words[i]), detail::little_endian(from.words()[i]), width));
  }
  into.set_keys(into.keys() + from.keys());
  return into;
}

counting_filter merge(const counting_view& a, const counting_view& b) {
  counting_filter result(a);
  result += b;
  return result;
}

}  // namespace bloomery
