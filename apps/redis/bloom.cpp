// The commands of BF that add and ask, and those that tell what a filter is.
#include "bloom.hpp"

#include <algorithm>
#include <array>

#include "bloomery/core/error.hpp"
#include "bloomery/filter/layered.hpp"
#include "guess.hpp"
#include "settings.hpp"

namespace bloomery_redis {

namespace {

using bloomery::any_filter;
using bloomery::filter_kind;

constexpr std::array bloom_kinds = {filter_kind::layered,  filter_kind::scalable,
                                    filter_kind::blocked,  filter_kind::counting,
                                    filter_kind::windowed, filter_kind::classic};

constexpr std::array bloom_origins = {bloomery::foreign::origin::redisbloom_bloom,
                                      bloomery::foreign::origin::valkey_bloom};

bool bit_of(std::span<const std::uint64_t> bitmap, std::size_t i) {
  return ((bitmap[i / 64] >> (i % 64)) & 1U) != 0;
}

block_guess last_blocks;

// Adds known items, too: a counting filter counts them again, a windowed one restarts their time.
void add_always(any_filter& f, std::span<const std::string_view> items, added& a) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool known = f.contains(items[i]);
    f.add(items.subspan(i, 1));
    if (!known) a.is_new[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  a.done = a.fresh = items.size();
}

using bloomery::foreign::bloom_layers;

// Whether the filter takes another item, with memory for a new layer if it needs one.
bool make_way(const call& c, const value& v) {
  if (v.facts()[1] == 0) return v.filter().keys() < v.facts()[0];
  if (v.filter()->room() == 0) {
    const std::uint64_t more = v.filter()->growth_bytes();
    check_memory(c.ctx, v.bytes() + more, more);
  }
  return true;
}

// Adds one item at a time, for when the filter may become full on the way. A known item takes no
// room, but where items are removed it must be counted: else what was acknowledged would go with
// another item that it was taken for, or with its own first removal.
void add_slowly(const call& c, value& v, std::span<const std::string_view> items, added& a) {
  const bool counts = v.filter().can().remove;
  try {
    for (std::size_t i = 0; i < items.size(); ++i) {
      const bool known = v.filter().contains(items[i]);
      if (!known || counts) {
        if (!make_way(c, v)) {
          a.refused = "ERR non scaling filter is full";
          return;
        }
        v.filter().add(items.subspan(i, 1));
        if (!known) a.is_new[i / 64] |= std::uint64_t{1} << (i % 64);
        ++a.fresh;
      }
      ++a.done;
    }
  } catch (const bloomery::error& e) {
    if (e.code() != bloomery::errc::no_memory) throw;
    a.refused = "ERR Insufficient memory to create filter";
  }
}

// Adds items to our filter, all of them new to what another module left or not asked there.
void add_to_ours(const call& c, value& v, std::span<const std::string_view> items, added& a);

// Asks the layers of another module first: what they have is not added again.
void add_beside(const call& c, value& v, std::span<const std::string_view> items, added& a) {
  const bloom_layers& old = *v.foreign<bloom_layers>();
  std::vector<std::string_view> others;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (old.contains(items[i])) continue;
    others.push_back(items[i]);
    places.push_back(i);
  }
  added to_ours;
  to_ours.is_new.assign(others.size() / 64 + 1, 0);
  add_to_ours(c, v, others, to_ours);
  for (std::size_t i = 0; i < to_ours.done; ++i) {
    if (bit_of(to_ours.is_new, i)) a.is_new[places[i] / 64] |= std::uint64_t{1} << (places[i] % 64);
  }
  a.fresh = to_ours.fresh;
  a.refused = to_ours.refused;
  a.done = to_ours.done < places.size() ? places[to_ours.done] : items.size();
}

std::uint64_t room_of(const value& v) {
  if (v.facts()[1] != 0) return v.filter()->room();
  return v.facts()[0] > v.filter().keys() ? v.facts()[0] - v.filter().keys() : 0;
}

void add_to_ours(const call& c, value& v, std::span<const std::string_view> items, added& a) {
  const bloomery::abilities can = v.filter().can();
  if (can.forget || (can.remove && items.size() <= room_of(v))) {
    add_always(v.filter(), items, a);
  } else if (items.size() <= room_of(v)) {
    a.fresh = v.filter()->add_new(hashes_of(v, items), a.is_new);
    a.done = items.size();
  } else {
    add_slowly(c, v, items, a);
  }
}

// What add_to_ours does, for one item of a filter that may grow and need not: most calls. Nothing,
// with nothing changed, for all other filters.
std::optional<bool> add_shortly(value& v, std::uint64_t hash) {
  if (v.is_foreign() || std::as_const(v).facts()[1] == 0 || !has_usual_hash(v)) return std::nullopt;
  auto* const f = v.filter().get_if<bloomery::layered_filter>();
  if (f == nullptr || f->room() == 0 || !f->shape().shard.whole()) return std::nullopt;
  return f->add_new(hash);
}

// Adds items to the key and the replicas. A missing key is made from `create`, or refused if null.
const added& add_to(const call& c, opened_key& key, std::size_t first_item,
                    const bloom_spec* create) {
  value* v = key.find_or_refuse(bloom_family);
  const bool made = v == nullptr;
  if (made) {
    if (create == nullptr) throw refusal(not_found);
    v = &key.set(make_bloom(c, *create));
    replicate_reserve(c, *create);
  }
  keep_time(c, *v);
  const added& a = add_items(c, *v, c.items(first_item));
  if (made || a.done != c.size() - first_item) {
    // Replicas do not get the client's words: defaults may differ, and some items were refused.
    if (a.done != 0) {
      api::Replicate(c.ctx, "BF.INSERT", "sccv", c.args[1], "NOCREATE", "ITEMS",
                     c.args.data() + first_item, a.done);
    }
  } else if (a.fresh != 0) {
    api::ReplicateVerbatim(c.ctx);
  }
  if (made || a.fresh != 0) changed(c, 1, *v, "bf.add");
  return a;
}

// BF.INSERT without ITEMS: that is how valkey-bloom tells a BF.RESERVE to its replicas and its
// append-only file.
void ensure(const call& c, opened_key& key, const bloom_insertion& in) {
  if (key.find_or_refuse(bloom_family) != nullptr) return;
  if (!in.create) throw refusal(not_found);
  value& v = key.set(make_bloom(c, in.spec));
  replicate_reserve(c, in.spec);
  changed(c, 1, v, "bf.reserve");
}

void reply_added(const call& c, const added& a) {
  api::ReplyWithArray(c.ctx, static_cast<long>(a.done + (a.refused != nullptr ? 1 : 0)));
  for (std::size_t i = 0; i < a.done; ++i) {
    api::ReplyWithBool(c.ctx, static_cast<int>(bit_of(a.is_new, i)));
  }
  if (a.refused != nullptr) api::ReplyWithError(c.ctx, a.refused);
}

struct info_field {
  const char* option;
  const char* name;
  std::uint64_t (*get)(const value&);
};
constexpr std::array<info_field, 5> info_fields = {{
    {"CAPACITY", "Capacity", capacity_of},
    {"SIZE", "Size", [](const value& v) { return std::uint64_t{v.bytes()}; }},
    {"FILTERS", "Number of filters", layers_of},
    {"ITEMS", "Number of items inserted", keys_of},
    {"EXPANSION", "Expansion rate", [](const value& v) { return v.facts()[1]; }},
}};

// Only when they are asked for: clients read the others by their number.
void reply_more(const call& c, const value& v) {
  if (c.is(2, "ERROR")) {
    reply_rate(
        c, v.is_foreign() ? v.foreign<bloom_layers>()->error() : v.filter().planned().fpr_target);
  } else if (c.is(2, "TIGHTENING") || v.facts()[1] == 0) {
    api::ReplyWithNull(c.ctx);  // layers have no constant ratio; a fixed size does not scale
  } else {
    const double items = static_cast<double>(capacity_of(v)) *
                         static_cast<double>(most_filter_bytes()) /
                         static_cast<double>(v.filter().shape().bits / 8);
    api::ReplyWithLongLong(c.ctx, static_cast<long long>(std::min(items, 0x1p62)));
  }
}

void reply_field(const call& c, const info_field& field, const value& v) {
  if (field.get == info_fields.back().get && v.facts()[1] == 0) {
    api::ReplyWithNull(c.ctx);
  } else {
    api::ReplyWithLongLong(c.ctx, static_cast<long long>(field.get(v)));
  }
}

}  // namespace

