// The family CF: cuckoo filters, from which items can be removed. facts[0] is MAXITERATIONS,
// facts[1] the number of items deleted; how a filter grows is stored in the filter itself.
//
// A filter that came from another module has its layers beside ours: they are asked and removed
// from, and new items go to ours.
#include "bloomery/filter/cuckoo.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "command.hpp"
#include "families.hpp"
#include "job.hpp"
#include "settings.hpp"

namespace bloomery_redis {

namespace {

using bloomery::cuckoo_filter;
using bloomery::filter_kind;

using bloomery::foreign::cuckoo_layers;

constexpr std::array cuckoo_kinds = {filter_kind::cuckoo};
constexpr std::array cuckoo_origins = {bloomery::foreign::origin::redisbloom_cuckoo};
constexpr std::uint64_t most_capacity = std::uint64_t{1} << 30U;
constexpr std::uint64_t most_iterations = 65535;
constexpr std::uint64_t iterations_of_tool = 20;
constexpr std::uint64_t most_expansion = 32768;

// A layer's false-positive rates. Lookups ask every layer: four together match a fixed filter.
constexpr double fixed_rate = 0.01;
constexpr double growing_rate = fixed_rate / 4;

struct cuckoo_spec {
  std::uint64_t capacity = current_settings().cuckoo_size;
  std::uint64_t bucket = current_settings().cuckoo_bucket;
  std::uint64_t iterations = current_settings().cuckoo_iterations;
  std::uint64_t expansion = current_settings().cuckoo_expansion;  // 0 for a fixed size
};

void settle(fact_list& facts, bloomery::any_filter& f);
dumped adopt(std::unique_ptr<bloomery::foreign::value> from);

family cuckoo_family = {.type_name = "blmrycf01",
                        .load_command = "CF.LOADCHUNK",
                        .kinds = cuckoo_kinds,
                        .settle = settle,
                        .origins = cuckoo_origins,
                        .adopt = adopt};

constexpr dump_texts say = {.bad_iterator = "Invalid position",
                            .bad_load_iterator = "Invalid position",
                            .bad_start = "Invalid header",
                            .no_start = "Couldn't load chunk!",
                            .too_long = "Couldn't load chunk!",
                            .ends_with_null = true};
using pieces = pieces_of<cuckoo_family, say>;

void settle(fact_list& facts, bloomery::any_filter& f) {
  if (facts[0] == 0) facts[0] = iterations_of_tool;  // the tool made it
  if (facts[0] > most_iterations) {
    throw bloomery::error(bloomery::errc::corrupt, "more than 65535 iterations");
  }
  f.get_if<cuckoo_filter>()->set_longest_path(static_cast<std::uint32_t>(facts[0]));
}

// ---- made

struct option {
  const char* name;
  std::uint64_t cuckoo_spec::*field;
  std::uint64_t least;
  std::uint64_t most;
};
constexpr std::array<option, 3> options = {{
    {"BUCKETSIZE", &cuckoo_spec::bucket, 1, bloomery::cuckoo_geometry::max_bucket_cells},
    {"MAXITERATIONS", &cuckoo_spec::iterations, 1, most_iterations},
    {"EXPANSION", &cuckoo_spec::expansion, 0, most_expansion},
}};

std::uint64_t read_option(const call& c, std::size_t i, const option& o) {
  const std::string name = o.name;
  const auto n = c.integer(i);
  if (!n) throw refusal("Couldn't parse " + name);
  const auto most = static_cast<long long>(o.most);
  if (*n > most && c.is_replayed()) return o.most;  // other modules have more
  if (*n < static_cast<long long>(o.least) || *n > most) {
    throw refusal(name + ": value must be in the range [" + std::to_string(o.least) + ", " +
                  std::to_string(o.most) + "]");
  }
  return static_cast<std::uint64_t>(*n);
}

std::uint64_t read_capacity(const call& c, std::size_t i) {
  const auto n = c.integer(i);
  if (!n) throw refusal("Bad capacity");
  return *n < 0 ? 0 : static_cast<std::uint64_t>(*n);
}

// A replica, and who reads another module's append-only file, has no choice.
void check_capacity(const call& c, cuckoo_spec& spec) {
  if (c.is_replayed()) {
    spec.capacity = std::clamp(spec.capacity, 2 * spec.bucket, most_capacity);
  } else if (spec.capacity < 2 * spec.bucket || spec.capacity > most_capacity) {
    throw refusal("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]");
  }
}

cuckoo_spec read_reserve(const call& c) {
  cuckoo_spec spec;
  spec.capacity = read_capacity(c, 2);
  for (std::size_t i = 3; i < c.size(); i += 2) {
    const auto* const o = std::find_if(options.begin(), options.end(),
                                       [&](const option& known) { return c.is(i, known.name); });
    if (o == options.end()) throw refusal("Unknown argument received");
    spec.*o->field = read_option(c, i + 1, *o);
  }
  check_capacity(c, spec);
  return spec;
}

bloomery::plan plan_of(const cuckoo_spec& spec) {
  return bloomery::sizing::make_plan({.kind = filter_kind::cuckoo,
                                      .keys = spec.capacity,
                                      .fpr = spec.expansion != 0 ? growing_rate : fixed_rate,
                                      .bucket_cells = static_cast<std::uint32_t>(spec.bucket)});
}

bloomery::any_filter make_filter(const bloomery::plan& p, const cuckoo_spec& spec) {
  bloomery::any_filter f(p, default_hash());
  auto& inner = *f.get_if<cuckoo_filter>();
  if (spec.expansion != 0) {
    inner.set_expansion(static_cast<std::uint32_t>(std::bit_ceil(spec.expansion)));
  } else {
    inner.set_max_layers(1);
  }
  return f;
}

std::unique_ptr<value> make(const call& c, const cuckoo_spec& spec) {
  const bloomery::plan p = plan_of(spec);
  check_memory(c.ctx, p.shape.bits / 8, p.shape.bits / 8);
  return std::make_unique<value>(make_filter(p, spec), fact_list{spec.iterations}, cuckoo_family);
}

// One that grows starts small, because nobody knows whether anything will be added; a fixed one has
// the places that are left.
dumped adopt(std::unique_ptr<bloomery::foreign::value> from) {
  const auto& old = static_cast<const cuckoo_layers&>(*from);
  const std::uint64_t slots = old.buckets() * old.bucket_cells();
  const std::uint64_t left = slots - std::min(slots, old.items());
  const bool grows = old.expansion() != 0;
  const cuckoo_spec spec{
      .capacity = std::clamp(grows ? 1024 : left, 2 * old.bucket_cells(), most_capacity),
      .bucket = old.bucket_cells(),
      .iterations = old.iterations(),
      .expansion = grows ? std::max<std::uint64_t>(old.expansion(), 2) : 0};
  return {.filter = make_filter(plan_of(spec), spec),
          .facts = {old.iterations()},
          .foreign = std::move(from)};
}

std::uint64_t count_old(const value& v, std::string_view item) {  // in layers of another module
  return v.is_foreign() ? v.foreign<cuckoo_layers>()->count(item) : 0;
}

void replicate_reserve(const call& c, const cuckoo_spec& spec) {
  api::Replicate(c.ctx, "CF.RESERVE", "slclclcl", c.args[1], static_cast<long long>(spec.capacity),
                 "BUCKETSIZE", static_cast<long long>(spec.bucket), "MAXITERATIONS",
                 static_cast<long long>(spec.iterations), "EXPANSION",
                 static_cast<long long>(spec.expansion));
}

void reserve(const call& c) {
  if (c.size() % 2 == 0) {
    api::WrongArity(c.ctx);
    return;
  }
  const cuckoo_spec spec = read_reserve(c);
  opened_key key(c, 1, api::read_write);
  if (key.find_or_refuse(cuckoo_family) != nullptr) throw refusal("ERR item exists");
  value& v = key.set(make(c, spec));
  replicate_reserve(c, spec);
  changed(c, 1, v, "cf.reserve");
  reply_ok(c);
}

// ---- added

enum class fate : std::int8_t { refused = -1, was_there = 0, added = 1 };

const char* why_full(const cuckoo_filter& f) {
  return f.max_layers() == 1 ? "Filter is full" : "Maximum expansions reached";
}

class adder {  // of items to a value, which grows while the server has the memory
 public:
  adder(const call& c, value& v) : call_(c), value_(v), filter_(filter_as<cuckoo_filter>(v)) {}

