#include "cli/args/stopping.hpp"

#include <csignal>

namespace bloomery::cli {

namespace {

std::atomic<bool> stop_asked = false;
static_assert(decltype(stop_asked)::is_always_lock_free);

extern "C" void ask_to_stop(int /*signal*/) { stop_asked = true; }

}  // namespace

void stop_by_signals() {
  struct sigaction action = {};
  action.sa_handler = ask_to_stop;  // without SA_RESTART: waiting ends, too
  for (const int signal : {SIGTERM, SIGINT}) ::sigaction(signal, &action, nullptr);
}

const std::atomic<bool>& stopped_by_signal() noexcept { return stop_asked; }

}  // namespace bloomery::cli
