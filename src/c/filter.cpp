// Making, opening and saving filters, and the handle itself.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "bloomery/core/kinds.hpp"
#include "bloomery/core/sizing_sketch.hpp"
#include "bloomery/core/version.hpp"
#include "bloomery/format/codec.hpp"
#include "bloomery/format/delta.hpp"
#include "bloomery/format/stream.hpp"
#include "bloomery/hash/secret_hasher.hpp"
#include "handle.hpp"
#include "keys.hpp"

namespace bloomery::c {

namespace {

// A fixed array, because keeping an error must not fail itself.
std::array<char, 1024>& error_text() noexcept {
  thread_local std::array<char, 1024> text{};
  return text;
}

template <class Hasher>
std::shared_ptr<const any_hasher> integers_by(const Hasher& hasher, const key_form& form) {
  return std::make_shared<erased_hasher<Hasher, true>>(hasher, form, key_rule::plain);
}

}  // namespace

int keep_error(int status, const char* text) noexcept {
  auto& kept = error_text();
  const std::size_t length = std::min(std::strlen(text), kept.size() - 1);
  std::memcpy(kept.data(), text, length);
  kept[length] = '\0';
  return status;
}

int caught() noexcept {
  static_assert(-BLOOMERY_BAD_ARGUMENT == int{static_cast<std::uint8_t>(errc::bad_argument)} &&
                -BLOOMERY_FULL == int{static_cast<std::uint8_t>(errc::full)});
  try {
    throw;
  } catch (const error& e) {
    return keep_error(-int{static_cast<std::uint8_t>(e.code())}, e.what());
  } catch (const std::bad_alloc&) {
    return keep_error(BLOOMERY_NO_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return keep_error(BLOOMERY_INTERNAL, e.what());
  } catch (...) {
    return keep_error(BLOOMERY_INTERNAL, "an unknown error");
  }
}

std::shared_ptr<const any_hasher> make_hasher(hash_id id, std::uint64_t seed,
                                              const key_form& form) {
  if (id == hash_id::xxh3) return erase(xxh3_hasher(seed), form);
  if (id == hash_id::xxh3_secret) return erase(secret_hasher(seed), form);
  return nullptr;
}

std::shared_ptr<const any_hasher> hasher_of(const image_header& header) {
  const hash_spec& spec = header.hash;
  if (spec.rule != key_rule::plain || spec.form.type == key_type::kmers) return nullptr;
  return make_hasher(spec.id, spec.seed, spec.form);
}

filter_version whole_version(const any_filter& f, std::vector<std::uint64_t>& room) {
  const auto parts = f->parts();
  if (parts.size() == 1) return f.version();
  for (const auto part : parts) room.insert(room.end(), part.begin(), part.end());
  return {.header = f.header(), .words = room};
}

bloomery_options checked_options(const bloomery_options* options) {
  check_pointer(options, "options");
  bloomery_options o{};
  if (options->struct_bytes < offsetof(bloomery_options, seed) ||
      options->struct_bytes > sizeof o) {
    detail::fail(errc::bad_argument, "struct_bytes is " +
                                         detail::to_text(std::uint64_t{options->struct_bytes}) +
                                         ", but it must be sizeof(bloomery_options), " +
                                         detail::to_text(std::uint64_t{sizeof o}) + " here");
  }
  std::memcpy(&o, options, options->struct_bytes);
  return o;
}

filter_kind kind_of(const bloomery_options& o) {
  if (o.kind == 0) return filter_kind::blocked;
  const auto kind = kind_from_number(o.kind);
  if (!kind) detail::throw_bad_argument("kind", std::uint64_t{o.kind}, "the number of a kind");
  return *kind;
}

hash_id hash_of(const bloomery_options& o) {
  if (o.hash == BLOOMERY_XXH3) return hash_id::xxh3;
  if (o.hash == BLOOMERY_XXH3_SECRET) return hash_id::xxh3_secret;
  detail::throw_bad_argument("hash", std::uint64_t{o.hash}, "one of bloomery_hash");
}

key_form form_of(const bloomery_options& o) {
  if (o.form > BLOOMERY_FORM_BINARY) {
    detail::throw_bad_argument("form", std::uint64_t{o.form}, "any, text, integers or binary");
  }
  return {static_cast<key_type>(o.form)};
}

namespace {

// A number that is said, or nothing.
template <class Number>
std::optional<Number> said(Number number) {
  return number != 0 ? std::optional(number) : std::nullopt;
}

// The fields that are the variant of one kind.
struct variant_field {
  filter_kind kind;
  std::uint32_t bloomery_options::*value;
  const char* name;
};
constexpr std::array variant_fields = {
    variant_field{filter_kind::windowed, &bloomery_options::generations, "generations"},
    variant_field{filter_kind::layered, &bloomery_options::growth, "growth"},
    variant_field{filter_kind::bloomier, &bloomery_options::value_bits, "value_bits"},
    variant_field{filter_kind::top_k, &bloomery_options::k, "k"}};

// Of options whose fields are those of the kind.
std::optional<std::uint32_t> variant_of(const bloomery_options& o, filter_kind kind) {
  if (o.update != 0) return o.update - 1;
  const auto field = std::ranges::find(variant_fields, kind, &variant_field::kind);
  return field == variant_fields.end() ? std::nullopt : said(o.*field->value);
}

// Fields of other kinds are slips: a caller who sets them expects that they do something.
void check_fields(const bloomery_options& o, filter_kind kind) {
  const auto only = [&](bool given, const char* field, bool has_it) {
    if (!given || has_it) return;
    detail::fail(errc::bad_argument, std::string(field) + " is not for filters of kind " +
                                         std::string(kind_name(kind)));
  };
  using enum filter_kind;
  only(o.window != 0, "window", kind == windowed);
  only(o.cell_bits != 0, "cell_bits", has_chosen_cells(kind));
  only(o.epsilon != 0, "epsilon", kind == count_min);
  only(o.delta != 0, "delta", kind == count_min);
  only(o.bucket_cells != 0, "bucket_cells", kind == cuckoo);
  only(o.layout != 0, "layout", kind == counting);
  only(o.update != 0, "update", kind == count_min || kind == spectral);
  for (const variant_field& field : variant_fields) {
    only(o.*field.value != 0, field.name, kind == field.kind);
  }
  if (o.layout > BLOOMERY_LAYOUT_ANYWHERE) {
    detail::throw_bad_argument("layout", std::uint64_t{o.layout}, "at most 2");
  }
  const std::uint32_t updates = kind == spectral ? 3 : 2;
  if (o.update > updates) {
    detail::throw_bad_argument("update", std::uint64_t{o.update}, "one of the kind's own");
  }
}

// A guarantee of a count-min sketch says how large it is; what says the same is refused with it.
void check_guarantee(const bloomery_options& o) {
  const char* other = o.fpr != 0            ? "fpr"
                      : o.bits_per_key != 0 ? "bits_per_key"
                      : o.bytes != 0        ? "bytes"
                      : o.probes != 0       ? "probes"
                                            : nullptr;
  if (other == nullptr) return;
  detail::fail(errc::bad_argument, std::string(o.epsilon != 0 ? "epsilon" : "delta") + " and " +
                                       other + " both say how large the sketch is: give one");
}

constexpr auto maker = [](const image_header& header) { return hasher_of(header); };

any_filter new_filter(const bloomery_options& o) {
  any_filter f(plan_of(o), make_hasher(hash_of(o), o.seed, form_of(o)));
  if (o.window != 0) f->set_window(o.window);
  return f;
}

any_filter build_static(const bloomery_options& asked_for, key_views& keys,
                        const std::uint64_t* values, std::uint32_t threads) {
  bloomery_options o = asked_for;
  const bool map = abilities_of(kind_of(o)).value;
  if (map && keys.count() != 0) check_pointer(values, "values");
  if (!map && values != nullptr)
    detail::fail(errc::bad_argument, "only a bloomier filter has values");
  const std::span<const std::uint64_t> given(values, map ? keys.count() : 0);
  if (map && o.value_bits == 0) {
    std::uint64_t all = 1;
    for (const std::uint64_t value : given) all |= value;
    o.value_bits = static_cast<std::uint32_t>(std::bit_width(all));
  }
  const key_form form = form_of(o);
  // The empty filter of the same hash refuses keys of another form, as the made one would.
  const auto hasher = make_hasher(hash_of(o), o.seed, form);
  if (form.known() && (form.type == key_type::integers) != keys.integers() && keys.count() != 0) {
    detail::fail(errc::mismatch, "the keys are not " + form_name(form));
  }
  const auto of_integers = hash_of(o) == hash_id::xxh3 ? integers_by(xxh3_hasher(o.seed), form)
                                                       : integers_by(secret_hasher(o.seed), form);
  const std::vector<std::uint64_t> hashes =
      all_hashes(keys.integers() ? *of_integers : *hasher, keys);
  return any_filter::build(plan_of(o), hasher, hashes, given, threads);
}

}  // namespace

plan plan_of(const bloomery_options& o) {
  const filter_kind kind = kind_of(o);
  check_fields(o, kind);
  if (o.epsilon != 0 || o.delta != 0) {
    check_guarantee(o);
    return {.shape = sizing::count_min_shape(
                {.epsilon = o.epsilon != 0 ? o.epsilon : count_min_guarantee{}.epsilon,
                 .delta = o.delta != 0 ? o.delta : count_min_guarantee{}.delta,
                 .cell_bits = o.cell_bits != 0 ? o.cell_bits : count_min_guarantee{}.cell_bits,
                 .conservative = o.update == BLOOMERY_UPDATE_CONSERVATIVE})};
  }
  sizing::request r;
  r.kind = kind;
  r.keys = o.keys;
  r.fpr = said(o.fpr);
  r.bits_per_key = said(o.bits_per_key);
  r.bytes = said(o.bytes);
  if (!r.fpr && !r.bits_per_key && !r.bytes) r.fpr = 0.01;
  r.probes = said(o.probes);
  r.cell_bits = said(o.cell_bits);
  r.bucket_cells = said(o.bucket_cells);
  if (o.layout == BLOOMERY_LAYOUT_LINE) r.block_bits = bits_per_block;
  if (o.layout == BLOOMERY_LAYOUT_ANYWHERE) r.block_bits = 0;
  r.variant = variant_of(o, kind);
  return sizing::make_plan(r);
}

}  // namespace bloomery::c

void bloomery_filter::choose_hashes() {
  using namespace bloomery;
  const hash_spec& spec = filter.hash();
  if (spec.rule != key_rule::plain || spec.form.type == key_type::kmers) return;
  if (spec.form.type != key_type::integers) {
    string_hash = c::make_hasher(spec.id, spec.seed, spec.form);
  }
  if (!spec.form.known() || spec.form.type == key_type::integers) {
    if (spec.id == hash_id::xxh3) integer_hash = c::integers_by(xxh3_hasher(spec.seed), spec.form);
    if (spec.id == hash_id::xxh3_secret) {
      integer_hash = c::integers_by(secret_hasher(spec.seed), spec.form);
    }
  }
}

void bloomery_filter::refresh() {
  using namespace bloomery;
  fast_strings.reset();
  fast_integers.reset();
  owner = nullptr;
  const hash_spec& spec = filter.hash();
  const shape& s = filter.shape();
  if (string_hash == nullptr && integer_hash == nullptr) return;
  if (s.kind != filter_kind::blocked || !s.shard.whole() || spec.id != hash_id::xxh3) return;
  mixer = xxh3_hasher(spec.seed);
  owner = filter.get_if<blocked_filter>();
  const blocked_view view(filter.planned(), filter.words(), filter.keys());
  if (string_hash != nullptr) fast_strings.emplace(view);
  if (integer_hash != nullptr) fast_integers.emplace(view);
}

void bloomery_filter::refuse(bool integers) const {
  using namespace bloomery;
  const hash_spec& spec = filter.hash();
  if (spec.id == hash_id::siphash) {
    detail::fail(errc::unsupported,
                 "the filter was made with a secret key, for which this library has no function: "
                 "ask it with 'bloomery check --key-file', or in C++ with crypto/siphash.hpp; "
                 "filters with the hash xxh3-secret can be asked here");
  }
  const key_type type = spec.form.type;
  const bool other_form = type == key_type::kmers || integers != (type == key_type::integers);
  if (spec.rule == key_rule::plain && spec.form.known() && other_form) {
    detail::fail(errc::mismatch, "its keys are " + form_name(spec.form) + ", not " +
                                     (integers ? "integers" : "strings"));
  }
  static_cast<void>(filter.contains(std::string_view()));  // says why there is no hash function
  detail::fail(errc::unsupported, "the filter's hash function is not in this library");
}

using namespace bloomery;     // NOLINT(google-build-using-namespace): a source of C functions
using namespace bloomery::c;  // NOLINT(google-build-using-namespace)

const char* bloomery_error_message(void) { return error_text().data(); }

void bloomery_options_init(bloomery_options* options) {
  if (options == nullptr) return;
  *options = bloomery_options{};
  options->struct_bytes = sizeof *options;
}

int bloomery_new(const bloomery_options* options, bloomery_filter** out) {
  return making(out, [&] { return new_filter(checked_options(options)); });
}

int bloomery_build(const bloomery_options* options, const bloomery_keys* keys,
                   const uint64_t* values, uint32_t threads, bloomery_filter** out) {
  return making(out, [&] {
    key_views all(keys);
    bloomery_options o = checked_options(options);
    if (o.keys == 0) o.keys = std::max<std::uint64_t>(1, all.count());
    if (!abilities_of(kind_of(o)).add) return build_static(o, all, values, threads);
    if (values != nullptr) detail::fail(errc::bad_argument, "only a bloomier filter has values");
    bloomery_filter f(new_filter(o));
    add_keys(f, all);
    return std::move(f.filter);
  });
}

int bloomery_open(const char* path, int verify, bloomery_filter** out) {
  return making(out, [&] {
    check_pointer(path, "path");
    return any_filter::open(mapped_file(path), maker, {.verify = verify != 0});
  });
}

int bloomery_load(const char* path, bloomery_filter** out) {
  return making(out, [&] {
    check_pointer(path, "path");
    return any_filter::load(mapped_file(path), maker);
  });
}

int bloomery_from_bytes(const void* data, size_t bytes, bloomery_filter** out) {
  return making(out, [&] {
    if (bytes != 0) check_pointer(data, "data");
    const std::span<const std::byte> image(static_cast<const std::byte*>(data), bytes);
    const auto copied = [](const filter_version& v) {
      any_filter f = any_filter::copy_of(v, hasher_of(v.header));
      f->check();
      f->limit_memory(0);
      return f;
    };
    if (is_packed(image)) {
      const unpacked_filter unpacked = unpack(image);
      return copied({unpacked.header, unpacked.words.words()});
    }
    const detail::held_image held(image);
    return copied({held.image().header(), held.image().words()});
  });
}

int bloomery_clone(const bloomery_filter* filter, bloomery_filter** out) {
  return making(out, [&] {
    check_pointer(filter, "filter");
    const any_filter& f = filter->filter;
    if (f->owned() != nullptr) return f.clone();
    std::vector<std::uint64_t> room;
    return any_filter::copy_of(whole_version(f, room), hasher_of(f.header()));
  });
}

void bloomery_free(bloomery_filter* filter) { std::unique_ptr<bloomery_filter>{filter}.reset(); }

int bloomery_save(const bloomery_filter* filter, const char* path) {
  return guarded([&] {
    check_pointer(filter, "filter");
    check_pointer(path, "path");
    filter->filter.save(path);
    return int{BLOOMERY_OK};
  });
}

int bloomery_to_bytes(const bloomery_filter* filter, bloomery_buffer* out) {
  return making_bytes(out, [&] {
    check_pointer(filter, "filter");
    return detail::make_image(filter->filter.header(), filter->filter->parts());
  });
}

int bloomery_pack(const bloomery_filter* filter, bloomery_buffer* out) {
  return making_bytes(out, [&] {
    check_pointer(filter, "filter");
    std::vector<std::uint64_t> room;
    const filter_version v = whole_version(filter->filter, room);
    return pack(v.header, v.words);
  });
}

int bloomery_unpack(const void* data, size_t bytes, bloomery_buffer* out) {
  bloomery_filter* made = nullptr;
  if (out != nullptr) *out = {nullptr, 0, nullptr};
  const int status = bloomery_from_bytes(data, bytes, &made);
  if (status != BLOOMERY_OK) return status;
  const std::unique_ptr<bloomery_filter> filter(made);
  return bloomery_to_bytes(filter.get(), out);
}

int bloomery_diff(const bloomery_filter* from, const bloomery_filter* to, bloomery_buffer* out) {
  return making_bytes(out, [&] {
    check_pointer(from, "from");
    check_pointer(to, "to");
    std::vector<std::uint64_t> room_from;
    std::vector<std::uint64_t> room_to;
    return diff(whole_version(from->filter, room_from), whole_version(to->filter, room_to));
  });
}

int bloomery_patch(const bloomery_filter* from, const void* delta, size_t bytes,
                   bloomery_filter** out) {
  return making(out, [&] {
    check_pointer(from, "from");
    if (bytes != 0) check_pointer(delta, "delta");
    std::vector<std::uint64_t> room;
    const unpacked_filter made =
        patch(whole_version(from->filter, room), {static_cast<const std::byte*>(delta), bytes});
    return any_filter::copy_of({made.header, made.words.words()}, hasher_of(made.header));
  });
}

void bloomery_buffer_free(bloomery_buffer* buffer) {
  if (buffer == nullptr) return;
  std::unique_ptr<std::vector<std::byte>>{static_cast<std::vector<std::byte>*>(buffer->owner)}
      .reset();
  *buffer = {nullptr, 0, nullptr};
}

int bloomery_verify(const bloomery_filter* filter) {
  return guarded([&] {
    check_pointer(filter, "filter");
    filter->filter.verify();
    return int{BLOOMERY_OK};
  });
}
