// The family TOPK: the most frequent items, by HeavyKeeper sketches. facts[0] is the decay that was
// asked for, as the bits of a double: the sketch itself has none above 0.99.
//
// A list of another module names its items, so it becomes one of ours with the same counts. What
// that module knew of items that are not listed is lost.
#include "bloomery/sketch/top_k.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing_sketch.hpp"
#include "bloomery/foreign/filters.hpp"
#include "command.hpp"
#include "families.hpp"
#include "settings.hpp"

namespace bloomery_redis {

namespace {

using bloomery::filter_kind;
using bloomery::top_k;

constexpr std::array top_k_kinds = {filter_kind::top_k};
constexpr std::array top_k_origins = {bloomery::foreign::origin::redisbloom_top};
constexpr const char* missing = "TopK: key does not exist";
constexpr long long most_k = 1LL << 20U;
constexpr double least_decay = 0x1p-32;
constexpr double most_decay = 0.99;

bool is_decay(double decay) { return decay > 0 && decay <= 1; }
double decay_of(const value& v) { return std::bit_cast<double>(v.facts()[0]); }

void settle(fact_list& facts, bloomery::any_filter& f);
dumped adopt(std::unique_ptr<bloomery::foreign::value> from);

family top_k_family = {.type_name = "blmrytk01",
                       .load_command = "TOPK.LOADCHUNK",
                       .kinds = top_k_kinds,
                       .settle = settle,
                       .origins = top_k_origins,
                       .adopt = adopt,
                       .absorbs = true};

void settle(fact_list& facts, bloomery::any_filter& f) {
  if (facts[0] == 0) {  // from elsewhere
    facts[0] = std::bit_cast<std::uint64_t>(f.get_if<top_k>()->decay_ratio() * 0x1p-32);
  }
  if (!is_decay(std::bit_cast<double>(facts[0]))) {
    throw bloomery::error(bloomery::errc::corrupt, "the sketch has no decay");
  }
}

// ---- made

struct top_k_spec {
  std::uint32_t k = 0;
  std::uint64_t width = 8;
  std::uint32_t depth = 7;
  double decay = 0.9;
};

dumped adopt(std::unique_ptr<bloomery::foreign::value> from) {
  const auto& old = static_cast<const bloomery::foreign::top_list&>(*from);
  return {.filter = bloomery::foreign::to_filter(old, default_hash()),
          .facts = {std::bit_cast<std::uint64_t>(old.decay())},
          .foreign = std::move(from)};
}

long long read_number(const call& c, std::size_t i, long long most, const char* otherwise) {
  const auto n = c.integer(i);
  if (n && *n > most && c.is_replayed()) return most;  // other modules have more
  if (!n || *n < 1 || *n > most) throw refusal(otherwise);
  return *n;
}

top_k_spec read_reserve(const call& c) {
  top_k_spec spec;
  spec.k = static_cast<std::uint32_t>(read_number(c, 2, most_k, "TopK: invalid k"));
  if (c.size() == 3) return spec;
  constexpr long long most_width = std::numeric_limits<std::uint32_t>::max();
  constexpr long long most_depth = bloomery::max_probes;
  spec.width = static_cast<std::uint64_t>(read_number(c, 3, most_width, "TopK: invalid width"));
  spec.depth = static_cast<std::uint32_t>(read_number(c, 4, most_depth, "TopK: invalid depth"));
  const auto decay = c.real(5);
  if (!decay || !is_decay(*decay)) {
    throw refusal("TopK: invalid decay value. must be '<= 1' & '> 0'");
  }
  spec.decay = *decay;
  return spec;
}

void reserve(const call& c) {
  if (c.size() != 3 && c.size() != 6) {
    api::WrongArity(c.ctx);
    return;
  }
  opened_key key(c, 1, api::read_write);
  if (!key.empty()) throw refusal("TopK: key already exists");
  const top_k_spec spec = read_reserve(c);
  const bloomery::plan p = {.shape = bloomery::sizing::top_k_shape(spec.k, spec.depth, spec.width)};
  check_memory(c.ctx, p.shape.bits / 8, p.shape.bits / 8);
  bloomery::any_filter sketch(p, default_hash());
  sketch.get_if<top_k>()->set_decay(std::clamp(spec.decay, least_decay, most_decay));
  value& v = key.set(std::make_unique<value>(
      std::move(sketch), fact_list{std::bit_cast<std::uint64_t>(spec.decay)}, top_k_family));
  api::ReplicateVerbatim(c.ctx);
  changed(c, 1, v, "topk.reserve");
  reply_ok(c);
}

// ---- counted

// The random state is part of a sketch, so the same commands give the same sketch on a replica.
// `wrong` is the error reply that ends the array, if there is one. Replicas hear of what comes
// before it alone: a master that sends a command which they refuse looks like damage to them.
void add_counted(const call& c, std::span<const std::string_view> items,
                 std::span<const std::uint64_t> counts, const char* event,
                 const char* wrong = nullptr) {
  opened_key key(c, 1, api::read_write);
  value& v = key.get(top_k_family, missing);
  std::size_t bytes = 0;  // that the list may grow by
  for (const std::string_view item : items) bytes += item.size();
  constexpr std::size_t small = std::size_t{1} << 20U;
  if (bytes >= small) check_memory(c.ctx, v.bytes() + bytes, bytes);
  std::vector<std::optional<std::string>> dropped(items.size());
  filter_as<top_k>(v).add_batch(items, hashes_of(v, items), counts, dropped);
  if (!items.empty()) {
    if (wrong == nullptr) {
      api::ReplicateVerbatim(c.ctx);
    } else {
      api::Replicate(c.ctx, "TOPK.INCRBY", "sv", c.args[1], c.args.data() + 2, 2 * items.size());
    }
    changed(c, 1, v, event);
  }
  api::ReplyWithArray(c.ctx, static_cast<long>(dropped.size() + (wrong != nullptr ? 1 : 0)));
  for (const auto& item : dropped) {
    if (item) {
      reply_text(c, *item);
    } else {
      api::ReplyWithNull(c.ctx);
    }
  }
  if (wrong != nullptr) api::ReplyWithError(c.ctx, wrong);
}

void add(const call& c) {
  const auto items = c.items(2);
  add_counted(c, items, std::vector<std::uint64_t>(items.size(), 1), "topk.add");
}

void incrby(const call& c) {
  if (c.size() % 2 != 0) {
    api::WrongArity(c.ctx);
    return;
  }
  std::vector<std::string_view> items;
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 2; i < c.size(); i += 2) {
    constexpr long long most = 100'000;
    const auto n = c.integer(i + 1);
    if (!n || *n < 0 || *n > most) {  // what comes before it is counted
      add_counted(c, items, counts, "topk.incrby",
                  "TopK: increment must be an integer greater or equal to 0 and smaller or equal "
                  "to 100,000");
      return;
    }
    items.push_back(c.text(i));
    counts.push_back(static_cast<std::uint64_t>(*n));
  }
  add_counted(c, items, counts, "topk.incrby");
}

// ---- asked

void query(const call& c) {
  static std::vector<std::uint64_t> bitmap;
  opened_key key(c, 1, api::read_only);
  const value& v = key.get(top_k_family, missing);
  const auto items = c.items(2);
  bitmap.assign(items.size() / 64 + 1, 0);
  v.filter().contains_bits(items, bitmap);
  reply_bits(c, bitmap, items.size());
}

void count(const call& c) {
  static std::vector<std::uint64_t> counts;
  opened_key key(c, 1, api::read_only);
  const value& v = key.get(top_k_family, missing);
  const auto items = c.items(2);
  counts.resize(items.size());
  v.filter().count(items, counts);
  api::ReplyWithArray(c.ctx, static_cast<long>(counts.size()));
  for (const std::uint64_t n : counts) reply_number(c, n);
}

void list(const call& c) {
  if (c.size() > 3) {
    api::WrongArity(c.ctx);
    return;
  }
  opened_key key(c, 1, api::read_only);
  const value& v = key.get(top_k_family, missing);
  const bool with_counts = c.size() == 3;
  if (with_counts && !c.is(2, "WITHCOUNT")) throw refusal("WITHCOUNT keyword expected");
  const auto entries = filter_as<top_k>(v).entries();
  api::ReplyWithArray(c.ctx, static_cast<long>(entries.size() * (with_counts ? 2 : 1)));
  for (const bloomery::top_k_entry& e : entries) {
    reply_text(c, e.key);
    if (with_counts) reply_number(c, e.count);
  }
}

void info(const call& c) {
  opened_key key(c, 1, api::read_only);
  const value& v = key.get(top_k_family, missing);
  const top_k& s = filter_as<top_k>(v);
  const std::array<named_number, 3> numbers = {
      {{"k", s.k()}, {"width", s.width()}, {"depth", s.depth()}}};
  api::ReplyWithMap(c.ctx, static_cast<long>(numbers.size() + 1));
  for (const named_number& n : numbers) {
    api::ReplyWithSimpleString(c.ctx, n.name);
    reply_number(c, n.number);
  }
  api::ReplyWithSimpleString(c.ctx, "decay");
  reply_rate(c, decay_of(v));
}

using pieces = pieces_of<top_k_family, sketch_texts>;

}  // namespace

