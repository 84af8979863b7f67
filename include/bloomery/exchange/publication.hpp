// A filter on a web site that anybody can follow: which versions can be had there, and how.
//
//     filters/NAME                    the filter as a file
//     filters/NAME.VERSION.packed     the same, packed
//     filters/NAME.FROM-TO.delta      a step from one version to the next
//     filters/NAME.json               the manifest: which of these there are
//     filters/index.json              all filters, as `GET /filters` of a server has it
//
// All but the first and the JSON never change once they are there, so any web server and any cache
// can have them. The manifest is what a client reads first; it comes from a stranger.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/format/image.hpp"

namespace bloomery {

struct published_delta {
  std::uint64_t from = 0;  // names of versions (image_name)
  std::uint64_t to = 0;
  std::string file;
  std::uint64_t bytes = 0;

  friend bool operator==(const published_delta&, const published_delta&) = default;
};

// What a manifest says.
struct publication {
  std::string name;
  std::uint64_t version = 0;
  std::uint64_t bytes = 0;  // of the plain file
  std::string packed_file;
  std::uint64_t packed_bytes = 0;
  // Oldest first, each from where the one before it leads to.
  std::vector<published_delta> deltas = {};

  friend bool operator==(const publication&, const publication&) = default;
};

inline constexpr std::size_t most_manifest_bytes = std::size_t{1} << 20U;
inline constexpr std::size_t most_published_deltas = 1000;

[[nodiscard]] std::string manifest_text(const publication& p);
// Throws errc::corrupt for whatever is not a manifest of which all fits together.
[[nodiscard]] publication parse_manifest(std::string_view text);

// Whether a filter can be published under this name: a file's name of at most 200 bytes, in UTF-8
// and without control characters, that is not hidden and not like those of the other files.
[[nodiscard]] bool is_published_name(std::string_view name) noexcept;

[[nodiscard]] std::string packed_file_name(std::string_view name, std::uint64_t version);
[[nodiscard]] std::string delta_file_name(std::string_view name, std::uint64_t from,
                                          std::uint64_t to);
[[nodiscard]] std::string manifest_file_name(std::string_view name);

// What servers call the forms of a filter, and clients ask for.
inline constexpr std::string_view filter_media_type = "application/vnd.bloomery.filter";
inline constexpr std::string_view packed_media_type = "application/vnd.bloomery.packed";
inline constexpr std::string_view delta_media_type = "application/vnd.bloomery.delta";

// How a client gets from the version that it has, if any, to the present one.
struct update_plan {
  enum class way : std::uint8_t { nothing, deltas, whole };
  way by = way::whole;
  std::vector<published_delta> steps = {};
  std::uint64_t bytes = 0;  // to be fetched
};
// Deltas, unless the packed filter is smaller than all that are needed.
[[nodiscard]] update_plan plan_update(const publication& p, std::optional<std::uint64_t> have);

// A row of the listing.
struct listed_filter {
  std::string name;
  image_header header;
  std::uint64_t bytes = 0;
  std::uint64_t version = 0;
  std::optional<std::uint64_t> packed_bytes;
};
// A JSON array, an object for each filter. Bytes of names that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string listing_text(std::span<const listed_filter> filters);

}  // namespace bloomery
