#include "bloomery/format/any_filter.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/murmur.hpp"
#include "bloomery/hash/probe.hpp"
#include "bloomery/hash/secret_hasher.hpp"
#include "bloomery/set/algebra.hpp"
#include "core/changing_errors.hpp"
#include "filter_table.hpp"

namespace bloomery {

namespace {

using detail::filter_row;

const filter_row& row_for(const shape& s) {
  for (const filter_row& row : detail::filter_table()) {
    if (row.kind == s.kind && row.scheme == s.scheme && row.shard != s.shard.whole()) return row;
  }
  detail::fail(errc::unsupported, "no filter of this kind and probe scheme");
}

filter_version version_of(const image_view& image) {
  return {.header = image.header(), .words = image.words()};
}

detail::face_ptr make(const plan& p) {
  const filter_row& row = row_for(p.shape);
  if (row.make == nullptr) {
    detail::fail(errc::unsupported, "a " + std::string(kind_name(row.kind)) +
                                        " filter is built from all of its keys at once");
  }
  return row.make(p);
}

// Runs `work`; the errors that it throws then name the file.
template <class Work>
auto naming(const std::filesystem::path& path, Work work) {
  return detail::changing_errors(
      work, [&](const error& e) { return error(e.code(), path.string() + ": " + e.what()); });
}

// A view of words from a file. What it finds wrong is damage there, and not a bad argument.
detail::face_ptr borrow(const filter_version& v) {
  return detail::changing_errors(
      [&] { return row_for(v.header.planned.shape).borrow(v); },
      [](const error& e) {
        return error(e.code() == errc::bad_argument ? errc::corrupt : e.code(), e.what());
      });
}

// Throws unless the caller's hash is that of the file and has words for every probe.
void check_hash(const image_header& header, const any_hasher& brought) {
  const hash_spec& in_file = header.hash;
  const hash_spec spec = brought.spec();
  if (in_file.id != spec.id) {
    detail::fail(errc::mismatch, "it was made with the hash " + std::string(hash_name(in_file.id)) +
                                     ", not " + std::string(hash_name(spec.id)));
  }
  if (in_file.rule != spec.rule) {
    detail::fail(errc::mismatch, "it is a filter of " + std::string(rule_name(in_file.rule)) +
                                     ", not of " + std::string(rule_name(spec.rule)));
  }
  if (!agree(in_file.form, spec.form)) {
    detail::fail(errc::mismatch,
                 "its keys are " + form_name(in_file.form) + ", not " + form_name(spec.form));
  }
  if (in_file.seed != spec.seed) detail::fail(errc::mismatch, "it was made with another seed");
  if (in_file.key_id != spec.key_id) {
    detail::fail(errc::mismatch, "it was made with another secret key");
  }
  detail::check_words(brought.probes(), header.planned.shape.probes);
}

std::shared_ptr<const any_hasher> hasher_for(const image_header& header, const hasher_maker& make) {
  std::shared_ptr<const any_hasher> made = make(header);
  if (made != nullptr) check_hash(header, *made);
  return made;
}

auto maker_of(std::shared_ptr<const any_hasher> brought) {
  return [brought = std::move(brought)](const image_header& header) {
    return brought != nullptr ? brought : hasher_from_spec(header.hash);
  };
}

}  // namespace

double quick_fpr(const any_filter& f, std::uint64_t most_bits) {
  constexpr std::uint64_t block_words = bits_per_block / 64;
  // A page here and there, since a system may read much around one: 64 blocks in 64 places.
  constexpr std::uint64_t run = 64;
  constexpr std::uint64_t places = 64;
  const shape& s = f.shape();
  const bool alike = layout_of(s) != position_layout::none;
  const bool small = s.bits <= std::max(most_bits, places * run * bits_per_block);
  if (!alike || small || !s.shard.whole() || s.scheme != probe_scheme::multiply) {
    return f.fpr();
  }
  // Their number is a multiple of the probes, so that slices are whole.
  const std::uint64_t sample = places * run / s.probes * s.probes;
  const std::span<const std::uint64_t> words = f.words();
  const std::uint64_t step = words.size() / block_words / places;
  std::vector<std::uint64_t> some;
  for (std::uint64_t i = 0; i < sample; ++i) {
    const std::uint64_t block = i / run * step + i % run;
    const auto bits = words.subspan(block * block_words, block_words);
    some.insert(some.end(), bits.begin(), bits.end());
  }
  image_header header = f.header();
  header.planned.shape.bits = sample * bits_per_block;
  return any_filter::copy_of({header, some}).fpr();
}

std::shared_ptr<const any_hasher> hasher_from_spec(const hash_spec& spec) {
  // Integers are left out, since a caller with strings would take the digits for the number.
  if (spec.rule != key_rule::plain || spec.form.type == key_type::integers) return nullptr;
  if (spec.id == hash_id::xxh3) return erase(xxh3_hasher(spec.seed), spec.form);
  if (spec.id == hash_id::xxh3_secret) return erase(secret_hasher(spec.seed), spec.form);
  if (spec.id == hash_id::murmur) return erase(murmur_hasher(spec.seed), spec.form);
  return nullptr;
}

void filter_face::refuse(std::string_view what) const {
  const filter_kind kind = planned().shape.kind;
  const bool mapped =
      abilities_of(kind).add && !can().add && what.find("added") != std::string_view::npos;
  detail::fail(errc::unsupported, mapped ? "a mapped filter cannot be changed; load it instead"
                                         : "a " + std::string(kind_name(kind)) + " filter cannot " +
                                               std::string(what));
}

any_filter::any_filter(std::unique_ptr<filter_face> inner, const hash_spec& spec,
                       std::shared_ptr<const any_hasher> hash)
    : filter_(std::move(inner)), hash_spec_(spec), hash_(std::move(hash)) {}

any_filter::any_filter(const plan& p, std::shared_ptr<const any_hasher> hash)
    : filter_(make(p)), hash_spec_(hash->spec()), hash_(std::move(hash)) {
  detail::check_words(hash_->probes(), p.shape.probes);
}

any_filter any_filter::build(const plan& p, std::shared_ptr<const any_hasher> hash,
                             std::span<const std::uint64_t> hashes,
                             std::span<const std::uint64_t> values, unsigned threads) {
  const filter_row& row = row_for(p.shape);
  if (row.build == nullptr) {
    detail::fail(errc::unsupported,
                 "a " + std::string(kind_name(row.kind)) + " filter takes its keys one by one");
  }
  const hash_spec spec = hash->spec();
  return {row.build(p, hashes, values, threads), spec, std::move(hash)};
}

any_filter any_filter::copy_of(const filter_version& v, std::shared_ptr<const any_hasher> hash) {
  const hash_spec& spec = v.header.hash;
  return {row_for(v.header.planned.shape).copy(v), spec,
          hasher_for(v.header, maker_of(std::move(hash)))};
}

any_filter any_filter::clone() const { return {filter_->clone(), hash_spec_, hash_}; }

any_filter any_filter::open(mapped_file file, const hasher_maker& make, const opening& how) {
  const std::filesystem::path path = file.path();
  std::optional<unpacked_filter> packed = open_packed(file, how);
  std::unique_ptr<image_file> image;
  if (!packed) {
    image = std::make_unique<image_file>(std::move(file));
    if (how.verify) image->verify(how.threads);
  }
  const filter_version v =
      packed ? filter_version{packed->header, packed->words.words()} : version_of(image->image());
  any_filter f = naming(
      path, [&] { return any_filter(borrow(v), v.header.hash, hasher_for(v.header, make)); });
  f.file_ = std::move(image);
  if (packed) f.unpacked_ = std::move(packed->words);
  return f;
}

any_filter any_filter::load(mapped_file file, const hasher_maker& make, const opening& how) {
  const any_filter f =
      open(std::move(file), make, {.verify = false, .threads = how.threads, .memory = how.memory});
  f.verify(how.threads);
  any_filter copy = copy_of(f.version(), f.hash_);
  copy->limit_memory(how.memory);
  return copy;
}

any_filter any_filter::open(const std::filesystem::path& path,
                            std::shared_ptr<const any_hasher> hash, const opening& how) {
  return open(mapped_file(path), maker_of(std::move(hash)), how);
}

any_filter any_filter::load(const std::filesystem::path& path,
                            std::shared_ptr<const any_hasher> hash, const opening& how) {
  return load(mapped_file(path), maker_of(std::move(hash)), how);
}

void any_filter::use(std::shared_ptr<const any_hasher> hash) {
  check_hash(header(), *hash);
  hash_ = std::move(hash);
}

void any_filter::verify(unsigned threads) const {
  if (file_ != nullptr) {
    file_->verify(threads);
    naming(file_->path(), [&] { filter_->check(); });
  } else if (filter_->owned() == nullptr) {  // it was packed
    filter_->check();
  }
}

void any_filter::save(const std::filesystem::path& path) const {
  atomic_file file(path);
  save(file);
  file.commit();
}

void any_filter::save(atomic_file& file) const { write_image(file, header(), filter_->parts()); }

const any_hasher& any_filter::hash_or_throw() const {
  if (hash_ != nullptr) return *hash_;
  if (hash_spec_.rule != key_rule::plain) {
    detail::fail(errc::mismatch, "it is a filter of " + std::string(rule_name(hash_spec_.rule)) +
                                     ", which is asked in a way of its own");
  }
  if (hash_spec_.form.type == key_type::integers) {
    detail::fail(errc::mismatch,
                 "its keys are integers, not strings; open it with a hash function of integers");
  }
  if (hash_spec_.id == hash_id::siphash) {
    detail::fail(errc::mismatch,
                 "the filter was made with a secret key, which is needed to use it");
  }
  detail::fail(errc::unsupported, "this program does not have the filter's hash " +
                                      std::string(hash_name(hash_spec_.id)));
}

image_header any_filter::header() const {
  return {.planned = planned(), .hash = hash_spec_, .keys = keys()};
}
filter_version any_filter::version() const { return {.header = header(), .words = words()}; }

std::span<const std::uint64_t> any_filter::words() const {
  const auto all = filter_->parts();
  // The parts of a mapped filter follow each other: they are one.
  std::span<const std::uint64_t> joined = all.front();
  for (const auto part : std::span(all).subspan(1)) {
    if (part.data() != joined.data() + joined.size()) {
      detail::fail(errc::unsupported,
                   "the filter is in parts while it grows; save and open it first");
    }
    joined = {joined.data(), joined.size() + part.size()};
  }
  return joined;
}

std::optional<stream_product> any_filter::inner_product(const any_filter& other) const {
  check_combinable(hash_spec_, other.hash_spec_);
  return filter_->inner_product(*other.filter_);
}

void any_filter::merge(const any_filter& other) {
  // Filters that grow differ in size all the time, and look for themselves.
  const bool both_grow = abilities_of(shape().kind).grow && other.shape().kind == shape().kind;
  if (!both_grow) check_combinable(shape(), other.shape());
  check_combinable(hash_spec_, other.hash_spec_);
  filter_->merge(*other.filter_);
  hash_spec_.form = common_form(hash_spec_.form, other.hash_spec_.form);
}

}  // namespace bloomery
