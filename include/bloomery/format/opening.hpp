// How far a file is trusted when it is opened. Files come from disks that err, and from strangers.
//
// A false negative from a damaged file breaks the one promise of a filter, so every checksum is
// compared before there is a filter to ask. That reads all of the file once: 100 MB in the page
// cache take 13 ms of one core, or 8 ms of two, where asking them for a million lines takes 20 and
// for ten million 120. Verifying each chunk when it is first touched would save nothing there,
// since the keys of such a list touch all of them. A program that asks a few keys of a huge mapped
// file may leave it out; then damage beyond the first MiB shows in wrong answers, if at all.
//
// A few bytes can say that they are a huge filter: packed zeros, or a table that is about to grow
// by a large factor. So there is a limit for the memory that a file may ask for.
#pragma once

#include <cstdint>

namespace bloomery {

struct opening {
  bool verify = true;    // compare every checksum
  unsigned threads = 0;  // to do so with; 0: one for each core
  // The most bytes of memory that a filter may take that comes from the file, unpacked or grown; 0:
  // memory_limit() of its bytes so far.
  std::uint64_t memory = 0;
};

// The larger of 256 MiB and 64 times the bytes of a file, and no more than the machine has.
[[nodiscard]] std::uint64_t memory_limit(std::uint64_t file_bytes) noexcept;

// Throws errc::no_memory, with both numbers, when something of `bytes_now` bytes asks for `needed`
// bytes of memory and that is over the limit (opening::memory).
void check_memory(std::uint64_t needed, std::uint64_t limit, std::uint64_t bytes_now);

}  // namespace bloomery
