// The family CMS: how often items occurred, by count-min sketches with counters of 32 bits.
// facts[0] is the width that was asked for: a single row of an odd number of counters has one more.
//
// A sketch that came from another module has its counters beside ours, which are as many. A count
// is the sum of both, and so never too low.
#include "bloomery/sketch/count_min.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <memory>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing_sketch.hpp"
#include "command.hpp"
#include "families.hpp"
#include "job.hpp"
#include "settings.hpp"

namespace bloomery_redis {

namespace {

using bloomery::count_min;
using bloomery::filter_kind;
namespace sizing = bloomery::sizing;

using bloomery::foreign::counter_rows;

constexpr std::array count_min_kinds = {filter_kind::count_min};
constexpr std::array count_min_origins = {bloomery::foreign::origin::redisbloom_counts};
constexpr std::uint32_t counter_bits = 32;
constexpr const char* missing = "CMS: key does not exist";

void settle(fact_list& facts, bloomery::any_filter& f);
dumped adopt(std::unique_ptr<bloomery::foreign::value> from);

family count_min_family = {.type_name = "blmrycm01",
                           .load_command = "CMS.LOADCHUNK",
                           .kinds = count_min_kinds,
                           .settle = settle,
                           .origins = count_min_origins,
                           .adopt = adopt};

void settle(fact_list& facts, bloomery::any_filter& f) {
  const count_min& s = *f.get_if<count_min>();
  if (facts[0] == 0) facts[0] = s.width();  // from elsewhere
  const bool one_more = s.depth() == 1 && s.width() - 1 == facts[0];
  if (facts[0] != s.width() && !one_more) {
    throw bloomery::error(bloomery::errc::corrupt, "the sketch has another width");
  }
}

// ---- made

struct dimensions {
  std::uint64_t width;
  std::uint64_t depth;
};
constexpr std::uint64_t most_rows = bloomery::max_probes;

bloomery::plan plan_of(const dimensions& d) {
  if (d.depth > most_rows) bloomery::detail::throw_bad_argument("the depth", d.depth, "at most 64");
  return {.shape =
              sizing::count_min_shape(d.width, static_cast<std::uint32_t>(d.depth), counter_bits)};
}

dumped adopt(std::unique_ptr<bloomery::foreign::value> from) {
  const auto& old = static_cast<const counter_rows&>(*from);
  const std::uint64_t width = old.width();
  return {.filter = bloomery::any_filter(plan_of({width, old.depth()}), default_hash()),
          .facts = {width},
          .foreign = std::move(from)};
}

std::uint64_t count_old(const value& v, std::string_view item) {  // by another module
  return v.is_foreign() ? v.foreign<counter_rows>()->count(item) : 0;
}

void make(const call& c, dimensions d) {
  opened_key key(c, 1, api::read_write);
  if (c.is_replayed()) d.depth = std::min(d.depth, most_rows);  // other modules have more
  bloomery::plan p;
  try {
    p = plan_of(d);
  } catch (const bloomery::error&) {
    throw refusal("CMS: invalid init arguments");
  }
  check_memory(c.ctx, p.shape.bits / 8, p.shape.bits / 8);
  value& v = key.set(std::make_unique<value>(bloomery::any_filter(p, default_hash()),
                                             fact_list{d.width}, count_min_family));
  api::ReplicateVerbatim(c.ctx);
  changed(c, 1, v, "cms.init");
  reply_ok(c);
}

std::uint64_t read_dimension(const call& c, std::size_t i, const char* otherwise) {
  const auto n = c.integer(i);
  if (!n || *n < 1) throw refusal(otherwise);
  return static_cast<std::uint64_t>(*n);
}

void refuse_existing(const call& c) {
  if (!opened_key(c, 1, api::read_only).empty()) throw refusal("CMS: key already exists");
}

void init_by_dim(const call& c) {
  refuse_existing(c);
  const std::uint64_t width = read_dimension(c, 2, "CMS: invalid width");
  const std::uint64_t depth = read_dimension(c, 3, "CMS: invalid depth");
  make(c, {width, depth});
}

// By Markov's inequality a row's error exceeds 2 / width of the total with probability at most 1/2.
void init_by_prob(const call& c) {
  refuse_existing(c);
  const auto read = [&](std::size_t i, const char* otherwise) {
    const auto x = c.real(i);
    if (!x || !(*x > 0 && *x < 1)) throw refusal(otherwise);
    return *x;
  };
  const double error = read(2, "CMS: invalid overestimation value");
  const double chance = read(3, "CMS: invalid prob value");
  const double width = std::ceil(2 / error);
  if (!(width < 0x1p48)) throw refusal("CMS: invalid init arguments");
  make(c, {static_cast<std::uint64_t>(width),
           static_cast<std::uint64_t>(std::ceil(-std::log2(chance)))});
}

// ---- counted and asked

std::uint64_t read_increment(const call& c, std::size_t i) {
  const auto n = c.integer(i);
  if (!n) throw refusal("CMS: Cannot parse number");
  if (*n < 0) throw refusal("CMS: Number cannot be negative");
  return static_cast<std::uint64_t>(*n);
}

// A master was told of its overflow. Its replicas, which refuse nothing, answer with the count.
void reply_sum(const call& c, const value& v, std::uint64_t most, std::string_view item,
               std::uint64_t counted) {
  const std::uint64_t sum = counted + count_old(v, item);
  if ((counted == most || sum > most) && !c.is_replayed()) {
    api::ReplyWithError(c.ctx, "CMS: INCRBY overflow");
  } else {
    reply_number(c, sum);
  }
}

// Most calls are for one item: without the lists of several.
void incr_one(const call& c) {
  const std::uint64_t by = read_increment(c, 3);
  const std::string_view item = c.text(2);
  const opened_key key(c, 1, api::read_write);
  value& v = key.get(count_min_family, missing);
  const std::uint64_t hash = has_usual_hash(v) ? usual_hash(item) : hashes_of(v, {&item, 1})[0];
  count_min& sketch = filter_as<count_min>(v);
  const std::uint64_t counted = sketch.add_and_count(hash, by);
  api::ReplicateVerbatim(c.ctx);
  changed(c, 1, v, "cms.incrby");
  api::ReplyWithArray(c.ctx, 1);
  reply_sum(c, v, sketch.most_count(), item, counted);
}

void incrby(const call& c) {
  static std::vector<std::string_view> items;
  static std::vector<std::uint64_t> counts;
  static std::vector<std::uint64_t> sums;
  if (c.size() % 2 != 0) {
    api::WrongArity(c.ctx);
    return;
  }
  if (c.size() == 4) {
    incr_one(c);
    return;
  }
  items.clear();
  counts.clear();
  for (std::size_t i = 2; i < c.size(); i += 2) {
    counts.push_back(read_increment(c, i + 1));
    items.push_back(c.text(i));
  }
  opened_key key(c, 1, api::read_write);
  value& v = key.get(count_min_family, missing);
  sums.resize(items.size());
  count_min& sketch = filter_as<count_min>(v);
  sketch.add_and_count(hashes_of(v, items), counts, sums);
  api::ReplicateVerbatim(c.ctx);
  changed(c, 1, v, "cms.incrby");
  api::ReplyWithArray(c.ctx, static_cast<long>(sums.size()));
  const std::uint64_t most = sketch.most_count();
  for (std::size_t i = 0; i < sums.size(); ++i) reply_sum(c, v, most, items[i], sums[i]);
}

void query(const call& c) {
  static std::vector<std::uint64_t> counts;
  opened_key key(c, 1, api::read_only);
  const value& v = key.get(count_min_family, missing);
  const auto items = c.items(2);
  counts.resize(items.size());
  v.filter().count(items, counts);
  api::ReplyWithArray(c.ctx, static_cast<long>(counts.size()));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    reply_number(c, counts[i] + count_old(v, items[i]));
  }
}

// ---- merged

constexpr const char* overflow = "CMS: MERGE overflow";

void check_alike(const value& a, const value& b) {
  if (a.facts()[0] != b.facts()[0] || a.filter().shape() != b.filter().shape()) {
    throw refusal("CMS: width/depth is not equal");
  }
}

std::vector<std::int64_t> read_weights(const call& c) {
  const auto n = c.integer(2);
  if (!n) throw refusal("CMS: invalid numkeys");
  if (*n < 1) throw refusal("CMS: Number of keys must be positive");
  const std::size_t rest = c.size() - 3;
  if (static_cast<std::uint64_t>(*n) > rest) throw refusal("CMS: wrong number of keys");
  const auto keys = static_cast<std::size_t>(*n);
  std::vector<std::int64_t> weights(keys, 1);
  if (keys == rest) return weights;
  if (!c.is(3 + keys, "WEIGHTS")) throw refusal("CMS: wrong number of keys");
  if (rest != 2 * keys + 1) throw refusal("CMS: wrong number of keys/weights");
  for (std::size_t i = 0; i < keys; ++i) {
    const auto weight = c.integer(4 + keys + i);
    if (!weight) throw refusal("CMS: invalid weight value");
    weights[i] = *weight;
  }
  return weights;
}

// The sum of what other modules left in the sources; nothing where there is none.
std::shared_ptr<counter_rows> sum_of_old(std::span<const counter_rows::term> terms) {
  std::shared_ptr<counter_rows> sum = counter_rows::sum(terms);
  const bool any = std::any_of(terms.begin(), terms.end(),
                               [](const counter_rows::term& t) { return t.sketch != nullptr; });
  if (any && sum == nullptr) throw refusal(overflow);
  return sum;
}

void merge_now(const call& c) {
  const std::vector<std::int64_t> weights = read_weights(c);
  opened_key key(c, 1, api::read_write);
  value& v = key.get(count_min_family, missing);
  std::vector<counter_rows::term> old;
  std::deque<opened_key> sources;  // a deque, because an opened_key cannot move
  std::vector<bloomery::weighted_count_min> terms;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const value& source =
        sources.emplace_back(c, 3 + i, api::read_only).get(count_min_family, missing);
    check_alike(v, source);
    terms.push_back({.sketch = &filter_as<count_min>(source), .weight = weights[i]});
    old.push_back({.sketch = source.foreign<counter_rows>(), .weight = weights[i]});
  }
  const auto sum = sum_of_old(old);
  if (!filter_as<count_min>(v).assign_sum(terms)) throw refusal(overflow);
  v.set_foreign(sum);
  replicate(c);
  changed(c, 1, v, "cms.merge");
}

