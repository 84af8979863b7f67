// The blocked filter in the memory of a GPU: the same bits as bloomery::blocked_filter, so a file
// can be made on either side and asked on the other. docs/gpu.md says how fast, and when it pays.
//
//     blocked_view     asks words that lie in device memory
//     blocked_span     the same, and changes them
//     blocked_filter   the same, and owns them
//
// Every pointer in a call is to device memory unless its name says `host`. Work is put on the
// stream that the caller names and the call returns: nothing here waits and nothing allocates,
// except where a comment says so. The current device must be the one with the words. Calls throw
// errc::unsupported without a device, errc::no_memory, errc::bad_argument, and errc::io with
// CUDA's reason; what goes wrong while a kernel runs is reported by a later call, as always there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bloomery/core/shape.hpp"
#include "bloomery/filter/blocked.hpp"

struct CUstream_st;  // cudaStream_t points to it

namespace bloomery::gpu {

using stream = CUstream_st*;  // null is the default stream

// Keys in device memory. The seed is that of the filter, as for bloomery::xxh3_hasher.
class key_batch {
 public:
  enum class form : std::uint8_t { integers, hashes, strings };

  [[nodiscard]] static key_batch integers(const std::uint64_t* keys, std::size_t count,
                                          std::uint64_t seed = 0) noexcept {
    return {form::integers, keys, nullptr, count, seed};
  }
  [[nodiscard]] static key_batch hashes(const std::uint64_t* hashes, std::size_t count) noexcept {
    return {form::hashes, hashes, nullptr, count, 0};
  }
  // String i is bytes offsets[i] to offsets[i + 1] - 1; there are count + 1 offsets. The memory of
  // the bytes must go on to the next multiple of eight bytes.
  [[nodiscard]] static key_batch strings(const char* bytes, const std::uint64_t* offsets,
                                         std::size_t count, std::uint64_t seed = 0) noexcept {
    return {form::strings, bytes, offsets, count, seed};
  }

  [[nodiscard]] form what() const noexcept { return form_; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] const void* data() const noexcept { return data_; }
  [[nodiscard]] const std::uint64_t* offsets() const noexcept { return offsets_; }
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  [[nodiscard]] key_batch part(std::size_t first, std::size_t count) const noexcept;

 private:
  key_batch(form what, const void* data, const std::uint64_t* offsets, std::size_t count,
            std::uint64_t seed) noexcept
      : data_(data), offsets_(offsets), count_(count), seed_(seed), form_(what) {}

  const void* data_;
  const std::uint64_t* offsets_;
  std::size_t count_;
  std::uint64_t seed_;
  form form_;
};

// What the caller expects of the keys; the answers do not depend on it, the speed may.
enum class expect : std::uint8_t { mostly_absent, mostly_present };

// Memory of the caller's for one call, on the device, aligned to 256 bytes as cudaMalloc has it.
struct scratch {
  void* memory = nullptr;
  std::size_t bytes = 0;
};

class blocked_view {
 public:
  // `words` has shape.bits / 64 words, aligned to 64 bytes. Throws errc::bad_argument unless the
  // shape is that of a blocked filter, errc::unsupported for a shard and from 256 GiB on.
  blocked_view(const plan& p, const std::uint64_t* words);

  // Bit i % 64 of word i / 64 is the answer for key i; (count + 63) / 64 words.
  void contains_bits(const key_batch& keys, std::uint64_t* bitmap, stream s,
                     expect e = expect::mostly_absent) const;
  // A byte for each key, 1 or 0.
  void contains_bytes(const key_batch& keys, std::uint8_t* out, stream s,
                      expect e = expect::mostly_absent) const;
  // The indexes of the keys that are contained, in no certain order, and how many. `out` must have
  // room for all; at most 2^32 keys.
  void contains_indexes(const key_batch& keys, std::uint32_t* out, std::uint64_t* found, stream s,
                        expect e = expect::mostly_absent) const;
  void contains_count(const key_batch& keys, std::uint64_t* found, stream s,
                      expect e = expect::mostly_absent) const;
  // How many bits are set.
  void count_bits(std::uint64_t* bits, stream s) const;
  // The words, to the host. From pinned memory the copy overlaps with other work; from any other
  // CUDA waits for it.
  void download(std::span<std::uint64_t> host_words, stream s) const;
  // A filter in host memory, with this number of keys: waits for the stream, and allocates.
  [[nodiscard]] bloomery::blocked_filter download(std::uint64_t keys, stream s) const;

  [[nodiscard]] const plan& planned() const noexcept { return plan_; }
  [[nodiscard]] const bloomery::shape& shape() const noexcept { return plan_.shape; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return plan_.shape.bits / 8; }
  [[nodiscard]] const std::uint64_t* words() const noexcept { return words_; }

 protected:
  blocked_view(const plan& p, std::nullptr_t);
  void borrow(const std::uint64_t* words) noexcept { words_ = words; }

 private:
  struct answers;
  void ask(const key_batch& keys, const answers& out, stream s, expect e) const;

  const std::uint64_t* words_;
  plan plan_;
  std::uint64_t cache_bytes_;  // of the device
};

class blocked_span : public blocked_view {
 public:
  blocked_span(const plan& p, std::uint64_t* words) : blocked_view(p, words) {}

  // With scratch, many keys are dealt out by the range of blocks that they fall into, and each
  // range is filled in fast memory: four times as fast in a filter of 1 GiB. Less scratch
  // than add_scratch_bytes makes it add in pieces, and with too little it adds key by key.
  //
  // One stream at a time may add with scratch; without, any number.
  void add(const key_batch& keys, stream s, scratch memory = {},
           expect e = expect::mostly_absent) const;
  // What is best for so many keys in one call; 0 where scratch does not help.
  [[nodiscard]] std::size_t add_scratch_bytes(std::size_t keys) const noexcept;

  void clear(stream s) const;
  // Adds what the other has, whose words are on the same device. Throws errc::mismatch when the
  // shapes differ; that the seeds agree is for the caller to know.
  void merge(const blocked_view& other, stream s) const;
  // The words of a filter of the same shape, from the host: a filter, a mapped file. See download.
  void upload(std::span<const std::uint64_t> host_words, stream s) const;

  [[nodiscard]] std::uint64_t* words() const noexcept {
    return const_cast<std::uint64_t*>(blocked_view::words());
  }

 protected:
  blocked_span(const plan& p, std::nullptr_t none) : blocked_view(p, none) {}
};

class blocked_filter : public blocked_span {
 public:
  // An empty filter on the current device; allocates, and waits.
  explicit blocked_filter(const plan& p);
  explicit blocked_filter(const bloomery::options& o);
  // The filter from the host; allocates, and waits.
  explicit blocked_filter(const bloomery::blocked_view& host);

  // Assigning and the destructor free the words they had: cudaFree may wait for the device.
  blocked_filter(blocked_filter&& other) noexcept;
  blocked_filter& operator=(blocked_filter&& other) noexcept;
  blocked_filter(const blocked_filter&) = delete;
  blocked_filter& operator=(const blocked_filter&) = delete;
  ~blocked_filter();
};

}  // namespace bloomery::gpu
