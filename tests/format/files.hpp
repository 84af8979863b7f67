// What the tests of the format share: folders that vanish, whole files, images in memory and forged
// ones.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "filter/samples.hpp"

namespace bloomery_test {

using byte_vector = std::vector<std::byte>;

inline std::vector<std::string_view> views(const std::vector<std::string>& strings) {
  return {strings.begin(), strings.end()};
}

class temporary_directory {
 public:
  temporary_directory() {
    std::string name = (std::filesystem::temp_directory_path() / "bloomery-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;
  ~temporary_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }
  // The names in it, sorted.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      all.push_back(entry.path().filename().string());
    }
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  std::filesystem::path path_;
};

inline byte_vector read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  in.exceptions(std::ios::failbit | std::ios::badbit);
  byte_vector bytes(std::filesystem::file_size(path));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

inline void write_bytes(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream out(path, std::ios::binary);
  out.exceptions(std::ios::failbit | std::ios::badbit);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  out.close();
}

// The file that save() would write, in memory.
inline byte_vector image_of(const auto& filter, const bloomery::hash_spec& hash = {}) {
  bloomery::image_writer writer({.planned = filter.planned(), .hash = hash, .keys = filter.keys()});
  writer.pass(filter.words());
  const auto header = writer.header();
  const auto payload = std::as_bytes(filter.words());
  byte_vector bytes(header.size() + payload.size() + writer.checksums().size());
  const auto after_header = std::copy(header.begin(), header.end(), bytes.begin());
  const auto after_payload = std::copy(payload.begin(), payload.end(), after_header);
  std::copy(writer.checksums().begin(), writer.checksums().end(), after_payload);
  return bytes;
}

inline std::uint64_t xxh3(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

// Writes `size` bytes of the value, least significant first.
inline void put(byte_vector& bytes, std::size_t offset, std::size_t size, std::uint64_t value) {
  for (std::size_t i = 0; i < size; ++i) {
    bytes[offset + i] = static_cast<std::byte>(value >> (8 * i));
  }
}

// Makes the checksums right again, as somebody who alters a file on purpose would. One chunk only.
inline void seal_header(byte_vector& image) {
  put(image, 248, 8, xxh3(std::span(image).first(248)));
}
inline void seal(byte_vector& image) {
  const std::size_t checksums = image.size() - 8;
  put(image, checksums, 8, xxh3(std::span(image).subspan(256, checksums - 256)));
  put(image, 112, 8, xxh3(std::span(image).subspan(checksums)));
  seal_header(image);
}

// Holds 100 keys; classic and partitioned with a last word that is not full.
template <class Filter>
Filter small_filter() {
  const bool blocked = Filter::kind == bloomery::filter_kind::blocked;
  Filter f(bloomery::plan{.shape = {.kind = Filter::kind,
                                    .scheme = Filter::probes_type::scheme,
                                    .probes = 4,
                                    .block_bits = blocked ? 512U : 0U,
                                    .bits = blocked ? 1024U : 1000U},
                          .keys = 100,
                          .fpr_target = 0.125});
  f.add_batch(sample_hashes<typename Filter::hash_type>(100));
  return f;
}

// The hash that goes with a filter of hashes in these tests.
template <class Filter>
constexpr bloomery::hash_spec spec_for() {
  if (Filter::probes_type::scheme == bloomery::probe_scheme::modulo) {
    return {.id = bloomery::hash_id::md5};
  }
  return {.id = bloomery::hash_id::xxh3, .seed = 0x0123456789abcdef};
}

template <class Filter>
byte_vector small_image() {
  return image_of(small_filter<Filter>(), spec_for<Filter>());
}

using filter_types = testing::Types<bloomery::blocked_filter, bloomery::classic_filter,
                                    bloomery::partitioned_filter, bloomery::digest_filter>;

}  // namespace bloomery_test
