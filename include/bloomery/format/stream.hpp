// Filters in streams and in memory: the bytes of a file, and the same checks.
//
//     bloomery::save(f, out);                              // any std::ostream, opened as binary
//     auto g = bloomery::load<bloomery::filter>(in);       // reads one filter and nothing after it
//     std::vector<std::byte> image = bloomery::to_image(f);
//     auto h = bloomery::load<bloomery::filter>(image);    // any contiguous bytes
//
// A filter that is too large to be in memory twice is better in a file (format/file.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <vector>

#include "bloomery/format/file.hpp"
#include "bloomery/format/image.hpp"

namespace bloomery {

namespace detail {

// Parsed and verified bytes, copied when words cannot be read from where they are.
class held_image {
 public:
  explicit held_image(std::span<const std::byte> bytes);
  // Reads one image. Throws errc::io when the stream fails, and errc::corrupt when it ends early.
  explicit held_image(std::istream& in);
  held_image(const held_image&) = delete;
  held_image& operator=(const held_image&) = delete;
  ~held_image() = default;

  [[nodiscard]] const image_view& image() const noexcept { return image_; }

 private:
  std::vector<std::byte> copy_;
  image_view image_;
};

void write_image(std::ostream& out, const image_header& header,
                 std::span<const std::span<const std::uint64_t>> parts);
[[nodiscard]] std::vector<std::byte> make_image(
    const image_header& header, std::span<const std::span<const std::uint64_t>> parts);

template <class Keyed, class... Hasher>
[[nodiscard]] Keyed copy_from(const held_image& held, const Hasher&... hasher) {
  const auto view = view_in<Keyed>(held.image(), "", hasher...);
  return Keyed(typename Keyed::filter_type(view.filter()), view.hash_function(), view.form());
}

}  // namespace detail

// A filter of hashes, with the hash function that they come from; by default one of the caller's
// own. Throws errc::io when the stream fails.
template <storable Filter>
void save(const Filter& hashes, std::ostream& out, const hash_spec& hash = {}) {
  detail::write_image(out, detail::header_of(hashes, hash), detail::parts_of(hashes));
}
template <storable Filter, class Hasher>
void save(const keyed<Filter, Hasher>& f, std::ostream& out) {
  save(f.filter(), out, f.hash());
}

template <storable Filter>
[[nodiscard]] std::vector<std::byte> to_image(const Filter& hashes, const hash_spec& hash = {}) {
  return detail::make_image(detail::header_of(hashes, hash), detail::parts_of(hashes));
}
template <storable Filter, class Hasher>
[[nodiscard]] std::vector<std::byte> to_image(const keyed<Filter, Hasher>& f) {
  return to_image(f.filter(), f.hash());
}

// The hash function follows from the seed in the image, or has a secret key and comes from the
// caller. Bytes after the image are an error in memory; in a stream they are what comes next.
template <class Keyed, class... Hasher>
[[nodiscard]] Keyed load(std::span<const std::byte> image, const Hasher&... hasher) {
  return detail::copy_from<Keyed>(detail::held_image(image), hasher...);
}
template <class Keyed, class... Hasher>
[[nodiscard]] Keyed load(std::istream& in, const Hasher&... hasher) {
  return detail::copy_from<Keyed>(detail::held_image(in), hasher...);
}

}  // namespace bloomery
