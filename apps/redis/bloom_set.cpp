// BF beyond adding and asking: union, comparison, removal, the window, statistics and transfer.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bloom.hpp"
#include "bloomery/core/error.hpp"
#include "bloomery/filter/blocked.hpp"
#include "bloomery/set/algebra.hpp"
#include "bloomery/set/estimate.hpp"
#include "job.hpp"
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

void adopt(value& v) {  // sets the facts of a filter that the command-line tool made
  const auto& planned = v.filter().planned();
  const bool grows = v.filter().can().grow;
  v.facts()[0] = std::max(planned.keys, grows ? 0 : v.filter().keys());
  // The variant of a layered filter holds its factor (core/shape.hpp); a scalable one doubles.
  const bool layered = planned.shape.kind == filter_kind::layered;
  v.facts()[1] = grows ? (layered ? planned.shape.variant & 0xffU : 2) : 0;
}

struct bit_content {  // the array of bits of a filter that has only one
  bloomery::shape shape;
  std::span<const std::uint64_t> words;
};
bit_content content_of(const value& v) {
  if (v.is_foreign()) throw refusal(foreign_refusal);
  bit_content content{.shape = v.filter().shape(), .words = {}};
  const auto parts = v.filter()->parts();
  const bool of_bits = content.shape.cell_bits == 0 || content.shape.kind == filter_kind::windowed;
  if (content.shape.kind == filter_kind::layered && layers_of(v) == 1) {
    content.words = parts.back();
    content.shape.kind = filter_kind::blocked;
    content.shape.variant = 0;
    content.shape.bits = content.words.size() * 64;
  } else if (bloomery::is_of_bits(content.shape.kind)) {
    content.words = parts.front();
  } else {
    throw refusal(
        of_bits ? "ERR only filters of one layer can be compared: reserve the capacity beforehand"
                : "ERR filters of fingerprints cannot be compared");
  }
  return content;
}

void reply_number(const call& c, const char* name, double number) {
  api::ReplyWithSimpleString(c.ctx, name);
  api::ReplyWithDouble(c.ctx, number);
}

class comparison final : public job {  // counts the bits of two filters and of their union
 public:
  comparison(const value& a, const value& b)
      : held_{a.lend(), b.lend()}, a_(content_of(a)), b_(content_of(b)) {
    bloomery::check_combinable(a_.shape, b_.shape);
  }

  bool step() override {
    const std::size_t count = std::min(step_bytes / 8, a_.words.size() - done_);
    const auto a = a_.words.subspan(done_, count);
    const auto b = b_.words.subspan(done_, count);
    set_a_ += bloomery::count_bits(a);
    set_b_ += bloomery::count_bits(b);
    set_union_ += bloomery::detail::count_union(a, b);
    done_ += count;
    return done_ == a_.words.size();
  }

  void finish(const call& c) override {
    const auto result = bloomery::compare_bits(a_.shape, set_a_, set_b_, set_union_);
    api::ReplyWithMap(c.ctx, 5);
    reply_number(c, "keys_a", result.keys_a.value);
    reply_number(c, "keys_b", result.keys_b.value);
    reply_number(c, "keys_union", result.keys_union.value);
    reply_number(c, "keys_intersection", result.keys_intersection.value);
    reply_number(c, "jaccard", result.jaccard.value);
  }

 private:
  std::array<std::shared_ptr<const any_filter>, 2> held_;
  bit_content a_;
  bit_content b_;
  std::size_t done_ = 0;
  std::uint64_t set_a_ = 0;
  std::uint64_t set_b_ = 0;
  std::uint64_t set_union_ = 0;
};

// What BF.STATS tells of a filter, of one moment.
struct statistics {
  statistics(const any_filter& f, const value& v)
      : kind(f.shape().kind),
        keys(f.keys()),
        bits(static_cast<double>(f.shape().bits)),
        layers(layers_of(f)),
        fpr_target(f.planned().fpr_target) {
    const auto* const old = v.foreign<bloomery::foreign::bloom_layers>();
    if (old == nullptr) return;
    foreign = {old->layers().size(), old->items()};
    for (const auto& layer : old->layers()) foreign_bits += static_cast<double>(layer.modulus);
  }

  void read_again(const any_filter& f) {  // what changes when items are added
    keys = f.keys();
    bits = static_cast<double>(f.shape().bits);
    layers = layers_of(f);
  }

