#include "bloomery/format/sliced_build.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/error.hpp"
#include "bloomery/core/kinds.hpp"
#include "bloomery/core/parallel.hpp"
#include "bloomery/format/all_filters.hpp"
#include "bloomery/hash/probe.hpp"

namespace bloomery {

namespace {

constexpr std::uint64_t word_bits = 64;

std::uint64_t slice_words(std::uint64_t slice_bytes) {
  return std::max<std::uint64_t>(1, slice_bytes / image_chunk_bytes) *
         (image_chunk_bytes / sizeof(std::uint64_t));
}

// What `work` returns for the filter type of a kind.
template <class... Filters, class Work>
bool with_type_of(filter_kind kind, filter_list<Filters...>, Work work) {
  return ((Filters::kind == kind && work.template operator()<Filters>()) || ...);
}

struct slice {  // the bits [first, last) of the array
  std::uint64_t first;
  std::uint64_t last;
};

// Whether hashes of the partition can have bits in the slice.
template <class Probes>
bool touches(const Probes& probes, std::uint32_t partition, std::uint32_t partitions, slice part) {
  if constexpr (in_blocks<Probes>) {
    // The least hash h with high64(h * partitions) = i is ceil(i 2^64 / partitions).
    const auto least = [&](std::uint32_t i) {
      const auto numerator = (static_cast<detail::uint128>(i) << 64U) + (partitions - 1);
      return static_cast<std::uint64_t>(numerator / partitions);
    };
    const std::uint64_t lowest = least(partition);
    const std::uint64_t highest =
        partition + 1 == partitions ? UINT64_MAX : least(partition + 1) - 1;
    constexpr std::uint64_t block_bits = Probes::block_bits;
    return (probes.block_of(highest) + 1) * block_bits > part.first &&
           probes.block_of(lowest) * block_bits < part.last;
  } else {
    return true;
  }
}

template <class Probes>
void fill_slice(std::span<std::uint64_t> words, const Probes& probes, const hash_spool& spool,
                slice part) {
  for (std::uint32_t p = 0; p < spool.partitions(); ++p) {
    if (!touches(probes, p, spool.partitions(), part)) continue;
    spool.for_each(p, [&](std::span<const std::uint64_t> hashes) {
      for (const std::uint64_t hash : hashes) {
        probes.all_of(hash, [&](std::uint64_t position) {
          if (position >= part.first && position < part.last) {
            detail::set_bit(words.data(), position - part.first);
          }
          return true;
        });
      }
    });
  }
}

template <class Probes>
void write_slices(image_stream& out, const shape& s, const hash_spool& spool,
                  std::uint64_t slice_bytes) {
  const Probes probes(s);
  const std::uint64_t total = bit_array::words_for(s.bits);
  const std::uint64_t step = slice_words(slice_bytes);
  for (std::uint64_t from = 0; from < total; from += step) {
    const std::uint64_t count = std::min(step, total - from);
    bit_array words(count * word_bits);
    fill_slice(words.words(), probes, spool,
               {.first = from * word_bits, .last = (from + count) * word_bits});
    out.append(words.words());
  }
}

}  // namespace

hash_spool::hash_spool(std::filesystem::path directory, std::uint32_t partitions,
                       std::size_t memory_bytes)
    : directory_(std::move(directory)),
      memory_hashes_(memory_bytes / sizeof(std::uint64_t)),
      parts_(std::max<std::uint32_t>(1, partitions)) {}

void hash_spool::part::append(std::span<const std::uint64_t> hashes) {
  constexpr std::size_t first_block = 512;
  constexpr std::size_t largest_block = std::size_t{1} << 22U;  // 32 MiB
  while (!hashes.empty()) {
    if (blocks.empty() || used == blocks.back().words().size()) {
      const std::size_t words =
          blocks.empty() ? first_block : std::min(2 * blocks.back().words().size(), largest_block);
      blocks.emplace_back(std::uint64_t{words} * 64);
      used = 0;
    }
    const std::span<std::uint64_t> room = blocks.back().words().subspan(used);
    const std::size_t count = std::min(room.size(), hashes.size());
    std::copy_n(hashes.begin(), count, room.begin());
    used += count;
    hashes = hashes.subspan(count);
  }
}

void hash_spool::part::append(std::uint64_t hash) {
  const std::span<std::uint64_t> block =
      blocks.empty() ? std::span<std::uint64_t>{} : blocks.back().words();
  if (used == block.size()) return append({&hash, 1});
  block[used++] = hash;
}

void hash_spool::append(std::span<const std::uint64_t> hashes) {
  const std::lock_guard lock(mutex_);
  if (parts_.size() == 1) {
    parts_.front().append(hashes);
  } else {
    for (const std::uint64_t hash : hashes) {
      parts_[detail::multiply_high(hash, parts_.size())].append(hash);
    }
  }
  keys_ += hashes.size();
  buffered_ += hashes.size();
  if (buffered_ > memory_hashes_) spill();
}

void hash_spool::spill() {
  for (part& p : parts_) {
    if (p.used == 0) continue;
    if (!p.file) p.file.emplace(directory_);
    p.for_each_block(
        [&](std::span<const std::uint64_t> hashes) { p.file->append(std::as_bytes(hashes)); });
    p.blocks.erase(p.blocks.begin(), p.blocks.end() - 1);  // the largest is used again
    p.used = 0;
  }
  buffered_ = 0;
}

std::uint32_t spool_partitions(const shape& s, std::uint64_t slice_bytes) {
  if (!is_of_bits(s.kind) || layout_of(s) != position_layout::blocks) return 1;
  // Every partition is an open file, and 256 of them are enough to make the extra reading small.
  const std::uint64_t slices =
      (bit_array::words_for(s.bits) + slice_words(slice_bytes) - 1) / slice_words(slice_bytes);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(slices, 1, 256));
}

