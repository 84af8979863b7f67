#include "bloomery/crypto/digest.hpp"

#include <openssl/evp.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>

#include "bloomery/core/error.hpp"

namespace bloomery {

namespace {

constexpr std::size_t sha1_bytes = 20;

std::uint32_t from_big_endian(const unsigned char* bytes) {
  return std::uint32_t{bytes[0]} << 24U | std::uint32_t{bytes[1]} << 16U |
         std::uint32_t{bytes[2]} << 8U | std::uint32_t{bytes[3]};
}

// Each thread keeps one context, because making one costs more than hashing a short key.
class digest_context {
 public:
  explicit digest_context(const EVP_MD* algorithm)
      : context_(EVP_MD_CTX_new()), algorithm_(algorithm) {}

  void start() { EVP_DigestInit_ex(context_.get(), algorithm_, nullptr); }
  void update(const void* data, std::size_t size) { EVP_DigestUpdate(context_.get(), data, size); }
  std::array<unsigned char, EVP_MAX_MD_SIZE> finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
    EVP_DigestFinal_ex(context_.get(), out.data(), nullptr);
    return out;
  }

 private:
  struct free_context {
    void operator()(EVP_MD_CTX* c) const noexcept { EVP_MD_CTX_free(c); }
  };
  std::unique_ptr<EVP_MD_CTX, free_context> context_;
  const EVP_MD* algorithm_;
};

template <class Hasher>
digest integer_as_bytes(const Hasher& hasher, std::uint64_t key) noexcept {
  const std::uint64_t in_order = detail::little_endian(key);
  return hasher.bytes(&in_order, sizeof in_order);
}

}  // namespace

template <hash_id Id>
sha1_hasher<Id>::sha1_hasher(std::uint32_t probes) : probes_(probes) {
  if (probes == 0 || probes > max_probes) {
    detail::throw_bad_argument("the number of probes", std::uint64_t{probes}, "from 1 to 64");
  }
}

template <hash_id Id>
digest sha1_hasher<Id>::bytes(const void* data, std::size_t size) const noexcept {
  thread_local digest_context sha1(EVP_sha1());
  digest d;
  for (std::uint32_t j = 0; j < probes_; ++j) {
    const std::string salt = std::to_string(j + 1);
    sha1.start();
    sha1.update(salt.data(), salt.size());
    sha1.update(data, size);
    const auto hash = sha1.finish();
    d.words[j] = from_big_endian(hash.data());
    if constexpr (Id == hash_id::folded_sha1) {
      for (std::size_t at = 4; at < sha1_bytes; at += 4) {
        d.words[j] ^= from_big_endian(hash.data() + at);
      }
    }
  }
  return d;
}

template <hash_id Id>
digest sha1_hasher<Id>::integer(std::uint64_t key) const noexcept {
  return integer_as_bytes(*this, key);
}

template class sha1_hasher<hash_id::salted_sha1>;
template class sha1_hasher<hash_id::folded_sha1>;

digest md5_words(const std::byte* md5) noexcept {
  digest d;
  for (std::uint32_t j = 0; j < md5_hasher::probes(); ++j) {
    d.words[j] = from_big_endian(reinterpret_cast<const unsigned char*>(md5) + std::size_t{4} * j);
  }
  return d;
}

digest md5_hasher::bytes(const void* data, std::size_t size) const noexcept {
  thread_local digest_context md5(EVP_md5());
  md5.start();
  md5.update(data, size);
  const auto hash = md5.finish();
  return md5_words(reinterpret_cast<const std::byte*>(hash.data()));
}

request_key key_of_request(std::string_view url, request_method method) {
  thread_local digest_context md5(EVP_md5());
  md5.start();
  md5.update(&method, sizeof method);
  md5.update(url.data(), url.size());
  const auto hash = md5.finish();
  request_key key{};
  std::memcpy(key.data(), hash.data(), key.size());
  return key;
}

std::string sha1_digest(std::string_view text) {
  thread_local digest_context sha1(EVP_sha1());
  sha1.start();
  sha1.update(text.data(), text.size());
  const auto hash = sha1.finish();
  return {reinterpret_cast<const char*>(hash.data()), sha1_bytes};
}

digest md5_hasher::integer(std::uint64_t key) const noexcept {
  return integer_as_bytes(*this, key);
}

}  // namespace bloomery
