// The hash schemes of the literature and of other programs, as digests of 32-bit words, one for
// each probe. For digest_filter (filter/classic.hpp). They cost tens of times what XXH3 does; use
// them to exchange filters with programs that use them, and for nothing else. From OpenSSL.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bloomery/hash/hash.hpp"

namespace bloomery {

// Word j comes from SHA-1(decimal text of j + 1, key), the scheme of Ceglowski's article of 2004,
// which salts one function to get k: its first four bytes, big-endian; or folded, as the article
// has it for those who mind that the rest is cut off, the XOR of all five words.
template <hash_id Id>
class sha1_hasher {
 public:
  using result_type = digest;
  static constexpr hash_id id = Id;

  explicit sha1_hasher(std::uint32_t probes);
  [[nodiscard]] std::uint32_t probes() const noexcept { return probes_; }

  [[nodiscard]] digest bytes(const void* data, std::size_t size) const noexcept;
  [[nodiscard]] digest integer(std::uint64_t key) const noexcept;
  [[nodiscard]] hash_spec spec() const noexcept { return {.id = id}; }

 private:
  std::uint32_t probes_;
};

using salted_sha1_hasher = sha1_hasher<hash_id::salted_sha1>;
using folded_sha1_hasher = sha1_hasher<hash_id::folded_sha1>;

// The four words of MD5(key), big-endian, as in Fan et al. 1998 and Squid's cache digests. Squid's
// key is an MD5 digest of method and URL; md5_words makes positions from such a digest.
class md5_hasher {
 public:
  using result_type = digest;
  static constexpr hash_id id = hash_id::md5;

  [[nodiscard]] static constexpr std::uint32_t probes() noexcept { return 4; }

  [[nodiscard]] digest bytes(const void* data, std::size_t size) const noexcept;
  [[nodiscard]] digest integer(std::uint64_t key) const noexcept;
  [[nodiscard]] hash_spec spec() const noexcept { return {.id = id}; }
};

[[nodiscard]] digest md5_words(const std::byte* md5) noexcept;

// What Squid knows an object of its cache by: the MD5 of one byte for the method and the URL, which
// is as cache_url of exchange/cache_contents.hpp has it. The numbers are Squid's.
enum class request_method : std::uint8_t { get = 1, post = 2, put = 3, head = 4 };
using request_key = std::array<std::byte, 16>;
[[nodiscard]] request_key key_of_request(std::string_view url,
                                         request_method method = request_method::get);

// The 20 bytes of SHA-1 of a text, for lists of digests (lists/password.hpp).
[[nodiscard]] std::string sha1_digest(std::string_view text);

}  // namespace bloomery
