#include "bloomery/exchange/live_digest.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"

namespace bloomery {

namespace {

plan live_plan(const live_digest_options& o) {
  if (o.bits_per_key < 1 || o.bits_per_key > 64) {
    detail::throw_bad_argument("the number of bits a key", std::uint64_t{o.bits_per_key},
                               "from 1 to 64");
  }
  if (o.probes < 1 || o.probes > max_probes) {
    detail::throw_bad_argument("the number of probes", std::uint64_t{o.probes}, "from 1 to 64");
  }
  // The counters have four bits for each bit of the filter.
  if (const std::uint64_t most = max_bits / 4 / o.bits_per_key; o.keys < 1 || o.keys > most) {
    detail::throw_bad_argument("the number of documents", o.keys,
                               "from 1 to " + std::to_string(most));
  }
  if (!(o.publish_share >= 0) || o.publish_share > 1) {
    detail::throw_bad_argument("the share of documents that have changed", o.publish_share,
                               "from 0 to 1");
  }
  plan p;
  p.shape = {.kind = filter_kind::classic, .probes = o.probes, .bits = o.keys * o.bits_per_key};
  p.keys = o.keys;
  p.fpr = sizing::classic_fpr_expected(o.keys, p.shape.bits, o.probes);
  return p;
}

filter_version version_of_words(const unpacked_filter& f) {
  return {.header = f.header, .words = f.words.words()};
}

}  // namespace

live_digest::live_digest(const live_digest_options& o)
    : options_(o), now_(live_plan(o)), sent_(now_.filter().planned()) {}

void live_digest::add(std::uint64_t hash) {
  now_.add(hash);
  ++added_;
}

bool live_digest::remove(std::uint64_t hash) {
  if (!now_.remove(hash)) return false;
  ++removed_;
  return true;
}

double live_digest::changed() const noexcept {
  if (versions_ == 0) return 1;
  const auto changes = static_cast<double>(std::max(added_, removed_));
  return changes == 0
             ? 0
             : std::min(1.0, changes / static_cast<double>(std::max<std::uint64_t>(keys(), 1)));
}

std::vector<std::byte> live_digest::publish() {
  std::vector<std::byte> bytes;
  const filter_version next{
      .header = {.planned = filter().planned(), .hash = options_.hash, .keys = keys()},
      .words = filter().words()};
  bytes = versions_ == 0 ? pack(next.header, next.words) : diff(published(), next);
  sent_ = filter();
  ++versions_;
  added_ = 0;
  removed_ = 0;
  return bytes;
}

filter_version live_digest::published() const {
  if (versions_ == 0) {
    throw error(errc::bad_argument, "no version of the digest was published yet");
  }
  return {.header = {.planned = sent_.planned(), .hash = options_.hash, .keys = sent_.keys()},
          .words = sent_.words()};
}

std::vector<std::byte> live_digest::whole() const {
  const filter_version v = published();
  return pack(v.header, v.words);
}

void followed_digest::take(std::span<const std::byte> bytes) {
  const opening how{.threads = 1, .memory = most_bytes_};
  unpacked_filter next;
  if (is_delta(bytes)) {
    if (!current_) throw error(errc::mismatch, "a change of a digest that is not here");
    next = patch(version_of_words(*current_), bytes, how);
  } else {
    next = unpack(bytes, how);
  }
  const shape& s = next.header.planned.shape;
  if (s.kind != filter_kind::classic || s.scheme != probe_scheme::multiply) {
    throw error(errc::unsupported,
                "a digest is a classic filter, not one of kind " + std::string(kind_name(s.kind)));
  }
  current_ = std::move(next);
}

bool followed_digest::contains(std::uint64_t hash) const noexcept {
  if (!current_) return false;
  const std::span<const std::uint64_t> words = current_->words.words();
  return classic_probes(current_->header.planned.shape).all_of(hash, [&](std::uint64_t position) {
    return detail::test_bit(words.data(), position);
  });
}

std::optional<filter_version> followed_digest::version() const {
  if (!current_) return std::nullopt;
  return version_of_words(*current_);
}

}  // namespace bloomery
