// BF.RESERVE, and how filters are created.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "bloom.hpp"
#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "settings.hpp"

namespace bloomery_redis {

namespace {

using bloomery::filter_kind;
namespace sizing = bloomery::sizing;

constexpr std::uint64_t most_capacity = std::uint64_t{1} << 30U;
constexpr std::uint64_t most_expansion = 32768;
constexpr std::uint32_t most_generations = 63;
constexpr double milliseconds = 1000;

// A filter that grows starts with room for this many keys, in about 1 kB, whatever was asked for.
constexpr std::uint64_t least_keys = 640;
constexpr std::uint64_t few_keys = 1024;

// The library's growth factors: by how much the whole filter is multiplied when it grows.
constexpr std::uint32_t least_growth = 2;
constexpr std::uint32_t most_growth = 16;

// Blocks of one line have no smaller rates. A filter that grows deals its rate out to 16 layers.
constexpr double least_blocked_rate = 1e-9;
constexpr double least_growing_rate = 16 * least_blocked_rate;

sizing::request request_for(const bloom_spec& spec) {
  sizing::request r{.kind = filter_kind::blocked, .keys = spec.capacity, .fpr = spec.error};
  if (spec.counting) {
    r.kind = filter_kind::counting;
    r.block_bits = bloomery::bits_per_block;
  } else if (spec.window != 0) {
    r.kind = filter_kind::windowed;
    r.variant = spec.generations;
  } else if (spec.expansion != 0) {
    // A client that asks for few keys, or does not say how many, does not know how many will come.
    const bool unknown = spec.capacity <= few_keys;
    r.kind = filter_kind::layered;
    r.growth = unknown ? bloomery::growth_rule::steep : bloomery::growth_rule::reserved;
    r.keys = std::max(spec.capacity, least_keys);
    r.variant = std::clamp(static_cast<std::uint32_t>(spec.expansion), least_growth, most_growth);
  } else if (spec.error < least_blocked_rate && spec.shard.whole()) {
    r.kind = filter_kind::classic;
  }
  return r;
}

// Of a filter of a fixed size, by a hash of 64 bits.
double least_fixed_rate(const bloom_spec& spec) {
  return static_cast<double>(spec.capacity) * 0x1p-60;
}

// What other modules allow and we do not. Who reads their append-only file, or follows their
// server, cannot refuse it: the items that come next would go to a filter of the default rate.
bloom_spec as_near_as_possible(bloom_spec spec) {
  if (spec.expansion != 0) spec.capacity = std::min(spec.capacity, most_capacity);
  const double least = spec.expansion != 0 ? least_growing_rate : least_fixed_rate(spec);
  spec.error = std::max(spec.error, least);
  return spec;
}

bloomery::plan plan_for(const bloom_spec& spec) {
  try {
    return sizing::make_plan(request_for(spec));
  } catch (const bloomery::error& e) {
    if (e.code() == bloomery::errc::no_memory) throw;
    throw refusal("ERR the error rate " + bloomery::detail::to_text(spec.error) +
                  " is too small: a filter that grows can have " +
                  bloomery::detail::to_text(least_growing_rate) + ", a NONSCALING one of " +
                  std::to_string(spec.capacity) + " items " +
                  bloomery::detail::to_text(least_fixed_rate(spec)));
  }
}

std::uint64_t read_window(const call& c, std::size_t i) {
  const auto seconds = i < c.size() ? c.real(i) : std::nullopt;
  if (!seconds) throw refusal("ERR bad window");
  if (!(*seconds >= 0.1 && *seconds <= 1e9)) {
    throw refusal("ERR window must be in the range [0.1, 1000000000] seconds");
  }
  return static_cast<std::uint64_t>(std::llround(*seconds * milliseconds));
}

std::uint32_t read_generations(const call& c, std::size_t i) {
  const auto n = i < c.size() ? c.integer(i) : std::nullopt;
  if (!n || *n < 1 || *n > static_cast<long long>(most_generations)) {
    throw refusal("ERR generations must be in the range [1, 63]");
  }
  return static_cast<std::uint32_t>(*n);
}

void read_options(const call& c, std::size_t first, bloom_spec& spec) {
  bool fixed = false;
  bool expands = false;
  for (std::size_t i = first; i < c.size(); ++i) {
    if (c.is(i, "EXPANSION")) {
      if (++i >= c.size()) throw refusal("ERR no expansion");
      if (!c.integer(i)) throw refusal("ERR bad expansion");
      const auto n = read_expansion(c, i);
      if (!n) throw refusal("ERR expansion must be in the range [0, 32768]");
      spec.expansion = *n;
      expands = *n != 0;
    } else if (c.is(i, "NONSCALING")) {
      fixed = true;
    } else if (c.is(i, "COUNTING")) {
      spec.counting = true;
    } else if (c.is(i, "WINDOW")) {
      spec.window = read_window(c, ++i);
    } else if (c.is(i, "GENERATIONS")) {
      spec.generations = read_generations(c, ++i);
    } else if (c.is(i, "SHARD")) {
      spec.shard = read_shard(c, i + 1);
      i += 2;
    } else {
      throw refusal("ERR unknown argument");
    }
  }
  if (spec.counting && spec.window != 0) {
    throw refusal("ERR a filter has either COUNTING or WINDOW");
  }
  if (!spec.shard.whole() && (spec.counting || spec.window != 0)) {
    throw refusal("ERR a shard has neither COUNTING nor WINDOW");
  }
  fixed |= spec.counting || spec.window != 0 || !spec.shard.whole();
  if (fixed && expands) throw refusal("Nonscaling filters cannot expand");
  if (fixed) spec.expansion = 0;
}

bloom_spec read_reserve(const call& c) {
  bloom_spec spec;
  const auto error = c.real(2);
  if (!error) throw refusal("ERR bad error rate");
  if (!(*error > 0 && *error < 1)) {
    throw refusal("ERR error rate must be in the range (0.000000, 1.000000)");
  }
  spec.error = *error;
  if (!c.integer(3)) throw refusal("ERR bad capacity");
  const auto capacity = read_capacity(c, 3);
  if (!capacity) throw refusal("ERR capacity must be in the range [1, 1073741824]");
  spec.capacity = *capacity;
  spec.expansion = current_settings().expansion;
  read_options(c, 4, spec);
  return spec;
}

}  // namespace

std::optional<std::uint64_t> read_capacity(const call& c, std::size_t i) {
  const auto n = c.integer(i);
  if (!n || *n < 1) return std::nullopt;
  const auto capacity = static_cast<std::uint64_t>(*n);
  if (capacity > most_capacity && !c.is_replayed()) return std::nullopt;
  return capacity;
}

std::optional<std::uint64_t> read_expansion(const call& c, std::size_t i) {
  const auto n = c.integer(i);
  if (!n || *n < 0) return std::nullopt;
  const auto expansion = static_cast<std::uint64_t>(*n);
  if (expansion > most_expansion && !c.is_replayed()) return std::nullopt;
  return std::min(expansion, most_expansion);
}

bloom_spec default_spec() {
  const settings& s = current_settings();
  return {.error = s.error_rate, .capacity = s.initial_size, .expansion = s.expansion};
}

void check_room(const call& c, const bloom_spec& spec) {
  const std::uint64_t bytes = plan_for(spec).shape.bits / 8;
  check_memory(c.ctx, bytes, bytes);
}

// Small, because nobody knows whether anything will be added, with half of the other's rate. So all
// together stay below one and a half times what was asked for.
dumped adopt_bloom(std::unique_ptr<bloomery::foreign::value> from) {
  const auto& old = static_cast<const bloomery::foreign::bloom_layers&>(*from);
  const std::uint64_t left = old.capacity() - std::min(old.capacity(), old.items());
  const bloom_spec spec{.error = std::clamp(old.error() / 2, 2 * least_growing_rate, 0.1)};
  const std::uint64_t expansion = std::min(old.expansion(), most_expansion);
  return {.filter = bloomery::any_filter(plan_for(spec), default_hash()),
          .facts = {expansion == 0 ? left : old.capacity(), expansion},
          .foreign = std::move(from)};
}

std::unique_ptr<value> make_bloom(const call& c, const bloom_spec& spec) {
  bloomery::plan p = plan_for(c.is_replayed() ? as_near_as_possible(spec) : spec);
  p.shape.shard = spec.shard;
  check_memory(c.ctx, p.shape.bits / 8, p.shape.bits / 8);
  auto v = std::make_unique<value>(bloomery::any_filter(p, default_hash()),
                                   fact_list{spec.capacity, spec.expansion}, bloom_family);
  if (spec.window != 0) {
    // A whole number of milliseconds for each generation, which are the steps of keep_time.
    const std::uint64_t step = (spec.window + spec.generations - 1) / spec.generations;
    v->facts()[2] = step * spec.generations;
    v->facts()[3] = spec.generations;
    v->facts()[5] = 1;
    v->filter()->set_window(v->facts()[2]);
  }
  return v;
}

void replicate_reserve(const call& c, const bloom_spec& spec) {
  const std::string error = bloomery::detail::to_text(spec.error);
  const auto capacity = static_cast<long long>(spec.capacity);
  if (spec.counting) {
    api::Replicate(c.ctx, "BF.RESERVE", "sclc", c.args[1], error.c_str(), capacity, "COUNTING");
  } else if (spec.window != 0) {
    const std::string window =
        bloomery::detail::to_text(static_cast<double>(spec.window) / milliseconds);
    api::Replicate(c.ctx, "BF.RESERVE", "sclcccl", c.args[1], error.c_str(), capacity, "WINDOW",
                   window.c_str(), "GENERATIONS", static_cast<long long>(spec.generations));
  } else if (!spec.shard.whole()) {
    api::Replicate(c.ctx, "BF.RESERVE", "sclcll", c.args[1], error.c_str(), capacity, "SHARD",
                   static_cast<long long>(spec.shard.index),
                   static_cast<long long>(spec.shard.count));
  } else {
    api::Replicate(c.ctx, "BF.RESERVE", "sclcl", c.args[1], error.c_str(), capacity, "EXPANSION",
                   static_cast<long long>(spec.expansion));
  }
}

void bloom::reserve(const call& c) {
  const bloom_spec spec = read_reserve(c);
  opened_key key(c, 1, api::read_write);
  if (key.find_or_refuse(bloom_family) != nullptr) throw refusal("ERR item exists");
  value& v = key.set(make_bloom(c, spec));
  replicate_reserve(c, spec);
  changed(c, 1, v, "bf.reserve");
  reply_ok(c);
}

}  // namespace bloomery_redis
