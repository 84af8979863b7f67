// Feeds every file of folders to the fuzz target that is named before them: the kept corpus as an
// ordinary test, with any compiler. The empty input always goes first, so a target without a corpus
// is run, too.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string_view>
#include <vector>

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

void replay(entry_type& target, const std::filesystem::path& file) {
  std::printf("%s\n", file.c_str());
  std::fflush(stdout);  // so that the last line names the input that crashed
  // Exactly as large as the input, so that a sanitizer sees the first byte read beyond it.
  std::vector<char> bytes(std::filesystem::file_size(file));
  std::ifstream stream(file, std::ios::binary);
  stream.exceptions(std::ios::failbit | std::ios::badbit);
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  target(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  entry_type* const target = argc < 2 ? nullptr : find_entry(argv[1]);
  if (target == nullptr) {
    std::fprintf(stderr, "usage: replay TARGET FOLDER...\n");
    return 2;
  }
  try {
    target(nullptr, 0);
    for (int i = 2; i < argc; ++i) {
      for (const auto& file : files_of(argv[i])) replay(*target, file);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "replay: %s\n", e.what());
    return 1;
  }
}
