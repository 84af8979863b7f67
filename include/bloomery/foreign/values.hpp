// What other modules of Redis keep under a key: Bloom filters of RedisBloom and of valkey-bloom,
// RedisBloom's cuckoo filters, count-min sketches and lists of the most frequent items.
//
// Their hashes cannot be turned into ours, since the items are gone. So a value stays as it is,
// with its own hash functions and the order of its bits, and is asked as it would be there; new
// items belong into a filter of ours beside it. A value that nobody has changed is written again
// field by field as it was read.
//
// RedisBloom, layers of a Bloom filter: position j of an item is (a + j b) mod m, where a is
// MurmurHash64A of the item, b the same seeded with a, and m is 2^n2 or, if n2 is 0, the number of
// bits; position p is bit p mod 8 of byte p / 8. A filter without the option "64 bits" has 32-bit
// MurmurHash2 instead. valkey-bloom: a and b are SipHash-1-3 with the two halves of a seed, the
// first two positions are theirs, and the others those of a + j b modulo 2^64 - 59. Cuckoo: the
// fingerprint is h mod 255 + 1 of one byte, the buckets h mod n and (h xor fingerprint *
// 0x5bd1e995) mod n. Counters: row i has its counter at MurmurHash2 with seed i modulo the width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bloomery/foreign/fields.hpp"
#include "bloomery/foreign/hashes.hpp"
#include "bloomery/hash/murmur.hpp"

namespace bloomery::foreign {

// The numbers are part of what the Redis module of ours writes.
enum class origin : std::uint8_t {
  redisbloom_bloom = 1,
  redisbloom_cuckoo = 2,
  redisbloom_counts = 3,
  redisbloom_top = 4,
  valkey_bloom = 5,
};

struct data_type {  // of a module, as database files name it
  origin from;
  std::string_view name;
  int version;  // the latest that is known; values are written in this one
};
[[nodiscard]] std::span<const data_type> data_types() noexcept;

class value {
 public:
  virtual ~value() = default;
  value& operator=(const value&) = delete;
  [[nodiscard]] virtual std::unique_ptr<value> clone() const = 0;

  [[nodiscard]] origin from() const noexcept { return from_; }
  // All of it: its origin, and the fields. decode reads it again.
  [[nodiscard]] std::span<const std::byte> stream() const noexcept { return fields_.bytes(); }
  // The fields as the other module writes them.
  void write_to(field_sink& sink) const;

 protected:
  explicit value(origin from);
  value(const value&) = default;

  // Writes a text, and returns where it begins in the stream.
  [[nodiscard]] std::size_t put_text(std::span<const std::byte> bytes);

  field_stream fields_;

 private:
  origin from_;
};

// Read and check a value; of another version by its number. Throw errc::corrupt for one that is
// damaged, errc::unsupported for a version that nobody knew when this was written.
[[nodiscard]] std::unique_ptr<value> read(origin from, int version, field_reader& fields);
[[nodiscard]] std::unique_ptr<value> decode(std::span<const std::byte> stream);
// valkey-bloom's BF.LOAD, which its append-only file has.
[[nodiscard]] std::unique_ptr<value> decode_valkey(std::span<const std::byte> bytes);

class bloom_layers final : public value {
 public:
  struct layer {
    std::uint64_t capacity = 0;
    std::uint64_t items = 0;
    std::uint64_t modulus = 0;  // bits that are used
    std::uint32_t probes = 0;
    double error = 0;
    std::size_t begin = 0;  // of its bytes in the stream
    std::size_t bytes = 0;
  };

  bloom_layers(int version, field_reader& fields, origin from);
  [[nodiscard]] std::unique_ptr<value> clone() const override;

  [[nodiscard]] bool contains(std::string_view item) const noexcept;
  [[nodiscard]] std::uint64_t items() const noexcept { return items_; }
  [[nodiscard]] std::uint64_t capacity() const noexcept;
  [[nodiscard]] std::span<const layer> layers() const noexcept { return layers_; }
  // How much larger the next layer would be; 0 for a filter that does not grow.
  [[nodiscard]] std::uint64_t expansion() const noexcept { return expansion_; }
  [[nodiscard]] double error() const noexcept { return error_; }  // as it was asked for
  // The bytes of a layer's array.
  [[nodiscard]] std::span<const std::byte> array(const layer& l) const noexcept {
    return stream().subspan(l.begin, l.bytes);
  }
  // Whether the positions are those of murmur_hasher.
  [[nodiscard]] bool hashes_by_murmur64() const noexcept { return wide_ && !seed_; }

 private:
  void read_redisbloom(int version, field_reader& fields);
  void read_redisbloom_layer(int version, field_reader& fields);
  void read_valkey(int version, field_reader& fields);
  void read_valkey_layer(std::span<const std::byte> bytes);
  [[nodiscard]] murmur_pair hash(std::string_view item) const noexcept;

