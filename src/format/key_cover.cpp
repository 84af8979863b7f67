#include "bloomery/format/key_cover.hpp"

#include <atomic>
#include <bit>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/error.hpp"
#include "bloomery/core/kinds.hpp"
#include "bloomery/detail/bits/split_lines.hpp"
#include "bloomery/format/any_filter.hpp"
#include "bloomery/hash/probe.hpp"

namespace bloomery {

class key_cover::marks {
 public:
  marks() = default;
  marks(const marks&) = delete;
  marks& operator=(const marks&) = delete;
  virtual ~marks() = default;

  virtual void take(std::span<const std::uint64_t> hashes) noexcept = 0;
  [[nodiscard]] virtual std::uint64_t lacking() const noexcept = 0;
};

namespace {

constexpr std::size_t words_per_block = bits_per_block / 64;

// Most bits are marked already, and reading them is what threads can do at the same time.
void mark(std::uint64_t& word, std::uint64_t bits) noexcept {
  const std::atomic_ref<std::uint64_t> shared(word);
  if ((shared.load(std::memory_order_relaxed) & bits) == bits) return;
  shared.fetch_or(bits, std::memory_order_relaxed);
}

// Each layer has an array of its own size: the bits of the keys that it contains.
class layer_marks final : public key_cover::marks {
 public:
  explicit layer_marks(const any_filter& f) : probes_(f.shape()), per_key_(f.shape().probes) {
    const auto parts = f->parts();  // the first is the directory
    layers_.assign(parts.begin() + 1, parts.end());
    for (const auto layer : layers_) marked_.emplace_back(layer.size() * 64);
  }

  void take(std::span<const std::uint64_t> hashes) noexcept override {
    for (const std::uint64_t hash : hashes) {
      const block_mask mask = probes_.mask_of(hash);
      for (std::size_t i = 0; i < layers_.size(); ++i) {
        const std::uint64_t blocks = layers_[i].size() / words_per_block;
        const std::size_t at = detail::multiply_high(hash, blocks) * words_per_block;
        if (mask.bits_set(layers_[i].data() + at) != per_key_) continue;
        for (std::size_t w = 0; w < words_per_block; ++w) {
          mark(marked_[i].words()[at + w], mask.words[w]);
        }
      }
    }
  }

  [[nodiscard]] std::uint64_t lacking() const noexcept override {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      for (std::size_t w = 0; w < layers_[i].size(); ++w) {
        bits += static_cast<std::uint64_t>(std::popcount(layers_[i][w] & ~marked_[i].words()[w]));
      }
    }
    return (bits + per_key_ - 1) / per_key_;
  }

 private:
  blocked_probes probes_;
  std::uint64_t per_key_;
  std::vector<std::span<const std::uint64_t>> layers_;
  std::vector<bit_array> marked_;
};

// The last bit of each cell and of each slot of the stash is its mark.
class cell_marks final : public key_cover::marks {
 public:
  explicit cell_marks(const any_filter& f) {
    const auto parts = f->parts();  // the first is the head
    table_.cells = detail::word_cells(f.shape().cell_bits);
    table_.words = parts[1].data();
    table_.lines = parts[1].size() / detail::split_lines::words_per_line;
    marked_ = bit_array(parts[1].size() * 64);
    if (parts.size() < 3) return;
    table_.stash = {.slots = parts[2].data(), .count = parts[2].size()};
    stashed_ = bit_array(parts[2].size() * 64);
  }

  void take(std::span<const std::uint64_t> hashes) noexcept override {
    for (const std::uint64_t hash : hashes) {
      const std::uint64_t* const line = table_.line_of(hash);
      std::uint64_t* const own_marks = marked_.words().data() + (line - table_.words);
      const std::uint32_t own = table_.cell_of(hash);
      each_cell(line, [&](std::uint32_t cell, std::size_t word, std::uint32_t shift) {
        const std::uint32_t fingerprint = ~(cell ^ (cell - 1));
        if (cell != 0 && ((cell ^ own) & fingerprint) == 0) mark(own_marks[word], one << shift);
      });
      if (table_.cells.is_full(line)) take_from_stash(hash);
    }
  }

  // A fingerprint of no bits says nothing of its keys, and the line that it comes from may have
  // passed it on to one that has none of them.
  [[nodiscard]] std::uint64_t lacking() const noexcept override {
    std::uint64_t cells = 0;
    for (std::uint64_t i = 0; i < table_.lines; ++i) {
      const std::size_t at = i * detail::split_lines::words_per_line;
      each_cell(table_.words + at, [&](std::uint32_t cell, std::size_t word, std::uint32_t shift) {
        if (cell == 0 || cell == table_.cells.no_bits()) return;
        cells += ((marked_.words()[at + word] >> shift) & 1U) == 0 ? 1U : 0U;
      });
    }
    for (std::uint64_t i = 0; i < table_.stash.count; ++i) {
      cells += table_.stash.slots[i] != 0 && stashed_.words()[i] == 0 ? 1U : 0U;
    }
    return cells;
  }

 private:
  static constexpr std::uint64_t one = 1;

  // Calls visit(cell, its word in the line, its place in the word).
  template <class Visit>
  void each_cell(const std::uint64_t* line, Visit visit) const noexcept {
    std::uint32_t i = 0;
    const detail::word_cells& all = table_.cells;
    all.each(line, [&](std::uint32_t cell) {
      visit(cell, std::size_t{i / all.count}, i % all.count * all.width);
      ++i;
    });
  }

  void take_from_stash(std::uint64_t hash) noexcept {
    const detail::hash_stash& stash = table_.stash;
    if (stash.count == 0) return;
    const std::uint64_t stored = detail::hash_stash::stored(hash);
    std::uint64_t at = detail::hash_stash::slot_of(stored, stash.count);
    for (std::uint64_t i = 0; i < detail::hash_stash::most_steps && stash.slots[at] != 0; ++i) {
      if (stash.slots[at] == detail::little_endian(stored)) mark(stashed_.words()[at], 1);
      at = (at + 1) & (stash.count - 1);
    }
  }

  detail::split_lines table_;
  bit_array marked_;
  bit_array stashed_;
};

std::unique_ptr<key_cover::marks> marks_for(const any_filter& f) {
  switch (f.shape().kind) {
    case filter_kind::layered: return std::make_unique<layer_marks>(f);
    case filter_kind::scalable: return std::make_unique<cell_marks>(f);
    default:
      detail::fail(errc::unsupported, "a filter of kind " + std::string(kind_name(f.shape().kind)) +
                                          " does not grow, so its keys need not come again");
  }
}

}  // namespace

key_cover::key_cover(const any_filter& f) : marks_(marks_for(f)) {}
key_cover::key_cover(key_cover&&) noexcept = default;
key_cover& key_cover::operator=(key_cover&&) noexcept = default;
key_cover::~key_cover() = default;

void key_cover::take(std::span<const std::uint64_t> hashes) noexcept { marks_->take(hashes); }
std::uint64_t key_cover::lacking() const noexcept { return marks_->lacking(); }

}  // namespace bloomery
