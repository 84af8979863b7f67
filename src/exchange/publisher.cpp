#include "bloomery/exchange/publisher.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/format/folder.hpp"
#include "bloomery/format/version_name.hpp"
#include "format/image_pieces.hpp"

namespace bloomery {

namespace {

namespace fs = std::filesystem;

constexpr const char* listing_file_name = "index.json";

// What work(file) says of a file; nothing when that is not there or damaged. A disk that fails or
// too little memory is another matter.
template <class Work>
auto unless_damaged(const fs::path& path, Work work)
    -> std::optional<decltype(work(std::declval<const mapped_file&>()))> {
  if (is_missing(path)) return std::nullopt;
  try {
    return work(mapped_file(path));
  } catch (const error& e) {
    if (e.code() == errc::no_memory || e.code() == errc::io) throw;
    return std::nullopt;
  }
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::optional<publication> read_manifest(const fs::path& folder, const std::string& name) {
  return unless_damaged(folder / manifest_file_name(name), [](const mapped_file& file) {
    return parse_manifest(as_text(file.bytes()));
  });
}

bool is_sound(const fs::path& folder, const published_delta& d) {
  return unless_damaged(folder / d.file,
                        [&](const mapped_file& file) {
                          const delta_description told = describe_delta(file.bytes());
                          return told.from == d.from && told.to == d.to &&
                                 file.bytes().size() == d.bytes;
                        })
      .value_or(false);
}

// Its checksum holds. That it is the version which its name says was proven when it was written.
bool packed_is_sound(const fs::path& folder, const publication& p) {
  return unless_damaged(folder / p.packed_file,
                        [&](const mapped_file& file) {
                          const unpacker sound(file.bytes(), {.memory = UINT64_MAX});
                          return file.bytes().size() == p.packed_bytes;
                        })
      .value_or(false);
}

// The bytes of the plain file if it is this version; else 0.
std::uint64_t sound_plain_bytes(const fs::path& path, const filter_version& f) {
  return unless_damaged(path,
                        [&](const mapped_file& file) {
                          std::span<const std::byte> rest = file.bytes();
                          bool same = true;
                          detail::for_each_piece_of_image(
                              f.header, std::span(&f.words, 1), [&](auto piece) {
                                same = same && rest.size() >= piece.size() &&
                                       std::memcmp(rest.data(), piece.data(), piece.size()) == 0;
                                if (same) rest = rest.subspan(piece.size());
                              });
                          return same && rest.empty() ? std::uint64_t{file.bytes().size()} : 0;
                        })
      .value_or(0);
}

// Leaves the steps of the chain that can be followed to its end.
void keep_sound_end(const fs::path& folder, std::vector<published_delta>& deltas) {
  const auto bad = std::find_if(deltas.rbegin(), deltas.rend(),
                                [&](const published_delta& d) { return !is_sound(folder, d); });
  deltas.erase(deltas.begin(), bad.base());
}

void keep_within(const publish_limits& limits, publication& p) {
  const std::uint64_t most_bytes = std::min(limits.delta_bytes, p.packed_bytes);
  const std::uint64_t most = std::min<std::uint64_t>(limits.deltas, most_published_deltas);
  std::uint64_t bytes = 0;
  std::size_t kept = 0;
  while (kept < p.deltas.size() && kept < most) {
    bytes += p.deltas[p.deltas.size() - 1 - kept].bytes;
    if (bytes > most_bytes) break;
    ++kept;
  }
  p.deltas.erase(p.deltas.begin(), p.deltas.end() - static_cast<std::ptrdiff_t>(kept));
}

void write_file(const fs::path& path, std::span<const std::byte> bytes) {
  atomic_file file(path);
  file.append(bytes);
  file.commit();
}

std::uint64_t write_packed(const fs::path& path, const filter_version& f) {
  atomic_file file(path);
  std::uint64_t bytes = 0;
  pack(f.header, f.words, [&](std::span<const std::byte> piece) {
    file.append(piece);
    bytes += piece.size();
  });
  file.commit();
  return bytes;
}

std::uint64_t write_plain(const fs::path& path, const filter_version& f) {
  atomic_file file(path);
  std::uint64_t bytes = 0;
  detail::for_each_piece_of_image(f.header, std::span(&f.words, 1),
                                  [&](std::span<const std::byte> piece) {
                                    file.append(piece);
                                    bytes += piece.size();
                                  });
  file.commit();
  return bytes;
}

// The change from the version of the manifest; empty when that version cannot be read any more.
std::vector<std::byte> delta_from(const fs::path& folder, const publication& before,
                                  const filter_version& f, const opening& how) {
  return unless_damaged(folder / before.packed_file,
                        [&](const mapped_file& file) {
                          const unpacked_filter old = unpack(file.bytes(), how);
                          const filter_version from{.header = old.header,
                                                    .words = old.words.words()};
                          std::vector<std::byte> delta = diff(from, f);
                          if (describe_delta(delta).from != before.version) delta.clear();
                          return delta;
                        })
      .value_or(std::vector<std::byte>());
}

struct step_options {
  const publish_limits& limits;
  const opening& how;
};

// Writes the step from the version before, unless no chain through it is worth following.
void add_step(const fs::path& folder, const publication& before, const filter_version& f,
              const step_options& o, publish_report& report) {
  publication& now = report.now;
  const std::vector<std::byte> delta = delta_from(folder, before, f, o.how);
  if (delta.empty() || delta.size() >= now.packed_bytes || o.limits.deltas == 0) {
    now.deltas.clear();
    return;
  }
  now.deltas.push_back({.from = before.version,
                        .to = now.version,
                        .file = delta_file_name(now.name, before.version, now.version),
                        .bytes = delta.size()});
  write_file(folder / now.deltas.back().file, delta);
  report.written += delta.size();
  report.follows = true;
}

// The filter that a file is a packed form or a delta of, by its name; empty for other files.
std::string_view owner_of(std::string_view file) {
  constexpr std::size_t digits = 16;
  const auto before = [&](std::string_view ending, std::size_t versions) -> std::string_view {
    if (!file.ends_with(ending)) return {};
    const std::string_view start = file.substr(0, file.size() - ending.size());
    const std::size_t length = versions * digits + versions;  // with the character before each
    if (start.size() <= length) return {};
    const std::string_view end = start.substr(start.size() - length);
    for (std::size_t i = 0; i < versions; ++i) {
      const std::string_view one = end.substr(i * (digits + 1), digits + 1);
      if (one.front() != (i == 0 ? '.' : '-') || !parse_version_name(one.substr(1))) return {};
    }
    return start.substr(0, start.size() - length);
  };
  const std::string_view name =
      file.ends_with(".delta") ? before(".delta", 2) : before(".packed", 1);
  return is_published_name(name) ? name : std::string_view();
}

void add_files(std::set<std::string>& to, const publication& p) {
  to.insert(p.packed_file);
  for (const published_delta& d : p.deltas) to.insert(d.file);
}

}  // namespace

publisher::publisher(fs::path folder, const publish_limits& limits, const opening& how)
    : folder_(std::move(folder)), limits_(limits), how_(how) {}

publish_report publisher::publish(const std::string& name, const filter_version& f) {
  if (!is_published_name(name)) {
    throw error(errc::bad_argument, "a filter cannot be published under the name " + name);
  }
  const std::uint64_t version = image_name(f.header, f.words);
  const std::optional<publication> before = read_manifest(folder_, name);
  const bool known = before && before->version == version && before->name == name;
  publish_report report;
  publication& now = report.now;
  now = {.name = name, .version = version, .packed_file = packed_file_name(name, version)};
  if (before && before->name == name) now.deltas = before->deltas;
  keep_sound_end(folder_, now.deltas);
  bool touched = known && now.deltas.size() != before->deltas.size();

  // The packed form. Where it is there already, it was written for this version.
  if (known) now.packed_bytes = before->packed_bytes;
  if (!known || before->packed_file != now.packed_file || !packed_is_sound(folder_, now)) {
    touched = true;
    now.packed_bytes = write_packed(folder_ / now.packed_file, f);
    report.written += now.packed_bytes;
  }

  if (before && !known) add_step(folder_, *before, f, {limits_, how_}, report);
  keep_within(limits_, now);

  now.bytes = sound_plain_bytes(folder_ / name, f);
  if (now.bytes == 0) {
    touched = true;
    now.bytes = write_plain(folder_ / name, f);
    report.written += now.bytes;
  }
  if (!before || now != *before) {
    if (before) add_files(named_before_, *before);
    const std::string text = manifest_text(now);
    write_file(folder_ / manifest_file_name(name), std::as_bytes(std::span(text)));
    report.written += text.size();
  }
  report.outcome = !before   ? publish_outcome::added
                   : !known  ? publish_outcome::changed
                   : touched ? publish_outcome::repaired
                             : publish_outcome::unchanged;
  published_.insert(name);
  return report;
}

std::vector<std::string> publisher::published() const {
  constexpr std::string_view ending = ".json";
  std::vector<std::string> all;
  for (const folder_file& f : files_in(folder_)) {
    if (!f.name.ends_with(ending)) continue;
    std::string name = f.name.substr(0, f.name.size() - ending.size());
    const auto p = is_published_name(name) ? read_manifest(folder_, name) : std::nullopt;
    if (p && p->name == name) all.push_back(std::move(name));
  }
  std::ranges::sort(all);
  return all;
}

void publisher::withdraw(const std::string& name) {
  published_.erase(name);
  remove_file(folder_ / manifest_file_name(name));
  remove_file(folder_ / name);
}

void publisher::finish() {
  write_listing();
  // A file goes when the manifest of its filter says, and only then: what a failing disk does not
  // show may still be there.
  std::map<std::string, std::set<std::string>, std::less<>> named;
  for (const folder_file& f : files_in(folder_)) {
    const std::string_view owner = owner_of(f.name);
    if (owner.empty() || named_before_.contains(f.name)) continue;
    auto files = named.find(owner);
    if (files == named.end()) {
      files = named.emplace(owner, std::set<std::string>()).first;
      if (const auto p = read_manifest(folder_, files->first)) add_files(files->second, *p);
    }
    if (!files->second.contains(f.name)) remove_file(folder_ / f.name);
  }
}

void publisher::write_listing() const {
  std::set<std::string> names = published_;
  for (std::string& name : published()) names.insert(std::move(name));
  std::vector<listed_filter> rows;
  for (const std::string& name : names) {
    const std::optional<publication> p = read_manifest(folder_, name);
    if (!p) continue;
    // From the file that the manifest names: the plain one may be another version already.
    const auto header = unless_damaged(folder_ / p->packed_file, [](const mapped_file& file) {
      return unpacker(file.bytes(), {.memory = UINT64_MAX}).header();
    });
    if (!header) continue;
    rows.push_back({.name = name,
                    .header = *header,
                    .bytes = p->bytes,
                    .version = p->version,
                    .packed_bytes = p->packed_bytes});
  }
  const std::string text = listing_text(rows);
  const fs::path listing = folder_ / listing_file_name;
  const auto there = unless_damaged(
      listing, [&](const mapped_file& file) { return as_text(file.bytes()) == text; });
  if (there ? !*there : !rows.empty()) write_file(listing, std::as_bytes(std::span(text)));
}

}  // namespace bloomery
