// Filters spread over several keys: each key knows which slice of the whole filter it holds, and
// accepts only items of it. Clients compute the shard of an item themselves (docs/redis.md).
#include <string>

#include "bloom.hpp"
#include "bloomery/detail/hash/shard_probe.hpp"

namespace bloomery_redis {

bloomery::shard_number read_shard(const call& c, std::size_t i) {
  const long long index = i < c.size() ? c.integer(i).value_or(-1) : -1;
  const long long count = i + 1 < c.size() ? c.integer(i + 1).value_or(0) : 0;
  if (count < 1 || count > static_cast<long long>(bloomery::max_shards) || index < 0 ||
      index >= count) {
    throw refusal("ERR a shard is a number and how many there are, at most 65536");
  }
  return {.index = static_cast<std::uint32_t>(index), .count = static_cast<std::uint32_t>(count)};
}

void check_own(const value& v, std::span<const std::string_view> items) {
  const bloomery::shard_number& own = v.filter().shape().shard;
  if (own.whole()) return;
  const std::span<const std::uint64_t> hashes = hashes_of(v, items);
  for (const std::uint64_t hash : hashes) {
    const std::uint64_t shard = bloomery::shard_of(hash, own.count);
    if (shard == own.index) continue;
    throw refusal("ERR an item belongs to shard " + std::to_string(shard) + " of " +
                  std::to_string(own.count) + ", not to " + std::to_string(own.index));
  }
}

void bloom::shard(const call& c) {
  opened_key key(c, 1, api::read_only);
  const value& v = key.get(bloom_family);
  const bloomery::shape& s = v.filter().shape();
  const auto number = [&](const char* name, std::uint64_t n) {
    api::ReplyWithSimpleString(c.ctx, name);
    api::ReplyWithLongLong(c.ctx, static_cast<long long>(n));
  };
  const auto text = [&](const char* name, std::string_view t) {
    api::ReplyWithSimpleString(c.ctx, name);
    reply_text(c, t);
  };
  api::ReplyWithMap(c.ctx, 10);
  number("shard", s.shard.index);
  number("shards", s.shard.count);
  text("kind", bloomery::kind_name(s.kind));
  number("bits", s.bits);
  number("probes", s.probes);
  text("hash", bloomery::hash_name(v.filter().hash().id));
  text("seed", std::to_string(v.filter().hash().seed));  // may be more than an integer reply holds
  number("keys", v.filter().keys());
  number("capacity", capacity_of(v));
  text("form", bloomery::form_name(v.filter().hash().form));
}

}  // namespace bloomery_redis