void build_sliced(atomic_file& file, image_header header, const hash_spool& spool,
                  std::uint64_t slice_bytes) {
  const shape& s = header.planned.shape;
  header.keys = spool.keys();
  if (!s.shard.whole()) {
    detail::fail(errc::unsupported, "a shard is built in memory, or split from a whole filter");
  }
  if (s.scheme != probe_scheme::multiply) {
    detail::fail(errc::unsupported, "a filter of foreign digests is built in memory only");
  }
  image_stream out(file, header);
  const bool written = with_type_of(s.kind, all_filters{}, [&]<class Filter>() {
    if constexpr (requires { typename Filter::probes_type; }) {
      write_slices<typename Filter::probes_type>(out, s, spool, slice_bytes);
      return true;
    }
    return false;
  });
  if (!written) detail::fail(errc::unsupported, "filters of this kind are built in memory only");
  out.finish();
}

namespace {

// Partitions and shards both grow with the hash, so a shard is complete when the first partition
// behind it begins; what is read of the next shards by then waits.
template <class Builder>
class shard_queue {
 public:
  shard_queue(Builder& builder, image_stream& out, unsigned threads)
      : builder_(builder), out_(out), at_once_(parallel{threads}.count()) {}

  void add(std::span<const std::uint64_t> hashes) {
    for (const std::uint64_t hash : hashes) {
      const std::uint64_t place = shard_of(hash) - done_;
      if (place >= waiting_.size()) waiting_.resize(static_cast<std::size_t>(place) + 1);
      waiting_[place].push_back(hash);
    }
  }

  // Writes the shards before `end`, or those of them that occupy all threads.
  void write_below(std::uint64_t end, bool all) {
    while (done_ < end && (all || end - done_ >= at_once_)) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(end - done_, at_once_));
      if (waiting_.size() < count) waiting_.resize(count);
      const auto last = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
      const std::vector<std::span<std::uint64_t>> parts(waiting_.begin(), last);
      out_.append(builder_.add_shards(parts, at_once_));
      waiting_.erase(waiting_.begin(), last);
      done_ += count;
    }
  }

  [[nodiscard]] std::uint64_t shard_of(std::uint64_t hash) const {
    return detail::multiply_high(hash, builder_.shards());
  }

 private:
  Builder& builder_;
  image_stream& out_;
  unsigned at_once_;
  std::uint64_t done_ = 0;                           // shards
  std::vector<std::vector<std::uint64_t>> waiting_;  // the hashes of the shards after those
};

template <class Builder>
void write_shards(atomic_file& file, image_header header, const hash_spool& spool,
                  unsigned threads) {
  Builder builder(header.planned);
  image_stream out(file, header);
  shard_queue<Builder> queue(builder, out, threads);
  for (std::uint32_t p = 0; p < spool.partitions(); ++p) {
    spool.for_each(p, [&](std::span<const std::uint64_t> hashes) { queue.add(hashes); });
    // The least hash of the next partition: the first with high64(hash * partitions) = p + 1.
    const detail::uint128 bound =
        ((static_cast<detail::uint128>(p + 1) << 64U) + spool.partitions() - 1) /
        spool.partitions();
    const bool last = p + 1 == spool.partitions();
    queue.write_below(last ? builder.shards() : queue.shard_of(static_cast<std::uint64_t>(bound)),
                      last);
  }
  out.append(builder.finish());
  header.planned = builder.planned();
  header.keys = builder.keys();
  out.finish(header);
}

}  // namespace

void build_sharded(atomic_file& file, image_header header, const hash_spool& spool,
                   unsigned threads) {
  const bool written = with_type_of(header.planned.shape.kind, all_filters{}, [&]<class Filter>() {
    if constexpr (requires { typename Filter::builder; }) {
      write_shards<typename Filter::builder>(file, header, spool, threads);
      return true;
    }
    return false;
  });
  if (!written) detail::fail(errc::unsupported, "filters of this kind are not made of shards");
}

}  // namespace bloomery
