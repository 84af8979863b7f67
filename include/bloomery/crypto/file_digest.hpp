// SHA-256 of a file, as sha256sum prints it: what names a file by its content.
#pragma once

#include <filesystem>
#include <string>

namespace bloomery {

// 64 hexadecimal digits. Throws errc::io.
[[nodiscard]] std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace bloomery
