// Feeds every file of folders to the fuzz target that is named before them: the kept corpus as an
// ordinary test, with any compiler. The empty input always goes first, so a target without a corpus
// is run, too. Then come so many mutations of the files, the same ones each time.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string_view>
#include <utility>
#include <vector>

#include "mutation/mutate.hpp"

using entry_type = int(const std::uint8_t* data, std::size_t size);
entry_type* find_entry(std::string_view name);  // by the script that joins the targets

namespace {

std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

bloomery_fuzz::byte_vector bytes_of(const std::filesystem::path& file) {
  bloomery_fuzz::byte_vector bytes(std::filesystem::file_size(file));
  std::ifstream stream(file, std::ios::binary);
  stream.exceptions(std::ios::failbit | std::ios::badbit);
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

void feed(entry_type& target, const bloomery_fuzz::byte_vector& bytes) {
  // Exactly as large as the input, so that a sanitizer sees the first byte read beyond it.
  const bloomery_fuzz::byte_vector exact(bytes.begin(), bytes.end());
  target(reinterpret_cast<const std::uint8_t*>(exact.data()), exact.size());
}

void feed_mutations(entry_type& target, const std::vector<std::filesystem::path>& files,
                    std::size_t count) {
  for (std::size_t i = 0; i < count && !files.empty(); ++i) {
    bloomery_fuzz::random_numbers random(i << 32U);
    const std::filesystem::path& file = files[random.below(files.size())];
    std::printf("mutation %zu, of %s\n", i, file.c_str());
    std::fflush(stdout);
    bloomery_fuzz::byte_vector bytes = bytes_of(file);
    mutate(bytes, bytes_of(files[random.below(files.size())]), random);
    feed(target, bytes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  entry_type* const target = argc < 2 ? nullptr : find_entry(argv[1]);
  if (target == nullptr || argc < 3) {
    std::fprintf(stderr, "usage: replay TARGET MUTATIONS FOLDER...\n");
    return 2;
  }
  try {
    target(nullptr, 0);
    std::vector<std::filesystem::path> files;
    for (int i = 3; i < argc; ++i) {
      for (auto& file : files_of(argv[i])) files.push_back(std::move(file));
    }
    for (const auto& file : files) {
      std::printf("%s\n", file.c_str());
      std::fflush(stdout);  // so that the last line names the input that crashed
      feed(*target, bytes_of(file));
    }
    feed_mutations(*target, files, std::strtoul(argv[2], nullptr, 10));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "replay: %s\n", e.what());
    return 1;
  }
}
