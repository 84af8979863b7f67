#include "cli/input/resources.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "bloomery/core/error.hpp"
#include "bloomery/crypto/file_digest.hpp"
#include "cli/input/first_look.hpp"
#include "cli/input/source.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t watched_events =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE_SELF;
constexpr int look_around_ms = 200;
constexpr int quiet_ms = 50;                          // after the last event
constexpr std::chrono::milliseconds most_wait{1000};  // while events go on

bool wait_for_input(int fd, int milliseconds) {
  pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, milliseconds) > 0;
}

}  // namespace

resource_watch::resource_watch(const resource_options& o) : options_(o), hasher_(o.seed) {
  for (const std::string& path : o.paths) {
    if (!fs::exists(path)) throw error(errc::io, path + ": there is no such file or folder");
  }
  inotify_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (inotify_ < 0) {
    throw error(errc::io, "watching files: " + std::generic_category().message(errno));
  }
  read_all(true);
  if (!o.paths.empty()) thread_ = std::thread([this] { follow(); });
}

resource_watch::~resource_watch() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  ::close(inotify_);
}

std::optional<std::vector<std::uint64_t>> resource_watch::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, std::nullopt);
}

void resource_watch::watch(const std::string& folder, const std::string& name) {
  const int id = ::inotify_add_watch(inotify_, folder.c_str(), watched_events);
  if (id < 0) {
    if (!options_.quiet) {
      tell("bloomery: warning: {}: changes are not followed: {}\n", folder,
           std::generic_category().message(errno));
    }
    return;
  }
  const auto [at, fresh] = watched_.try_emplace(id);
  if (name.empty()) {
    at->second.clear();
  } else if (fresh || !at->second.empty()) {
    at->second.insert(name);
  }
}

void resource_watch::read_lines(const std::string& path, std::vector<std::uint64_t>& to,
                                bool first) const {
  progress meter("reading", {.quiet = true, .warnings = false});
  record_options records;
  records.crlf = options_.crlf;
  key_source source({path}, records, meter);
  std::size_t returns = 0;
  for (chunk c; source.next(c);) {
    for (const std::string_view key : c.keys) {
      to.push_back(hash_key(hasher_, key));
      if (key.ends_with('\r')) ++returns;
    }
  }
  if (first && !options_.quiet && returns != 0 && returns * 10 >= to.size() * 9) {
    tell("bloomery: warning: {}: {}\n", path, crlf_warning);
  }
}

std::string resource_watch::digest_of(const std::string& path) {
  struct stat about = {};
  if (::stat(path.c_str(), &about) != 0) return "";
  digested now{.inode = about.st_ino,
               .changed = about.st_mtim.tv_sec * 1'000'000'000 + about.st_mtim.tv_nsec,
               .bytes = static_cast<std::uint64_t>(about.st_size),
               .digest = {}};
  const auto at = digests_.find(path);
  if (at != digests_.end() && at->second.same_file(now)) return at->second.digest;
  try {
    now.digest = sha256_of_file(path);
  } catch (const error&) {
    return "";  // gone again, or not ours to read
  }
  digests_[path] = now;
  return now.digest;
}

void resource_watch::read_folder(const std::string& path, std::vector<std::uint64_t>& to) {
  watch(path, "");
  std::error_code failed;
  fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, failed);
  for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    std::error_code ignored;
    if (at->is_directory(ignored) && !at->is_symlink(ignored)) watch(at->path().string(), "");
    if (!at->is_regular_file(ignored)) continue;
    const std::string key = options_.sha256 ? digest_of(at->path().string())
                                            : at->path().lexically_relative(path).generic_string();
    if (!key.empty()) to.push_back(hash_key(hasher_, key));
  }
}

void resource_watch::read_all(bool first) {
  std::vector<std::uint64_t> all;
  for (const std::string& path : options_.paths) {
    if (fs::is_directory(path)) {
      read_folder(path, all);
      continue;
    }
    const fs::path file = fs::absolute(path);
    watch(file.parent_path().string(), file.filename().string());
    std::vector<std::uint64_t>& kept = last_[path];
    try {
      std::vector<std::uint64_t> lines;
      read_lines(path, lines, first);
      kept = std::move(lines);
    } catch (const error& e) {
      if (first) throw;
      if (!options_.quiet) tell("bloomery: warning: {}; its keys stay as they were\n", e.what());
    }
    all.insert(all.end(), kept.begin(), kept.end());
  }
  const std::lock_guard lock(mutex_);
  news_ = std::move(all);
}

bool resource_watch::events_concern_us() {
  alignas(inotify_event) std::array<char, 16384> buffer{};
  const ssize_t count = ::read(inotify_, buffer.data(), buffer.size());
  bool concerned = false;
  for (ssize_t at = 0; at < count;) {
    inotify_event event{};
    std::memcpy(&event, buffer.data() + at, sizeof event);
    const std::string name = event.len == 0 ? "" : std::string(buffer.data() + at + sizeof event);
    const auto watched = watched_.find(event.wd);
    concerned =
        concerned || (event.mask & IN_Q_OVERFLOW) != 0 ||
        (watched != watched_.end() && (watched->second.empty() || watched->second.contains(name)));
    if ((event.mask & IN_IGNORED) != 0) watched_.erase(event.wd);
    at += static_cast<ssize_t>(sizeof event + event.len);
  }
  return concerned;
}

void resource_watch::follow() {
  while (!stop_) {
    if (!wait_for_input(inotify_, look_around_ms) || !events_concern_us()) continue;
    const auto since = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - since < most_wait &&
           wait_for_input(inotify_, quiet_ms)) {
      events_concern_us();
    }
    try {
      read_all(false);
    } catch (const std::exception& e) {
      if (!options_.quiet) tell("bloomery: warning: {}; the keys stay as they were\n", e.what());
    }
  }
}

}  // namespace bloomery::cli
