// Arbitrary bytes as values of other Redis modules: refused with an error of ours, or read, and
// then asked within their bytes and written as they were read.
//
//     byte 0     what the rest is (mod 5): a stream of fields, a database file, the pieces of a
//                Bloom or of a cuckoo filter (byte 1: the length of the header), valkey's BF.LOAD
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "bloomery/bloomery.hpp"
#include "bloomery/foreign/filters.hpp"
#include "bloomery/foreign/rdb_file.hpp"
#include "bloomery/foreign/values.hpp"
#include "input.hpp"

namespace {

using namespace bloomery;
using bloomery_fuzz::require;

constexpr std::string_view questions[] = {"", "a", "item-1", "a longer item than a word has bytes"};

void use_foreign(const foreign::value& v) {
  const auto copy = v.clone();
  for (const std::string_view item : questions) {
    if (const auto* bloom = dynamic_cast<const foreign::bloom_layers*>(&v)) {
      (void)bloom->contains(item);
      for (const auto& layer : bloom->layers()) {
        if (layer.bytes > 4096) continue;
        if (const auto f = foreign::to_filter(*bloom, layer)) (void)f->contains(item);
      }
    } else if (auto* cuckoo = dynamic_cast<foreign::cuckoo_layers*>(copy.get())) {
      const std::uint64_t before = cuckoo->count(item);
      require(cuckoo->remove(item) == (before != 0));
    } else if (const auto* counts = dynamic_cast<const foreign::counter_rows*>(&v)) {
      if (counts->depth() < 100) (void)counts->count(item);
    } else if (const auto* top = dynamic_cast<const foreign::top_list*>(&v)) {
      for (const auto& entry : top->entries()) require(entry.count != 0);
    }
  }
  const auto again = foreign::decode(v.stream());
  require(std::ranges::equal(again->stream(), v.stream()));
}

void read_foreign_file(std::span<const std::byte> bytes) {
  foreign::rdb_file file(bytes);
  while (const auto key = file.next()) {
    if (key->known == nullptr) continue;
    use_foreign(*foreign::read(key->known->from, key->version, file.fields()));
  }
}

void read_foreign_pieces(foreign::origin from, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const auto header = std::min(bytes.size() - 1, std::to_integer<std::size_t>(bytes[0]));
  foreign::pieces all(from, bytes.subspan(1, header), std::uint64_t{1} << 16U);
  const auto rest = bytes.subspan(1 + header);
  all.append(rest.first(std::min<std::size_t>(rest.size(), all.expected())));
  const std::vector<std::byte> zeros(static_cast<std::size_t>(all.expected() - all.received()));
  all.append(zeros);
  use_foreign(*all.finish());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  try {
    switch (data[0] % 5) {
      case 0: use_foreign(*foreign::decode(bytes)); break;
      case 1: read_foreign_file(bytes); break;
      case 2: read_foreign_pieces(foreign::origin::redisbloom_bloom, bytes); break;
      case 3: read_foreign_pieces(foreign::origin::redisbloom_cuckoo, bytes); break;
      default: use_foreign(*foreign::decode_valkey(bytes));
    }
  } catch (const error&) {
  }
  return 0;
}
