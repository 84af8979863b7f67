#include "cli/redis/spread_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "bloomery/core/sizing.hpp"
#include "bloomery/detail/hash/shard_probe.hpp"

namespace bloomery::cli {

namespace {

using type = redis_reply::type;

constexpr std::size_t most_command_items = 512;              // of one command
constexpr std::size_t most_bytes = std::size_t{256} << 10U;  // of the items of one command
constexpr std::uint64_t largest_shard = std::uint64_t{256}
                                        << 20U;  // bytes; more cannot be moved between nodes easily
constexpr std::uint32_t shards_per_master = 4;

std::optional<std::uint64_t> number_of(const redis_reply& r) {
  if (r.kind == type::integer && r.number >= 0) return static_cast<std::uint64_t>(r.number);
  std::uint64_t n = 0;
  const char* const end = r.text.data() + r.text.size();
  if (r.kind != type::text || r.text.empty() || std::from_chars(r.text.data(), end, n).ptr != end) {
    return std::nullopt;
  }
  return n;
}

std::optional<shard_layout> parse_layout(const redis_reply& r) {  // names and values in turn
  if (r.kind != type::array) return std::nullopt;
  shard_layout l;
  unsigned found = 0;
  for (std::size_t i = 0; i + 1 < r.items.size(); i += 2) {
    const std::string& name = r.items[i].text;
    if (name == "hash") l.hash = r.items[i + 1].text;
    if (name == "form") l.form = form_from_name(r.items[i + 1].text);
    const auto number = number_of(r.items[i + 1]);
    if (!number) continue;
    const auto small = [&](std::uint32_t& to) {
      if (*number > max_shards) return;
      to = static_cast<std::uint32_t>(*number);
      ++found;
    };
    const auto any = [&](std::uint64_t& to) {
      to = *number;
      ++found;
    };
    if (name == "shard") small(l.shard);
    if (name == "shards") small(l.shards);
    if (name == "bits") any(l.bits);
    if (name == "probes") any(l.probes);
    if (name == "seed") any(l.seed);
    if (name == "keys") any(l.keys);
    if (name == "capacity") any(l.capacity);
  }
  const bool sound = found == 7 && l.shards >= 1 && l.shard < l.shards && l.bits != 0;
  return sound ? std::optional(l) : std::nullopt;
}

// The layout of one key; nothing when it does not exist.
std::optional<shard_layout> layout_in(const redis_cluster& cluster, const std::string& key,
                                      const redis_reply& r) {
  if (r.is_error("ERR not found")) return std::nullopt;
  if (r.is_error()) throw_refusal(cluster, key, r);
  auto l = parse_layout(r);
  if (!l) throw error(errc::io, fmt::format("{}: BF.SHARD has another reply than it should", key));
  return l;
}

std::vector<std::string> shard_names(std::string_view name, std::uint32_t shards) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < shards; ++i) names.push_back(shard_key(name, i));
  return names;
}

std::vector<redis_command> shard_commands(std::span<const std::string> names) {
  std::vector<redis_command> commands;
  for (const std::string& name : names) commands.push_back({.words = {"BF.SHARD", name}});
  return commands;
}

// Throws unless all keys are shards of the first one's filter. Returns how many items they hold.
std::uint64_t check_shards(redis_cluster& cluster, std::span<const std::string> names,
                           const shard_layout& layout) {
  std::uint64_t keys = 0;
  cluster.run(shard_commands(names), [&](std::size_t i, redis_reply& r) {
    const auto l = layout_in(cluster, names[i], r);
    if (!l) {
      throw error(errc::io, fmt::format("{}: this shard is missing; without it there are no "
                                        "answers: restore it, or make the filter anew",
                                        names[i]));
    }
    if (l->shard != i || !l->of_one_filter(layout)) {
      throw error(
          errc::mismatch,
          fmt::format("{} is no shard of the filter that {} belongs to; delete the keys, or "
                      "use another name",
                      names[i], names[0]));
    }
    keys += l->keys;
  });
  return keys;
}

