// Secrets in files, for keys of any length.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace bloomery::detail {

// Whether the text is as many hexadecimal digits as the secret needs, which then is set.
[[nodiscard]] bool from_hex(std::string_view text, std::span<std::byte> secret);

// Reads as many raw bytes, or hexadecimal digits with or without a line end, as the secret needs,
// at most 32 bytes. Throws errc::io, and errc::bad_argument with what to do for anything else.
void read_secret(const std::filesystem::path& path, std::span<std::byte> secret);

}  // namespace bloomery::detail
