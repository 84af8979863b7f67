// The name of a version of a filter as text: 16 lower-case hexadecimal digits of what image_name
// (format/codec.hpp) says. URLs, ETags and manifests have it so, and `info --json`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bloomery {

[[nodiscard]] std::string version_name(std::uint64_t name);

// Nothing unless the text is as version_name writes it: a version has one spelling.
[[nodiscard]] std::optional<std::uint64_t> parse_version_name(std::string_view text) noexcept;

}  // namespace bloomery
