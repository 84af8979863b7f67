// A filter whose kind is known at run time only: files, the tool, servers and bindings use this.
//
// One table row for each kind (kind_table in the source) and one virtual call for each batch of keys, so
// the erasure costs nothing per key. A verb that a filter lacks throws errc::unsupported and says why.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bloomery/core/shape.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/format/delta.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/format/image.hpp"
#include "bloomery/hash/any_hasher.hpp"

namespace bloomery {

// The kinds that this build has, in the order of docs and listings.
[[nodiscard]] std::span<const filter_kind> all_kinds() noexcept;
[[nodiscard]] std::optional<filter_kind> kind_from_name(std::string_view name) noexcept;

class any_filter {
 public:
  // A new, empty filter in memory. The hash must not be null, and must fit the shape's probe scheme.
  any_filter(const plan& p, std::shared_ptr<const any_hasher> hash);

  // A copy of words that are somewhere else.
  [[nodiscard]] static any_filter copy_of(const filter_version& v,
                                          std::shared_ptr<const any_hasher> hash = nullptr);
  // Maps the file: opens at once whatever its size, and cannot be changed. A packed file is unpacked
  // into memory. A filter with a secret key opens without one too, but then has no answers.
  [[nodiscard]] static any_filter open(const std::filesystem::path& path,
                                       std::shared_ptr<const any_hasher> hash = nullptr);
  // Copies the file into memory, verifying every checksum, so that it can be changed.
  [[nodiscard]] static any_filter load(const std::filesystem::path& path,
                                       std::shared_ptr<const any_hasher> hash = nullptr);

  // The hash function of a filter that was opened without one. Throws errc::mismatch when it is another.
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

  // Hashes that were made, and perhaps stored, before.
  void add_hashes(std::span<const std::uint64_t> hashes);

  [[nodiscard]] image_header header() const;
  [[nodiscard]] filter_version version() const;
  [[nodiscard]] const bloomery::shape& shape() const noexcept;
  [[nodiscard]] const plan& planned() const noexcept;
  [[nodiscard]] std::uint64_t keys() const noexcept;
  [[nodiscard]] std::span<const std::uint64_t> words() const noexcept;
  [[nodiscard]] double fill() const noexcept;
  [[nodiscard]] double fpr() const noexcept;
  [[nodiscard]] bool updatable() const noexcept;
  [[nodiscard]] const hash_spec& hash() const noexcept { return hash_spec_; }

  // The face of a kind behind the table; see the source.
  class model;

 private:
  any_filter(std::unique_ptr<model> inner, const hash_spec& spec,
             std::shared_ptr<const any_hasher> hash);
  [[nodiscard]] const any_hasher& hash_or_throw() const;

  std::unique_ptr<image_file> file_;  // what a mapped filter looks at
  std::unique_ptr<model> filter_;
  hash_spec hash_spec_;
  std::shared_ptr<const any_hasher> hash_;

 public:
  any_filter(any_filter&&) noexcept;
  any_filter& operator=(any_filter&&) noexcept;
  ~any_filter();
};

// The hash function that a file was made with, where its header tells all about it: the default one.
// Null for the functions that need a key or come from bloomery::crypto.
[[nodiscard]] std::shared_ptr<const any_hasher> hasher_from_spec(const hash_spec& spec);

}  // namespace bloomery
