// What an administrator can set: by the server's configuration (`bf.error-rate` and so on, also
// with CONFIG SET) where modules can have settings, and by arguments of loadmodule (`error-rate
// 0.01`) everywhere.
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
  // The largest size of one filter; 0 means half of the machine's memory.
  std::uint64_t max_filter_bytes = 0;
};
[[nodiscard]] const settings& current_settings() noexcept;

// Reads the arguments of loadmodule and registers the settings. If one is wrong, writes a line to
// the log and returns false.
[[nodiscard]] bool load_settings(api::ctx* c, std::span<api::string* const> arguments);

// The size that no filter may exceed.
[[nodiscard]] std::uint64_t most_filter_bytes() noexcept;

// Throws bloomery::error(no_memory) unless a filter of `bytes` is allowed and the server has room
// for `more_bytes` below its maxmemory. Calls from a master or from the append-only file are never
// refused, because they were allowed there.
void check_memory(api::ctx* c, std::uint64_t bytes, std::uint64_t more_bytes);

}  // namespace bloomery_redis
