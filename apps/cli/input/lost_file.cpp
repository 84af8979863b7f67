#include "cli/input/lost_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

// Everything below runs in a signal handler: no memory, no locks, only calls that are safe there.

void write_error(std::string_view text) {
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
}

// One line of /proc/self/maps, "from-to rights offset device inode   path", byte by byte.
struct map_line {
  std::uintptr_t from = 0;
  std::uintptr_t to = 0;
  int field = 0;
  std::array<char, 4096> path{};
  std::size_t length = 0;

  void take(char c) {
    const auto digit = static_cast<std::uintptr_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    if (field == 0 && c != '-') {
      from = from * 16 + digit;
    } else if (field == 1 && c != ' ') {
      to = to * 16 + digit;
    } else if (field < 2) {
      ++field;
    } else if ((length != 0 || c == '/') && length < path.size()) {
      path[length++] = c;  // nothing before the path has a slash
    }
  }
  void clear() {
    from = to = 0;
    field = 0;
    length = 0;
  }
};

// Leaves the line of the mapping that has this address.
bool find_mapping(std::uintptr_t address, map_line& line) {
  const int maps = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return false;
  std::array<char, 4096> piece{};
  ssize_t got = 0;
  while ((got = ::read(maps, piece.data(), piece.size())) > 0) {
    for (ssize_t i = 0; i < got; ++i) {
      const char c = piece[static_cast<std::size_t>(i)];
      if (c != '\n') {
        line.take(c);
        continue;
      }
      if (line.length != 0 && line.from <= address && address < line.to) {
        ::close(maps);
        return true;
      }
      line.clear();
    }
  }
  ::close(maps);
  return false;
}

extern "C" void tell_of_lost_file(int number, siginfo_t* info, void* /*context*/) {
  map_line line;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (info->si_code != BUS_ADRERR || !find_mapping(address, line)) {
    std::signal(number, SIG_DFL);  // something else: it comes again, and ends the program
    return;
  }
  static std::atomic_flag told = ATOMIC_FLAG_INIT;
  while (told.test_and_set()) ::pause();  // another thread says it
  write_error("bloomery: ");
  write_error({line.path.data(), line.length});
  write_error(": it became shorter while it was read, or its disk failed; start again\n");
  ::_exit(exit_error);
}

}  // namespace

void tell_of_lost_files() {
  struct sigaction action {};
  action.sa_sigaction = tell_of_lost_file;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace bloomery::cli