// Items come to shards at random, so each has room for six standard deviations above the mean.
std::uint64_t capacity_for(const spread_request& r) {
  const double mean = std::ceil(static_cast<double>(r.keys) / r.shards);
  const double room = r.shards == 1 ? 0 : std::ceil(6 * std::sqrt(mean));
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(mean + room));
}

std::uint32_t shards_for(redis_cluster& cluster, const spread_request& r) {
  const plan p = sizing::make_plan({.keys = std::max<std::uint64_t>(1, r.keys), .fpr = r.fpr});
  const std::uint64_t by_size = p.shape.bits / 8 / largest_shard + 1;
  const std::size_t masters = cluster.masters();
  const std::uint64_t by_nodes = masters == 1 ? 1 : masters * shards_per_master;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::max(by_size, by_nodes), max_shards));
}

}  // namespace

std::string shard_key(std::string_view name, std::uint32_t index) {
  return fmt::format("{}/{}", name, index);
}

bool shard_layout::of_one_filter(const shard_layout& other) const {
  return shards == other.shards && bits == other.bits && probes == other.probes &&
         seed == other.seed && hash == other.hash;
}

std::optional<shard_layout> find_shards(redis_cluster& cluster, const std::string& name) {
  auto alone = layout_in(cluster, name, cluster.run({.words = {"BF.SHARD", name}}));
  if (alone) {
    alone->alone = true;
    return alone;
  }
  const std::string first = shard_key(name, 0);
  return layout_in(cluster, first, cluster.run({.words = {"BF.SHARD", first}}));
}

void throw_refusal(const redis_cluster& cluster, std::string_view key, const redis_reply& r) {
  std::string advice;
  if (r.is_error("ERR unknown command")) {
    advice = "; the server needs the module bloomery.so";
  } else if (r.is_error("ERR non scaling filter is full")) {
    advice = "; make the filter anew under another name, with a larger --keys";
  } else if (r.is_error("ERR item exists")) {
    advice = "; delete the key first, or push with --replace";
  } else if (r.is_error("NOAUTH")) {
    advice = "; put the password into the URL or into $REDISCLI_AUTH";
  }
  throw error(errc::io, fmt::format("{}: {}: {}{}", cluster.where().server.text(), key,
                                    r.is_error() ? r.text : "a reply of another type", advice));
}

spread_filter::spread_filter(std::string name, const shard_layout& layout)
    : name_(std::move(name)), layout_(layout), names_(shard_names(name_, layout.shards)) {
  if (layout.hash != "xxh3") {
    throw error(errc::unsupported,
                fmt::format("{}: it was made with the hash {}; only xxh3 can be spread", name_,
                            layout.hash));
  }
  hash_ = erase(xxh3_hasher(layout.seed));
}

std::optional<spread_filter> spread_filter::open(redis_cluster& cluster, const std::string& name) {
  const std::string first = shard_key(name, 0);
  const auto layout = layout_in(cluster, first, cluster.run({.words = {"BF.SHARD", first}}));
  if (!layout) return std::nullopt;
  spread_filter f(name, *layout);
  f.keys_ = check_shards(cluster, f.names_, *layout);
  return f;
}

spread_filter spread_filter::create(redis_cluster& cluster, const std::string& name,
                                    const spread_request& wanted) {
  spread_request r = wanted;
  if (r.shards == 0) r.shards = shards_for(cluster, r);
  const std::vector<std::string> names = shard_names(name, r.shards);
  const std::string capacity = std::to_string(capacity_for(r));
  const std::string rate = fmt::format("{}", r.fpr);
  const std::string count = std::to_string(r.shards);
  std::vector<std::string> numbers;
  for (std::uint32_t i = 0; i < r.shards; ++i) numbers.push_back(std::to_string(i));
  std::vector<redis_command> commands;
  for (std::uint32_t i = 0; i < r.shards; ++i) {
    commands.push_back({.words = {"BF.RESERVE", names[i], rate, capacity, "NONSCALING", "SHARD",
                                  numbers[i], count},
                        .writes = true});
  }
  const auto make = [&](std::size_t from, std::size_t to) {
    const auto some = std::span(commands).subspan(from, to - from);
    cluster.run(some, [&](std::size_t i, redis_reply& answer) {
      // Another client may have made it, or this one before a failover; it is checked later.
      if (answer.is_error() && !answer.is_error("ERR item exists")) {
        throw_refusal(cluster, names[from + i], answer);
      }
    });
  };
  make(1, commands.size());
  make(0, 1);
  auto f = open(cluster, name);
  if (!f) throw error(errc::io, fmt::format("{}: it is gone again", names[0]));
  return *std::move(f);
}

