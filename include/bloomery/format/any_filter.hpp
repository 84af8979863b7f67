// A filter whose kind is known at run time only: files, the tool, servers and bindings use this.
//
// One table row for each filter type (filter_table.cpp) and one virtual call for each batch of
// keys, so the erasure costs nothing per key. A verb that a filter lacks throws errc::unsupported
// and says why.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bloomery/core/kinds.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/detail/core/function_ref.hpp"
#include "bloomery/format/delta.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/format/image.hpp"
#include "bloomery/hash/any_hasher.hpp"

namespace bloomery {

// Something to tell about a filter that other kinds do not have, such as its layers.
struct fact {
  std::string_view name;
  double value;
};

// Makes the hash function for a filter with this header; null when there is none.
using hasher_maker = detail::function_ref<std::shared_ptr<const any_hasher>(const image_header&)>;

class any_filter {
 public:
  // A new, empty filter in memory. The hash must not be null, and must fit the shape's probe
  // scheme.
  any_filter(const plan& p, std::shared_ptr<const any_hasher> hash);

  // A static filter: all of its keys at once, as hashes; and a map, with a value for each hash.
  [[nodiscard]] static any_filter build(const plan& p, std::shared_ptr<const any_hasher> hash,
                                        std::span<const std::uint64_t> hashes,
                                        std::span<const std::uint64_t> values = {},
                                        unsigned threads = 1);
  // A copy of words that are somewhere else.
  [[nodiscard]] static any_filter copy_of(const filter_version& v,
                                          std::shared_ptr<const any_hasher> hash = nullptr);
  // Maps the file: opens at once whatever its size, and cannot be changed. A packed file is
  // unpacked into memory. A filter with a secret key opens without one too, but then has no
  // answers.
  [[nodiscard]] static any_filter open(const std::filesystem::path& path,
                                       std::shared_ptr<const any_hasher> hash = nullptr);
  // Copies the file into memory, verifying every checksum, so that it can be changed.
  [[nodiscard]] static any_filter load(const std::filesystem::path& path,
                                       std::shared_ptr<const any_hasher> hash = nullptr);
  // The same from a file that is open already, for a program that makes hash functions by what the
  // header says.
  [[nodiscard]] static any_filter open(mapped_file file, const hasher_maker& make);
  [[nodiscard]] static any_filter load(mapped_file file, const hasher_maker& make);

  // Another filter in memory with the same content. Throws errc::unsupported for one that is
  // mapped.
  [[nodiscard]] any_filter clone() const;

  // The hash function of a filter that was opened without one. Throws errc::mismatch when it is
  // another.
  void use(std::shared_ptr<const any_hasher> hash);

  // Every checksum of a mapped file; what is in memory was verified when it was read.
  void verify(unsigned threads = 0) const;

  void save(const std::filesystem::path& path) const;
  void save(atomic_file& file) const;

  // Keys as strings. add is for one thread; add_concurrent may run in several at once.
  void add(std::span<const std::string_view> keys);
  void add_concurrent(std::span<const std::string_view> keys);
  void contains_bits(std::span<const std::string_view> keys, std::span<std::uint64_t> bitmap) const;
  [[nodiscard]] bool contains(std::string_view key) const;

  // Hashes that were made, and perhaps stored, before. The most frequent keys are kept as they are,
  // so that kind needs the keys too.
  void add_hashes(std::span<const std::uint64_t> hashes,
                  std::span<const std::string_view> keys = {});

  // Adds those that the filter does not contain yet, one after the other: a hash that is there
  // twice is new once. Bit i % 64 of is_new[i / 64] tells about hashes[i]; returns how many were
  // new.
  std::size_t add_new(std::span<const std::uint64_t> hashes, std::span<std::uint64_t> is_new);

