#include "bloomery/gpu/blocked.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/detail/filter/owned.hpp"
#include "gpu/launch.hpp"
#include "gpu/partition.hpp"
#include "gpu/status.hpp"

namespace bloomery::gpu {

namespace {

// Block numbers are 32 bits wide where threads hand them to each other.
constexpr std::uint64_t most_blocks = std::uint64_t{1} << 32U;
// Keys of one launch; bins count in 32 bits.
constexpr std::size_t most_keys = std::size_t{1} << 31U;
static_assert(most_keys % 64 == 0, "parts of a bitmap are whole words");

const plan& checked(const plan& p) {
  bloomery::detail::check_kind(p.shape, filter_kind::blocked);
  if (!p.shape.shard.whole()) {
    bloomery::detail::fail(errc::unsupported,
                           "a shard of a filter cannot be asked on a GPU: join the shards first");
  }
  if (p.shape.bits / bits_per_block >= most_blocks) {
    bloomery::detail::fail(errc::unsupported,
                           "the filter has " +
                               bloomery::detail::to_text(p.shape.bits / bits_per_block) +
                               " blocks of 64 bytes; on a GPU there are at most 2^32 - 1");
  }
  return p;
}

std::uint64_t cache_of_device() {
  int device = 0;
  int bytes = 0;
  check(cudaGetDevice(&device), "looking for a GPU");
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device), "looking at the GPU");
  return static_cast<std::uint64_t>(bytes);
}

bloomery::detail::block_map map_of(const shape& s) noexcept {
  return {s.bits / bits_per_block, s.probes};
}

key_source source_of(const key_batch& keys) noexcept {
  return {.data = keys.data(),
          .offsets = keys.offsets(),
          .count = keys.size(),
          .seed = keys.seed(),
          .form = static_cast<std::uint8_t>(keys.what())};
}

// Calls run(first, part) for parts of at most `most` keys.
template <class Run>
void for_parts(const key_batch& keys, std::size_t most, Run run) {
  for (std::size_t first = 0; first < keys.size(); first += most) {
    run(first, keys.part(first, std::min(most, keys.size() - first)));
  }
}

void check_words(std::size_t words, const shape& s) {
  if (words == s.bits / 64) return;
  bloomery::detail::throw_bad_argument(
      "words", std::uint64_t{words},
      "as many as the filter has: " + bloomery::detail::to_text(s.bits / 64));
}

std::uint64_t* allocate(std::uint64_t bytes) {
  void* memory = nullptr;
  const std::string what = "taking " + bloomery::detail::to_text(bytes) + " bytes";
  check(cudaMalloc(&memory, bytes), what.c_str());
  return static_cast<std::uint64_t*>(memory);
}

}  // namespace

key_batch key_batch::part(std::size_t first, std::size_t count) const noexcept {
  if (form_ == form::strings) return {form_, data_, offsets_ + first, count, seed_};
  return {form_, static_cast<const std::uint64_t*>(data_) + first, nullptr, count, seed_};
}

struct blocked_view::answers {
  std::uint64_t* bits = nullptr;
  std::uint8_t* bytes = nullptr;
  std::uint32_t* indexes = nullptr;
  std::uint64_t* found = nullptr;
};

blocked_view::blocked_view(const plan& p, const std::uint64_t* words)
    : words_(words), plan_(checked(p)), cache_bytes_(cache_of_device()) {
  if (words == nullptr || reinterpret_cast<std::uintptr_t>(words) % 64 != 0) {
    bloomery::detail::fail(errc::bad_argument,
                           "the words of a filter on a GPU must be aligned to 64 bytes");
  }
}

blocked_view::blocked_view(const plan& p, std::nullptr_t)
    : words_(nullptr), plan_(checked(p)), cache_bytes_(cache_of_device()) {}

void blocked_view::ask(const key_batch& keys, const answers& out, stream s, expect e) const {
  // From memory, four threads a key are best for all keys; from the cache for those that are
  // mostly there, since only an absent key spares half of its line.
  const bool in_cache = bytes() <= cache_bytes_;
  const auto form =
      in_cache && e == expect::mostly_absent ? lookup_form::two_threads : lookup_form::four_threads;
  for_parts(keys, most_keys, [&](std::size_t first, const key_batch& part) {
    const answer_target target = {
        .bits = out.bits == nullptr ? nullptr : out.bits + first / 64,
        .bytes = out.bytes == nullptr ? nullptr : out.bytes + first,
        .indexes = out.indexes,
        .first_index = static_cast<std::uint32_t>(first),
        .found = out.found,
    };
    check(launch_lookup(map_of(shape()), words_, source_of(part), target, form, s), "asking");
  });
}

void blocked_view::contains_bits(const key_batch& keys, std::uint64_t* bitmap, stream s,
                                 expect e) const {
  ask(keys, {.bits = bitmap}, s, e);
}

void blocked_view::contains_bytes(const key_batch& keys, std::uint8_t* out, stream s,
                                  expect e) const {
  ask(keys, {.bytes = out}, s, e);
}

void blocked_view::contains_indexes(const key_batch& keys, std::uint32_t* out, std::uint64_t* found,
                                    stream s, expect e) const {
  if (keys.size() > std::uint64_t{1} << 32U) {
    bloomery::detail::throw_bad_argument("keys", std::uint64_t{keys.size()},
                                         "at most 2^32 in one call that answers with indexes");
  }
  check(cudaMemsetAsync(found, 0, sizeof *found, s), "clearing a counter");
  ask(keys, {.indexes = out, .found = found}, s, e);
}