  void add_all(std::span<const std::uint64_t> hashes, std::span<fate> fates) {
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      const std::size_t fitted = filter_.try_add_batch(hashes.subspan(i));
      std::fill_n(fates.begin() + static_cast<std::ptrdiff_t>(i), fitted, fate::added);
      i += fitted;
      if (i < hashes.size()) fates[i] = grow_for(hashes[i]);
    }
  }
  // Skips items that the filter already has.
  void add_new(std::span<const std::string_view> items, std::span<const std::uint64_t> hashes,
               std::span<fate> fates) {
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      if (filter_.contains(hashes[i]) || count_old(value_, items[i]) != 0) {
        fates[i] = fate::was_there;
      } else {
        fates[i] = filter_.try_add(hashes[i]) ? fate::added : grow_for(hashes[i]);
      }
    }
  }
  [[nodiscard]] const char* why() const {  // the error reply for refused items
    return no_memory_ ? "ERR Insufficient memory to create filter" : why_full(filter_);
  }

 private:
  fate grow_for(std::uint64_t hash) {
    const std::uint64_t more = filter_.growth_bytes();
    if (more == 0 || no_memory_) return fate::refused;
    const bool enough = filter_.layers() >= current_settings().cuckoo_layers;
    if (enough && !call_.is_replayed()) return fate::refused;
    try {
      check_memory(call_.ctx, value_.bytes() + more, more);
      return filter_.add(hash) ? fate::added : fate::refused;
    } catch (const bloomery::error& e) {
      if (e.code() != bloomery::errc::no_memory) throw;
      no_memory_ = true;
      return fate::refused;
    }
  }

