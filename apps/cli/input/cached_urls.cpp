#include "cli/input/cached_urls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/cache_contents.hpp"
#include "bloomery/format/file.hpp"
#include "cli/input/source.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void throw_unreadable(const fs::path& path, const std::error_code& why) {
  throw error(errc::io, fmt::format("{}: {}", path.string(), why.message()));
}

// Calls take(line, file, number) for every line of the files.
template <class Take>
void for_each_url_line(const std::vector<std::string>& paths, const progress_options& show,
                       Take take) {
  record_options records;
  records.keep_empty = true;
  records.any_line_end = true;
  progress meter("reading", show);
  for (const std::string& path : paths) {
    key_source source({path}, records, meter);
    std::uint64_t number = 0;
    for (chunk c; source.next(c);) {
      for (const std::string_view line : c.keys) take(without_blanks(line), c.file, ++number);
    }
  }
  meter.clear();
}

// The first bytes of a file; nothing when it has gone meanwhile, as files of caches do.
std::vector<std::byte> start_of(const fs::path& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::byte> bytes(most);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(most));
  if ((!file.is_open() && fs::exists(path)) || file.bad()) {
    throw error(errc::io, path.string() + ": it cannot be read");
  }
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

// What an entry is, where links are followed. What has gone, and a link that leads nowhere, is not
// there; that the system does not say is an error, since a digest must not miss what is there.
fs::file_type type_of(const fs::directory_entry& e) {
  std::error_code failed;
  const fs::file_type type = e.status(failed).type();
  if (type == fs::file_type::none && failed != std::errc::too_many_symbolic_link_levels) {
    throw_unreadable(e.path(), failed);
  }
  return type;
}

// Calls take(path) for every file of a cache directory.
template <class Take>
void for_each_object(const std::string& folder, Take take) {
  std::error_code failed;
  fs::recursive_directory_iterator at(folder, failed);
  while (!failed && at != fs::recursive_directory_iterator()) {
    if (type_of(*at) == fs::file_type::regular) take(at->path());
    at.increment(failed);
  }
  if (failed) throw_unreadable(folder, failed);
}

// The files of a mirror. Links to folders are followed, since clients use them ("dists/stable"),
// but never to a folder that the walk is in already. What is hidden is not served.
class mirror_walk {
 public:
  using take_type = std::function<void(const std::string& path)>;

  mirror_walk(const std::string& folder, take_type take) : take_(std::move(take)) {
    std::error_code failed;
    const fs::path root = fs::canonical(folder, failed);
    if (failed) throw_unreadable(folder, failed);
    enter(root, "");
  }

 private:
  void enter(const fs::path& folder, const std::string& path) {
    std::error_code failed;
    const fs::path real = fs::canonical(folder, failed);
    if (failed) throw_unreadable(folder, failed);
    if (std::ranges::find(inside_, real) != inside_.end()) return;
    inside_.push_back(real);
    std::vector<fs::directory_entry> entries;
    fs::directory_iterator at(folder, failed);
    for (; !failed && at != fs::directory_iterator(); at.increment(failed)) entries.push_back(*at);
    if (failed) throw_unreadable(folder, failed);
    for (const fs::directory_entry& e : entries) {
      const std::string name = e.path().filename().string();
      if (name.starts_with('.')) continue;
      const std::string below = path.empty() ? name : path + "/" + name;
      const fs::file_type type = type_of(e);
      if (type == fs::file_type::directory) enter(e.path(), below);
      if (type == fs::file_type::regular) take_(below);
    }
    inside_.pop_back();
  }

  take_type take_;
  std::vector<fs::path> inside_;
};

}  // namespace

std::string_view without_blanks(std::string_view line) {
  const std::size_t start = line.find_first_not_of(" \t\r");
  if (start == std::string_view::npos) return {};
  return line.substr(start, line.find_last_not_of(" \t\r") + 1 - start);
}

cached_urls::cached_urls(const std::string& base, const progress_options& show) : show_(show) {
  if (base.empty()) return;
  const auto url = cache_url(base);
  if (!url) {
    throw error(errc::bad_argument,
                fmt::format("--base is '{}', but it must be a URL such as http://host/path/",
                            escaped(base)));
  }
  base_ = *url;
}

void cached_urls::tell_bad(std::string_view file, std::uint64_t number, std::string_view line,
                           bool of_log) {
  constexpr std::size_t most = 60;
  if (left_out_.bad++ != 0) return;
  left_out_.of_log = of_log;
  left_out_.first_bad = fmt::format("{}:{}: '{}'{}", file, number, escaped(line.substr(0, most)),
                                    line.size() > most ? "..." : "");
}

void cached_urls::add_lists(const std::vector<std::string>& paths) {
  const auto take = [&](std::string_view line, std::string_view file, std::uint64_t number) {
    if (line.empty() || line.starts_with('#')) return;
    if (const auto url = cache_url(line)) return add(*url);
    tell_bad(file, number, line, false);
  };
  for_each_url_line(paths, show_, take);
}

void cached_urls::add_logs(const std::vector<std::string>& paths) {
  const auto take = [&](std::string_view line, std::string_view file, std::uint64_t number) {
    if (line.empty()) return;
    const logged_request found = read_log_line(line, base_);
    switch (found.what) {
      case logged::fetched: return add(found.url);
      case logged::other: ++left_out_.other; return;
      case logged::cut: ++left_out_.cut; return;
      case logged::unknown: return tell_bad(file, number, line, true);
      case logged::path:
        throw error(errc::bad_argument,
                    fmt::format("{}:{}: the log has paths without a host; give the URL of the "
                                "site with --base",
                                file, number));
    }
  };
  for_each_url_line(paths, show_, take);
}

void cached_urls::add_nginx(const std::string& folder) {
  for_each_object(folder, [&](const fs::path& path) {
    if (const auto url = nginx_object_url(start_of(path, nginx_object_bytes), base_)) {
      add(*url);
    } else {
      ++left_out_.files;
    }
  });
}

void cached_urls::add_squid(const std::string& folder) {
  // The log of all objects, or, where there is none, each of them.
  const fs::path log = fs::path(folder) / "swap.state";
  if (!fs::exists(log)) {
    return for_each_object(folder, [&](const fs::path& path) {
      if (const auto key = squid_object_key(start_of(path, squid_object_bytes))) {
        keys_.push_back(*key);
      } else {
        ++left_out_.files;
      }
    });
  }
  std::set<squid_key> there;
  const mapped_file file(log);
  try {
    read_swap_state(file.bytes(), [&](const squid_key& key, bool added) {
      if (added) {
        there.insert(key);
      } else {
        there.erase(key);
      }
    });
  } catch (const error& e) {
    throw error(e.code(), fmt::format("{}: {}", log.string(), e.what()));
  }
  keys_.insert(keys_.end(), there.begin(), there.end());
}

void cached_urls::add_mirror(const std::string& folder) {
  if (base_.empty()) {
    throw error(errc::bad_argument,
                "--mirror needs the URL at which its files are asked for: give --base");
  }
  mirror_walk(folder, [&](const std::string& path) {
    const path_spellings urls = url_of_file(base_, path);
    add(urls.usual);
    if (!urls.apt.empty()) add(urls.apt);
  });
}

std::vector<request_key> cached_urls::take() {
  std::ranges::sort(keys_);
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  return std::exchange(keys_, {});
}

}  // namespace bloomery::cli
