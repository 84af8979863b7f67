// What the fuzzers share: the input as a stream of numbers, and a check that no compiler leaves
// out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace bloomery_fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

class input {
 public:
  input(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

  // The next `count` bytes as a little-endian number; zeros where the input has ended.
  std::uint64_t take(std::size_t count) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count && !rest_.empty(); ++i, rest_ = rest_.subspan(1)) {
      value |= std::uint64_t{rest_.front()} << (8 * i);
    }
    return value;
  }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  std::span<const std::uint8_t> rest_;
};

}  // namespace bloomery_fuzz