void merge(const call& c) {
  const std::vector<std::int64_t> weights = read_weights(c);
  std::vector<std::shared_ptr<const bloomery::any_filter>> lent;
  std::vector<std::size_t> keys = {1};
  fact_list facts{};
  std::uint64_t bytes = 0;
  bool foreign = false;
  {
    const opened_key key(c, 1, api::read_only);
    const value& v = key.get(count_min_family, missing);
    facts = v.facts();
    foreign = v.is_foreign();
    lent.push_back(v.lend());
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const opened_key from(c, keys.emplace_back(3 + i), api::read_only);
      const value& source = from.get(count_min_family, missing);
      check_alike(v, source);
      bytes += source.bytes();
      foreign = foreign || source.is_foreign();
      lent.push_back(source.lend());
    }
  }
  if (foreign || bytes < slow_bytes || !may_wait(c)) {
    lent.clear();
    merge_now(c);
    reply_ok(c);
    return;
  }
  const auto first = lent.front();
  lent.erase(lent.begin());
  const std::uint64_t one = bytes / weights.size();
  check_memory(c.ctx, bytes, one);
  run_in_thread(
      c, keys,
      {.of = count_min_family,
       .from = first,
       .bytes = one,
       .facts = facts,
       .edit =
           [sources = std::move(lent), weights](bloomery::any_filter& made) {
             std::vector<bloomery::weighted_count_min> terms;
             for (std::size_t i = 0; i < sources.size(); ++i) {
               terms.push_back({.sketch = sources[i]->get_if<count_min>(), .weight = weights[i]});
             }
             if (!made.get_if<count_min>()->assign_sum(terms)) throw refusal(overflow);
           },
       .at_once = merge_now,
       .event = "cms.merge"});
}