  const call& call_;
  value& value_;
  cuckoo_filter& filter_;
  bool no_memory_ = false;
};

// Tells replicas of added items only: a replica might have had the memory for refused ones, too.
void replicate_added(const call& c, std::size_t first_item, std::span<const fate> fates,
                     bool as_said) {
  static std::vector<api::string*> taken;
  if (as_said) {
    api::ReplicateVerbatim(c.ctx);
    return;
  }
  taken.clear();
  for (std::size_t i = 0; i < fates.size(); ++i) {
    if (fates[i] == fate::added) taken.push_back(c.args[first_item + i]);
  }
  if (taken.empty()) return;
  api::Replicate(c.ctx, "CF.INSERT", "sccv", c.args[1], "NOCREATE", "ITEMS", taken.data(),
                 taken.size());
}

struct insertion {
  cuckoo_spec spec{};
  bool create = true;
  bool only_new = false;
  std::size_t first_item = 2;
};

struct inserted {
  std::vector<fate> fates;
  const char* why_refused = nullptr;
};

const inserted& insert_items(const call& c, const insertion& in) {  // valid until the next call
  static inserted result;
  opened_key key(c, 1, api::read_write);
  value* v = key.find_or_refuse(cuckoo_family);
  const bool made = v == nullptr;
  if (made) {
    if (!in.create) throw refusal(not_found);
    v = &key.set(make(c, in.spec));
    replicate_reserve(c, in.spec);
  }
  const auto items = c.items(in.first_item);
  const auto hashes = hashes_of(*v, items);
  std::vector<fate>& fates = result.fates;
  fates.assign(hashes.size(), fate::refused);
  adder to(c, *v);
  in.only_new ? to.add_new(items, hashes, fates) : to.add_all(hashes, fates);
  const auto had = [&](fate f) { return std::find(fates.begin(), fates.end(), f) != fates.end(); };
  result.why_refused = had(fate::refused) ? to.why() : nullptr;
  if (had(fate::added)) {
    replicate_added(c, in.first_item, fates, !made && result.why_refused == nullptr);
  }
  if (made || had(fate::added)) changed(c, 1, *v, "cf.add");
  return result;
}

// The way of most calls, where the key is there and has a place for the item. False, with nothing
// changed, for all others.
bool add_shortly(const call& c, bool only_new) {
  const opened_key key(c, 1, api::read_write);
  value* const v = key.find_or_refuse(cuckoo_family);
  if (v == nullptr || v->is_foreign() || !has_usual_hash(*v)) return false;
  const std::uint64_t hash = usual_hash(c.text(2));
  const bool known = only_new && filter_as<cuckoo_filter>(std::as_const(*v)).contains(hash);
  if (!known) {
    if (!filter_as<cuckoo_filter>(*v).try_add(hash)) return false;
    api::ReplicateVerbatim(c.ctx);
    changed(c, 1, *v, "cf.add");
  }
  api::ReplyWithBool(c.ctx, static_cast<int>(!known));
  return true;
}

void add_one(const call& c, bool only_new) {
  if (add_shortly(c, only_new)) return;
  const inserted& done = insert_items(c, {.only_new = only_new});
  if (done.why_refused != nullptr) throw refusal(done.why_refused);
  api::ReplyWithBool(c.ctx, static_cast<int>(done.fates[0] == fate::added));
}