  void reply(const call& c) const {
    const std::uint64_t foreign_layers = foreign ? foreign->layers : 0;
    const std::uint64_t all_keys = keys + (foreign ? foreign->keys : 0);
    const double all_bits = bits + foreign_bits;
    const std::uint64_t own_layers =
        foreign && keys == 0 ? 0 : layers;  // it has nothing to say yet
    api::ReplyWithMap(c.ctx, 8 + (covered_seconds ? 1 : 0) + (foreign ? 2 : 0));
    api::ReplyWithSimpleString(c.ctx, "kind");
    reply_text(c, bloomery::kind_name(kind));
    api::ReplyWithSimpleString(c.ctx, "keys");
    api::ReplyWithLongLong(c.ctx, static_cast<long long>(all_keys));
    api::ReplyWithSimpleString(c.ctx, "bits");
    api::ReplyWithLongLong(c.ctx, static_cast<long long>(all_bits));
    api::ReplyWithSimpleString(c.ctx, "layers");
    api::ReplyWithLongLong(c.ctx, static_cast<long long>(foreign_layers + own_layers));
    reply_number(c, "fill", fill);
    reply_number(c, "fpr", fpr);
    reply_number(c, "fpr_target", fpr_target);
    reply_number(c, "bits_per_key", all_keys == 0 ? 0 : all_bits / static_cast<double>(all_keys));
    if (foreign) {
      api::ReplyWithSimpleString(c.ctx, "foreign_layers");
      api::ReplyWithLongLong(c.ctx, static_cast<long long>(foreign->layers));
      api::ReplyWithSimpleString(c.ctx, "foreign_keys");
      api::ReplyWithLongLong(c.ctx, static_cast<long long>(foreign->keys));
    }
    if (covered_seconds) reply_number(c, "window_covered", *covered_seconds);
  }

  filter_kind kind;
  std::uint64_t keys;
  double bits;
  std::uint64_t layers;
  double fpr_target;
  double fill = 0;
  double fpr = 0;
  struct of_another_module {
    std::uint64_t layers;
    std::uint64_t keys;
  };
  std::optional<of_another_module> foreign;
  double foreign_bits = 0;
  std::optional<double> covered_seconds;  // of a window
};

// Reads all of a filter of blocks, for how full it is and how often it errs. Nothing is lent, so
// that a server which is watched copies nothing: who adds meanwhile changes bits that were counted
// or will be. The filter is kept if the key gets another one, and all numbers are of it.
class measurement final : public job {
 public:
  explicit measurement(const value& v) : filter_(v.watch()), found_(*filter_, v) {}

  [[nodiscard]] static bool takes(const value& v) {
    const filter_kind kind = v.filter().shape().kind;
    return kind == filter_kind::layered || kind == filter_kind::blocked;
  }

  bool step() override {
    auto layers = (*filter_)->parts();
    if (found_.kind == filter_kind::layered) layers.erase(layers.begin());  // tells of the others
    const auto rest = layers[layer_].subspan(word_);
    const auto piece = rest.first(std::min(rest.size(), piece_words));
    word_ += piece.size();
    words_ += piece.size();
    set_ += bloomery::count_bits(piece);
    rates_ += rate_of(piece, filter_->shape().probes) * static_cast<double>(piece.size());
    if (word_ < layers[layer_].size()) return false;
    none_ *= 1 - rates_ / static_cast<double>(word_);
    rates_ = 0;
    word_ = 0;
    if (++layer_ < layers.size()) return false;
    found_.read_again(*filter_);
    found_.fill = static_cast<double>(set_) / static_cast<double>(words_ * 64);
    found_.fpr = 1 - none_;
    filter_.reset();
    return true;
  }

  void finish(const call& c) override { found_.reply(c); }

 private:
  // The rate takes far longer than to read the bits.
  static constexpr std::size_t piece_words = step_bytes / 8 / 8;

  static double rate_of(std::span<const std::uint64_t> blocks, std::uint32_t probes) {
    const bloomery::shape s{.kind = filter_kind::blocked,
                            .probes = probes,
                            .block_bits = bloomery::bits_per_block,
                            .bits = blocks.size() * 64};
    return bloomery::blocked_view({.shape = s}, blocks, 0).fpr();
  }

  std::shared_ptr<const any_filter> filter_;
  statistics found_;
  std::size_t layer_ = 0;
  std::size_t word_ = 0;  // of the layer
  std::uint64_t words_ = 0;
  std::uint64_t set_ = 0;
  double rates_ = 0;  // of the layer's blocks, each times its words
  double none_ = 1;   // that no layer errs
};

// The same for filters of other kinds, which cannot be measured in pieces: by a thread, for which
// they must not change.
class whole_measurement final : public job {
 public:
  explicit whole_measurement(const value& v)
      : filter_(v.lend()), seen_(seen_now(v)), found_(*filter_, v) {
    if (!seen_) return;
    found_.keys = seen_->keys();
    found_.covered_seconds = static_cast<double>(seen_->covered() * v.facts()[5]) / 1000;
  }

  bool step() override {
    found_.fill = (*filter_)->fill();
    found_.fpr = seen_ ? seen_->fpr() : filter_->fpr();
    seen_.reset();
    filter_.reset();  // gives back what it was lent
    return true;
  }

  void finish(const call& c) override { found_.reply(c); }

 private:
  std::shared_ptr<const any_filter> filter_;
  std::optional<bloomery::windowed_view> seen_;  // of the filter that was lent
  statistics found_;
};

