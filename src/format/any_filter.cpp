#include "bloomery/format/any_filter.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/classic.hpp"
#include "bloomery/filter/partitioned.hpp"
#include "bloomery/hash/probe.hpp"

namespace bloomery {

// Everything that a front end asks of a kind, per batch.
class any_filter::model {
 public:
  virtual ~model() = default;
  [[nodiscard]] virtual const plan& planned() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t keys() const noexcept = 0;
  [[nodiscard]] virtual std::span<const std::uint64_t> words() const noexcept = 0;
  [[nodiscard]] virtual double fill() const noexcept = 0;
  [[nodiscard]] virtual double fpr() const noexcept = 0;
  [[nodiscard]] virtual bool updatable() const noexcept = 0;
  virtual void contains_bits(std::span<const std::string_view> keys, const any_hasher& hash,
                             std::span<std::uint64_t> bitmap) const = 0;
  virtual void add(std::span<const std::string_view> keys, const any_hasher& hash) = 0;
  virtual void add_concurrent(std::span<const std::string_view> keys, const any_hasher& hash) = 0;
  virtual void add_hashes(std::span<const std::uint64_t> hashes) = 0;
};

namespace {

[[noreturn]] void throw_read_only() {
  throw error(errc::unsupported, "a mapped filter cannot be changed; load it instead");
}

// Calls work(first, hashes) for the keys, a piece at a time.
template <class Hash, class Work>
void for_each_hashed(std::span<const std::string_view> keys, const any_hasher& hash, Work work) {
  std::array<Hash, detail::batch_keys> buffer;
  for (std::size_t first = 0; first < keys.size(); first += buffer.size()) {
    const auto piece = keys.subspan(first, std::min(buffer.size(), keys.size() - first));
    const std::span<Hash> hashes(buffer.data(), piece.size());
    hash.hash(piece, hashes);
    work(first, std::span<const Hash>(hashes));
  }
}

// What owners and views share.
template <class Filter>
class reading_model : public any_filter::model {
 public:
  using hash_type = typename Filter::hash_type;

  explicit reading_model(Filter filter) : filter_(std::move(filter)) {}

  [[nodiscard]] const plan& planned() const noexcept override { return filter_.planned(); }
  [[nodiscard]] std::uint64_t keys() const noexcept override { return filter_.keys(); }
  [[nodiscard]] std::span<const std::uint64_t> words() const noexcept override {
    return filter_.words();
  }
  [[nodiscard]] double fill() const noexcept override { return filter_.fill(); }
  [[nodiscard]] double fpr() const noexcept override { return filter_.fpr(); }
  [[nodiscard]] bool updatable() const noexcept override { return false; }

  void contains_bits(std::span<const std::string_view> keys, const any_hasher& hash,
                     std::span<std::uint64_t> bitmap) const override {
    for_each_hashed<hash_type>(keys, hash,
                               [&](std::size_t first, std::span<const hash_type> hashes) {
                                 filter_.contains_bits(hashes, bitmap.subspan(first / 64));
                               });
  }
  void add(std::span<const std::string_view>, const any_hasher&) override { throw_read_only(); }
  void add_concurrent(std::span<const std::string_view>, const any_hasher&) override {
    throw_read_only();
  }
  void add_hashes(std::span<const std::uint64_t>) override { throw_read_only(); }

 protected:
  Filter filter_;
};

template <class Filter>
class owning_model final : public reading_model<Filter> {
 public:
  using hash_type = typename Filter::hash_type;
  using reading_model<Filter>::reading_model;

  [[nodiscard]] bool updatable() const noexcept override { return true; }