void add(const call& c) { add_one(c, false); }
void addnx(const call& c) { add_one(c, true); }

insertion read_insert(const call& c, bool only_new) {
  insertion in{.only_new = only_new};
  std::size_t i = 2;
  for (; i < c.size() && !c.is(i, "ITEMS"); ++i) {
    if (c.is(i, "NOCREATE")) {
      in.create = false;
    } else if (c.is(i, "CAPACITY") && i + 1 < c.size()) {
      in.spec.capacity = read_capacity(c, ++i);
    } else {
      throw refusal("Unknown argument received");
    }
  }
  check_capacity(c, in.spec);
  in.first_item = i + 1;
  return in;
}

void insert_many(const call& c, bool only_new) {
  const insertion in = read_insert(c, only_new);
  if (in.first_item >= c.size()) {
    api::WrongArity(c.ctx);
    return;
  }
  const inserted& done = insert_items(c, in);
  const bool booleans = !only_new && (api::GetContextFlags(c.ctx) & api::is_resp3) != 0;
  api::ReplyWithArray(c.ctx, static_cast<long>(done.fates.size()));
  for (const fate f : done.fates) {
    if (booleans) {
      api::ReplyWithBool(c.ctx, static_cast<int>(f == fate::added));
    } else {
      api::ReplyWithLongLong(c.ctx, static_cast<long long>(f));
    }
  }
}

void insert(const call& c) { insert_many(c, false); }
void insertnx(const call& c) { insert_many(c, true); }

// ---- asked

void exists(const call& c) {
  const opened_key key(c, 1, api::read_only);
  bool known = false;
  if (const value* const v = key.find(cuckoo_family)) {
    const std::string_view item = c.text(2);
    known = has_usual_hash(*v) ? filter_as<cuckoo_filter>(*v).contains(usual_hash(item))
                               : v->filter().contains(item);
    known = known || count_old(*v, item) != 0;
  }
  api::ReplyWithBool(c.ctx, static_cast<int>(known));
}

void mexists(const call& c) {
  static std::vector<std::uint64_t> bitmap;
  const auto items = c.items(2);
  bitmap.assign(items.size() / 64 + 1, 0);
  opened_key key(c, 1, api::read_only);
  if (const value* const v = key.find(cuckoo_family)) {
    v->filter().contains_bits(items, bitmap);
    for (std::size_t i = 0; v->is_foreign() && i < items.size(); ++i) {
      if (count_old(*v, items[i]) != 0) bitmap[i / 64] |= std::uint64_t{1} << (i % 64);
    }
  }
  reply_bits(c, bitmap, items.size());
}

void count(const call& c) {
  opened_key key(c, 1, api::read_only);
  std::uint64_t found = 0;
  if (const value* const v = key.find(cuckoo_family)) {
    v->filter().count(c.items(2), {&found, 1});
    found += count_old(*v, c.text(2));
  }
  reply_number(c, found);
}

// Of our filter and of what another module left, in the order of CF.INFO.
std::array<named_number, 8> numbers_of(const value& v) {
  const cuckoo_filter& f = filter_as<cuckoo_filter>(v);
  std::array<named_number, 8> n = {{
      {"Size", v.bytes()},
      {"Number of buckets", f.slots() / f.bucket_cells()},
      {"Number of filters", f.layers()},
      {"Number of items inserted", f.keys()},
      {"Number of items deleted", v.facts()[1]},
      {"Bucket size", f.bucket_cells()},
      {"Expansion rate", f.max_layers() == 1 ? 0 : f.expansion()},
      {"Max iterations", v.facts()[0]},
  }};
  if (v.is_foreign()) {
    const cuckoo_layers& old = *v.foreign<cuckoo_layers>();
    n[1].number = old.buckets() + (f.keys() == 0 ? 0 : n[1].number);
    n[2].number = old.layers().size() + (f.keys() == 0 ? 0 : n[2].number);
    n[3].number += old.items();
    n[4].number += old.deletes();
    n[6].number = old.expansion();
  }
  return n;
}

void info(const call& c) {
  opened_key key(c, 1, api::read_only);
  reply_numbers(c, numbers_of(key.get(cuckoo_family)));
}

