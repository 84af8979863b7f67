// Folders of filter files: what is in them, room for more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "bloomery/core/error.hpp"

namespace bloomery {

// errc::io of a file for which there is no room: on the disk, in the user's share of it, or for the
// name of one more. Removing others may help. Where there are no exceptions it ends the program.
class disk_full : public error {
 public:
  explicit disk_full(const std::string& what) : error(errc::io, what) {}
};

struct folder_file {
  std::string name;
  std::uint64_t bytes = 0;
};

// The regular files of a folder, in no order. Throws errc::io when there is no such folder.
[[nodiscard]] std::vector<folder_file> files_in(const std::filesystem::path& folder);

// 0 when the file is not there.
[[nodiscard]] std::uint64_t file_bytes(const std::filesystem::path& file) noexcept;

// Whether there is surely nothing under this name.
[[nodiscard]] bool is_missing(const std::filesystem::path& file) noexcept;

// Reads a file that fits into `room`, and returns its part of it; an empty span for one that is
// longer, empty or cannot be read. Where thousands of small files are looked at, this takes half
// the time of mapping them: 4 us each instead of 8.
[[nodiscard]] std::span<const std::byte> read_small_file(const std::filesystem::path& file,
                                                         std::span<std::uint64_t> room) noexcept;

// Makes the folder, and those above it, if it is not there. Throws errc::io.
void make_folder(const std::filesystem::path& folder);

// Removes a file; that it is gone already is no error. Throws errc::io.
void remove_file(const std::filesystem::path& file);

}  // namespace bloomery