std::uint64_t keys_of(const value& v) {
  const auto seen = seen_now(v);
  const auto* const old = v.foreign<bloom_layers>();
  return (seen ? seen->keys() : v.filter().keys()) + (old == nullptr ? 0 : old->items());
}

family bloom_family = {.type_name = "blmrybf01",
                       .load_command = "BF.LOADCHUNK",
                       .kinds = bloom_kinds,
                       .settle = settle_window,
                       .admit = admit_window,
                       .origins = bloom_origins,
                       .adopt = adopt_bloom};

std::uint64_t layers_of(const any_filter& f) {
  if (!f.can().grow) return 1;  // the facts of others may read all of the filter
  for (const auto& fact : f->facts()) {
    if (fact.name == "layers") return std::get<std::uint64_t>(fact.value);
  }
  return 1;
}

std::uint64_t layers_of(const value& v) {
  const auto* const old = v.foreign<bloom_layers>();
  const std::uint64_t foreign = old == nullptr ? 0 : old->layers().size();
  if (foreign != 0 && v.filter().keys() == 0) return foreign;  // ours has nothing to say yet
  return foreign + layers_of(v.filter());
}

// The first layer may have room for more items than were asked for. It is reported only once they
// are there, so that a client reads the capacity that it gave.
std::uint64_t capacity_of(const value& v) {
  const std::uint64_t room = v.filter()->room();
  if (const auto* const old = v.foreign<bloom_layers>()) {
    const bool as_it_was = v.facts()[1] == 0 || v.filter().keys() == 0;
    return as_it_was ? old->capacity() : old->items() + v.filter().keys() + room;
  }
  const bool first = layers_of(v) == 1 && v.filter().keys() <= v.facts()[0];
  return room == UINT64_MAX || first ? v.facts()[0] : v.filter().keys() + room;
}

