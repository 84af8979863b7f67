// Files that are no filters: those of the page, of a mirror that is a sibling of a Squid, and cache
// digests in Squid's own format.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "cli/serve/http.hpp"

namespace bloomery::cli {

// A regular file below a folder, by a path that was decoded and comes from outside; nothing when
// there is none, or when the path or a symbolic link leads out of the folder.
[[nodiscard]] std::optional<http_reply> file_below(const std::string& folder,
                                                   std::string_view path);

// The same with what browsers want of it: its type, and no second transfer of what they have.
[[nodiscard]] std::optional<http_reply> page_file(const std::string& folder, std::string_view path,
                                                  const http_request& q);

// Squid 5 and 6, up to its bug 5510: when the mask comes together with the control block, only its
// first 128 bytes are right, and most of what the digest has is not found. So the block is sent
// alone, and the mask after a moment.
inline constexpr std::chrono::milliseconds squid_pause{300};

// A cache digest from its file. Throws http_error(503) unless its control block is one of a digest
// and its length is that which the block says: Squid takes no part of one, and never a byte too
// much.
[[nodiscard]] http_reply digest_reply(const std::string& path);

}  // namespace bloomery::cli
