#include "bloomery/format/folder.hpp"

#include <cstdio>
#include <memory>
#include <system_error>

#include "bloomery/core/error.hpp"

namespace bloomery {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void throw_folder_error(const char* doing, const fs::path& path,
                                     const std::error_code& why) {
  detail::fail(errc::io, path.string() + ": " + doing + " failed: " + why.message());
}

}  // namespace

std::vector<folder_file> files_in(const fs::path& folder) {
  std::error_code failure;
  fs::directory_iterator entries(folder, failure);
  if (failure) throw_folder_error("reading the folder", folder, failure);
  std::vector<folder_file> all;
  for (; entries != fs::directory_iterator(); entries.increment(failure)) {
    // Files may go while we look; others than regular ones are not ours.
    std::error_code gone;
    if (!entries->is_regular_file(gone) || gone) continue;
    const std::uint64_t bytes = entries->file_size(gone);
    if (!gone) all.push_back({.name = entries->path().filename().string(), .bytes = bytes});
  }
  if (failure) throw_folder_error("reading the folder", folder, failure);
  return all;
}

std::uint64_t file_bytes(const fs::path& file) noexcept {
  std::error_code failure;
  const std::uintmax_t bytes = fs::file_size(file, failure);
  return failure ? 0 : std::uint64_t{bytes};
}

bool is_missing(const fs::path& file) noexcept {
  std::error_code failure;
  return fs::status(file, failure).type() == fs::file_type::not_found;
}

std::span<const std::byte> read_small_file(const fs::path& file,
                                           std::span<std::uint64_t> room) noexcept {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(file.c_str(), "rbe"),
                                                           &std::fclose);
  if (in == nullptr) return {};
  std::setvbuf(in.get(), nullptr, _IONBF, 0);
  const std::span<std::byte> bytes = std::as_writable_bytes(room);
  const std::size_t size = std::fread(bytes.data(), 1, bytes.size(), in.get());
  if (size == bytes.size() || std::ferror(in.get()) != 0) return {};
  return bytes.first(size);
}

void make_folder(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw_folder_error("making the folder", folder, failure);
}

void remove_file(const fs::path& file) {
  std::error_code failure;
  fs::remove(file, failure);
  if (failure) throw_folder_error("removing", file, failure);
}

}  // namespace bloomery
