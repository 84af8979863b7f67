// A value of another program as the fields that it writes: numbers, reals and texts, in an order
// that the program knows. A Redis server's database file, its DUMP and a stream of ours hold them
// in different bytes; readers of values (foreign/values.hpp) see the fields only.
//
// The stream of ours has a byte for what follows: 1 a number or 2 a real, of eight bytes, or 3 the
// length of a text, of eight bytes, and the text. All is little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery::foreign {

class field_reader {
 public:
  field_reader() = default;
  field_reader(const field_reader&) = delete;
  field_reader& operator=(const field_reader&) = delete;
  virtual ~field_reader() = default;

  // The next field. Throw errc::corrupt where there is none, or another.
  virtual std::uint64_t number() = 0;
  virtual double real() = 0;
  virtual std::span<const std::byte> text() = 0;  // valid until the next call
};

class field_sink {
 public:
  field_sink() = default;
  field_sink(const field_sink&) = default;
  field_sink& operator=(const field_sink&) = default;
  virtual ~field_sink() = default;

  virtual void number(std::uint64_t n) = 0;
  virtual void real(double x) = 0;
  virtual void text(std::span<const std::byte> bytes) = 0;
};

class field_stream final : public field_sink {
 public:
  void number(std::uint64_t n) override;
  void real(double x) override;
  void text(std::span<const std::byte> bytes) override;

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return bytes_; }
  // Where the text that was written last begins.
  [[nodiscard]] std::size_t last_text() const noexcept { return last_text_; }
  // Writes a number of this stream anew.
  void set_number(std::size_t at, std::uint64_t n) noexcept;
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

 private:
  std::vector<std::byte> bytes_;
  std::size_t last_text_ = 0;
};

class stream_reader final : public field_reader {  // of bytes that outlive it
 public:
  explicit stream_reader(std::span<const std::byte> stream) noexcept : rest_(stream) {}

  std::uint64_t number() override;
  double real() override;
  std::span<const std::byte> text() override;

  [[nodiscard]] bool done() const noexcept { return rest_.empty(); }
  // Copies all that is left. Throws errc::corrupt where the bytes are no fields.
  void copy_to(field_sink& sink);

 private:
  [[nodiscard]] std::uint64_t word(std::byte kind);

  std::span<const std::byte> rest_;
};

}  // namespace bloomery::foreign