// Merges at once. A filter of a fixed size is merged in place, because that needs no memory.
void merge_now(const call& c) {
  opened_key target(c, 1, api::read_write);
  value* v = target.find_or_refuse(bloom_family);
  if (v != nullptr && v->is_foreign()) throw refusal(foreign_refusal);
  const bool in_place = v != nullptr && !v->filter().can().grow;
  std::uint64_t bytes = 0;
  for (std::size_t i = 2; i < c.size(); ++i) {
    const opened_key key(c, i, api::read_only);
    const value& from = key.get(bloom_family);
    if (from.is_foreign()) throw refusal(foreign_refusal);
    if (in_place) {
      bloomery::check_combinable(v->filter().shape(), from.filter().shape());
      bloomery::check_combinable(v->filter().hash(), from.filter().hash());
    }
    bytes += from.bytes();
  }
  std::unique_ptr<value> beside;
  if (!in_place) {
    check_memory(c.ctx, bytes, bytes);
    if (v != nullptr)
      beside = std::make_unique<value>(v->filter().clone(), v->facts(), bloom_family);
  }
  for (std::size_t i = 2; i < c.size(); ++i) {
    const opened_key key(c, i, api::read_only);
    const value& from = key.get(bloom_family);
    if (in_place) {
      v->filter().merge(from.filter());
    } else if (beside == nullptr) {
      beside = std::make_unique<value>(from.filter().clone(), from.facts(), bloom_family);
    } else {
      beside->filter().merge(from.filter());
    }
  }
  if (beside != nullptr) v = &target.set(std::move(beside));
  replicate(c);
  changed(c, 1, *v, "bf.merge");
}

bool remove_one(value& v, std::string_view item) {  // returns whether it was there
  if (!v.filter().can().remove) {
    throw refusal("ERR items can be removed from filters that were reserved with COUNTING only");
  }
  return v.filter().remove({&item, 1}) != 0;
}

}  // namespace

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

// BF.MERGE dst src...: dst becomes the union of all, including itself if it exists. Filters of a
// fixed size are merged in place, once all are known to be compatible; those that grow into a copy,
// which replaces the key when it is complete, since the union may need more memory than there is.
// Large filters are merged into a copy too, in a thread.
void bloom::merge(const call& c) {
  std::vector<std::shared_ptr<const any_filter>> lent;
  std::optional<fact_list> facts;  // of the first
  std::uint64_t bytes = 0;
  const auto take = [&](const value& v) {
    if (v.is_foreign()) throw refusal(foreign_refusal);
    if (!facts) facts = v.facts();
    lent.push_back(v.lend());
    bytes += v.bytes();
  };
  {
    const opened_key target(c, 1, api::read_only);
    if (const value* const v = target.find_or_refuse(bloom_family)) take(*v);
  }
  for (std::size_t i = 2; i < c.size(); ++i) {
    take(opened_key(c, i, api::read_only).get(bloom_family));
  }
  if (bytes < slow_bytes || !may_wait(c)) {
    lent.clear();
    merge_now(c);
    reply_ok(c);
    return;
  }
  check_memory(c.ctx, bytes, bytes);
  std::vector<std::size_t> keys(c.size() - 1);
  std::iota(keys.begin(), keys.end(), std::size_t{1});
  const auto first = lent.front();
  lent.erase(lent.begin());
  run_in_thread(c, keys,
                {.of = bloom_family,
                 .from = first,
                 .bytes = bytes,
                 .facts = *facts,
                 .edit =
                     [others = std::move(lent)](any_filter& made) {
                       for (const auto& other : others) made.merge(*other);
                     },
                 .at_once = merge_now,
                 .event = "bf.merge"});
}

void bloom::compare(const call& c) {
  std::unique_ptr<comparison> work;
  std::uint64_t bytes = 0;
  {
    const opened_key first(c, 1, api::read_only);
    const opened_key second(c, 2, api::read_only);
    const value& a = first.get(bloom_family);
    const value& b = second.get(bloom_family);
    bloomery::check_combinable(a.filter().hash(), b.filter().hash());
    work = std::make_unique<comparison>(a, b);
    bytes = a.bytes();
  }
  run_job(c, bytes, std::move(work));
}

void bloom::stats(const call& c) {
  std::unique_ptr<job> work;
  std::uint64_t bytes = 0;
  way how = way::sliced;
  {
    const opened_key key(c, 1, api::read_only);
    const value& v = key.get(bloom_family);
    bytes = v.bytes();
    if (measurement::takes(v)) {
      work = std::make_unique<measurement>(v);
    } else {
      work = std::make_unique<whole_measurement>(v);
      how = way::threaded;
    }
  }
  run_job(c, bytes, std::move(work), how);
}

void bloom::scandump(const call& c) { scan_dump(c, bloom_family, say); }
void bloom::loadchunk(const call& c) { load_chunk(c, bloom_family, say); }
void bloom::load(const call& c) { load_whole(c, bloom_family, say); }
void bloom::export_(const call& c) { export_image(c, bloom_family); }
void bloom::import(const call& c) { import_image(c, bloom_family, adopt); }

}  // namespace bloomery_redis
