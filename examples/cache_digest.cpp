// Two web caches: each keeps a digest of what it has, the other one follows it and asks only where
// the answer is probably yes. A digest of the same documents goes to a Squid.
#include <bloomery/bloomery.hpp>
#include <bloomery/crypto/digest.hpp>
#include <bloomery/exchange/cache_contents.hpp>
#include <bloomery/exchange/cache_digest.hpp>
#include <bloomery/exchange/live_digest.hpp>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>

namespace {

std::string page(std::uint64_t number) {
  return "http://mirror.example/pool/" + std::to_string(number) + ".deb";
}

class cache {
 public:
  void store(const std::string& url) {
    if (documents_.insert(url).second) digest_.add(hash_of(url));
  }
  void drop(const std::string& url) {
    if (documents_.erase(url) != 0) digest_.remove(hash_of(url));
  }
  [[nodiscard]] bool has(const std::string& url) const { return documents_.contains(url); }

  // What the sibling gets whenever enough has changed.
  void tell(bloomery::followed_digest& sibling) {
    if (!digest_.due()) return;
    const std::vector<std::byte> news = digest_.publish();
    sibling.take(news);
    std::printf("version %d: %s of %zu bytes\n", static_cast<int>(digest_.versions()),
                bloomery::is_delta(news) ? "a change" : "all", news.size());
  }
  [[nodiscard]] const std::set<std::string>& documents() const { return documents_; }

  static std::uint64_t hash_of(const std::string& url) {
    return bloomery::hash_key(bloomery::xxh3_hasher(), url);
  }

 private:
  std::set<std::string> documents_;
  bloomery::live_digest digest_{
      {.keys = 2000, .publish_share = 0.02, .hash = bloomery::xxh3_hasher().spec()}};
};

}  // namespace

int main() {
  cache here;
  bloomery::followed_digest there;  // what the sibling knows of it
  for (std::uint64_t i = 0; i < 2000; ++i) here.store(page(i));
  here.tell(there);
  for (std::uint64_t i = 2000; i < 2100; ++i) {
    here.store(page(i));
    here.drop(page(i - 2000));
    here.tell(there);
  }

  int found = 0;
  int in_vain = 0;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    if (!there.contains(cache::hash_of(page(i)))) continue;
    ++(here.has(page(i)) ? found : in_vain);
  }
  std::printf("the sibling finds %d of 2000 documents, and asks for %d in vain\n", found, in_vain);

  // The same for a Squid, which wants it as a whole and with keys of its own.
  bloomery::cache_digest squid(here.documents().size());
  for (const std::string& url : here.documents()) {
    const auto key = bloomery::key_of_request(*bloomery::cache_url(url));
    squid.add(bloomery::md5_words(key.data()));
  }
  std::printf("for Squid: %zu bytes of %s\n", squid.bytes().size(),
              std::string(bloomery::cache_digest_media_type).c_str());
  return found >= 1960 && in_vain <= 60 ? 0 : 1;
}
