// A filter spread over keys of a cluster: shard i of N is the key NAME/i. Each shard knows i and N,
// so finding NAME/0 is enough. An item's hash gives its shard (docs/redis.md, "Cluster").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/core/shape.hpp"
#include "bloomery/hash/any_hasher.hpp"
#include "cli/redis/cluster.hpp"

namespace bloomery::cli {

// "NAME/7". It has no hash tag, so that the keys are spread over all nodes.
[[nodiscard]] std::string shard_key(std::string_view name, std::uint32_t index);

struct shard_layout {  // what BF.SHARD replies about a key
  bool alone = false;  // the key NAME itself, and not NAME/0
  std::uint32_t shard = 0;
  std::uint32_t shards = 1;
  std::uint64_t bits = 0;  // of one shard
  std::uint64_t probes = 0;
  std::uint64_t seed = 0;
  std::uint64_t keys = 0;
  std::uint64_t capacity = 0;
  std::string hash;
  key_form form;  // of its keys, where the file that was pushed knew it

  [[nodiscard]] bool of_one_filter(const shard_layout& other) const;
};

// The layout of NAME, or of NAME/0 if that does not exist; nothing when there is neither.
[[nodiscard]] std::optional<shard_layout> find_shards(redis_cluster& cluster,
                                                      const std::string& name);

// Throws errc::io with one line on a refused command: the key, the server's error and what to do.
[[noreturn]] void throw_refusal(const redis_cluster& cluster, std::string_view key,
                                const redis_reply& r);

struct spread_request {  // the parameters of a new filter
  std::uint64_t keys = 0;
  double fpr = 0.01;
  std::uint32_t shards = 0;  // 0: by the cluster and the size
};

class spread_filter {
 public:
  // Returns nothing when the first shard does not exist, and throws when another one is missing.
  [[nodiscard]] static std::optional<spread_filter> open(redis_cluster& cluster,
                                                         const std::string& name);
  // Creates missing shards, the first one last, so that a client which finds it finds all.
  [[nodiscard]] static spread_filter create(redis_cluster& cluster, const std::string& name,
                                            const spread_request& r);

  // Returns the number of new items when every item is acknowledged, and throws otherwise.
  std::uint64_t add(redis_cluster& cluster, std::span<const std::string_view> items) const;
  // Bit i % 64 of bitmap[i / 64] is the answer for item i.
  void check(redis_cluster& cluster, std::span<const std::string_view> items,
             std::span<std::uint64_t> bitmap) const;

  [[nodiscard]] const shard_layout& layout() const noexcept { return layout_; }
  [[nodiscard]] std::uint64_t keys() const noexcept { return keys_; }

 private:
  spread_filter(std::string name, const shard_layout& layout);
  struct batch;
  [[nodiscard]] std::vector<batch> batches(std::span<const std::string_view> items,
                                           std::span<const std::string_view> before) const;

  std::string name_;
  shard_layout layout_;
  std::vector<std::string> names_;
  std::shared_ptr<const any_hasher> hash_;
  std::uint64_t keys_ = 0;
};

}  // namespace bloomery::cli
