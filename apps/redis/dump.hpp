// A filter as a stream of bytes, for whoever takes it piece by piece: database files, the
// append-only file, clients.
//
//     | 64 bytes: what the module knows | image: header, words, checksums (docs/format.md) |
//
// The first part is left out of what is exchanged with the tool. The reader trusts nothing: it
// holds no more memory than it was given bytes, and makes a filter only of a whole image whose
// checksums all hold. Nothing in here needs a server, so the fuzzer feeds it too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bloomery/format/any_filter.hpp"
#include "bloomery/format/image.hpp"

namespace bloomery_redis {

// What commands need to know of a filter beyond itself; each family of commands has its own meaning
// for them.
using fact_list = std::array<std::uint64_t, 6>;

inline constexpr std::size_t dump_head_bytes = 64;
// Of the first piece: all that tells how long the whole is.
inline constexpr std::size_t dump_start_bytes = dump_head_bytes + bloomery::image_header_bytes;
// What is handed over in one piece. A server does nothing else meanwhile; this takes less than a
// millisecond.
inline constexpr std::size_t dump_piece_bytes = std::size_t{4} << 20U;

// The image of a filter that does not change while this lives. It begins with its checksums, so
// making one takes as long as reading the filter once, unless that is left to `prepare`.
class image_source {
 public:
  enum class when : std::uint8_t { now, later };
  explicit image_source(const bloomery::any_filter& filter_to_read, when checksums = when::now);
  image_source(const bloomery::any_filter& filter_to_read, const fact_list& facts,
               when checksums = when::now);

  // Reads up to `most` bytes of the filter; true when all is ready.
  bool prepare(std::size_t most);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  // Up to `most` bytes from `offset` on, and no more than are in one place.
  [[nodiscard]] std::vector<std::byte> read(std::uint64_t offset, std::size_t most) const;

 private:
  void add_up();

  std::vector<std::byte> head_;
  std::vector<std::byte> start_;
  std::vector<std::span<const std::uint64_t>> parts_;
  std::vector<std::byte> checksums_;
  std::uint64_t bytes_ = 0;
  // Until it is ready.
  std::optional<bloomery::image_writer> writer_;
  std::size_t part_ = 0;
  std::size_t word_ = 0;
};

struct dumped {
  bloomery::any_filter filter;
  fact_list facts{};
};

// Puts the pieces of a stream together.
class image_sink {
 public:
  enum class content : std::uint8_t { image, dump };
  // Refuses images that are longer than `most_bytes`.
  image_sink(content what, std::uint64_t most_bytes) : most_bytes_(most_bytes), what_(what) {}

  // Throws bloomery::error when the start is none, or when there are more bytes than it spoke of.
  void append(std::span<const std::byte> piece);
  [[nodiscard]] std::uint64_t received() const noexcept { return bytes_.size(); }
  // Known as soon as the start is complete.
  [[nodiscard]] std::optional<std::uint64_t> expected() const noexcept { return expected_; }
  [[nodiscard]] bool complete() const noexcept { return expected_ == received(); }
  // The filter. Throws bloomery::error unless all of it is there and sound.
  [[nodiscard]] dumped finish() const;

 private:
  [[nodiscard]] std::size_t head_bytes() const noexcept {
    return what_ == content::dump ? dump_head_bytes : 0;
  }

  std::vector<std::byte> bytes_;
  std::optional<std::uint64_t> expected_;
  std::uint64_t most_bytes_;
  content what_;
};

// What a database file holds of a value: the number of pieces, then the pieces. `next` gives the
// next piece, or nothing when the file ends or cannot be read. Throws bloomery::error for what no
// value has written.
[[nodiscard]] dumped read_pieces(
    std::uint64_t pieces, const std::function<std::optional<std::span<const std::byte>>()>& next,
    std::uint64_t most_bytes);

}  // namespace bloomery_redis
