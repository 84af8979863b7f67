#include "bloomery/measure/spread.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/arithmetic.hpp"

namespace bloomery {

namespace {

constexpr double unit = 256;  // of heavy_flows' bytes for a pair

flow_options half_of(flow_options o) {
  if (o.memory_bytes < 2 * heavy_flows::least_memory) {
    detail::throw_bad_argument("the memory for spreads", o.memory_bytes, "at least 32768 bytes");
  }
  o.memory_bytes /= 2;
  if (o.threshold > 1) o.threshold *= static_cast<std::uint64_t>(unit);
  return o;
}

struct element {
  std::array<std::byte, 16> bytes{};
  std::size_t size = 0;  // 0: none
};

element element_of(const parsed_packet& p, spread_over over) noexcept {
  element e;
  if (over == spread_over::port) {
    if (!p.has_ports) return e;
    e.bytes[0] = static_cast<std::byte>(p.destination_port >> 8U);
    e.bytes[1] = static_cast<std::byte>(p.destination_port & 255U);
    e.bytes[2] = static_cast<std::byte>(p.protocol);
    e.size = 3;
    return e;
  }
  const bool four = p.family == ip_family::v4;
  e.size = four ? 4 : 16;
  const std::size_t at = (four ? 12U : 8U) + (over == spread_over::destination ? e.size : 0U);
  std::memcpy(e.bytes.data(), p.network.data() + at, e.size);
  return e;
}

}  // namespace

spread_counter::spread_counter(spread_over over, const flow_options& o)
    : over_(over),
      hasher_(splitmix64(o.seed)),
      bitmap_(o.memory_bytes / 2 * 8 / 64 * 64),
      bits_(bitmap_.words().size() * 64),
      zeros_(bits_),
      flows_(half_of(o)) {}

void spread_counter::add(const flow_key& flow, const parsed_packet& p) {
  const element e = element_of(p, over_);
  if (e.size == 0 || zeros_ == 0) return;
  struct {
    std::uint64_t flow;
    std::uint64_t size;
    std::array<std::byte, 16> bytes;
  } const pair{detail::little_endian(flows_.hash_of(flow)), detail::little_endian(e.size), e.bytes};
  const std::uint64_t bit = detail::multiply_high(hasher_.bytes(&pair, sizeof pair), bits_);
  std::uint64_t* const words = bitmap_.words().data();
  if (detail::test_bit(words, bit)) return;
  detail::set_bit(words, bit);
  const double stands_for = static_cast<double>(bits_) / static_cast<double>(zeros_);
  --zeros_;
  flows_.add(flow, static_cast<std::uint64_t>(std::llround(stands_for * unit)));
}

std::vector<spread_count> spread_counter::list(double least, std::size_t most) const {
  std::vector<spread_count> rows;
  // Each pair that came when a share p of the bits was 0 adds (1 - p) / p to the variance; all of
  // them are taken to have come last.
  const double zero =
      static_cast<double>(std::max<std::uint64_t>(1, zeros_)) / static_cast<double>(bits_);
  const auto wanted = static_cast<std::uint64_t>(std::max(1.0, least * unit));
  for (const flow_count& f : flows_.list(wanted, most)) {
    const double distinct = static_cast<double>(f.bytes) / unit;
    rows.push_back({f.flow, distinct, std::sqrt(distinct * (1 - zero) / zero),
                    static_cast<double>(f.error_bytes) / unit});
  }
  return rows;
}

double spread_counter::threshold() const noexcept {
  return std::max(1.0, static_cast<double>(flows_.threshold()) / unit);
}

double spread_counter::pairs() const noexcept {
  return static_cast<double>(flows_.total_bytes()) / unit;
}

void spread_counter::next_interval() {
  const auto words = bitmap_.words();
  std::fill(words.begin(), words.end(), 0);
  zeros_ = bits_;
  flows_.next_interval();
}

}  // namespace bloomery