void info(const call& c) {
  opened_key key(c, 1, api::read_only);
  const value& v = key.get(count_min_family, missing);
  const std::uint64_t old = v.is_foreign() ? v.foreign<counter_rows>()->total() : 0;
  const std::array<named_number, 3> all = {{{"width", v.facts()[0]},
                                            {"depth", filter_as<count_min>(v).depth()},
                                            {"count", filter_as<count_min>(v).total() + old}}};
  reply_numbers(c, all);
}

using pieces = pieces_of<count_min_family, sketch_texts>;

}  // namespace

bool create_count_min_commands(api::ctx* c) {
  auto merges = make_command<merge, -4>("cms.merge", writes, "Sums up sketches into one");
  merges.counted_keys_at = 2;
  const std::array commands = {
      make_command<init_by_dim, 4>("cms.initbydim", writes_fast, "Makes a sketch of this size"),
      make_command<init_by_prob, 4>("cms.initbyprob", writes_fast,
                                    "Makes a sketch of this accuracy"),
      make_command<incrby, -4>("cms.incrby", writes_fast, "Counts items"),
      make_command<query, -3>("cms.query", reads, "How often items were counted, at most"),
      merges,
      make_command<info, 2>("cms.info", reads, "What a sketch is"),
      make_command<pieces::scan, 3>("cms.scandump", reads_slowly, "A sketch in pieces"),
      make_command<pieces::load, 4>("cms.loadchunk", writes, "Takes a piece of SCANDUMP"),
      make_command<pieces::give, 3>("cms.export", reads_slowly, "Pieces of a file for the tool"),
      make_command<pieces::take, 4>("cms.import", writes, "Takes a piece of a file of the tool's"),
  };
  return create_type<count_min_family>(c) &&
         create_foreign_type<count_min_family, 0, count_min_origins[0]>(c) &&
         create_commands(c, commands);
}

}  // namespace bloomery_redis
