// Compressed input, recognised by its first bytes: gzip, bzip2, zstd and xz; and what is no list.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace bloomery::cli {

class unpacker {
 public:
  struct step {  // how many bytes of the input were used, and how many were written
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

inline constexpr std::size_t magic_bytes = 10;  // the longest magic number
bool may_become_magic(std::string_view start);  // and more bytes are needed to decide
std::unique_ptr<unpacker> unpacker_for(std::string_view start);  // null if not compressed
// What a file is that begins so and can be no list, and what to do about it; empty if it may be
// one.
std::string_view no_list(std::string_view start);

}  // namespace bloomery::cli
