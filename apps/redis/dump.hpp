// A filter as bytes in pieces, for database files, the append-only file and clients.
//
//     | 64 bytes: what the module knows | image: header, words, checksums (docs/format.md) |
//
// and behind it, if the key came from another module and there is something of it left,
//
//     | the fields of that (foreign/values.hpp) | 8 bytes: their checksum |
//
// The tool reads and writes the image alone. The reader trusts nothing: it
// allocates no more memory than it was given bytes, and makes a filter only from a whole image
// whose checksums all hold. Nothing in here needs a server, so a fuzzer can feed it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bloomery/foreign/values.hpp"
#include "bloomery/format/any_filter.hpp"
#include "bloomery/format/image.hpp"

namespace bloomery_redis {

// Numbers that commands store beside a filter. Each family of commands defines what they mean.
using fact_list = std::array<std::uint64_t, 6>;

inline constexpr std::size_t dump_head_bytes = 64;
// The bytes of the first piece: as many as it takes to know the length of the whole.
inline constexpr std::size_t dump_start_bytes = dump_head_bytes + bloomery::image_header_bytes;
// Bytes of one piece, which take less than a millisecond to copy; meanwhile nobody else is served.
inline constexpr std::size_t dump_piece_bytes = std::size_t{4} << 20U;

// The image of a filter, which must not change while this object exists. Its checksums are computed
// first, so the constructor reads the whole filter once, unless it leaves that to `prepare`.
class image_source {
 public:
  enum class when : std::uint8_t { now, later };
  explicit image_source(const bloomery::any_filter& filter_to_read, when checksums = when::now);
  image_source(const bloomery::any_filter& filter_to_read, const fact_list& facts,
               std::shared_ptr<const bloomery::foreign::value> foreign = nullptr,
               when checksums = when::now);

  // Reads up to `most` bytes of the filter for the checksums. Returns true when they are complete.
  bool prepare(std::size_t most);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  // Up to `most` bytes from `offset` on; fewer where a part of the image ends.
  [[nodiscard]] std::vector<std::byte> read(std::uint64_t offset, std::size_t most) const;

 private:
  void add_up();

  std::vector<std::byte> head_;
  std::vector<std::byte> start_;
  std::vector<std::span<const std::uint64_t>> parts_;
  std::vector<std::byte> checksums_;
  std::shared_ptr<const bloomery::foreign::value> foreign_;
  std::vector<std::byte> foreign_sum_;
  std::uint64_t bytes_ = 0;
  std::optional<bloomery::image_writer> writer_;  // these three until the checksums are complete
  std::size_t part_ = 0;
  std::size_t word_ = 0;
};

struct dumped {
  bloomery::any_filter filter;
  fact_list facts{};
  std::shared_ptr<bloomery::foreign::value> foreign{};  // null for most
};

class image_sink {  // assembles the pieces of a stream
 public:
  enum class content : std::uint8_t { image, dump };
  // Refuses images that are longer than `most_bytes`.
  image_sink(content what, std::uint64_t most_bytes) : most_bytes_(most_bytes), what_(what) {}

  // Throws bloomery::error for a wrong start, or more bytes than the header announces.
  void append(std::span<const std::byte> piece);
  [[nodiscard]] std::uint64_t received() const noexcept { return bytes_.size(); }
  // The length of the whole stream; known once its header is complete.
  [[nodiscard]] std::optional<std::uint64_t> expected() const noexcept { return expected_; }
  [[nodiscard]] bool complete() const noexcept { return expected_ == received(); }
  [[nodiscard]] dumped finish() const;  // throws bloomery::error unless complete and undamaged

 private:
  [[nodiscard]] std::size_t head_bytes() const noexcept {
    return what_ == content::dump ? dump_head_bytes : 0;
  }

  std::vector<std::byte> bytes_;
  std::uint64_t foreign_bytes_ = 0;
  std::optional<std::uint64_t> expected_;
  std::uint64_t most_bytes_;
  content what_;
};

// Reads a value from a database file: the number of pieces, then the pieces. `next` returns the
// next piece, or nothing at the end or on an error. Throws bloomery::error if pieces are damaged.
[[nodiscard]] dumped read_pieces(
    std::uint64_t pieces, const std::function<std::optional<std::span<const std::byte>>()>& next,
    std::uint64_t most_bytes);

}  // namespace bloomery_redis
