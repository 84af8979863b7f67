// A cache digest and what web caches leave on disk, none of it trusted.
//
//     byte 0       0: a digest; 1: a URL; 2: a line of a log; 3: the start of a file of nginx; 4:
//                  of Squid; 5: swap.state; 6: a digest as a followed_digest gets it
//     the rest     its bytes
//
// What is accepted is written again, and must be the same then.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/cache_contents.hpp"
#include "bloomery/exchange/cache_digest.hpp"
#include "bloomery/exchange/live_digest.hpp"
#include "input.hpp"

namespace {

using bloomery_fuzz::require;

void read_digest(std::span<const std::byte> bytes) {
  const auto d = bloomery::cache_digest::parse(bytes);
  require(bloomery::cache_digest::bytes_of(bytes) == bytes.size());
  require(d.capacity() >= 1 && d.mask_bytes() == (d.capacity() * d.bits_per_entry() + 7) / 8);
  // All but the bytes that version 5 does not use.
  const auto again = bloomery::cache_digest::parse(d.bytes());
  require(again.filter() == d.filter() && again.entries() == d.entries());
  require(again.deleted() == d.deleted() && again.version() == d.version());
  const bloomery::cache_digest by_filter(d.filter());
  require(by_filter.filter() == d.filter() && by_filter.capacity() == d.capacity());
  require(bloomery::cache_digest::parse(by_filter.bytes()).filter() == d.filter());
  require(d.filter().fill() >= 0 && d.filter().fill() <= 1);
}

void keep_url(const std::string& url) {
  require(bloomery::cache_url(url) == url);
  require(url.starts_with(bloomery::origin_of(url)));
}

void read_url(std::string_view text) {
  if (const auto url = bloomery::cache_url(text)) keep_url(*url);
  const auto spelt = bloomery::url_of_file("http://h/", text);
  keep_url(spelt.usual);
  if (!spelt.apt.empty()) keep_url(spelt.apt);
}

void read_line(std::string_view text) {
  for (const char* base : {"", "http://h:8080/x/"}) {
    const auto found = bloomery::read_log_line(text, base);
    require(found.url.empty() == (found.what != bloomery::logged::fetched));
    if (!found.url.empty()) keep_url(found.url);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  try {
    switch (data[0] % 7) {
      case 0: read_digest(bytes); break;
      case 1: read_url(text); break;
      case 2: read_line(text); break;
      case 3:
        for (const char* base : {"", "http://h/"}) {
          if (const auto url = bloomery::nginx_object_url(bytes, base)) keep_url(*url);
        }
        break;
      case 4: static_cast<void>(bloomery::squid_object_key(bytes)); break;
      case 5: bloomery::read_swap_state(bytes, [](const bloomery::squid_key&, bool) {}); break;
      default: {
        bloomery::followed_digest d(std::uint64_t{1} << 20U);
        d.take(bytes);
        static_cast<void>(d.contains(7));
      }
    }
  } catch (const bloomery::error&) {
  }
  return 0;
}
