// Compressed input, recognised by its first bytes: gzip, zstd and xz.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace bloomery::cli {

class unpacker {
 public:
  // How many bytes of the input were used, and how many were written.
  struct step {
    std::size_t taken = 0;
    std::size_t made = 0;
  };

  unpacker() = default;
  unpacker(const unpacker&) = delete;
  unpacker& operator=(const unpacker&) = delete;
  virtual ~unpacker() = default;

  // Decompresses more of `in` and writes at most `room` bytes. Throws errc::corrupt.
  virtual step unpack(std::string_view in, char* to, std::size_t room) = 0;
  // Whether the input may end here. Several compressed pieces in a row are one input, as for zcat.
  [[nodiscard]] virtual bool complete() const = 0;
};

// The length of the longest magic number.
inline constexpr std::size_t magic_bytes = 6;
// Whether this is the beginning of a magic number, so that more bytes are needed to decide.
bool may_become_magic(std::string_view start);
// The unpacker for an input that begins like this; null if it is not compressed.
std::unique_ptr<unpacker> unpacker_for(std::string_view start);

}  // namespace bloomery::cli
