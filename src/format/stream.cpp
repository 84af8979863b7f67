#include "bloomery/format/stream.hpp"

#include <algorithm>
#include <istream>
#include <ostream>

#include "image_pieces.hpp"

namespace bloomery::detail {

namespace {

// Appends up to `count` bytes of the stream; fewer where it ends.
void read_into(std::vector<std::byte>& bytes, std::istream& in, std::uint64_t count) {
  // By pieces: the count is a header's word, and memory should be taken for bytes that exist.
  constexpr std::uint64_t piece = 16 * image_chunk_bytes;
  while (count > 0 && in.good()) {
    const auto wanted = static_cast<std::size_t>(std::min(count, piece));
    const std::size_t before = bytes.size();
    bytes.resize(before + wanted);
    in.read(reinterpret_cast<char*>(bytes.data() + before), static_cast<std::streamsize>(wanted));
    bytes.resize(before + static_cast<std::size_t>(in.gcount()));
    count -= wanted;
  }
  if (in.bad()) detail::fail(errc::io, "reading the filter from a stream failed");
}

bool aligned(std::span<const std::byte> bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::uint64_t) == 0;
}

}  // namespace

held_image::held_image(std::span<const std::byte> bytes) {
  if (!aligned(bytes)) {
    copy_.assign(bytes.begin(), bytes.end());
    bytes = copy_;
  }
  image_ = image_view::parse(bytes);
  image_.verify();
}

held_image::held_image(std::istream& in) {
  read_into(copy_, in, image_header_bytes);
  if (copy_.size() == image_header_bytes) {
    read_into(copy_, in, bloomery::image_bytes(copy_) - image_header_bytes);
  }
  image_ = image_view::parse(copy_);
  image_.verify();
}

void write_image(std::ostream& out, const image_header& header,
                 std::span<const std::span<const std::uint64_t>> parts) {
  for_each_piece_of_image(header, parts, [&](std::span<const std::byte> bytes) {
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
  });
  if (!out) detail::fail(errc::io, "writing the filter to a stream failed");
}

std::vector<std::byte> make_image(const image_header& header,
                                  std::span<const std::span<const std::uint64_t>> parts) {
  std::vector<std::byte> image;
  for_each_piece_of_image(header, parts, [&](std::span<const std::byte> bytes) {
    image.insert(image.end(), bytes.begin(), bytes.end());
  });
  return image;
}

}  // namespace bloomery::detail
