#include "cli/serve/site_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/cache_digest.hpp"
#include "bloomery/format/file.hpp"

namespace bloomery::cli {

namespace {

namespace fs = std::filesystem;

struct found_file {
  std::shared_ptr<const open_file> file;
  struct stat about = {};
};

std::optional<found_file> open_below(const std::string& folder, std::string_view path) {
  if (path.find('\0') != std::string_view::npos) return std::nullopt;
  while (path.starts_with('/')) path.remove_prefix(1);
  for (const fs::path& part : fs::path(path)) {
    if (part == "..") return std::nullopt;
  }
  std::error_code failed;
  const fs::path root = fs::canonical(folder, failed);
  if (failed) return std::nullopt;
  const fs::path real = fs::canonical(root / path, failed);
  if (failed) return std::nullopt;
  const auto [in_root, rest] = std::mismatch(root.begin(), root.end(), real.begin(), real.end());
  if (in_root != root.end()) return std::nullopt;
  // Not blocking: a pipe would wait for its writer.
  const int fd = ::open(real.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (fd < 0) return std::nullopt;
  found_file found{.file = std::make_shared<const open_file>(fd)};
  if (::fstat(fd, &found.about) != 0 || !S_ISREG(found.about.st_mode)) return std::nullopt;
  return found;
}

http_reply whole(const found_file& f) {
  http_reply r;
  r.type = "application/octet-stream";
  r.file = f.file;
  r.file_bytes = static_cast<std::uint64_t>(f.about.st_size);
  r.add("Last-Modified", http_date(f.about.st_mtim.tv_sec));
  return r;
}

std::string_view type_of(std::string_view path) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> types = {{
      {".html", "text/html; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".mjs", "text/javascript; charset=utf-8"},
      {".json", "application/json"},
      {".webmanifest", "application/manifest+json"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".txt", "text/plain; charset=utf-8"},
      {".wasm", "application/wasm"},
  }};
  for (const auto& [end, type] : types) {
    if (path.ends_with(end)) return type;
  }
  return "application/octet-stream";
}

}  // namespace

std::optional<http_reply> file_below(const std::string& folder, std::string_view path) {
  const auto found = open_below(folder, path);
  return found ? std::optional(whole(*found)) : std::nullopt;
}

std::optional<http_reply> page_file(const std::string& folder, std::string_view path,
                                    const http_request& q) {
  // .git, .htpasswd and the like lie in folders of pages, and are no part of them.
  if (path.find("/.") != std::string_view::npos || path.starts_with('.')) return std::nullopt;
  const std::string name = std::string(path) + (path.ends_with('/') ? "index.html" : "");
  const auto found = open_below(folder, name);
  if (!found) return std::nullopt;
  http_reply r = whole(*found);
  r.type = type_of(name);
  const std::string etag =
      fmt::format("\"{:x}-{:x}-{:x}\"", found->about.st_ino,
                  found->about.st_mtim.tv_sec * 1'000'000'000 + found->about.st_mtim.tv_nsec,
                  found->about.st_size);
  r.add("ETag", etag);
  r.add("Cache-Control", "no-cache");
  r.add("X-Content-Type-Options", "nosniff");
  if (!matches_etag(q.if_none_match, etag)) return r;
  r.status = 304;
  r.file = nullptr;
  r.type.clear();
  return r;
}

http_reply digest_reply(const std::string& path) {
  const auto refuse = [&](std::string_view what) -> http_error {
    return {503, fmt::format("the cache digest cannot be sent: {}", what)};
  };
  try {
    // Mapped, since whoever writes digests replaces them by renaming.
    auto file = std::make_shared<const mapped_file>(path);
    const auto bytes = file->bytes();
    const std::uint64_t length = cache_digest::bytes_of(bytes);
    if (bytes.size() != length) {
      throw refuse(
          fmt::format("it has {} bytes, and its control block says {}", bytes.size(), length));
    }
    http_reply r;
    r.type = cache_digest_media_type;
    r.bytes = bytes;
    r.owner = file;
    r.pause_after = cache_digest_header_bytes;
    return r;
  } catch (const error& e) {
    throw refuse(e.what());
  }
}

}  // namespace bloomery::cli