struct spread_filter::batch {  // the items of one command, and their indexes among all
  redis_command command;
  std::vector<std::size_t> places;
};

std::vector<spread_filter::batch> spread_filter::batches(
    std::span<const std::string_view> items, std::span<const std::string_view> before) const {
  std::vector<std::uint64_t> hashes(items.size());
  hash_->hash(items, hashes);
  std::vector<batch> full;
  std::vector<batch> open(layout_.shards);
  std::vector<std::size_t> bytes(layout_.shards);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto shard = static_cast<std::size_t>(shard_of(hashes[i], layout_.shards));
    batch& b = open[shard];
    if (b.places.size() == most_command_items || bytes[shard] > most_bytes) {
      full.push_back(std::exchange(b, {}));
      bytes[shard] = 0;
    }
    if (b.places.empty()) {
      b.command.words.assign(before.begin(), before.end());
      b.command.words[1] = names_[shard];
    }
    b.command.words.push_back(items[i]);
    b.places.push_back(i);
    bytes[shard] += items[i].size();
  }
  for (batch& b : open) {
    if (!b.places.empty()) full.push_back(std::move(b));
  }
  return full;
}

namespace {

// Calls each(place, value) for the numbers of a reply, which must have one for each item.
template <class Batch, class Each>
void read_numbers(const redis_cluster& cluster, const Batch& b, const redis_reply& r, Each each) {
  const std::string_view key = b.command.words[1];
  if (r.kind != type::array) throw_refusal(cluster, key, r);
  for (const redis_reply& item : r.items) {
    if (item.is_error()) throw_refusal(cluster, key, item);
  }
  if (r.items.size() != b.places.size()) {
    throw error(errc::io,
                fmt::format("{}: {} replies to {} items", key, r.items.size(), b.places.size()));
  }
  for (std::size_t i = 0; i < r.items.size(); ++i) {
    if (r.items[i].kind != type::integer) throw_refusal(cluster, key, r.items[i]);
    each(b.places[i], r.items[i].number != 0);
  }
}

template <class Batch>
std::vector<redis_command> commands_of(std::vector<Batch>& all, bool writes) {
  std::vector<redis_command> commands;
  for (Batch& b : all) {
    b.command.writes = writes;
    commands.push_back(b.command);
  }
  return commands;
}

}  // namespace

// Sends BF.INSERT with NOCREATE, not BF.MADD: a deleted shard must not return in another shape.
std::uint64_t spread_filter::add(redis_cluster& cluster,
                                 std::span<const std::string_view> items) const {
  constexpr std::array<std::string_view, 4> before = {"BF.INSERT", "", "NOCREATE", "ITEMS"};
  std::vector<batch> all = batches(items, before);
  std::uint64_t fresh = 0;
  cluster.run(commands_of(all, true), [&](std::size_t i, redis_reply& r) {
    read_numbers(cluster, all[i], r, [&](std::size_t, bool is_new) { fresh += is_new ? 1U : 0U; });
  });
  return fresh;
}

void spread_filter::check(redis_cluster& cluster, std::span<const std::string_view> items,
                          std::span<std::uint64_t> bitmap) const {
  constexpr std::array<std::string_view, 2> before = {"BF.MEXISTS", ""};
  std::ranges::fill(bitmap, 0);
  std::vector<batch> all = batches(items, before);
  cluster.run(commands_of(all, false), [&](std::size_t i, redis_reply& r) {
    read_numbers(cluster, all[i], r, [&](std::size_t place, bool found) {
      bitmap[place / 64] |= std::uint64_t{found} << (place % 64);
    });
  });
}

}  // namespace bloomery::cli
