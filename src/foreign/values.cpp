#include "bloomery/foreign/values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "numbers.hpp"

namespace bloomery::foreign {

namespace {

constexpr std::array<data_type, 5> known_types = {{
    {.from = origin::redisbloom_bloom, .name = "MBbloom--", .version = 4},
    {.from = origin::redisbloom_cuckoo, .name = "MBbloomCF", .version = 4},
    {.from = origin::redisbloom_counts, .name = "CMSk-TYPE", .version = 0},
    {.from = origin::redisbloom_top, .name = "TopK-TYPE", .version = 0},
    {.from = origin::valkey_bloom, .name = "bloomfltr", .version = 1},
}};

const data_type* find_type(std::uint64_t from) {
  const auto* const found = std::ranges::find_if(
      known_types, [&](const data_type& t) { return static_cast<std::uint64_t>(t.from) == from; });
  return found == known_types.end() ? nullptr : found;
}

// Refuses rows * columns * bytes other than the length of the text.
void check_table(std::span<const std::byte> text, std::uint64_t rows, std::uint64_t columns,
                 std::uint64_t bytes) {
  const auto cells = static_cast<detail::uint128>(rows) * columns;
  if (cells == 0 || cells != text.size() / bytes || text.size() % bytes != 0) {
    detail::fail(errc::corrupt, "a table of the foreign value has another size than it says");
  }
}

std::uint64_t bounded(std::uint64_t n, std::uint64_t least, std::uint64_t most) {
  if (n < least || n > most) {
    detail::fail(errc::corrupt, "the foreign value has a number of " + detail::to_text(n) +
                                    " where " + detail::to_text(least) + " to " +
                                    detail::to_text(most) + " is possible");
  }
  return n;
}

constexpr std::uint64_t stored_field_bytes = 9;

}  // namespace

std::span<const data_type> data_types() noexcept { return known_types; }

value::value(origin from) : from_(from) { fields_.number(static_cast<std::uint64_t>(from)); }

std::size_t value::put_text(std::span<const std::byte> bytes) {
  fields_.text(bytes);
  return fields_.last_text();
}

void value::write_to(field_sink& sink) const {
  stream_reader reader(stream());
  static_cast<void>(reader.number());  // the origin
  reader.copy_to(sink);
}

std::unique_ptr<value> read(origin from, int version, field_reader& fields) {
  const data_type* const type = find_type(static_cast<std::uint64_t>(from));
  if (type == nullptr || version > type->version || version < 0) {
    detail::fail(errc::unsupported,
                 "it was written by a newer version of the other module than this one can read");
  }
  switch (from) {
    case origin::redisbloom_bloom:
    case origin::valkey_bloom: return std::make_unique<bloom_layers>(version, fields, from);
    case origin::redisbloom_cuckoo: return std::make_unique<cuckoo_layers>(version, fields);
    case origin::redisbloom_counts: return std::make_unique<counter_rows>(fields);
    case origin::redisbloom_top: return std::make_unique<top_list>(fields);
  }
  detail::fail(errc::unsupported, "a value of an unknown module");
}

std::unique_ptr<value> decode(std::span<const std::byte> stream) {
  stream_reader reader(stream);
  const data_type* const type = find_type(reader.number());
  if (type == nullptr) detail::fail(errc::unsupported, "a value of an unknown module");
  auto v = read(type->from, type->version, reader);
  if (!reader.done()) detail::fail(errc::corrupt, "there are more bytes than the value has");
  return v;
}

// ---- cuckoo filters ---------------------------------------------------------------------------

cuckoo_layers::cuckoo_layers(int version, field_reader& fields) : value(origin::redisbloom_cuckoo) {
  constexpr int with_sizes = 4;
  const bool sizes = version >= with_sizes;
  const std::uint64_t count = read_numbers(sizes, fields);
  for (std::uint64_t i = 0; i < count; ++i) {
    layer l{.buckets = sizes ? fields.number() : buckets_};
    const auto cells = fields.text();
    check_table(cells, l.buckets, cells_, 1);
    fields_.number(l.buckets);
    l.begin = put_text(cells);
    layers_.push_back(l);
  }
}

std::uint64_t cuckoo_layers::read_numbers(bool sizes, field_reader& fields) {
  const std::uint64_t count = bounded(fields.number(), 1, 65535);
  buckets_ = fields.number();
  items_ = fields.number();
  deletes_ = sizes ? fields.number() : 0;
  cells_ = bounded(sizes ? fields.number() : 2, 1, 255);
  iterations_ = bounded(sizes ? fields.number() : 20, 1, 65535);
  expansion_ = bounded(sizes ? fields.number() : 1, 0, 32768);
  fields_.number(count);
  fields_.number(buckets_);
  items_at_ = fields_.bytes().size();
  deletes_at_ = items_at_ + stored_field_bytes;
  for (const std::uint64_t n : {items_, deletes_, cells_, iterations_, expansion_}) {
    fields_.number(n);
  }
  return count;
}

std::unique_ptr<value> cuckoo_layers::clone() const {
  return std::make_unique<cuckoo_layers>(*this);
}

template <class Visit>
void cuckoo_layers::visit(const layer& l, std::uint64_t hash, Visit visit_cell) const noexcept {
  const std::uint64_t fingerprint = hash % 255 + 1;
  for (const std::uint64_t h : {hash, hash ^ (fingerprint * 0x5bd1e995U)}) {
    const std::size_t first = l.begin + static_cast<std::size_t>(h % l.buckets * cells_);
    for (std::size_t i = first; i < first + cells_; ++i) {
      if (std::to_integer<std::uint64_t>(stream()[i]) != fingerprint) continue;
      if (!visit_cell(i)) return;
    }
  }
}

std::uint64_t cuckoo_layers::count(std::string_view item) const noexcept {
  const std::uint64_t hash = murmur64a(item, 0);
  std::uint64_t found = 0;
  for (const layer& l : layers_) {
    visit(l, hash, [&](std::size_t) {
      ++found;
      return true;
    });
  }
  return found;
}

bool cuckoo_layers::remove(std::string_view item) noexcept {
  const std::uint64_t hash = murmur64a(item, 0);
  for (std::size_t newest = layers_.size(); newest != 0; --newest) {
    std::optional<std::size_t> cell;
    visit(layers_[newest - 1], hash, [&](std::size_t i) {
      cell = i;
      return false;
    });
    if (!cell) continue;
    fields_.bytes()[*cell] = std::byte{0};
    items_ -= items_ != 0 ? 1 : 0;
    ++deletes_;
    fields_.set_number(items_at_, items_);
    fields_.set_number(deletes_at_, deletes_);
    return true;
  }
  return false;
}

// ---- counters ---------------------------------------------------------------------------------

counter_rows::counter_rows(field_reader& fields)
    : value(origin::redisbloom_counts),
      width_(fields.number()),
      depth_(bounded(fields.number(), 1, UINT32_MAX)),
      total_(fields.number()) {
  const auto counters = fields.text();
  check_table(counters, width_, depth_, sizeof(std::uint32_t));
  for (const std::uint64_t n : {width_, depth_, total_}) fields_.number(n);
  begin_ = put_text(counters);
}

std::unique_ptr<value> counter_rows::clone() const { return std::make_unique<counter_rows>(*this); }

std::uint32_t counter_rows::counter(std::size_t i) const noexcept {
  constexpr std::size_t size = sizeof(std::uint32_t);
  return static_cast<std::uint32_t>(read_number(stream(), begin_ + i * size, size));
}

std::uint64_t counter_rows::count(std::string_view item) const noexcept {
  std::uint64_t least = UINT64_MAX;
  for (std::uint64_t row = 0; row < depth_; ++row) {
    const std::uint64_t column = murmur2(item, static_cast<std::uint32_t>(row)) % width_;
    least =
        std::min<std::uint64_t>(least, counter(static_cast<std::size_t>(row * width_ + column)));
  }
  return least;
}

std::unique_ptr<counter_rows> counter_rows::sum(std::span<const term> terms) {
  const auto first = std::ranges::find_if(terms, [](const term& t) { return t.sketch != nullptr; });
  if (first == terms.end()) return nullptr;
  const counter_rows& like = *first->sketch;
  const bool alike = std::ranges::all_of(terms, [&](const term& t) {
    return t.sketch == nullptr ||
           (t.sketch->width_ == like.width_ && t.sketch->depth_ == like.depth_);
  });
  if (!alike) return nullptr;
  std::vector<std::byte> counters(static_cast<std::size_t>(like.width_ * like.depth_ * 4));
  detail::int128 total = 0;
  for (const term& t : terms) {
    if (t.sketch != nullptr) total += detail::int128{t.weight} * t.sketch->total_;
  }
  for (std::size_t i = 0; i < counters.size() / 4; ++i) {
    detail::int128 sum = 0;
    for (const term& t : terms) {
      if (t.sketch != nullptr) sum += detail::int128{t.weight} * t.sketch->counter(i);
    }
    if (sum < 0 || sum > UINT32_MAX) return nullptr;
    for (std::size_t byte = 0; byte < 4; ++byte) {
      counters[i * 4 + byte] = static_cast<std::byte>(sum >> (8 * byte));
    }
  }
  if (total < 0 || total > INT64_MAX) return nullptr;
  field_stream fields;
  fields.number(like.width_);
  fields.number(like.depth_);
  fields.number(static_cast<std::uint64_t>(total));
  fields.text(counters);
  stream_reader reader(fields.bytes());
  return std::make_unique<counter_rows>(reader);
}

// ---- lists of the most frequent items ---------------------------------------------------------

// An entry of the heap: fingerprint and length of 4 bytes each, an address of 8, the count of 4.
top_list::top_list(field_reader& fields)
    : value(origin::redisbloom_top),
      k_(bounded(fields.number(), 1, std::uint64_t{1} << 20U)),
      width_(bounded(fields.number(), 1, UINT32_MAX)),
      depth_(bounded(fields.number(), 1, UINT32_MAX)),
      decay_(fields.real()) {
  constexpr std::size_t entry_bytes = 24;
  if (!(decay_ > 0 && decay_ <= 1)) detail::fail(errc::corrupt, "the foreign list has no decay");
  for (const std::uint64_t n : {k_, width_, depth_}) fields_.number(n);
  fields_.real(decay_);
  const auto buckets = fields.text();
  check_table(buckets, width_, depth_, 8);
  fields_.text(buckets);
  const auto heap_text = fields.text();
  check_table(heap_text, k_, 1, entry_bytes);
  fields_.text(heap_text);
  const std::vector<std::byte> heap(heap_text.begin(), heap_text.end());
  for (std::size_t i = 0; i < k_; ++i) {
    const std::size_t at = i * entry_bytes;
    const auto item = fields.text();
    const std::size_t begin = put_text(item);
    const std::uint64_t bytes = read_number(heap, at + 4, 4);
    const std::uint64_t count = read_number(heap, at + 16, 4);
    if (count == 0) continue;  // an empty place
    if (bytes > item.size()) detail::fail(errc::corrupt, "an item of the foreign list is cut off");
    entries_.push_back({.begin = begin, .bytes = static_cast<std::size_t>(bytes), .count = count});
  }
}

std::unique_ptr<value> top_list::clone() const { return std::make_unique<top_list>(*this); }

std::vector<top_list::entry> top_list::entries() const {
  std::vector<entry> all;
  const auto* const text = reinterpret_cast<const char*>(stream().data());
  for (const place& p : entries_)
    all.push_back({.item = {text + p.begin, p.bytes}, .count = p.count});
  return all;
}

}  // namespace bloomery::foreign