  std::vector<layer> layers_;
  std::uint64_t items_ = 0;
  std::uint64_t expansion_ = 0;
  double error_ = 0;
  bool wide_ = true;
  std::optional<std::pair<sip_key, sip_key>> seed_;  // of valkey-bloom
};

class cuckoo_layers final : public value {
 public:
  struct layer {
    std::uint64_t buckets = 0;  // a power of two
    std::size_t begin = 0;
  };

  cuckoo_layers(int version, field_reader& fields);
  [[nodiscard]] std::unique_ptr<value> clone() const override;

  [[nodiscard]] bool contains(std::string_view item) const noexcept { return count(item) != 0; }
  [[nodiscard]] std::uint64_t count(std::string_view item) const noexcept;
  bool remove(std::string_view item) noexcept;  // one of its fingerprints, the last layer first
  [[nodiscard]] std::uint64_t items() const noexcept { return items_; }
  [[nodiscard]] std::uint64_t deletes() const noexcept { return deletes_; }
  [[nodiscard]] std::uint64_t buckets() const noexcept { return buckets_; }  // of the first layer
  [[nodiscard]] std::uint64_t bucket_cells() const noexcept { return cells_; }
  [[nodiscard]] std::uint64_t iterations() const noexcept { return iterations_; }
  [[nodiscard]] std::uint64_t expansion() const noexcept { return expansion_; }
  [[nodiscard]] std::span<const layer> layers() const noexcept { return layers_; }

 private:
  [[nodiscard]] std::uint64_t read_numbers(bool sizes, field_reader& fields);  // the layers
  // The cells of the two buckets that an item can be in.
  template <class Visit>
  void visit(const layer& l, std::uint64_t hash, Visit visit_cell) const noexcept;

  std::vector<layer> layers_;
  std::uint64_t buckets_ = 0;
  std::uint64_t items_ = 0;
  std::uint64_t deletes_ = 0;
  std::uint64_t cells_ = 0;
  std::uint64_t iterations_ = 0;
  std::uint64_t expansion_ = 0;
  std::size_t items_at_ = 0;  // in the stream
  std::size_t deletes_at_ = 0;
};

class counter_rows final : public value {
 public:
  explicit counter_rows(field_reader& fields);
  [[nodiscard]] std::unique_ptr<value> clone() const override;

  [[nodiscard]] std::uint64_t count(std::string_view item) const noexcept;
  [[nodiscard]] std::uint64_t width() const noexcept { return width_; }
  [[nodiscard]] std::uint64_t depth() const noexcept { return depth_; }
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }

  // A sketch whose counters are the weighted sums of others of the same size, null ones left out.
  // Null if there is none, if sizes differ, or a counter would not be in 0 to 2^32 - 1.
  struct term {
    const counter_rows* sketch;
    std::int64_t weight;
  };
  [[nodiscard]] static std::unique_ptr<counter_rows> sum(std::span<const term> terms);

 private:
  [[nodiscard]] std::uint32_t counter(std::size_t i) const noexcept;

  std::uint64_t width_ = 0;
  std::uint64_t depth_ = 0;
  std::uint64_t total_ = 0;
  std::size_t begin_ = 0;
};

class top_list final : public value {
 public:
  struct entry {
    std::string_view item;
    std::uint64_t count = 0;
  };

  explicit top_list(field_reader& fields);
  [[nodiscard]] std::unique_ptr<value> clone() const override;

  [[nodiscard]] std::uint64_t k() const noexcept { return k_; }
  [[nodiscard]] std::uint64_t width() const noexcept { return width_; }
  [[nodiscard]] std::uint64_t depth() const noexcept { return depth_; }
  [[nodiscard]] double decay() const noexcept { return decay_; }
  [[nodiscard]] std::vector<entry> entries() const;  // valid as long as this object

 private:
  struct place {
    std::size_t begin;
    std::size_t bytes;
    std::uint64_t count;
  };
  std::vector<place> entries_;
  std::uint64_t k_ = 0;
  std::uint64_t width_ = 0;
  std::uint64_t depth_ = 0;
  double decay_ = 0;
};

// What RedisBloom's SCANDUMP hands out: a header, and then the arrays of all layers.
class pieces {
 public:
  // Throws errc::corrupt for bytes that are no header, errc::no_memory for one that announces more
  // than `most_bytes`.
  pieces(origin from, std::span<const std::byte> header, std::uint64_t most_bytes);

  [[nodiscard]] std::uint64_t received() const noexcept { return arrays_.size(); }
  [[nodiscard]] std::uint64_t expected() const noexcept { return expected_; }
  [[nodiscard]] bool complete() const noexcept { return arrays_.size() == expected_; }
  void append(std::span<const std::byte> piece);        // throws errc::corrupt when it is too long
  [[nodiscard]] std::unique_ptr<value> finish() const;  // throws errc::corrupt unless complete

 private:
  std::vector<std::byte> header_;
  std::vector<std::byte> arrays_;
  std::uint64_t expected_ = 0;
  origin from_;
};

}  // namespace bloomery::foreign
