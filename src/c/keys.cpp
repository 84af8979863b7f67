// Calls with keys.
#include "keys.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "bloomery/sketch/count_min.hpp"
#include "bloomery/sketch/spectral.hpp"
#include "bloomery/sketch/top_k.hpp"

namespace bloomery::c {

namespace {

const bloomery_keys& checked_keys(const bloomery_keys* keys) {
  check_pointer(keys, "keys");
  if (keys->layout > BLOOMERY_OFFSETS64) {
    detail::throw_bad_argument("layout", std::uint64_t{keys->layout}, "at most 3");
  }
  const bool offsets = keys->layout >= BLOOMERY_OFFSETS32;
  if (offsets && keys->count != 0) check_pointer(keys->offsets, "offsets");
  if (!offsets && keys->count != 0) check_pointer(keys->data, "data");
  return *keys;
}

// NULL is the empty string, and nothing longer.
[[gnu::noinline]] void check_null(std::size_t bytes, std::size_t place) {
  if (bytes == 0) return;
  detail::fail(errc::bad_argument,
               "key " + detail::to_text(std::uint64_t{place}) + " is NULL, but not empty");
}

}  // namespace

// Only as many of the arrays are written as there are keys, since a call may be for one.
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init)
key_views::key_views(const bloomery_keys* keys) : keys_(checked_keys(keys)) {}

