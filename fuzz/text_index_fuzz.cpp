// Arbitrary bytes as a text index: refused with an error of ours, or asked and added to without
// leaving the bytes.
//
//     byte 0       0 the rest is a file; 1 a file whose checksums are made right, so that mutations
//                  get past them
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/search/text_index.hpp"
#include "bloomery/search/text_index_builder.hpp"
#include "input.hpp"

namespace {

using namespace bloomery;
using bloomery_fuzz::require;

void put_checksum(std::vector<std::byte>& file, std::size_t at) {
  const std::uint64_t sum = XXH3_64bits(file.data(), at);
  for (std::size_t i = 0; i < 8; ++i) file[at + i] = static_cast<std::byte>(sum >> (8 * i));
}

void ask(const text_index_view& index) {
  for (const double share : {1.0, 0.5}) {
    for (const std::uint32_t number :
         index.find(std::vector<std::uint64_t>{1, UINT64_MAX}, share)) {
      require(number < index.documents());
      require(index.document(number).has_value());
    }
  }
  require(index.fpr() >= 0);
}

// What is sound can be gone on with, and the sum is sound.
void add_to(const text_index_view& index) {
  static const std::filesystem::path path =
      std::filesystem::temp_directory_path() / "bloomery-text-index-fuzz";
  text_index_builder builder(index, path.parent_path());
  builder.add(builder.add_file("new"), 0, std::vector<std::uint64_t>{1, 2, 3});
  builder.save(path);
  {
    const text_index sum(path);
    sum.verify();
    require(sum->documents() == index.documents() + 1);
    const auto found = sum->find(std::vector<std::uint64_t>{1, 2, 3});
    require(!found.empty() && found.back() == index.documents());
  }
  std::filesystem::remove(path);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto given = std::as_bytes(std::span(data, size)).subspan(1);
  std::vector<std::byte> file(given.begin(), given.end());
  if (data[0] == 1 && file.size() >= 136) {
    put_checksum(file, 120);
    put_checksum(file, file.size() - 8);
  }
  try {
    const text_index_view index(file);
    ask(index);
    index.verify();
    if (index.options().fpr >= 1e-3 && file.size() < 20'000) add_to(index);
  } catch (const error&) {
  }
  return 0;
}
