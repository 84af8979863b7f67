// What an administrator can set: by the configuration (`bf.error-rate` and so on, also CONFIG SET)
// where modules can have settings, and by loadmodule arguments (`error-rate 0.01`) everywhere. The
// names of Valkey's module (`bf.bloom-fp-rate`) and of Redis 8 (`bf-error-rate`) mean the same, and
// no configuration of those modules stops the start: what is larger than ours may be is the most
// that ours may be.
#pragma once

#include <cstdint>
#include <span>

#include "api.hpp"

namespace bloomery_redis {

struct settings {
  // The filter that BF.ADD and BF.MADD create.
  double error_rate = 0.01;
  std::uint64_t initial_size = 100;
  std::uint64_t expansion = 2;
  // The filter that CF.ADD creates, and CF.RESERVE where nothing else is said.
  std::uint64_t cuckoo_size = 1024;
  std::uint64_t cuckoo_bucket = 2;
  std::uint64_t cuckoo_iterations = 20;
  std::uint64_t cuckoo_expansion = 1;
  std::uint64_t cuckoo_layers = 32;    // a filter gets no further one, from clients
  std::uint64_t max_filter_bytes = 0;  // 0 means half of the machine's memory
  bool defragments = true;
};
[[nodiscard]] const settings& current_settings() noexcept;

// Reads loadmodule's arguments and registers the settings. Logs a wrong one and returns false.
[[nodiscard]] bool load_settings(api::ctx* c, std::span<api::string* const> arguments);

[[nodiscard]] std::uint64_t most_filter_bytes() noexcept;  // no filter may exceed it

// Memory that a thread is about to take, of which the server knows nothing yet: what others want
// must fit beside it, too. For the server's thread.
class promised_memory {
 public:
  explicit promised_memory(std::uint64_t bytes) noexcept : bytes_(bytes) { all_ += bytes_; }
  promised_memory(const promised_memory&) = delete;
  promised_memory& operator=(const promised_memory&) = delete;
  ~promised_memory() { all_ -= bytes_; }

  [[nodiscard]] static std::uint64_t all() noexcept { return all_; }

 private:
  static inline std::uint64_t all_ = 0;
  std::uint64_t bytes_;
};

// Throws bloomery::error(no_memory) unless a filter of `bytes` is allowed and `more_bytes` fit
// below maxmemory. Calls from a master or the append-only file were allowed there and always pass.
void check_memory(api::ctx* c, std::uint64_t bytes, std::uint64_t more_bytes);

}  // namespace bloomery_redis