const added& add_items(const call& c, value& v, std::span<const std::string_view> items) {
  static added a;
  a.refused = nullptr;
  a.is_new.assign(items.size() / 64 + 1, 0);
  a.done = a.fresh = 0;
  check_own(v, items);
  v.is_foreign() ? add_beside(c, v, items, a) : add_to_ours(c, v, items, a);
  return a;
}

void bloom::add(const call& c) {
  const std::uint64_t hash = usual_hash(c.text(2));
  last_blocks.fetch(hash);
  opened_key key(c, 1, api::read_write);
  if (value* const v = key.find_or_refuse(bloom_family)) {
    last_blocks.learn(*v);
    if (const auto is_new = add_shortly(*v, hash)) {
      if (*is_new) {
        api::ReplicateVerbatim(c.ctx);
        changed(c, 1, *v, "bf.add");
      }
      api::ReplyWithBool(c.ctx, static_cast<int>(*is_new));
      return;
    }
  }
  const bloom_spec spec = default_spec();
  const added& a = add_to(c, key, 2, &spec);
  if (a.refused != nullptr) {
    api::ReplyWithError(c.ctx, a.refused);
  } else {
    api::ReplyWithBool(c.ctx, static_cast<int>(bit_of(a.is_new, 0)));
  }
}

void bloom::madd(const call& c) {
  const bloom_spec spec = default_spec();
  opened_key key(c, 1, api::read_write);
  reply_added(c, add_to(c, key, 2, &spec));
}

