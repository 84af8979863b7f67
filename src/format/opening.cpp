#include "bloomery/format/opening.hpp"

#include <unistd.h>

#include <algorithm>

#include "bloomery/core/error.hpp"

namespace bloomery {

std::uint64_t memory_limit(std::uint64_t file_bytes) noexcept {
  constexpr std::uint64_t always = std::uint64_t{256} << 20U;
  constexpr std::uint64_t times = 64;
  const std::uint64_t wanted =
      file_bytes > UINT64_MAX / times ? UINT64_MAX : std::max(always, times * file_bytes);
  const auto pages = ::sysconf(_SC_PHYS_PAGES);
  const auto page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return wanted;  // the system does not say
  return std::min(wanted, static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page));
}

void check_memory(std::uint64_t needed, std::uint64_t limit, std::uint64_t bytes_now) {
  const std::uint64_t most = limit != 0 ? limit : memory_limit(bytes_now);
  if (needed <= most) return;
  detail::fail(errc::no_memory, "the filter would take " + detail::to_text(needed) +
                                    " bytes of memory, more than the limit of " +
                                    detail::to_text(most));
}

}  // namespace bloomery