void blocked_view::contains_count(const key_batch& keys, std::uint64_t* found, stream s,
                                  expect e) const {
  check(cudaMemsetAsync(found, 0, sizeof *found, s), "clearing a counter");
  ask(keys, {.found = found}, s, e);
}

void blocked_view::count_bits(std::uint64_t* bits, stream s) const {
  check(cudaMemsetAsync(bits, 0, sizeof *bits, s), "clearing a counter");
  check(launch_popcount(words_, bytes() / 8, bits, s), "counting bits");
}

void blocked_view::download(std::span<std::uint64_t> host_words, stream s) const {
  check_words(host_words.size(), shape());
  check(cudaMemcpyAsync(host_words.data(), words_, bytes(), cudaMemcpyDeviceToHost, s),
        "copying the filter to the host");
}

bloomery::blocked_filter blocked_view::download(std::uint64_t keys, stream s) const {
  bloomery::blocked_filter host(planned(), bloomery::detail::unset_words());
  download(host.mutable_words(), s);
  check(cudaStreamSynchronize(s), "copying the filter to the host");
  host.set_keys(keys);
  return host;
}

void blocked_span::add(const key_batch& keys, stream s, scratch memory, expect e) const {
  const std::uint64_t blocks = shape().bits / bits_per_block;
  const bloomery::detail::block_map map = map_of(shape());
  if (reinterpret_cast<std::uintptr_t>(memory.memory) % 256 != 0) {
    bloomery::detail::fail(errc::bad_argument, "scratch memory must be aligned to 256 bytes");
  }
  std::size_t most = std::min(keys.size(), most_keys);
  while (partition::of(blocks, most).bytes > memory.bytes) most = most / 2 + 1;
  const bool by_ranges = partition::of(blocks, most).count > 0;
  if (!by_ranges) most = most_keys;
  for_parts(keys, most, [&](std::size_t, const key_batch& part) {
    partition way = partition::of(blocks, part.size());
    if (!by_ranges || way.count == 0) {
      check(launch_add(map, words(), source_of(part), e == expect::mostly_present, s), "adding");
      return;
    }
    way.place(static_cast<std::byte*>(memory.memory));
    check(cudaMemsetAsync(memory.memory, 0, way.counter_bytes(), s), "clearing counters");
    for (std::size_t level = 0; level < way.count; ++level) {
      const deal_level before = level == 0 ? deal_level{} : way.levels[level - 1];
      check(launch_deal(map, words(), source_of(part), before, way.levels[level], s), "adding");
    }
    check(launch_fill(map, words(), way.levels[way.count - 1], way.pieces, s), "adding");
  });
}

std::size_t blocked_span::add_scratch_bytes(std::size_t keys) const noexcept {
  return partition::of(shape().bits / bits_per_block, std::min(keys, most_keys)).bytes;
}

void blocked_span::clear(stream s) const {
  check(cudaMemsetAsync(words(), 0, bytes(), s), "clearing the filter");
}

void blocked_span::merge(const blocked_view& other, stream s) const {
  if (shape() != other.shape()) {
    bloomery::detail::fail(
        errc::mismatch,
        "filters of different shapes cannot be merged: " + bloomery::detail::to_text(shape().bits) +
            " bits and " + bloomery::detail::to_text(std::uint64_t{shape().probes}) +
            " probes, and " + bloomery::detail::to_text(other.shape().bits) + " and " +
            bloomery::detail::to_text(std::uint64_t{other.shape().probes}));
  }
  check(launch_merge(words(), other.words(), bytes() / 8, s), "merging");
}

void blocked_span::upload(std::span<const std::uint64_t> host_words, stream s) const {
  check_words(host_words.size(), shape());
  check(cudaMemcpyAsync(words(), host_words.data(), bytes(), cudaMemcpyHostToDevice, s),
        "copying the filter to the GPU");
}

blocked_filter::blocked_filter(const plan& p) : blocked_span(p, nullptr) {
  borrow(allocate(bytes()));
  try {
    clear(nullptr);
    check(cudaStreamSynchronize(nullptr), "clearing the filter");
  } catch (...) {
    cudaFree(words());
    throw;
  }
}

blocked_filter::blocked_filter(const bloomery::options& o)
    : blocked_filter(
          sizing::make_plan({.kind = filter_kind::blocked, .keys = o.keys, .fpr = o.fpr})) {}

blocked_filter::blocked_filter(const bloomery::blocked_view& host)
    : blocked_span(host.planned(), nullptr) {
  borrow(allocate(bytes()));
  try {
    upload(host.words(), nullptr);
    check(cudaStreamSynchronize(nullptr), "copying the filter to the GPU");
  } catch (...) {
    cudaFree(words());
    throw;
  }
}

blocked_filter::blocked_filter(blocked_filter&& other) noexcept : blocked_span(other) {
  other.borrow(nullptr);
}

blocked_filter& blocked_filter::operator=(blocked_filter&& other) noexcept {
  if (this == &other) return *this;
  cudaFree(words());
  blocked_span::operator=(other);
  other.borrow(nullptr);
  return *this;
}

blocked_filter::~blocked_filter() { cudaFree(words()); }

}  // namespace bloomery::gpu
