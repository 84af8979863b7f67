// The options of BF.INSERT.
#include "bloom.hpp"
#include "bloomery/core/error.hpp"

namespace bloomery_redis {

namespace {

struct insert_options {
  bloom_insertion said;
  bool fixed = false;
  bool expands = false;
  std::uint64_t scale_to = 0;  // items that it must be able to grow to
};

std::uint64_t read_items(const call& c, std::size_t i) {
  const auto n = read_capacity(c, i);
  if (!n) throw refusal("Bad capacity");
  return *n;
}

// Reads the option at i and returns where its last word is. Another module's options mean nothing
// here: layers have no ratio, and all filters one hash.
std::size_t read_insert_option(const call& c, std::size_t i, insert_options& o) {
  constexpr std::size_t seed_bytes = 32;
  const std::size_t next = i + 1;
  if (c.is(i, "NOCREATE")) {
    o.said.create = false;
    return i;
  }
  if (c.is(i, "NONSCALING")) {
    o.fixed = true;
    return i;
  }
  if (next >= c.size()) throw refusal("Unknown argument received");
  if (c.is(i, "CAPACITY")) {
    o.said.spec.capacity = read_items(c, next);
  } else if (c.is(i, "VALIDATESCALETO")) {
    o.scale_to = read_items(c, next);
  } else if (c.is(i, "ERROR")) {
    const auto rate = c.real(next);
    if (!rate || !(*rate > 0 && *rate < 1)) throw refusal("Bad error rate");
    o.said.spec.error = *rate;
  } else if (c.is(i, "EXPANSION")) {
    const auto n = read_expansion(c, next);
    if (!n) throw refusal("Bad expansion");
    o.said.spec.expansion = *n;
    o.expands = *n != 0;
  } else if (c.is(i, "TIGHTENING")) {
    const auto ratio = c.real(next);
    if (!ratio || !(*ratio > 0 && *ratio < 1)) throw refusal("ERR bad tightening ratio");
  } else if (c.is(i, "SEED")) {
    if (c.text(next).size() != seed_bytes) throw refusal("ERR invalid seed");
  } else {
    throw refusal("Unknown argument received");
  }
  return next;
}

void check_scale(const call& c, const insert_options& o) {
  if (o.scale_to == 0) return;
  if (o.said.spec.expansion == 0) {
    throw refusal("ERR cannot use NONSCALING and VALIDATESCALETO options together");
  }
  bloom_spec whole = o.said.spec;
  whole.capacity = o.scale_to;
  try {
    check_room(c, whole);
  } catch (const bloomery::error&) {
    throw refusal("ERR provided VALIDATESCALETO causes bloom object to exceed memory limit");
  }
}

}  // namespace

bloom_insertion read_insert(const call& c) {
  insert_options o;
  std::size_t i = 2;
  while (i < c.size() && !c.is(i, "ITEMS")) i = read_insert_option(c, i, o) + 1;
  bloom_spec& spec = o.said.spec;
  if (o.fixed && o.expands && !c.is_replayed()) {  // other modules take the last word
    throw refusal("Nonscaling filters cannot expand");
  }
  if (o.fixed) spec.expansion = 0;
  if (!c.is_replayed()) check_scale(c, o);  // by settings that its master may not have
  o.said.first_item = i + 1;
  return o.said;
}

}  // namespace bloomery_redis
