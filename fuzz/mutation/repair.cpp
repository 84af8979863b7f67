#include "mutation/repair.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <span>
#include <string_view>

#include "bloomery/format/codec.hpp"
#include "bloomery/format/image.hpp"
#include "redis/dump.hpp"

namespace bloomery_fuzz {

namespace {

constexpr std::size_t header_bytes = bloomery::image_header_bytes;
constexpr std::size_t chunk_bytes = bloomery::image_chunk_bytes;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 22U;

std::uint64_t sum(const byte_vector& bytes, std::size_t first, std::size_t end) {
  return XXH3_64bits(bytes.data() + first, end - first);
}

// A plain filter from `first` to `end`.
void repair_image(byte_vector& bytes, std::size_t first, std::size_t end, bool lengths) {
  if (end - first < header_bytes) return;
  const std::size_t payload = first + header_bytes;
  const std::size_t all = end - payload;
  // As many chunks as leave room for their checksums.
  const std::size_t chunks = all < 8 ? 0 : (all + chunk_bytes + 7) / (chunk_bytes + 8);
  const std::size_t words = (all - 8 * chunks) / 8;
  const std::size_t sums = payload + 8 * words;
  const std::size_t stop = sums + 8 * chunks;
  if (lengths) {
    const std::uint64_t kind = get_number(bytes, first + 12, 2);
    const std::uint64_t bits = get_number(bytes, first + 24, 8);
    if (kind > 3 || bits > 64 * words || bits + 63 < 64 * words) {
      put_number(bytes, first + 24, 8, 64 * words);
    }
    put_number(bytes, first + 88, 8, 8 * words);
    put_number(bytes, first + 96, 8, header_bytes + 8 * words);
    put_number(bytes, first + 104, 8, stop - first);
    if (first == 0 && end == bytes.size()) bytes.resize(stop);
  }
  for (std::size_t i = 0; i < chunks; ++i) {
    const std::size_t at = payload + i * chunk_bytes;
    put_number(bytes, sums + 8 * i, 8, sum(bytes, at, std::min(at + chunk_bytes, sums)));
  }
  put_number(bytes, first + 112, 8, sum(bytes, sums, stop));
  put_number(bytes, first + 248, 8, sum(bytes, first, first + 248));
}

// The name of a packed filter is the checksum of the plain file's header: only unpacking tells.
void rename_packed(byte_vector& bytes) {
  std::size_t at = 12;
  const bool cells = (get_number(bytes, at, 1) & 0x7FU) > 3;
  for (int left = cells ? 12 : 10; left > 0 && at < bytes.size(); ++at) {
    if ((bytes[at] & std::byte{0x80}) == std::byte{0}) --left;
  }
  at += 8;  // the target
  try {
    bloomery::unpacker in(bytes, {.memory = most_bytes});
    bloomery::image_writer plain(in.header());
    for (auto words = in.next(); !words.empty(); words = in.next()) plain.pass(words);
    put_number(bytes, at, 8, plain.name());
  } catch (const std::exception&) {
    return;  // it is refused anyway
  }
  put_number(bytes, bytes.size() - 8, 8, sum(bytes, 0, bytes.size() - 8));
}

void repair_file(byte_vector& bytes, bool lengths) {
  if (bytes.size() < 20) return;
  const std::uint64_t form = get_number(bytes, 10, 2);
  const std::size_t last = bytes.size() - 8;
  if (form == 1 || form == 2) {
    put_number(bytes, last, 8, sum(bytes, 0, last));
    if (form == 1) rename_packed(bytes);
  } else if (form == 3) {
    if (lengths) put_number(bytes, 88, 8, bytes.size());
    if (bytes.size() >= 136) put_number(bytes, 120, 8, sum(bytes, 0, 120));
    put_number(bytes, last, 8, sum(bytes, 0, last));
  } else if (form == 4) {
    if (bytes.size() < 72) return;
    if (lengths) put_number(bytes, 40, 8, bytes.size());
    const std::uint64_t filter = get_number(bytes, 16, 8);
    if (filter <= last - 64) {
      const std::size_t table = 64 + static_cast<std::size_t>(filter);
      repair_image(bytes, 64, table, false);
      put_number(bytes, last, 8, sum(bytes, table, last));
    }
    put_number(bytes, 56, 8, sum(bytes, 0, 56));
  } else {
    repair_image(bytes, 0, bytes.size(), lengths);
  }
}

void repair_log(byte_vector& bytes) {
  if (bytes.size() < 16) return;
  put_number(bytes, 0, 8, sum(bytes, 8, 16));
  for (std::size_t at = 16; bytes.size() - at >= 32;) {
    const std::uint64_t value = get_number(bytes, at + 28, 4);
    const std::uint64_t text = get_number(bytes, at + 24, 4) + (value == UINT32_MAX ? 0 : value);
    if (text > bytes.size() - at - 32) return;
    const std::size_t end = at + 32 + static_cast<std::size_t>(text);
    put_number(bytes, at, 8, sum(bytes, at + 8, end));
    at = end;
  }
}

void repair_base(byte_vector& bytes) {
  if (bytes.size() < 56) return;
  const std::size_t footer = bytes.size() - 48;
  const std::uint64_t index = get_number(bytes, footer + 16, 8);
  if (index <= footer) {
    const auto start = static_cast<std::size_t>(index);
    const std::uint64_t groups =
        std::min<std::uint64_t>(get_number(bytes, footer, 8), (footer - start) / 32);
    std::uint64_t end = index;
    for (auto g = static_cast<std::size_t>(groups); g-- > 0;) {
      const std::uint64_t first = get_number(bytes, start + 32 * g, 8);
      if (first > end) break;
      put_number(bytes, start + 32 * g + 8, 8,
                 sum(bytes, static_cast<std::size_t>(first), static_cast<std::size_t>(end)));
      end = first;
    }
    put_number(bytes, footer + 24, 8, sum(bytes, start, footer));
  }
  put_number(bytes, footer + 32, 8, sum(bytes, footer, footer + 32));
}

}  // namespace

void repair(byte_vector& bytes, file_form form, bool lengths) {
  constexpr std::size_t head = bloomery_redis::dump_head_bytes;
  switch (form) {
    case file_form::file: return repair_file(bytes, lengths);
    case file_form::redis_value:
      if (bytes.size() < head) return;
      repair_image(bytes, head, bytes.size(), lengths);
      return put_number(bytes, head - 8, 8, sum(bytes, 0, head - 8));
    case file_form::compact:
      if (bytes.size() >= 2)
        put_number(bytes, bytes.size() - 2, 2, sum(bytes, 0, bytes.size() - 2));
      return;
    case file_form::store_log: return repair_log(bytes);
    case file_form::store_base: return repair_base(bytes);
  }
}

}  // namespace bloomery_fuzz
