// Hashes that lie in host memory, for a filter on a GPU: they go through pinned memory in pieces,
// so that one piece crosses the bus while the filter works on the one before. `moved` says what
// that cost: the bus, at 6 to 7 G hashes a second at best, is slower than the filter.
//
//     bloomery::gpu::host_keys keys(filter);
//     keys.add(hashes);                      // of any number of calls
//     keys.finish();
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "bloomery/gpu/blocked.hpp"

namespace bloomery::gpu {

// The seconds of copies and of work overlap.
struct transfer {
  std::uint64_t hashes = 0;
  double copy_seconds = 0;  // of hashes to the device
  double work_seconds = 0;  // of the filter, and of answers back to the host
};

// One thread at a time may call it; it has streams of its own.
class host_keys {
 public:
  // The filter's words must live as long. Takes host and device memory for two pieces of so many
  // hashes, a multiple of 64, and waits for the device.
  explicit host_keys(const blocked_span& filter, std::size_t piece = std::size_t{1} << 20U);
  host_keys(const host_keys&) = delete;
  host_keys& operator=(const host_keys&) = delete;
  // Waits for what is on its way; what finish() was not called for may be lost.
  ~host_keys();

  // The hashes may change when this returns; they are in the filter after finish().
  void add(std::span<const std::uint64_t> hashes);
  // Bit i % 64 of bitmap[i / 64] is the answer for hashes[i]; waits for all of them, and for what
  // was added before.
  void contains_bits(std::span<const std::uint64_t> hashes, std::span<std::uint64_t> bitmap);
  void finish();

  [[nodiscard]] const transfer& moved() const noexcept { return moved_; }

 private:
  struct slot;

  slot& next();
  void collect(slot& s);
  void send(slot& s);

  blocked_span filter_;
  std::size_t piece_;
  std::array<std::unique_ptr<slot>, 2> slots_;
  std::size_t turn_ = 0;
  transfer moved_;
};

}  // namespace bloomery::gpu
