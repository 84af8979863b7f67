// The envelope of packed filters and deltas: magic, version, form, numbers as varints, a checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bit_code.hpp"
#include "bloomery/format/codec.hpp"
#include "header_fields.hpp"

namespace bloomery {

// The fields of a header that cannot be derived from others.
void put_header(std::vector<std::byte>& out, const image_header& h);
image_header take_header(bit_code::reader& in);

// Whether the bytes begin with magic, version and this form.
bool starts_as(std::span<const std::byte> bytes, image_form form) noexcept;

// What is inside, after checking the start and the checksum. Throws errc::corrupt and the like.
std::span<const std::byte> open_container(std::span<const std::byte> bytes, image_form form);

// Collects pieces in buffer() and passes them on, between the start and the checksum.
class container_writer {
 public:
  container_writer(image_form form, const byte_sink& sink);
  container_writer(const container_writer&) = delete;
  container_writer& operator=(const container_writer&) = delete;
  ~container_writer();

  [[nodiscard]] std::vector<std::byte>& buffer() noexcept { return buffer_; }
  void flush();
  void finish();

 private:
  const byte_sink* sink_;
  std::vector<std::byte> buffer_;
  struct checksum_state;
  std::unique_ptr<checksum_state> state_;
};

}  // namespace bloomery