bool create_top_k_commands(api::ctx* c) {
  const std::array commands = {
      make_command<reserve, -3>("topk.reserve", writes_fast,
                                "Makes a list of the most frequent items"),
      make_command<add, -3>("topk.add", writes_fast,
                            "Counts items once, and tells which they expel"),
      make_command<incrby, -4>("topk.incrby", writes_fast, "Counts items so often each"),
      make_command<query, -3>("topk.query", reads, "Which items are listed"),
      make_command<count, -3>("topk.count", reads, "How often items came, about"),
      make_command<list, -2>("topk.list", reads_slowly, "The most frequent items"),
      make_command<info, 2>("topk.info", reads, "What a list is"),
      make_command<pieces::scan, 3>("topk.scandump", reads_slowly, "A list in pieces"),
      make_command<pieces::load, 4>("topk.loadchunk", writes, "Takes a piece of SCANDUMP"),
      make_command<pieces::give, 3>("topk.export", reads_slowly, "Pieces of a file for the tool"),
      make_command<pieces::take, 4>("topk.import", writes, "Takes a piece of a file of the tool's"),
  };
  return create_type<top_k_family>(c) &&
         create_foreign_type<top_k_family, 0, top_k_origins[0]>(c) && create_commands(c, commands);
}

}  // namespace bloomery_redis
