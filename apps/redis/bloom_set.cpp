// The commands of BF that other modules do not have: union and comparison, removal, forgetting, statistics, and
// filters in pieces.
#include <algorithm>
#include <cmath>
#include <string>

#include "bloom.hpp"
#include "bloomery/core/error.hpp"
#include "bloomery/set/algebra.hpp"
#include "bloomery/set/estimate.hpp"
#include "settings.hpp"
#include "transfer.hpp"

namespace bloomery_redis {

namespace {

using bloomery::any_filter;
using bloomery::filter_kind;

constexpr dump_texts say = {.bad_iterator = "Second argument must be numeric",
                            .bad_load_iterator = "ERR Second argument must be numeric",
                            .bad_start = "ERR received bad data",
                            .no_start = "ERR invalid offset - no link found",
                            .too_long = "ERR invalid chunk - Too big for current filter"};

// A filter of the tool's becomes one of ours.
void adopt(value& v) {
  const auto& planned = v.filter.planned();
  const bool grows = planned.shape.kind == filter_kind::scalable;
  v.facts[0] = std::max(planned.keys, grows ? 0 : v.filter.keys());
  v.facts[1] = grows ? planned.shape.variant & 0xffU : 0;
}

any_filter copy_of(const value& v) {
  const image_source source(v.filter);
  image_sink sink(image_sink::content::image, UINT64_MAX);
  for (std::uint64_t at = 0; at < source.bytes(); at = sink.received()) {
    sink.append(source.read(at, dump_piece_bytes));
  }
  return sink.finish().filter;
}

// The one array of a filter that has one.
struct bit_content {
  bloomery::shape shape;
  std::span<const std::uint64_t> words;
};
bit_content content_of(const value& v) {
  bit_content content{.shape = v.filter.shape(), .words = {}};
  const auto parts = v.filter.parts();
  if (content.shape.kind == filter_kind::scalable && layers_of(v) == 1) {
    content.words = parts.back();
    content.shape.kind = filter_kind::blocked;
    content.shape.variant = 0;
    content.shape.bits = content.words.size() * 64;
  } else if (content.shape.kind == filter_kind::blocked) {
    content.words = parts.front();
  } else {
    throw refusal("ERR only filters of one layer can be compared: reserve the capacity beforehand");
  }
  return content;
}

void reply_number(const call& c, const char* name, double number) {
  api::ReplyWithSimpleString(c.ctx, name);
  api::ReplyWithDouble(c.ctx, number);
}

// Removes one item; true when it was there.
bool remove_one(value& v, std::string_view item) {
  if (v.filter.shape().kind != filter_kind::counting) {
    throw refusal("ERR items can be removed from filters that were reserved with COUNTING only");
  }
  return v.filter.remove({&item, 1}) != 0;
}

}  // namespace

// Read or written, on a master: moves the clock when a generation has passed, and says so to replicas and the file.
void keep_time(const call& c, value& v) {
  const std::uint64_t window = v.facts[2];
  if (window == 0) return;
  const int flags = api::GetContextFlags(c.ctx);
  if ((flags & api::is_master) == 0 || (flags & (api::is_replicated | api::is_loading)) != 0)
    return;
  const auto now = static_cast<std::uint64_t>(api::Milliseconds());
  const auto generation = [&](std::uint64_t time) { return time * v.facts[3] / window; };
  if (generation(now) <= generation(v.facts[4])) return;
  v.filter.advance(now);
  v.facts[4] = now;
  ++v.changes;
  api::Replicate(c.ctx, "BF.ROTATE", "sl", c.args[1], static_cast<long long>(now));
}

void bloom::rotate(const call& c) {
  const auto now = c.integer(2);
  if (!now || *now < 0) throw refusal("ERR bad time");
  opened_key key(c, 1, api::read_write);
  value& v = key.get(bloom_family);
  if (v.facts[2] == 0) throw refusal("ERR the filter has no window");
  const auto time = static_cast<std::uint64_t>(*now);
  if (time > v.facts[4]) {
    v.filter.advance(time);
    v.facts[4] = time;
    changed(c, 1, v, "bf.rotate");
    api::ReplicateVerbatim(c.ctx);
  }
  reply_ok(c);
}

void bloom::rem(const call& c) {
  opened_key key(c, 1, api::read_write);
  value& v = key.get(bloom_family);
  const bool removed = remove_one(v, c.text(2));
  if (removed) {
    api::ReplicateVerbatim(c.ctx);
    changed(c, 1, v, "bf.rem");
  }
  api::ReplyWithBool(c.ctx, static_cast<int>(removed));
}

void bloom::mrem(const call& c) {
  opened_key key(c, 1, api::read_write);
  value& v = key.get(bloom_family);
  const auto items = c.items(2);
  std::vector<std::uint64_t> bitmap(items.size() / 64 + 1);
  bool any = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!remove_one(v, items[i])) continue;
    bitmap[i / 64] |= std::uint64_t{1} << (i % 64);
    any = true;
  }
  if (any) {
    api::ReplicateVerbatim(c.ctx);
    changed(c, 1, v, "bf.rem");
  }
  reply_bits(c, bitmap, items.size());
}