void bloom::insert(const call& c) {
  const bloom_insertion in = read_insert(c);
  if (in.first_item == c.size()) {
    api::WrongArity(c.ctx);
    return;
  }
  opened_key key(c, 1, api::read_write);
  if (in.first_item > c.size()) {
    ensure(c, key, in);
    api::ReplyWithArray(c.ctx, 0);
    return;
  }
  reply_added(c, add_to(c, key, in.first_item, in.create ? &in.spec : nullptr));
}

void bloom::exists(const call& c) {
  const std::uint64_t hash = usual_hash(c.text(2));
  last_blocks.fetch(hash);
  opened_key key(c, 1, api::read_only);
  const value* const v = key.find(bloom_family);
  const auto* const layered = v == nullptr || !has_usual_hash(*v)
                                  ? nullptr
                                  : v->filter().get_if<bloomery::layered_filter>();
  bool known = false;
  if (v != nullptr) last_blocks.learn(*v);
  if (layered != nullptr && !v->is_foreign()) {
    known = layered->contains(hash);
  } else if (v != nullptr) {
    const auto seen = seen_now(*v);
    known = seen ? seen->contains(hashes_of(*v, c.items(2))[0]) : v->filter().contains(c.text(2));
    if (v->is_foreign()) known = known || v->foreign<bloom_layers>()->contains(c.text(2));
  }
  api::ReplyWithBool(c.ctx, static_cast<int>(known));
}

void bloom::mexists(const call& c) {
  static std::vector<std::uint64_t> bitmap;
  const auto items = c.items(2);
  bitmap.assign(items.size() / 64 + 1, 0);
  opened_key key(c, 1, api::read_only);
  if (const value* const v = key.find(bloom_family)) {
    if (const auto seen = seen_now(*v)) {
      seen->contains_bits(hashes_of(*v, items), bitmap);
    } else {
      v->filter().contains_bits(items, bitmap);
    }
    for (std::size_t i = 0; v->is_foreign() && i < items.size(); ++i) {
      if (!v->foreign<bloom_layers>()->contains(items[i])) continue;
      bitmap[i / 64] |= std::uint64_t{1} << (i % 64);
    }
  }
  reply_bits(c, bitmap, items.size());
}

void bloom::card(const call& c) {
  opened_key key(c, 1, api::read_only);
  const value* const v = key.find_or_refuse(bloom_family);
  api::ReplyWithLongLong(c.ctx, v == nullptr ? 0 : static_cast<long long>(keys_of(*v)));
}

void bloom::info(const call& c) {
  if (c.size() > 3) {
    api::WrongArity(c.ctx);
    return;
  }
  opened_key key(c, 1, api::read_only);
  const value& v = key.get(bloom_family);
  if (c.size() == 2) {
    api::ReplyWithMap(c.ctx, static_cast<long>(info_fields.size()));
    for (const info_field& field : info_fields) {
      api::ReplyWithSimpleString(c.ctx, field.name);
      reply_field(c, field, v);
    }
    return;
  }
  const auto* const field = std::find_if(info_fields.begin(), info_fields.end(),
                                         [&](const info_field& f) { return c.is(2, f.option); });
  const char* const more = c.is(2, "ERROR")               ? "Error rate"
                           : c.is(2, "TIGHTENING")        ? "Tightening ratio"
                           : c.is(2, "MAXSCALEDCAPACITY") ? "Max scaled capacity"
                                                          : nullptr;
  if (field == info_fields.end() && more == nullptr) throw refusal("Invalid information value");
  if ((api::GetContextFlags(c.ctx) & api::is_resp3) != 0) {
    api::ReplyWithMap(c.ctx, 1);
    api::ReplyWithSimpleString(c.ctx, more != nullptr ? more : field->name);
  } else {
    api::ReplyWithArray(c.ctx, 1);
  }
  more != nullptr ? reply_more(c, v) : reply_field(c, *field, v);
}

