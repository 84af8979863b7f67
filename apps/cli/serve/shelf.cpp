#include "cli/serve/shelf.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>
#include <system_error>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/format/codec.hpp"
#include "bloomery/format/describe.hpp"
#include "bloomery/format/image.hpp"
#include "bloomery/format/version_name.hpp"
#include "cli/serve/http.hpp"

namespace bloomery::cli {

namespace {

constexpr std::chrono::seconds look_around{2};  // file systems of other hosts have no events
constexpr std::int64_t settled_ns = 1'000'000'000;
constexpr std::int64_t reopen_seconds = 10;  // a filter that forgets learns what time it is

std::int64_t steady_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::int64_t wall_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

file_identity identity_of(const struct stat& about) {
  return {.device = about.st_dev,
          .inode = about.st_ino,
          .bytes = static_cast<std::uint64_t>(about.st_size),
          .changed = about.st_ctim.tv_sec * 1'000'000'000 + about.st_ctim.tv_nsec};
}

std::string system_message() { return std::generic_category().message(errno); }

// A file by its descriptor, so that it can be mapped twice and is the same file both times.
std::string path_of(const open_file& file) {
  return fmt::format("/proc/self/fd/{}", file.descriptor());
}

std::unique_ptr<open_file> memory_file() {
  const int fd = ::memfd_create("bloomery", MFD_CLOEXEC);
  if (fd < 0) throw error(errc::no_memory, "a file in memory: " + system_message());
  return std::make_unique<open_file>(fd);
}

// The names of the files that something happened to since the last call.
std::set<std::string> names_of_events(int inotify) {
  std::set<std::string> names;
  alignas(inotify_event) std::array<char, 16384> buffer{};
  for (;;) {
    const ssize_t count = ::read(inotify, buffer.data(), buffer.size());
    if (count <= 0) return names;
    for (ssize_t at = 0; at < count;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      if (event.len != 0) names.emplace(buffer.data() + at + sizeof event);
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
}

bool is_ours(int fd) {
  std::array<std::byte, 8> start{};
  const ssize_t got = ::pread(fd, start.data(), start.size(), 0);
  return got > 0 && begins_like_ours(std::span(start).first(static_cast<std::size_t>(got)));
}

// The file itself, or a plain image in memory of one that is packed or must be copied.
std::unique_ptr<open_file> plain_file(std::unique_ptr<open_file> file, bool copy,
                                      const opening& how) {
  const mapped_file mapped(path_of(*file));
  if (const auto unpacked = open_packed(mapped, how)) {
    auto made = memory_file();
    atomic_file out(path_of(*made));
    write_image(out, unpacked->header, unpacked->words.words());
    out.commit();
    return made;
  }
  if (!copy) return file;
  auto made = memory_file();
  // By reading: a file that is cut off meanwhile is then damaged, and does not end the program.
  std::vector<char> piece(std::size_t{1} << 20U);
  off_t at = 0;
  for (;;) {
    const ssize_t got = ::pread(file->descriptor(), piece.data(), piece.size(), at);
    if (got < 0) throw error(errc::io, "reading: " + system_message());
    if (got == 0) return made;
    at += got;
    for (ssize_t done = 0; done < got;) {
      const ssize_t put =
          ::write(made->descriptor(), piece.data() + done, static_cast<std::size_t>(got - done));
      if (put < 0) throw error(errc::no_memory, "a file in memory: " + system_message());
      done += put;
    }
  }
}

// The files of a folder that are served, and what they are now.
std::map<std::string, file_identity> filters_in(const std::string& path) {
  DIR* const folder = ::opendir(path.c_str());
  if (folder == nullptr) throw error(errc::io, fmt::format("{}: {}", path, system_message()));
  std::map<std::string, file_identity> there;
  while (const dirent* entry = ::readdir(folder)) {
    struct stat about {};
    if (!is_served_name(entry->d_name) ||
        ::fstatat(::dirfd(folder), entry->d_name, &about, 0) != 0 || !S_ISREG(about.st_mode)) {
      continue;
    }
    there[entry->d_name] = identity_of(about);
  }
  ::closedir(folder);
  return there;
}

}  // namespace

bool is_served_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

version_ptr shelf_filter::find(std::string_view version) const {
  if (now->name == version) return now;
  const auto at = std::ranges::find(before, version, [](const auto& v) { return v->name; });
  return at == before.end() ? nullptr : *at;
}

class shelf::attic {
 public:
  void put(const shelf_version* v) {
    const std::lock_guard lock(mutex_);
    left_.emplace_back(v);
  }
  void clear() {
    std::vector<std::unique_ptr<const shelf_version>> gone;
    {
      const std::lock_guard lock(mutex_);
      gone.swap(left_);
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<const shelf_version>> left_;
};

shelf::shelf(shelf_options o)
    : options_(std::move(o)),
      attic_(std::make_shared<attic>()),
      state_(std::make_shared<const shelf_state>()) {
  scan();
}

shelf::~shelf() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<const shelf_state> shelf::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void shelf::publish(shelf_state next) {
  auto fresh = std::make_shared<const shelf_state>(std::move(next));
  {
    const std::lock_guard lock(mutex_);
    state_.swap(fresh);
  }
}

version_ptr shelf::open(const std::string& name, const file_identity& file) {
  const std::string path = options_.folder + "/" + name;
  auto opened = std::make_unique<open_file>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (opened->descriptor() < 0 || ::fstat(opened->descriptor(), &about) != 0) {
    throw error(errc::io, fmt::format("{}: {}", path, system_message()));
  }
  const file_identity found = identity_of(about);
  if (!is_ours(opened->descriptor())) return nullptr;
  const int of_file = opened->descriptor();
  opened = plain_file(std::move(opened), options_.copy, options_.how);
  const bool copied = opened->descriptor() != of_file;
  const std::string by_descriptor = path_of(*opened);
  std::string refusal;
  // Without a function it is served, and not asked.
  const auto hasher = [&](const image_header& header) -> std::shared_ptr<const any_hasher> {
    try {
      return options_.hasher(header);
    } catch (const error& e) {
      refusal = e.what();
      return nullptr;
    }
  };
  opening how = options_.how;
  how.verify = true;
  how.threads = 1;
  mapped_file image(by_descriptor);
  any_filter filter = any_filter::open(mapped_file(by_descriptor), hasher, how);
  filter.verify(1);
  filter->advance(static_cast<std::uint64_t>(wall_ns() / 1'000'000'000));
  if (refusal.empty() && filter.hasher() == nullptr) refusal = "its hash function is not known";
  auto made =
      std::make_unique<shelf_version>(shelf_version{.name = version_name(content_name(filter)),
                                                    .image = std::move(image),
                                                    .filter = std::move(filter),
                                                    .refusal = std::move(refusal),
                                                    .file = found == file ? file : found,
                                                    .opened = steady_seconds(),
                                                    .copied = copied});
  const auto attic = attic_;
  return {made.release(), [attic](const shelf_version* v) { attic->put(v); }};
}

// Null for what is no filter, or none that can be trusted.
version_ptr shelf::open_or_report(const std::string& name, const file_identity& file) {
  try {
    version_ptr v = open(name, file);
    if (v != nullptr) return v;
    // A list in the place of a filter is a mistake that somebody should hear of.
    if (state()->contains(name)) throw error(errc::corrupt, "this is no filter any more");
    refused_[name] = file;
    return nullptr;
  } catch (const std::exception& e) {
    std::string what = e.what();
    constexpr std::string_view by_descriptor = "/proc/self/fd/";
    if (what.starts_with(by_descriptor)) what = what.substr(what.find(": ") + 2);
    options_.report(fmt::format("{}/{}: {}; it is left out", options_.folder, name, what));
    refused_[name] = file;
    ++damaged_;
    return nullptr;
  }
}

void shelf::take(shelf_filter& f, version_ptr fresh) const {
  if (f.now == nullptr || f.now->name == fresh->name) {
    f.now = std::move(fresh);
    return;
  }
  // What was overwritten in place is no version any more, unless there is a copy.
  std::erase_if(f.before, [&](const version_ptr& v) { return v->name == fresh->name; });
  const bool overwritten = !options_.copy && f.now->file.same_place(fresh->file);
  if (!overwritten) f.before.insert(f.before.begin(), f.now);
  f.now = std::move(fresh);
  if (f.before.size() > options_.keep) f.before.resize(options_.keep);
}

// The oldest of all go first, as many as are too much together.
void shelf::drop_surplus(shelf_state& next) const {
  for (;;) {
    std::uint64_t bytes = 0;
    shelf_filter* oldest = nullptr;
    for (auto& [name, f] : next) {
      for (const version_ptr& v : f.before) bytes += v->bytes().size();
      const bool older =
          !f.before.empty() &&
          (oldest == nullptr || f.before.back()->opened < oldest->before.back()->opened);
      if (older) oldest = &f;
    }
    if (bytes <= options_.keep_bytes || oldest == nullptr) return;
    oldest->before.pop_back();
  }
}

void shelf::scan() { scan(nullptr); }

void shelf::scan(const std::set<std::string>* told) {
  const std::lock_guard lock(scanning_);
  const std::map<std::string, file_identity> there = filters_in(options_.folder);
  shelf_state next = *state();
  bool changed = std::erase_if(next, [&](const auto& f) { return !there.contains(f.first); }) != 0;
  std::erase_if(refused_, [&](const auto& f) { return !there.contains(f.first); });
  for (const auto& [name, file] : there) {
    const auto known = next.find(name);
    const auto refused = refused_.find(name);
    if (refused != refused_.end() && refused->second == file) continue;
    const bool same = known != next.end() && known->second.now->file == file;
    const bool late = same && abilities_of(known->second.now->filter.shape().kind).forget &&
                      steady_seconds() - known->second.now->opened >= reopen_seconds;
    if (same && !late) continue;
    // What somebody may still be writing is left until he says that he is done, or stops.
    if (!late && told != nullptr && !told->contains(name) &&
        wall_ns() - file.changed < settled_ns) {
      continue;
    }
    version_ptr fresh = open_or_report(name, file);
    if (fresh == nullptr) {
      // The version before was in these very bytes, which are no filter now and may be fewer.
      if (known != next.end() && !known->second.now->copied &&
          known->second.now->file.same_place(file)) {
        next.erase(known);
        changed = true;
      }
      continue;
    }
    refused_.erase(name);
    if (!same) ++swaps_;
    take(next[name], std::move(fresh));
    changed = true;
  }
  if (changed) {
    drop_surplus(next);
    publish(std::move(next));
  }
  attic_->clear();
}

void shelf::follow() {
  const int inotify = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  constexpr std::uint32_t events =
      IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB;
  if (inotify < 0 || ::inotify_add_watch(inotify, options_.folder.c_str(), events) < 0) {
    options_.report(fmt::format("{}: {}; it is looked at every 2 s instead", options_.folder,
                                system_message()));
  }
  thread_ = std::thread([this, inotify] { run(inotify); });
}

void shelf::run(int inotify) {
  // Reading a new gigabyte is not urgent; answering is.
  static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10));
  auto next_look = std::chrono::steady_clock::now() + look_around;
  while (!stop_) {
    pollfd waiting{.fd = inotify, .events = POLLIN, .revents = 0};
    static_cast<void>(::poll(&waiting, 1, 100));
    const std::set<std::string> told = names_of_events(inotify);
    attic_->clear();
    const auto now = std::chrono::steady_clock::now();
    if (told.empty() && now < next_look) continue;
    next_look = now + look_around;
    try {
      scan(&told);
    } catch (const std::exception& e) {
      options_.report(e.what());
    }
  }
  if (inotify >= 0) ::close(inotify);
}

}  // namespace bloomery::cli
