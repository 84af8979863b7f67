// Numbers and strings in the messages of exchanges: the varints of format/bit_code.hpp, and strings
// with their length before them. What is read was sent by somebody else, so all of it is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bloomery/core/error.hpp"
#include "format/bit_code.hpp"

namespace bloomery::wire {

using buffer = std::vector<std::byte>;

[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) noexcept {
  return std::as_bytes(std::span(text));
}
[[nodiscard]] inline std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline void put(buffer& out, std::uint64_t value) { bit_code::put_varint(out, value); }
inline void put_bytes(buffer& out, std::span<const std::byte> bytes) {
  put(out, bytes.size());
  out.insert(out.end(), bytes.begin(), bytes.end());
}
inline void put_text(buffer& out, std::string_view text) { put_bytes(out, bytes_of(text)); }

[[nodiscard]] inline std::uint64_t size_of(std::uint64_t value) noexcept {
  std::uint64_t bytes = 1;
  for (; value >= 0x80U; value >>= 7U) ++bytes;
  return bytes;
}

class reader {  // throws errc::corrupt at the end of the message and for numbers above a limit
  template <class Read>
  static auto checked(Read read) {
    try {
      return read();
    } catch (const error&) {
      fail();  // its words are about files
    }
  }

 public:
  explicit reader(std::span<const std::byte> message) : in_(message) {}

  [[noreturn]] static void fail() {
    throw error(errc::corrupt, "the peer sent a message that is damaged or of another version");
  }

  std::uint64_t number(std::uint64_t most = UINT64_MAX) {
    const std::uint64_t value = checked([&] { return in_.varint(); });
    if (value > most) fail();
    return value;
  }
  std::span<const std::byte> bytes() {
    return checked([&] { return in_.take(in_.varint()); });
  }
  std::string_view text() { return text_of(bytes()); }
  [[nodiscard]] std::span<const std::byte> rest() const noexcept { return in_.rest(); }
  [[nodiscard]] bool at_end() const noexcept { return rest().empty(); }
  void expect_end() const {
    if (!at_end()) fail();
  }

 private:
  bit_code::reader in_;
};

}  // namespace bloomery::wire