template <class Offset>
void key_views::view_column(std::size_t first, std::size_t number) {
  const auto* const data = static_cast<const char*>(keys_.data);
  const auto* const offsets = static_cast<const Offset*>(keys_.offsets) + first;
  if (data == nullptr &&
      std::any_of(offsets, offsets + number + 1, [](auto at) { return at != 0; })) {
    detail::fail(errc::bad_argument, "data is NULL, but the offsets say that it has bytes");
  }
  for (std::size_t i = 0; i < number; ++i) {
    if (offsets[i + 1] < offsets[i]) {
      detail::fail(errc::bad_argument, "the offsets of the keys do not ascend at key " +
                                           detail::to_text(std::uint64_t{first + i}));
    }
    views_[i] = {data + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
}

std::span<const std::string_view> key_views::get(std::size_t first, std::size_t number) {
  switch (keys_.layout) {
    case BLOOMERY_INTEGERS:
      for (std::size_t i = 0; i < number; ++i) {
        numbers_[i] = detail::little_endian(numbers()[first + i]);
        views_[i] = {reinterpret_cast<const char*>(&numbers_[i]), sizeof(std::uint64_t)};
      }
      break;
    case BLOOMERY_OFFSETS32: view_column<std::uint32_t>(first, number); break;
    case BLOOMERY_OFFSETS64: view_column<std::uint64_t>(first, number); break;
    default: {
      const auto* const strings = static_cast<const bloomery_string*>(keys_.data) + first;
      for (std::size_t i = 0; i < number; ++i) {
        if (strings[i].data == nullptr) [[unlikely]]
          check_null(strings[i].bytes, first + i);
        views_[i] = {static_cast<const char*>(strings[i].data), strings[i].bytes};
      }
    }
  }
  return {views_.data(), number};
}

namespace {

bloomery_filter& changed(bloomery_filter* f) {
  check_pointer(f, "filter");
  return *f;
}
const bloomery_filter& asked(const bloomery_filter* f) {
  check_pointer(f, "filter");
  return *f;
}

// A sketch that keeps keys could not tell later which of them were integers.
void check_kept(const bloomery_filter& f, const key_views& keys) {
  if (keys.integers() && abilities_of(f.filter.shape().kind).lists_top &&
      f.filter.hash().form.type != key_type::integers) {
    detail::fail(errc::mismatch, "a top-k sketch takes integers only when it was made for them");
  }
}

// Hashes pieces of strings with the usual function, in the scratch space of the caller.
std::span<const std::uint64_t> mixed(const xxh3_hasher& mixer,
                                     std::span<const std::string_view> views,
                                     std::span<std::uint64_t> out) {
  for (std::size_t i = 0; i < views.size(); ++i) {
    out[i] = mixer.bytes(views[i].data(), views[i].size());
  }
  return out.first(views.size());
}

}  // namespace

void add_keys(bloomery_filter& f, key_views& keys) {
  check_kept(f, keys);
  const any_hasher& hasher = keys.hasher(f);
  if (f.owner != nullptr && keys.integers()) {
    f.owner->add_batch(f.mixer.integers(keys.numbers()));
    return;
  }
  detail::scratch<std::uint64_t, key_views::piece> hashes;
  keys.for_each([&](std::size_t, std::span<const std::string_view> views) {
    if (f.owner != nullptr) {
      f.owner->add_batch(mixed(f.mixer, views, hashes));
    } else {
      f.filter->add(views, hasher);
    }
  });
}

std::vector<std::uint64_t> all_hashes(const any_hasher& hasher, key_views& keys) {
  std::vector<std::uint64_t> hashes(keys.count());
  keys.for_each([&](std::size_t first, std::span<const std::string_view> views) {
    hasher.hash(views, std::span(hashes).subspan(first, views.size()));
  });
  return hashes;
}

namespace {

void contained_bytes(const bloomery_filter& f, key_views& keys, std::span<std::uint8_t> out) {
  const any_hasher& hasher = keys.hasher(f);
  if (keys.integers() && f.fast_integers) {
    detail::answer_bytes<detail::batch_hashes>(
        keys.count(), out,
        [&](std::size_t first, std::size_t number, std::span<std::uint64_t> bitmap) {
          const auto numbers = keys.numbers().subspan(first, number);
          f.fast_integers->contains_bits(f.mixer.integers(numbers), bitmap);
        });
    return;
  }
  detail::scratch<std::uint64_t, key_views::piece> hashes;
  detail::answer_bytes(keys.count(), out,
                       [&](std::size_t first, std::size_t number, std::span<std::uint64_t> bitmap) {
                         const auto views = keys.get(first, number);
                         if (!keys.integers() && f.fast_strings) {
                           f.fast_strings->contains_bits(mixed(f.mixer, views, hashes), bitmap);
                         } else {
                           f.filter->contains_bits(views, hasher, bitmap);
                         }
                       });
}

void add_counted(bloomery_filter& f, key_views& keys, std::span<const std::uint64_t> counts) {
  check_kept(f, keys);
  const std::vector<std::uint64_t> hashes = all_hashes(keys.hasher(f), keys);
  if (auto* const sketch = f.filter.get_if<count_min>()) {
    sketch->add_batch(hashes, counts);
  } else if (auto* const spectral = f.filter.get_if<spectral_filter>()) {
    spectral->add_batch(hashes, counts);
  } else if (auto* const top = f.filter.get_if<top_k>()) {
    keys.for_each([&](std::size_t first, std::span<const std::string_view> views) {
      for (std::size_t i = 0; i < views.size(); ++i) {
        top->add(views[i], hashes[first + i], counts[first + i]);
      }
    });
  } else {
    detail::fail(errc::unsupported, "a " + std::string(kind_name(f.filter.shape().kind)) +
                                        " filter takes no counts, or is mapped");
  }
}

// One key of a filter of any kind, and those that are NULL.
void check_one(std::string_view key) {
  if (key.data() == nullptr) check_null(key.size(), 0);
}
[[gnu::noinline]] int add_any(bloomery_filter* filter, std::string_view key) noexcept {
  return guarded([&] {
    bloomery_filter& f = changed(filter);
    check_one(key);
    f.filter->add({&key, 1}, f.strings());
    return int{BLOOMERY_OK};
  });
}
[[gnu::noinline]] int add_any_integer(bloomery_filter* filter, std::uint64_t key) noexcept {
  const bloomery_keys one{&key, nullptr, 1, BLOOMERY_INTEGERS};
  return bloomery_add_batch(filter, &one);
}
[[gnu::noinline]] int asked_any(const bloomery_filter* filter, std::string_view key) noexcept {
  return guarded([&] {
    const bloomery_filter& f = asked(filter);
    check_one(key);
    return f.filter->contains(key, f.strings()) ? 1 : 0;
  });
}
[[gnu::noinline]] int asked_any_integer(const bloomery_filter* filter, std::uint64_t key) noexcept {
  return guarded([&] {
    const std::uint64_t little = detail::little_endian(key);
    const std::string_view view(reinterpret_cast<const char*>(&little), sizeof little);
    const bloomery_filter& f = asked(filter);
    return f.filter->contains(view, f.integers()) ? 1 : 0;
  });
}

// Keys of the short ways. The hash of longer ones has more in hand at once than there are registers
// that need not be saved, and every call would save and restore them.
constexpr std::size_t short_key = 32;
inline std::uint64_t short_hash(const xxh3_hasher& mixer, const void* key, std::size_t bytes) {
  if (bytes > short_key) __builtin_unreachable();
  return mixer.bytes(key, bytes);
}
[[gnu::noinline]] int add_long(bloomery_filter* filter, const void* key,
                               std::size_t bytes) noexcept {
  filter->owner->add(filter->mixer.bytes(key, bytes));
  return BLOOMERY_OK;
}
[[gnu::noinline]] int asked_long(const bloomery_filter* filter, const void* key,
                                 std::size_t bytes) noexcept {
  return filter->fast_strings->contains(filter->mixer.bytes(key, bytes)) ? 1 : 0;
}

void count_entry(bloomery_counted_key* out, std::size_t room, std::size_t& next,
                 const top_k_entry& entry) {
  if (next < room) out[next] = {entry.key.data(), entry.key.size(), entry.count};
  ++next;
}

}  // namespace

}  // namespace bloomery::c

using namespace bloomery;     // NOLINT(google-build-using-namespace): a source of C functions
using namespace bloomery::c;  // NOLINT(google-build-using-namespace)

// The short ways hold nothing but the hash, inlined, and the block: a call, or a frame for the
// errors of the long ways, would take as long as either.

[[gnu::flatten]] int bloomery_add(bloomery_filter* filter, const void* key, size_t bytes) {
  if (filter != nullptr && filter->owner != nullptr && filter->fast_strings && key != nullptr)
      [[likely]] {
    if (bytes > short_key) [[unlikely]]
      return add_long(filter, key, bytes);
    filter->owner->add(short_hash(filter->mixer, key, bytes));
    return BLOOMERY_OK;
  }
  return add_any(filter, {static_cast<const char*>(key), bytes});
}

int bloomery_add_integer(bloomery_filter* filter, uint64_t key) {
  if (filter != nullptr && filter->owner != nullptr && filter->fast_integers) [[likely]] {
    filter->owner->add(filter->mixer.integer(key));
    return BLOOMERY_OK;
  }
  return add_any_integer(filter, key);
}

[[gnu::flatten]] int bloomery_contains(const bloomery_filter* filter, const void* key,
                                       size_t bytes) {
  if (filter != nullptr && filter->fast_strings && key != nullptr) [[likely]] {
    if (bytes > short_key) [[unlikely]]
      return asked_long(filter, key, bytes);
    return filter->fast_strings->contains(short_hash(filter->mixer, key, bytes)) ? 1 : 0;
  }
  return asked_any(filter, {static_cast<const char*>(key), bytes});
}

int bloomery_contains_integer(const bloomery_filter* filter, uint64_t key) {
  if (filter != nullptr && filter->fast_integers) [[likely]] {
    return filter->fast_integers->contains(filter->mixer.integer(key)) ? 1 : 0;
  }
  return asked_any_integer(filter, key);
}

int bloomery_add_batch(bloomery_filter* filter, const bloomery_keys* keys) {
  return guarded([&] {
    key_views all(keys);
    add_keys(changed(filter), all);
    return int{BLOOMERY_OK};
  });
}

int bloomery_add_counts(bloomery_filter* filter, const bloomery_keys* keys,
                        const uint64_t* counts) {
  return guarded([&] {
    key_views all(keys);
    if (all.count() != 0) check_pointer(counts, "counts");
    add_counted(changed(filter), all, {counts, all.count()});
    return int{BLOOMERY_OK};
  });
}

int bloomery_add_concurrent(bloomery_filter* filter, const bloomery_keys* keys) {
  return guarded([&] {
    key_views all(keys);
    bloomery_filter& f = changed(filter);
    // A long piece each time: the locks of a filter are gone through once for all of its keys.
    const std::vector<std::uint64_t> hashes = all_hashes(all.hasher(f), all);
    f.filter->add_hashes_concurrent(hashes);
    return int{BLOOMERY_OK};
  });
}

int bloomery_contains_batch(const bloomery_filter* filter, const bloomery_keys* keys,
                            uint8_t* out) {
  return guarded([&] {
    key_views all(keys);
    if (all.count() != 0) check_pointer(out, "out");
    contained_bytes(asked(filter), all, {out, all.count()});
    return int{BLOOMERY_OK};
  });
}

int bloomery_remove(bloomery_filter* filter, const bloomery_keys* keys, uint64_t* removed) {
  return guarded([&] {
    key_views all(keys);
    bloomery_filter& f = changed(filter);
    const any_hasher& hasher = all.hasher(f);
    std::uint64_t gone = 0;
    all.for_each([&](std::size_t, std::span<const std::string_view> views) {
      gone += f.filter->remove(views, hasher);
    });
    if (removed != nullptr) *removed = gone;
    return int{BLOOMERY_OK};
  });
}

int bloomery_count(const bloomery_filter* filter, const bloomery_keys* keys, uint64_t* counts) {
  return guarded([&] {
    key_views all(keys);
    if (all.count() != 0) check_pointer(counts, "counts");
    const bloomery_filter& f = asked(filter);
    const any_hasher& hasher = all.hasher(f);
    all.for_each([&](std::size_t first, std::span<const std::string_view> views) {
      f.filter->count(views, hasher, {counts + first, views.size()});
    });
    return int{BLOOMERY_OK};
  });
}

int bloomery_value(const bloomery_filter* filter, const bloomery_keys* keys, uint64_t* values,
                   uint8_t* found) {
  return guarded([&] {
    key_views all(keys);
    if (all.count() != 0) check_pointer(values, "values");
    if (all.count() != 0) check_pointer(found, "found");
    const bloomery_filter& f = asked(filter);
    const any_hasher& hasher = all.hasher(f);
    detail::answer_bytes(
        all.count(), {found, all.count()},
        [&](std::size_t first, std::size_t number, std::span<std::uint64_t> bitmap) {
          f.filter->value(all.get(first, number), hasher, {values + first, number}, bitmap);
        });
    return int{BLOOMERY_OK};
  });
}

int bloomery_set_values(bloomery_filter* filter, const bloomery_keys* keys, const uint64_t* values,
                        uint64_t* updated) {
  return guarded([&] {
    key_views all(keys);
    if (all.count() != 0) check_pointer(values, "values");
    bloomery_filter& f = changed(filter);
    const std::vector<std::uint64_t> hashes = all_hashes(all.hasher(f), all);
    const std::size_t done = f.filter->update_values(hashes, {values, all.count()});
    if (updated != nullptr) *updated = done;
    return int{BLOOMERY_OK};
  });
}

int bloomery_top(const bloomery_filter* filter, bloomery_counted_key* out, size_t room,
                 size_t* count) {
  return guarded([&] {
    check_pointer(count, "count");
    if (room != 0) check_pointer(out, "out");
    const any_filter& f = asked(filter).filter;
    std::size_t next = 0;
    if (const auto* const sketch = f.get_if<top_k>()) {
      for (const top_k_entry& entry : sketch->entries()) count_entry(out, room, next, entry);
    } else if (f.shape().kind == filter_kind::top_k) {
      // The keys lie in the words, so that they outlive this look at them.
      const top_k_view view(f.planned(), f.words(), f.keys());
      for (const top_k_entry& entry : view.entries()) count_entry(out, room, next, entry);
    } else {
      detail::fail(errc::unsupported, "a " + std::string(kind_name(f.shape().kind)) +
                                          " filter does not list its keys");
    }
    *count = next;
    return int{BLOOMERY_OK};
  });
}
