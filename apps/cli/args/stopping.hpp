// For verbs that run until they are stopped: SIGTERM and SIGINT are a wish, not the end.
#pragma once

#include <atomic>

namespace bloomery::cli {

// From now on these signals set the flag, and end what waits in a system call.
void stop_by_signals();

[[nodiscard]] const std::atomic<bool>& stopped_by_signal() noexcept;

}  // namespace bloomery::cli
