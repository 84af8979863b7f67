#include "bloomery/exchange/cache_digest.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"

namespace bloomery {

namespace {

constexpr std::uint32_t digest_version = 5;
constexpr std::uint32_t oldest_digest_version = 3;

std::uint64_t big_endian_at(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (const std::byte b : bytes.subspan(at, size)) {
    value = value << 8U | std::to_integer<std::uint64_t>(b);
  }
  return value;
}

void put_big_endian(std::span<std::byte> bytes, std::uint64_t value) {
  for (std::size_t i = bytes.size(); i > 0; value >>= 8U) {
    bytes[--i] = static_cast<std::byte>(value & 0xffU);
  }
}

std::uint64_t mask_bytes_of(std::uint64_t capacity, std::uint64_t bits_per_entry) {
  return (capacity * bits_per_entry + 7) / 8;
}

// Whether these are numbers that the control block holds and Squid accepts.
bool fits_mask(std::uint64_t capacity, std::uint64_t bits_per_entry) {
  return capacity >= 1 && bits_per_entry >= 1 && bits_per_entry <= most_bits_per_entry &&
         capacity <= most_digest_bits / bits_per_entry;
}

plan digest_plan_of(std::uint64_t capacity, std::uint64_t mask_bytes) {
  plan p;
  p.shape = {.kind = filter_kind::classic,
             .scheme = probe_scheme::modulo,
             .probes = cache_digest_probes,
             .bits = 8 * mask_bytes};
  p.keys = capacity;
  p.fpr = sizing::classic_fpr_expected(capacity, p.shape.bits, p.shape.probes);
  return p;
}

[[noreturn]] void throw_bad_digest(std::string_view field, std::uint64_t value,
                                   std::string_view limit) {
  throw error(errc::corrupt, "the cache digest is damaged: " + std::string(field) + " is " +
                                 std::to_string(value) + ", but it must be " + std::string(limit));
}

}  // namespace

struct cache_digest::fields {
  std::uint64_t capacity = 0;
  std::uint64_t entries = 0;
  std::uint64_t deleted = 0;
  std::uint64_t mask_bytes = 0;
  std::uint32_t bits_per_entry = usual_bits_per_entry;
  std::uint32_t version = digest_version;
  std::uint32_t required_version = oldest_digest_version;

  static fields of_new(std::uint64_t capacity, std::uint32_t bits_per_entry) {
    if (bits_per_entry < 1 || bits_per_entry > most_bits_per_entry) {
      detail::throw_bad_argument("the number of bits an entry", std::uint64_t{bits_per_entry},
                                 "from 1 to 127");
    }
    if (!fits_mask(capacity, bits_per_entry)) {
      detail::throw_bad_argument("the capacity", capacity,
                                 "from 1 to " + std::to_string(most_digest_bits / bits_per_entry) +
                                     " with " + std::to_string(bits_per_entry) + " bits an entry");
    }
    return {.capacity = capacity,
            .mask_bytes = mask_bytes_of(capacity, bits_per_entry),
            .bits_per_entry = bits_per_entry};
  }

