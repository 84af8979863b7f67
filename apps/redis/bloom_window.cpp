// Filters that forget. A change moves the clock of its filter, and tells replicas and the
// append-only file, which forget the same. A question moves nothing: it leaves out the generations
// that are too old now. So writes may be paused while clients ask, and a replica forgets on time
// though nobody writes to its master.
#include <algorithm>

#include "bloom.hpp"
#include "bloomery/core/error.hpp"

namespace bloomery_redis {

namespace {

using bloomery::windowed_filter;

constexpr std::uint64_t one_minute = 60'000;

std::uint64_t server_time() { return static_cast<std::uint64_t>(api::Milliseconds()); }

// The clock moves by whole generations, so that replicas hear of these and not of every
// millisecond. A window of whole steps keeps keys for at least as long; others move by one.
std::uint64_t step_of(const value& v) {
  return v.facts()[2] % v.facts()[3] == 0 ? v.facts()[2] / v.facts()[3] : 1;
}

std::uint64_t time_of(const value& v) {  // of the server, in steps, in units of the filter
  const std::uint64_t step = step_of(v);
  return server_time() / v.facts()[5] / step * step;
}

}  // namespace

void settle_window(fact_list& facts, bloomery::any_filter& filter) {
  const auto* const f = filter.get_if<windowed_filter>();
  if (f == nullptr || !f->by_time()) {
    std::fill(facts.begin() + 2, facts.end(), 0);
    return;
  }
  facts[2] = f->window();
  facts[3] = f->generations();
  facts[4] = f->now();
  // The tool counts seconds since 1970, and no server's milliseconds are as few.
  constexpr std::uint64_t most_seconds = 100'000'000'000;
  if (facts[5] == 0) facts[5] = f->now() != 0 && f->now() < most_seconds ? 1000 : 1;
  if (facts[5] != 1 && facts[5] != 1000) {
    throw bloomery::error(bloomery::errc::corrupt, "a clock of another unit");
  }
}

// A clock that is ahead forgets nothing until its time comes.
void admit_window(const value& v) {
  if (v.facts()[2] == 0) return;
  const std::uint64_t now = (server_time() + one_minute) / v.facts()[5];
  if (v.facts()[4] > now && v.facts()[4] - now > v.facts()[2]) {
    throw refusal("ERR the clock of the filter is ahead of the server's by more than its window");
  }
}

void keep_time(const call& c, value& v) {
  if (v.facts()[2] == 0 || c.is_replayed()) return;
  const std::uint64_t now = time_of(v);
  if (now <= v.facts()[4]) return;
  v.filter()->advance(now);
  v.facts()[4] = now;
  ++v.changes;
  api::Replicate(c.ctx, "BF.ROTATE", "sl", c.args[1], static_cast<long long>(now * v.facts()[5]));
}

std::optional<bloomery::windowed_view> seen_now(const value& v) {
  if (v.facts()[2] == 0) return std::nullopt;
  bloomery::windowed_view seen = *v.filter().get_if<windowed_filter>();
  seen.advance(time_of(v));
  return seen;
}

void bloom::rotate(const call& c) {
  const auto time = c.integer(2);
  if (!time || *time < 0) throw refusal("ERR bad time");
  opened_key key(c, 1, api::read_write);
  value& v = key.get(bloom_family);
  if (v.facts()[2] == 0) throw refusal("ERR the filter has no window");
  const std::uint64_t now = static_cast<std::uint64_t>(*time) / v.facts()[5];
  if (!c.is_replayed() && now > server_time() / v.facts()[5] + step_of(v)) {
    throw refusal("ERR the time is ahead of the server's by more than a generation");
  }
  if (now > v.facts()[4]) {
    v.filter()->advance(now);
    v.facts()[4] = now;
    changed(c, 1, v, "bf.rotate");
    api::ReplicateVerbatim(c.ctx);
  }
  reply_ok(c);
}

}  // namespace bloomery_redis
