// A filter whose kind is known at run time only: files, the tool, servers and bindings use this.
//
// One table row for each filter type (filter_table.cpp) and one virtual call for each batch of
// keys, so the erasure costs nothing per key. Verbs that a filter lacks throw errc::unsupported.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "bloomery/core/shape.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/detail/core/function_ref.hpp"
#include "bloomery/format/delta.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/format/filter_face.hpp"
#include "bloomery/format/image.hpp"
#include "bloomery/hash/any_hasher.hpp"

namespace bloomery {

// Makes the hash function for a filter with this header; null when there is none.
using hasher_maker = detail::function_ref<std::shared_ptr<const any_hasher>(const image_header&)>;

class any_filter {
 public:
  // A new, empty filter in memory. The hash is not null and fits the shape's probe scheme.
  any_filter(const plan& p, std::shared_ptr<const any_hasher> hash);

  // A static filter: all of its keys at once, as hashes; and a map, with a value for each hash.
  [[nodiscard]] static any_filter build(const plan& p, std::shared_ptr<const any_hasher> hash,
                                        std::span<const std::uint64_t> hashes,
                                        std::span<const std::uint64_t> values = {},
                                        unsigned threads = 1);
  // A copy of words that are somewhere else.
  [[nodiscard]] static any_filter copy_of(const filter_version& v,
                                          std::shared_ptr<const any_hasher> hash = nullptr);
  // Maps the file, compares every checksum, and cannot be changed. With {.verify = false} it opens
  // at once whatever its size (format/opening.hpp says what that risks). A packed file is unpacked
  // into memory. Without its secret key a filter opens too, but has no answers.
  [[nodiscard]] static any_filter open(const std::filesystem::path& path,
                                       std::shared_ptr<const any_hasher> hash = nullptr,
                                       const opening& how = {});
  // Copies the file into memory, verifying all of it, so that it can be changed. Adding throws
  // errc::no_memory where the filter would grow beyond the limit.
  [[nodiscard]] static any_filter load(const std::filesystem::path& path,
                                       std::shared_ptr<const any_hasher> hash = nullptr,
                                       const opening& how = {});
  // The same from an open file, for a program that makes hash functions by what the header says.
  [[nodiscard]] static any_filter open(mapped_file file, const hasher_maker& make,
                                       const opening& how = {});
  [[nodiscard]] static any_filter load(mapped_file file, const hasher_maker& make,
                                       const opening& how = {});

  // Another in memory with the same content. Throws errc::unsupported for one that is mapped.
  [[nodiscard]] any_filter clone() const;

  // The hash function of a filter opened without one. Throws errc::mismatch for another.
  void use(std::shared_ptr<const any_hasher> hash);

  // Every checksum of a mapped file, and whether what it says of itself is so; what is in memory
  // was verified when it was read.
  void verify(unsigned threads = 0) const;

  void save(const std::filesystem::path& path) const;
  void save(atomic_file& file) const;

  // ---- the filter -----------------------------------------------------------------------------

  // Keys as strings. add is for one thread; add_concurrent may run in several at once.
  using keys_type = filter_face::keys_type;
  void add(keys_type keys) { filter_->add(keys, hash_or_throw()); }
  void add_concurrent(keys_type keys) { filter_->add_concurrent(keys, hash_or_throw()); }
  void contains_bits(keys_type keys, std::span<std::uint64_t> bitmap) const {
    filter_->contains_bits(keys, hash_or_throw(), bitmap);
  }
  [[nodiscard]] bool contains(std::string_view key) const {
    return filter_->contains(key, hash_or_throw());
  }
  // How many keys were there and are gone now.
  std::size_t remove(keys_type keys) { return filter_->remove(keys, hash_or_throw()); }
  void count(keys_type keys, std::span<std::uint64_t> counts) const {
    filter_->count(keys, hash_or_throw(), counts);
  }
  // The value of each key; the bitmap says which keys have one.
  void value(keys_type keys, std::span<std::uint64_t> values,
             std::span<std::uint64_t> bitmap) const {
    filter_->value(keys, hash_or_throw(), values, bitmap);
  }
  // Of two sketches of streams, their join; null for the kinds that say nothing of it. Throws
  // errc::mismatch for another hash function, and as that of count_min_view does.
  [[nodiscard]] std::optional<stream_product> inner_product(const any_filter& other) const;
  // Adds what the other has. Throws errc::mismatch, naming the difference, when they are not alike.
  void merge(const any_filter& other);

  // All else that a filter of any kind has: calls by hashes, its clock, its growth, what it tells.
  [[nodiscard]] filter_face* operator->() noexcept { return filter_.get(); }
  [[nodiscard]] const filter_face* operator->() const noexcept { return filter_.get(); }

  [[nodiscard]] const plan& planned() const noexcept { return filter_->planned(); }
  [[nodiscard]] const bloomery::shape& shape() const noexcept { return planned().shape; }
  [[nodiscard]] std::uint64_t keys() const noexcept { return filter_->keys(); }
  [[nodiscard]] double fpr() const noexcept { return filter_->fpr(); }
  [[nodiscard]] abilities can() const noexcept { return filter_->can(); }

  [[nodiscard]] image_header header() const;
  [[nodiscard]] filter_version version() const;
  // All words, which every mapped filter has. Throws errc::unsupported when they are in parts.
  [[nodiscard]] std::span<const std::uint64_t> words() const;
  [[nodiscard]] const hash_spec& hash() const noexcept { return hash_spec_; }
  // Null in a filter that was opened without its function.
  [[nodiscard]] const std::shared_ptr<const any_hasher>& hasher() const noexcept { return hash_; }

  // The filter itself, for what only its kind can do: null unless it is a Filter, in memory.
  template <class Filter>
  [[nodiscard]] Filter* get_if() noexcept {
    return is<Filter>() ? static_cast<Filter*>(filter_->owned()) : nullptr;
  }
  template <class Filter>
  [[nodiscard]] const Filter* get_if() const noexcept {
    return is<Filter>() ? static_cast<const Filter*>(std::as_const(*filter_).owned()) : nullptr;
  }

 private:
  any_filter(std::unique_ptr<filter_face> inner, const hash_spec& spec,
             std::shared_ptr<const any_hasher> hash);
  [[nodiscard]] const any_hasher& hash_or_throw() const;
  template <class Filter>
  [[nodiscard]] bool is() const noexcept {
    return shape().kind == Filter::kind && shape().scheme == Filter::scheme;
  }

  std::unique_ptr<image_file> file_;  // what a mapped filter looks at,
  bit_array unpacked_;                // or what one looks at that was packed
  std::unique_ptr<filter_face> filter_;
  hash_spec hash_spec_;
  std::shared_ptr<const any_hasher> hash_;
};

// The rate by 4,096 blocks of the bits, where a filter is so large that reading all of it takes
// long: beyond `most_bits`, of the kinds whose array is alike everywhere. It is off by some percent
// of itself. Else it is f.fpr().
[[nodiscard]] double quick_fpr(const any_filter& f,
                               std::uint64_t most_bits = std::uint64_t{1} << 33U);

// The hash function that a file was made with, where its header tells all about it: xxh3,
// xxh3_secret and murmur. Null for the functions that need a key or come from bloomery::crypto,
// and for keys that are integers: erase(xxh3_hasher(seed), key_type::integers) takes each as a
// string of eight bytes.
[[nodiscard]] std::shared_ptr<const any_hasher> hasher_from_spec(const hash_spec& spec);

}  // namespace bloomery