  // Squid computes the bytes of the mask from capacity and bits an entry and compares, so these
  // must be two that give the bytes of our mask. Up to 8 bits an entry some capacity does.
  static fields of_filter(const digest_view& f) {
    const shape& s = f.shape();
    if (s.probes != cache_digest_probes) {
      throw error(errc::mismatch,
                  "a cache digest has 4 probes, but the filter has " + std::to_string(s.probes));
    }
    if (s.bits % 8 != 0 || s.bits > most_digest_bits) {
      throw error(errc::mismatch, "a cache digest has whole bytes, at most " +
                                      std::to_string(most_digest_bits) +
                                      " bits, and positions are modulo its size; the filter has " +
                                      std::to_string(s.bits) + " bits");
    }
    const std::uint64_t mask = s.bits / 8;
    const std::uint64_t planned = f.planned().keys;
    const auto fields_with = [&](std::uint64_t room, std::uint64_t each) {
      return fields{.capacity = room,
                    .entries = f.keys(),
                    .mask_bytes = mask,
                    .bits_per_entry = static_cast<std::uint32_t>(each)};
    };
    const auto leads_there = [&](std::uint64_t room, std::uint64_t each) {
      return fits_mask(room, each) && mask_bytes_of(room, each) == mask;
    };
    std::uint64_t bits = usual_bits_per_entry;
    if (leads_there(planned, bits)) return fields_with(planned, bits);
    if (planned != 0) {
      bits = std::clamp<std::uint64_t>(s.bits / planned, 1, most_bits_per_entry);
      if (leads_there(planned, bits)) return fields_with(planned, bits);
    }
    while (!leads_there(s.bits / bits, bits)) --bits;
    return fields_with(s.bits / bits, bits);
  }
};

cache_digest::cache_digest(const fields& f)
    : filter_(digest_plan_of(f.capacity, f.mask_bytes)),
      deleted_(f.deleted),
      bits_per_entry_(f.bits_per_entry),
      version_(f.version),
      required_version_(f.required_version) {
  filter_.set_keys(f.entries);
}

cache_digest::cache_digest(std::uint64_t capacity, std::uint32_t bits_per_entry)
    : cache_digest(fields::of_new(capacity, bits_per_entry)) {}

cache_digest::cache_digest(const digest_view& filter) : cache_digest(fields::of_filter(filter)) {
  std::ranges::copy(filter.words(), filter_.mutable_words().begin());
}

cache_digest::fields cache_digest::read_fields(std::span<const std::byte> header) {
  if (header.size() < cache_digest_header_bytes) {
    throw_bad_digest("its length", header.size(), "at least 128 bytes");
  }
  const auto number = [&](std::size_t at, std::size_t size) {
    return big_endian_at(header, at, size);
  };
  const fields f{.capacity = number(4, 4),
                 .entries = number(8, 4),
                 .deleted = number(12, 4),
                 .mask_bytes = number(16, 4),
                 .bits_per_entry = static_cast<std::uint32_t>(number(20, 1)),
                 .version = static_cast<std::uint32_t>(number(0, 2)),
                 .required_version = static_cast<std::uint32_t>(number(2, 2))};
  // What is newer and says that version 5 can read it may use the bytes that are 0 in version 5.
  if (f.required_version > digest_version) {
    throw error(errc::unsupported, "this is no cache digest, or one for readers of version " +
                                       std::to_string(f.required_version) +
                                       " and newer; this program reads version 5");
  }
  if (f.version < oldest_digest_version || f.version > INT16_MAX) {
    throw_bad_digest("its version", f.version, "at least 3");
  }
  if (number(21, 1) != cache_digest_probes) {
    throw_bad_digest("its number of hash functions", number(21, 1), "4");
  }
  if (f.bits_per_entry < 1 || f.bits_per_entry > most_bits_per_entry) {
    throw_bad_digest("its number of bits an entry", f.bits_per_entry, "from 1 to 127");
  }
  if (!fits_mask(f.capacity, f.bits_per_entry)) {
    throw_bad_digest("its capacity", f.capacity,
                     "from 1 to " + std::to_string(most_digest_bits / f.bits_per_entry));
  }
  if (f.entries > INT32_MAX) throw_bad_digest("its number of entries", f.entries, "below 2^31");
  if (f.deleted > INT32_MAX) {
    throw_bad_digest("its number of deleted entries", f.deleted, "below 2^31");
  }
  if (const std::uint64_t mask = mask_bytes_of(f.capacity, f.bits_per_entry);
      f.mask_bytes != mask) {
    throw_bad_digest("the length of its mask", f.mask_bytes,
                     std::to_string(mask) + " by its capacity");
  }
  return f;
}

std::uint64_t cache_digest::bytes_of(std::span<const std::byte> header) {
  return cache_digest_header_bytes + read_fields(header).mask_bytes;
}

cache_digest cache_digest::parse(std::span<const std::byte> bytes) {
  const fields f = read_fields(bytes);
  const std::uint64_t length = cache_digest_header_bytes + f.mask_bytes;
  if (bytes.size() != length) {
    throw_bad_digest("its length", bytes.size(), std::to_string(length) + " by its control block");
  }
  cache_digest parsed(f);
  std::memcpy(parsed.filter_.mutable_words().data(), bytes.data() + cache_digest_header_bytes,
              f.mask_bytes);
  return parsed;
}

void cache_digest::add(const digest& key) noexcept { filter_.add(key); }

std::vector<std::byte> cache_digest::bytes() const {
  std::vector<std::byte> out(cache_digest_header_bytes + mask_bytes());
  const auto put = [&](std::size_t at, std::size_t size, std::uint64_t value) {
    put_big_endian(std::span(out).subspan(at, size), value);
  };
  put(0, 2, version_);
  put(2, 2, required_version_);
  put(4, 4, capacity());
  put(8, 4, std::min<std::uint64_t>(entries(), INT32_MAX));
  put(12, 4, deleted_);
  put(16, 4, mask_bytes());
  put(20, 1, bits_per_entry_);
  put(21, 1, cache_digest_probes);
  // Words are little-endian in memory on every machine, so these are the bytes of the mask.
  std::memcpy(out.data() + cache_digest_header_bytes, filter_.words().data(), mask_bytes());
  return out;
}

}  // namespace bloomery