// dst src...: the union of all, dst among them when it is there. The result is made beside and put there at the end.
void bloom::merge(const call& c) {
  opened_key target(c, 1, api::read_write);
  const value* const there = target.find_or_refuse(bloom_family);
  std::unique_ptr<value> result;
  if (there != nullptr) {
    check_memory(c.ctx, 2 * there->bytes(), 2 * there->bytes());
    result = std::make_unique<value>(copy_of(*there), there->facts, bloom_family);
  }
  for (std::size_t i = 2; i < c.size(); ++i) {
    opened_key key(c, i, api::read_only);
    const value& from = key.get(bloom_family);
    if (result == nullptr) {
      check_memory(c.ctx, 2 * from.bytes(), 2 * from.bytes());
      result = std::make_unique<value>(copy_of(from), from.facts, bloom_family);
    } else {
      result->filter.merge(from.filter);
    }
  }
  check_memory(c.ctx, result->bytes(), 0);
  value& v = target.set(std::move(result));
  api::ReplicateVerbatim(c.ctx);
  changed(c, 1, v, "bf.merge");
  reply_ok(c);
}

void bloom::compare(const call& c) {
  opened_key first(c, 1, api::read_only);
  opened_key second(c, 2, api::read_only);
  const value& a = first.get(bloom_family);
  const value& b = second.get(bloom_family);
  const bit_content in_a = content_of(a);
  const bit_content in_b = content_of(b);
  bloomery::check_combinable(a.filter.hash(), b.filter.hash());
  bloomery::check_combinable(in_a.shape, in_b.shape);
  const auto result = bloomery::compare_bits(in_a.shape, bloomery::count_bits(in_a.words),
                                             bloomery::count_bits(in_b.words),
                                             bloomery::detail::count_union(in_a.words, in_b.words));
  api::ReplyWithMap(c.ctx, 5);
  reply_number(c, "keys_a", result.keys_a.value);
  reply_number(c, "keys_b", result.keys_b.value);
  reply_number(c, "keys_union", result.keys_union.value);
  reply_number(c, "keys_intersection", result.keys_intersection.value);
  reply_number(c, "jaccard", result.jaccard.value);
}

void bloom::stats(const call& c) {
  opened_key key(c, 1, api::read_only);
  value& v = key.get(bloom_family);
  keep_time(c, v);
  const any_filter& f = v.filter;
  const auto bits = static_cast<double>(f.shape().bits);
  api::ReplyWithMap(c.ctx, 8);
  api::ReplyWithSimpleString(c.ctx, "kind");
  reply_text(c, bloomery::kind_name(f.shape().kind));
  api::ReplyWithSimpleString(c.ctx, "keys");
  api::ReplyWithLongLong(c.ctx, static_cast<long long>(f.keys()));
  api::ReplyWithSimpleString(c.ctx, "bits");
  api::ReplyWithLongLong(c.ctx, static_cast<long long>(f.shape().bits));
  api::ReplyWithSimpleString(c.ctx, "layers");
  api::ReplyWithLongLong(c.ctx, static_cast<long long>(layers_of(v)));
  reply_number(c, "fill", f.fill());
  reply_number(c, "fpr", f.fpr());
  reply_number(c, "fpr_target", f.planned().fpr_target);
  reply_number(c, "bits_per_key", f.keys() == 0 ? 0 : bits / static_cast<double>(f.keys()));
}

void bloom::scandump(const call& c) { scan_dump(c, bloom_family, say); }
void bloom::loadchunk(const call& c) { load_chunk(c, bloom_family, say); }
void bloom::export_(const call& c) { export_image(c, bloom_family); }
void bloom::import(const call& c) { import_image(c, bloom_family, adopt); }

}  // namespace bloomery_redis
