#include "bloomery/exchange/sent_filter.hpp"

#include <algorithm>
#include <cmath>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "wire.hpp"

namespace bloomery {

namespace {

// A part is a thousand keys: its 6 bytes of length, seed and checksum are 5 % of it at one bit and
// half a percent at nine. Equations of more keys would need more slots than 1.6 % above the keys.
constexpr std::uint64_t part_keys = 1024;
constexpr double part_bytes = 6;
// Where hashes are random, a part has 1,024 keys and six times a deviation of 32 more, in 5 kB.
// Larger ones are from keys that somebody made for it, and would take long to build and to check.
constexpr std::uint64_t most_part_keys = 4 * part_keys;
constexpr std::size_t most_part_bytes = std::size_t{1} << 16U;
// The slots for each key of a compact ribbon (format/compact.hpp).
constexpr double slots_per_key = 65.0 / 64;

std::uint64_t parts_for(std::uint64_t keys) {
  return keys / part_keys + (keys % part_keys != 0 ? 1 : 0);
}

void check_finite(std::string_view name, double value) {
  if (!(value >= 0 && std::isfinite(value))) {
    detail::throw_bad_argument(name, value, "at least 0 and finite");
  }
}

}  // namespace

double sent_filter_bytes(double keys, std::uint32_t fpr_bits) {
  check_finite("the number of keys", keys);
  if (fpr_bits == 0) return 0;
  return 1 + std::ceil(keys / part_keys) * part_bytes + keys * slots_per_key * fpr_bits / 8;
}

sent_choice choose_sent_filter(double keys, double strangers, double stranger_bytes) {
  check_finite("the number of strangers", strangers);
  check_finite("the bytes of a stranger", stranger_bytes);
  sent_choice best;
  for (std::uint32_t bits = 0; bits <= most_fpr_bits; ++bits) {
    const sent_choice choice{
        .fpr_bits = bits,
        .filter_bytes = sent_filter_bytes(keys, bits),
        .stranger_bytes = std::ldexp(strangers * stranger_bytes, -static_cast<int>(bits))};
    if (bits == 0 || choice.bytes() < best.bytes()) best = choice;
  }
  return best;
}

sent_filter::sent_filter(std::vector<std::uint64_t> hashes, std::uint32_t fpr_bits) {
  if (fpr_bits < 1 || fpr_bits > most_fpr_bits) {
    detail::throw_bad_argument("the bits of a sent filter", std::uint64_t{fpr_bits}, "1 to 29");
  }
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  const compact_builder builder(
      {.fpr = std::ldexp(1.0, -static_cast<int>(fpr_bits)), .kind = filter_kind::ribbon});
  const std::uint64_t parts = parts_for(hashes.size());
  wire::put(message_, parts);
  // A larger hash is never in an earlier part, so that each part is a run of the sorted hashes.
  auto from = hashes.begin();
  for (std::uint64_t part = 0; part < parts; ++part) {
    const auto to = std::find_if(from, hashes.end(), [&](std::uint64_t hash) {
      return detail::multiply_high(hash, parts) != part;
    });
    if (static_cast<std::uint64_t>(to - from) > most_part_keys) {
      throw error(errc::corrupt, "the hashes of the keys are not spread: somebody made these keys");
    }
    wire::put_text(message_, from == to ? std::string() : builder.build({from, to}));
    from = to;
  }
  open_parts();
}

sent_filter::sent_filter(std::span<const std::byte> message)
    : message_(message.begin(), message.end()) {
  open_parts();
}

std::uint64_t sent_filter::memory_bytes(std::span<const std::byte> message) {
  const std::uint64_t parts = wire::reader(message).number(message.size());
  return message.size() + parts * sizeof(decltype(parts_)::value_type);
}

void sent_filter::open_parts() {
  wire::reader in(message_);
  const std::uint64_t parts = in.number(message_.size());
  parts_.reserve(static_cast<std::size_t>(parts));
  for (std::uint64_t part = 0; part < parts; ++part) {
    const std::string_view text = in.text();
    if (text.size() > most_part_bytes) wire::reader::fail();
    parts_.push_back(compact_view::open(text));
    if (!text.empty() && !parts_.back()) wire::reader::fail();
  }
  in.expect_end();
}

bool sent_filter::contains(std::uint64_t hash) const noexcept {
  if (parts_.empty()) return false;
  const auto& part = parts_[static_cast<std::size_t>(detail::multiply_high(hash, parts_.size()))];
  return part && part->contains(hash);
}

}  // namespace bloomery