void bloom::debug(const call& c) {
  opened_key key(c, 1, api::read_only);
  const value& v = key.get(bloom_family);
  const bloomery::shape& s = v.filter().shape();
  auto parts = v.filter()->parts();
  if (s.kind == filter_kind::layered) parts.erase(parts.begin());  // which tells of the others
  std::span<const bloom_layers::layer> old;
  if (v.is_foreign()) old = v.foreign<bloom_layers>()->layers();
  api::ReplyWithArray(c.ctx, static_cast<long>(parts.size() + old.size() + 1));
  reply_text(c, "size:" + std::to_string(keys_of(v)));
  for (const bloom_layers::layer& l : old) {
    reply_text(c, "bytes:" + std::to_string(l.bytes) + " bits:" + std::to_string(l.modulus) +
                      " hashes:" + std::to_string(l.probes) + " hashwidth:64 capacity:" +
                      std::to_string(l.capacity) + " size:" + std::to_string(l.items) +
                      " ratio:" + bloomery::detail::to_text(l.error) + " foreign:1");
  }
  for (const auto part : parts) {
    reply_text(c, "bytes:" + std::to_string(part.size_bytes()) + " bits:" +
                      std::to_string(part.size() * 64) + " hashes:" + std::to_string(s.probes) +
                      " hashwidth:64 capacity:" + std::to_string(capacity_of(v)) +
                      " ratio:" + bloomery::detail::to_text(v.filter().planned().fpr_target));
  }
}

bool create_bloom_commands(api::ctx* c) {
  command union_of_keys =
      make_command<bloom::merge, -3>("bf.merge", writes, "The union of filters, into the first");
  union_of_keys.last_key = -1;
  command comparison = make_command<bloom::compare, 3>("bf.compare", reads_slowly,
                                                       "What two filters have in common");
  comparison.last_key = 2;
  const std::array commands = {
      make_command<bloom::reserve, -4>("bf.reserve", writes_fast, "Makes a Bloom filter"),
      make_command<bloom::add, 3>("bf.add", writes_fast, "Adds an item"),
      make_command<bloom::madd, -3>("bf.madd", writes_fast, "Adds items"),
      make_command<bloom::insert, -2>("bf.insert", writes_fast,
                                      "Adds items, to a filter that is described"),
      make_command<bloom::exists, 3>("bf.exists", reads, "Whether an item was probably added"),
      make_command<bloom::mexists, -3>("bf.mexists", reads, "Which items were probably added"),
      make_command<bloom::card, 2>("bf.card", reads, "The number of items added"),
      make_command<bloom::info, -2>("bf.info", reads, "What a filter is"),
      make_command<bloom::debug, 2>("bf.debug", reads, "What a filter is made of"),
      make_command<bloom::rem, 3>("bf.rem", writes_less_fast,
                                  "Removes an item from a counting filter"),
      make_command<bloom::mrem, -3>("bf.mrem", writes_less_fast,
                                    "Removes items from a counting filter"),
      make_command<bloom::rotate, 3>("bf.rotate", writes_less,
                                     "Moves the clock of a filter that forgets"),
      union_of_keys,
      comparison,
      make_command<bloom::stats, 2>("bf.stats", reads_slowly,
                                    "How full a filter is, and how often it errs"),
      make_command<bloom::shard, 2>("bf.shard", reads, "Which slice of a larger filter a key is"),
      make_command<bloom::scandump, 3>("bf.scandump", reads_slowly, "A filter in pieces"),
      make_command<bloom::loadchunk, 4>("bf.loadchunk", writes, "Takes a piece of BF.SCANDUMP"),
      make_command<bloom::load, 3>("bf.load", writes, "Takes all pieces of BF.SCANDUMP in one"),
      make_command<bloom::export_, 3>("bf.export", reads_slowly,
                                      "A filter in pieces of a file for the tool"),
      make_command<bloom::import, 4>("bf.import", writes, "Takes a piece of a file of the tool's"),
  };
  using bloomery::foreign::origin;
  return create_type<bloom_family>(c) &&
         create_foreign_type<bloom_family, 0, origin::redisbloom_bloom>(c) &&
         create_foreign_type<bloom_family, 1, origin::valkey_bloom>(c) &&
         create_commands(c, commands);
}

}  // namespace bloomery_redis
