// What an administrator sets: as settings of the server (`bf.error-rate` and so on, CONFIG SET
// works) where it has settings for modules, and as arguments of loadmodule (`error-rate 0.01`)
// everywhere.
#pragma once

#include <cstdint>
#include <span>

#include "api.hpp"

namespace bloomery_redis {

struct settings {
  // Of a filter that BF.ADD and the like make.
  double error_rate = 0.01;
  std::uint64_t initial_size = 100;
  std::uint64_t expansion = 2;
  // Of one filter; 0 for half of the machine's memory.
  std::uint64_t max_filter_bytes = 0;
};
[[nodiscard]] const settings& current_settings() noexcept;

// Reads the arguments of loadmodule and registers the settings. False, with a line in the log, when
// one is wrong.
[[nodiscard]] bool load_settings(api::ctx* c, std::span<api::string* const> arguments);

// How large one filter may become.
[[nodiscard]] std::uint64_t most_filter_bytes() noexcept;

// Throws bloomery::error(no_memory) unless a filter of `bytes` is allowed, and the server has room
// for `more_bytes` below its maxmemory. What a master or an append-only file says is never refused:
// it was allowed there.
void check_memory(api::ctx* c, std::uint64_t bytes, std::uint64_t more_bytes);

}  // namespace bloomery_redis
