// A filter that a database made, or the tool, asked in C++. Standard input has the path of its
// file, then a key in each line: an integer as "i 42", a string as its bytes in hexadecimal.
// Without input it makes a file of its own first.
#include <bloomery/bloomery.hpp>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>

namespace {

std::string bytes_of(const std::string& hexadecimal) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hexadecimal.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

}  // namespace

int main() {
  std::string path;
  std::string line;
  std::uint64_t asked = 0;
  std::uint64_t found = 0;
  if (!std::getline(std::cin, path) || path.empty()) {
    path = "from_database.bloom";
    bloomery::save(bloomery::filter({.keys = 10}), path);
  }
  const auto filter = bloomery::map<bloomery::filter>(path);
  for (; std::getline(std::cin, line); ++asked) {
    const bool is_integer = line.starts_with("i ");
    const bool there = is_integer ? filter->contains(std::stoll(line.substr(2)))
                                  : filter->contains(bytes_of(line));
    found += there ? 1 : 0;
  }
  std::printf("%llu of %llu keys\n", static_cast<unsigned long long>(found),
              static_cast<unsigned long long>(asked));
  return found == asked ? 0 : 1;
}