  void add(std::span<const std::string_view> keys, const any_hasher& hash) override {
    for_each_hashed<hash_type>(keys, hash, [&](std::size_t, std::span<const hash_type> hashes) {
      this->filter_.add_batch(hashes);
    });
  }
  void add_concurrent(std::span<const std::string_view> keys, const any_hasher& hash) override {
    auto handle = this->filter_.concurrent();
    for_each_hashed<hash_type>(keys, hash, [&](std::size_t, std::span<const hash_type> hashes) {
      handle.add_batch(hashes);
    });
  }
  void add_hashes(std::span<const std::uint64_t> hashes) override {
    if constexpr (std::is_same_v<hash_type, std::uint64_t>) {
      this->filter_.add_batch(hashes);
    } else {
      throw error(errc::unsupported, "this filter takes digests, not 64-bit hashes");
    }
  }
};

using model_ptr = std::unique_ptr<any_filter::model>;

// A kind's row: how to make an empty one, to look at given words, and to copy them.
struct kind_row {
  filter_kind kind;
  probe_scheme scheme;
  model_ptr (*make)(const plan&);
  model_ptr (*borrow)(const filter_version&);
  model_ptr (*copy)(const filter_version&);
};

template <class Probes>
bit_view<Probes> view_of(const filter_version& v) {
  return bit_view<Probes>(v.header.planned, v.words, v.header.keys);
}

filter_version version_of(const image_view& image) {
  return {.header = image.header(), .words = image.words()};
}

template <class Probes>
constexpr kind_row row_of() {
  return {.kind = Probes::kind,
          .scheme = Probes::scheme,
          .make = [](const plan& p) -> model_ptr {
            return std::make_unique<owning_model<bit_filter<Probes>>>(bit_filter<Probes>(p));
          },
          .borrow = [](const filter_version& v) -> model_ptr {
            return std::make_unique<reading_model<bit_view<Probes>>>(view_of<Probes>(v));
          },
          .copy = [](const filter_version& v) -> model_ptr {
            return std::make_unique<owning_model<bit_filter<Probes>>>(
                bit_filter<Probes>(view_of<Probes>(v)));
          }};
}

constexpr std::array kind_table = {row_of<blocked_probes>(), row_of<classic_probes>(),
                                   row_of<partitioned_probes>(), row_of<digest_probes>()};

const kind_row& row_for(const shape& s) {
  for (const kind_row& row : kind_table) {
    if (row.kind == s.kind && row.scheme == s.scheme) return row;
  }
  throw error(errc::unsupported, "no filter of this kind and probe scheme");
}

// Throws unless the hash that the caller brings is the one of the file and has words for every probe.
void check_hash(const image_header& header, const any_hasher& brought) {
  const hash_spec& in_file = header.hash;
  const hash_spec spec = brought.spec();
  if (in_file.id != spec.id) {
    throw error(errc::mismatch, "it was made with the hash " + std::string(hash_name(in_file.id)) +
                                    ", not " + std::string(hash_name(spec.id)));
  }
  if (in_file.seed != spec.seed) throw error(errc::mismatch, "it was made with another seed");
  if (in_file != spec) throw error(errc::mismatch, "it was made with another secret key");
  detail::check_words(brought.probes(), header.planned.shape.probes);
}

std::shared_ptr<const any_hasher> hasher_for(const image_header& header,
                                             std::shared_ptr<const any_hasher> brought) {
  if (brought == nullptr) return hasher_from_spec(header.hash);
  check_hash(header, *brought);
  return brought;
}

}  // namespace

std::span<const filter_kind> all_kinds() noexcept {
  static constexpr std::array kinds = {filter_kind::blocked, filter_kind::classic,
                                       filter_kind::partitioned};
  return kinds;
}

std::optional<filter_kind> kind_from_name(std::string_view name) noexcept {
  for (const filter_kind kind : all_kinds()) {
    if (kind_name(kind) == name) return kind;
  }
  return std::nullopt;
}

std::shared_ptr<const any_hasher> hasher_from_spec(const hash_spec& spec) {
  if (spec.id == hash_id::xxh3) return erase(xxh3_hasher(spec.seed));
  return nullptr;
}

any_filter::any_filter(std::unique_ptr<model> inner, const hash_spec& spec,
                       std::shared_ptr<const any_hasher> hash)
    : filter_(std::move(inner)), hash_spec_(spec), hash_(std::move(hash)) {}

any_filter::any_filter(const plan& p, std::shared_ptr<const any_hasher> hash)
    : filter_(row_for(p.shape).make(p)), hash_spec_(hash->spec()), hash_(std::move(hash)) {
  detail::check_words(hash_->probes(), p.shape.probes);
}

any_filter::any_filter(any_filter&&) noexcept = default;
any_filter& any_filter::operator=(any_filter&&) noexcept = default;
any_filter::~any_filter() = default;

any_filter any_filter::copy_of(const filter_version& v, std::shared_ptr<const any_hasher> hash) {
  const hash_spec& spec = v.header.hash;
  return {row_for(v.header.planned.shape).copy(v), spec, hasher_for(v.header, std::move(hash))};
}

any_filter any_filter::open(const std::filesystem::path& path,
                            std::shared_ptr<const any_hasher> hash) {
  if (const auto packed = open_packed(path)) {
    return copy_of({.header = packed->header, .words = packed->words.words()}, std::move(hash));
  }
  auto file = std::make_unique<image_file>(path);
  const filter_version v = version_of(file->image());
  any_filter f(row_for(v.header.planned.shape).borrow(v), v.header.hash,
               hasher_for(v.header, std::move(hash)));
  f.file_ = std::move(file);
  return f;
}

any_filter any_filter::load(const std::filesystem::path& path,
                            std::shared_ptr<const any_hasher> hash) {
  any_filter f = open(path, std::move(hash));
  f.verify();
  return f.updatable() ? std::move(f) : copy_of(f.version(), f.hash_);
}

void any_filter::use(std::shared_ptr<const any_hasher> hash) {
  check_hash(header(), *hash);
  hash_ = std::move(hash);
}

void any_filter::verify(unsigned threads) const {
  if (file_ != nullptr) file_->verify(threads);
}

void any_filter::save(const std::filesystem::path& path) const {
  atomic_file file(path);
  save(file);
  file.commit();
}

void any_filter::save(atomic_file& file) const { write_image(file, header(), words()); }

const any_hasher& any_filter::hash_or_throw() const {
  if (hash_ != nullptr) return *hash_;
  if (hash_spec_.id == hash_id::siphash) {
    throw error(errc::mismatch, "the filter was made with a secret key, which is needed to use it");
  }
  throw error(errc::unsupported, "this program does not have the filter's hash " +
                                     std::string(hash_name(hash_spec_.id)));
}

void any_filter::add(std::span<const std::string_view> keys) {
  filter_->add(keys, hash_or_throw());
}

void any_filter::add_concurrent(std::span<const std::string_view> keys) {
  filter_->add_concurrent(keys, hash_or_throw());
}

void any_filter::add_hashes(std::span<const std::uint64_t> hashes) { filter_->add_hashes(hashes); }

void any_filter::contains_bits(std::span<const std::string_view> keys,
                               std::span<std::uint64_t> bitmap) const {
  filter_->contains_bits(keys, hash_or_throw(), bitmap);
}

bool any_filter::contains(std::string_view key) const {
  std::uint64_t answer = 0;
  contains_bits({&key, 1}, {&answer, 1});
  return answer != 0;
}

image_header any_filter::header() const {
  return {.planned = planned(), .hash = hash_spec_, .keys = keys()};
}
filter_version any_filter::version() const { return {.header = header(), .words = words()}; }
const bloomery::shape& any_filter::shape() const noexcept { return planned().shape; }
const plan& any_filter::planned() const noexcept { return filter_->planned(); }
std::uint64_t any_filter::keys() const noexcept { return filter_->keys(); }
std::span<const std::uint64_t> any_filter::words() const noexcept { return filter_->words(); }
double any_filter::fill() const noexcept { return filter_->fill(); }
double any_filter::fpr() const noexcept { return filter_->fpr(); }
bool any_filter::updatable() const noexcept { return filter_->updatable(); }

}  // namespace bloomery