void debug(const call& c) {
  opened_key key(c, 1, api::read_only);
  const auto n = numbers_of(key.get(cuckoo_family));
  // The fields of CF.INFO in another order, under other names.
  constexpr std::array names = {"bktsize:", " buckets:", " items:", " deletes:", " filters:"};
  constexpr std::array<std::size_t, 5> at = {5, 1, 3, 4, 2};
  std::string text;
  for (std::size_t i = 0; i < at.size(); ++i) text += names[i] + std::to_string(n[at[i]].number);
  text += " max_iterations:" + std::to_string(n[7].number);
  text += " expansion:" + std::to_string(n[6].number);
  reply_text(c, text);
}

// ---- removed

void del(const call& c) {
  opened_key key(c, 1, api::read_write);
  value& v = key.get(cuckoo_family, "Not found");
  // Ours first: its fingerprints are longer, so it seldom has an item that is in the other.
  bool removed = v.filter().remove(c.items(2)) != 0;
  if (removed) {
    ++v.facts()[1];
  } else if (count_old(v, c.text(2)) != 0) {
    removed = static_cast<cuckoo_layers&>(v.own_foreign()).remove(c.text(2));
  }
  if (removed) {
    api::ReplicateVerbatim(c.ctx);
    changed(c, 1, v, "cf.del");
  }
  api::ReplyWithBool(c.ctx, static_cast<int>(removed));
}

constexpr const char* nothing_to_compact = "Cuckoo filter was not found";

void compact_now(const call& c) {
  opened_key key(c, 1, api::read_write);
  value& v = key.get(cuckoo_family, nothing_to_compact);
  filter_as<cuckoo_filter>(v).compact();
  replicate(c);
  changed(c, 1, v, "cf.compact");
}

void compact(const call& c) {
  std::shared_ptr<const bloomery::any_filter> lent;
  std::shared_ptr<bloomery::foreign::value> old;
  fact_list facts{};
  std::size_t bytes = 0;
  {
    const opened_key key(c, 1, api::read_only);
    const value& v = key.get(cuckoo_family, nothing_to_compact);
    facts = v.facts();
    old = v.share_foreign();
    bytes = v.bytes();
    if (bytes >= slow_bytes && may_wait(c)) lent = v.lend();
  }
  if (lent == nullptr) {
    compact_now(c);
    reply_ok(c);
    return;
  }
  check_memory(c.ctx, bytes, bytes);
  constexpr std::array<std::size_t, 1> keys = {1};
  run_in_thread(c, keys,
                {.of = cuckoo_family,
                 .from = std::move(lent),
                 .bytes = bytes,
                 .facts = facts,
                 .foreign = std::move(old),
                 .edit = [](bloomery::any_filter& f) { f.get_if<cuckoo_filter>()->compact(); },
                 .at_once = compact_now,
                 .event = "cf.compact"});
}

}  // namespace

bool create_cuckoo_commands(api::ctx* c) {
  const std::array commands = {
      make_command<reserve, -3>("cf.reserve", writes_fast, "Makes a cuckoo filter"),
      make_command<add, 3>("cf.add", writes_fast, "Adds an item once more"),
      make_command<addnx, 3>("cf.addnx", writes_fast, "Adds an item unless it is there"),
      make_command<insert, -4>("cf.insert", writes_fast,
                               "Adds items, to a filter that is described"),
      make_command<insertnx, -4>("cf.insertnx", writes_fast, "Adds the items that are not there"),
      make_command<exists, 3>("cf.exists", reads, "Whether an item was probably added"),
      make_command<mexists, -3>("cf.mexists", reads, "Which items were probably added"),
      make_command<count, 3>("cf.count", reads, "How often an item was added, at most"),
      make_command<info, 2>("cf.info", reads, "What a filter is"),
      make_command<debug, 2>("cf.debug", reads, "What a filter is, in one line"),
      make_command<del, 3>("cf.del", writes_less_fast, "Removes an item once"),
      make_command<compact, 2>("cf.compact", writes_less, "Gives back what removals left empty"),
      make_command<pieces::scan, 3>("cf.scandump", reads_slowly, "A filter in pieces"),
      make_command<pieces::load, 4>("cf.loadchunk", writes, "Takes a piece of CF.SCANDUMP"),
      make_command<pieces::give, 3>("cf.export", reads_slowly, "Pieces of a file for the tool"),
      make_command<pieces::take, 4>("cf.import", writes, "Takes a piece of a file of the tool's"),
  };
  return create_type<cuckoo_family>(c) &&
         create_foreign_type<cuckoo_family, 0, cuckoo_origins[0]>(c) &&
         create_commands(c, commands);
}

}  // namespace bloomery_redis