  // How many keys were there and are gone now.
  std::size_t remove(std::span<const std::string_view> keys);
  void count(std::span<const std::string_view> keys, std::span<std::uint64_t> counts) const;
  // The value of each key; the bitmap says which keys have one.
  void value(std::span<const std::string_view> keys, std::span<std::uint64_t> values,
             std::span<std::uint64_t> bitmap) const;
  // Gives keys of a map, by their hashes, other values; returns how many were in it.
  std::size_t update_values(std::span<const std::uint64_t> hashes,
                            std::span<const std::uint64_t> values);
  // Adds what the other has. Throws errc::mismatch, naming the difference, when they are not alike.
  void merge(const any_filter& other);
  // Makes an unused filter that forgets keep keys for this long, in the unit of its clock.
  void set_window(std::uint64_t window);
  // Tells a filter that forgets what time it is, in the unit of its window. Others do not care.
  void advance(std::uint64_t now);

  [[nodiscard]] image_header header() const;
  [[nodiscard]] filter_version version() const;
  [[nodiscard]] const bloomery::shape& shape() const noexcept;
  [[nodiscard]] const plan& planned() const noexcept;
  [[nodiscard]] std::uint64_t keys() const noexcept;
  // The words, wherever they are; those of a filter that grows in memory are in several parts.
  [[nodiscard]] std::vector<std::span<const std::uint64_t>> parts() const;
  // All of them, which every mapped filter has. Throws errc::unsupported when they are in parts.
  [[nodiscard]] std::span<const std::uint64_t> words() const;
  [[nodiscard]] double fill() const noexcept;
  [[nodiscard]] double fpr() const noexcept;
  [[nodiscard]] abilities can() const noexcept;
  // How many keys a filter that grows takes before it does, UINT64_MAX in others; and the bytes
  // that it grows by then.
  [[nodiscard]] std::uint64_t room() const noexcept;
  [[nodiscard]] std::uint64_t growth_bytes() const noexcept;
  // The number of different keys, by the content, where the kind tells it; infinite when it is
  // full.
  [[nodiscard]] std::optional<double> keys_estimated() const;
  [[nodiscard]] std::vector<fact> facts() const;
  [[nodiscard]] const hash_spec& hash() const noexcept { return hash_spec_; }
  // Null in a filter that was opened without its function.
  [[nodiscard]] const std::shared_ptr<const any_hasher>& hasher() const noexcept { return hash_; }

  // The filter itself, for what only its kind can do: null unless it is a Filter, in memory.
  template <class Filter>
  [[nodiscard]] Filter* get_if() noexcept {
    return is<Filter>() ? static_cast<Filter*>(owned()) : nullptr;
  }
  template <class Filter>
  [[nodiscard]] const Filter* get_if() const noexcept {
    return is<Filter>() ? static_cast<const Filter*>(owned()) : nullptr;
  }

  // The face of a kind behind the table; see the source.
  class model;

 private:
  any_filter(std::unique_ptr<model> inner, const hash_spec& spec,
             std::shared_ptr<const any_hasher> hash);
  [[nodiscard]] const any_hasher& hash_or_throw() const;
  template <class Filter>
  [[nodiscard]] bool is() const noexcept {
    return shape().kind == Filter::kind && shape().scheme == Filter::scheme;
  }
  [[nodiscard]] void* owned() noexcept;
  [[nodiscard]] const void* owned() const noexcept;

  std::unique_ptr<image_file> file_;  // what a mapped filter looks at,
  bit_array unpacked_;                // or what one looks at that was packed
  std::unique_ptr<model> filter_;
  hash_spec hash_spec_;
  std::shared_ptr<const any_hasher> hash_;

 public:
  any_filter(any_filter&&) noexcept;
  any_filter& operator=(any_filter&&) noexcept;
  ~any_filter();
};

// The hash function that a file was made with, where its header tells all about it: the default
// one. Null for the functions that need a key or come from bloomery::crypto.
[[nodiscard]] std::shared_ptr<const any_hasher> hasher_from_spec(const hash_spec& spec);

}  // namespace bloomery
