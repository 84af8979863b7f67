#include "change_log.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/random_seed.hpp"
#include "stored.hpp"

namespace bloomery {

using detail::bytes_of;
using detail::checksum_of;

namespace {

constexpr std::uint64_t seed_bytes = 16;  // where the records begin
constexpr std::uint64_t header_bytes = 32;
constexpr std::uint32_t erased_mark = UINT32_MAX;
constexpr std::size_t longest = std::size_t{1} << 30U;
constexpr std::size_t first_heads = 1024;
constexpr std::size_t records_per_head = 8;

}  // namespace

struct change_log::record {
  std::uint64_t previous = 0;
  std::uint64_t hash = 0;
  std::uint64_t end = 0;  // where the next record begins
  bool erased = false;
  std::string key;  // key and value are read only on request
  std::string value;
};

change_log::change_log(const std::filesystem::path& path,
                       const std::function<void(std::uint64_t hash)>& seen)
    : path_(path), file_(path), heads_(first_heads) {
  read_seed();
  std::uint64_t at = seed_bytes;
  while (at < file_.size()) {
    const std::optional<record> r = read(at, true);
    if (!r) break;
    make_room();
    link(r->hash, at);
    seen(r->hash);
    at = r->end;
  }
  if (at != file_.size()) file_.cut(at);
}

// A log that is new, or that a crash has left without a whole seed and so without records, gets
// one.
void change_log::read_seed() {
  if (file_.size() < seed_bytes || only_zeros_from(0)) {
    file_.cut(0);
    seed_ = random_seed();
    std::string seed;
    integers::append(seed, seed_);
    std::string whole;
    integers::append(whole, checksum_of(seed));
    file_.append(bytes_of(whole.append(seed)));
    return;
  }
  std::string whole(seed_bytes, '\0');
  file_.read_at(0, std::as_writable_bytes(std::span(whole)));
  if (checksum_of(std::string_view(whole).substr(8)) != integers::read<std::uint64_t>(whole, 0)) {
    throw_damaged();
  }
  seed_ = integers::read<std::uint64_t>(whole, 8);
}

std::uint64_t change_log::hash_of(std::string_view key) const noexcept {
  return hash_key(xxh3_hasher(seed_), key);
}

void change_log::throw_damaged() const {
  throw error(errc::corrupt, path_.string() + ": the log of changes is damaged");
}

bool change_log::only_zeros_from(std::uint64_t at) const {
  std::array<char, 4096> piece{};
  while (at < file_.size()) {
    const std::size_t size =
        static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), file_.size() - at));
    file_.read_at(at, std::as_writable_bytes(std::span(piece.data(), size)));
    if (std::any_of(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(size),
                    [](char c) { return c != 0; })) {
      return false;
    }
    at += size;
  }
  return true;
}

std::optional<change_log::record> change_log::read(std::uint64_t at, bool with_text) const {
  if (file_.size() - at < header_bytes) return std::nullopt;
  std::string bytes(header_bytes, '\0');
  file_.read_at(at, std::as_writable_bytes(std::span(bytes)));
  const auto key_bytes = integers::read<std::uint32_t>(bytes, 24);
  const auto value_bytes = integers::read<std::uint32_t>(bytes, 28);
  record r;
  r.previous = integers::read<std::uint64_t>(bytes, 8);
  r.hash = integers::read<std::uint64_t>(bytes, 16);
  r.erased = value_bytes == erased_mark;
  const std::uint64_t text_bytes = std::uint64_t{key_bytes} + (r.erased ? 0 : value_bytes);
  r.end = at + header_bytes + text_bytes;
  if (!with_text) return r;
  if (text_bytes > file_.size() - at - header_bytes) return std::nullopt;
  const std::uint64_t expected = integers::read<std::uint64_t>(bytes, 0);
  bytes.resize(header_bytes + text_bytes);
  file_.read_at(at + header_bytes, std::as_writable_bytes(std::span(bytes).subspan(header_bytes)));
  if (checksum_of(std::string_view(bytes).substr(8)) != expected || r.previous > at) {
    // A crash can damage only the last record, or leave zeros where the file was extended.
    if (r.end == file_.size() || only_zeros_from(at)) return std::nullopt;
    throw_damaged();
  }
  r.key = bytes.substr(header_bytes, key_bytes);
  r.value = bytes.substr(header_bytes + key_bytes);
  return r;
}

// The log was checked when it was opened, so a damaged record was changed by another program.
change_log::record change_log::read_whole(std::uint64_t at, bool with_text) const {
  std::optional<record> r = read(at, with_text);
  if (!r) throw_damaged();
  return *std::move(r);
}

std::uint64_t& change_log::head_of(std::uint64_t hash) {
  return heads_[hash & (heads_.size() - 1)];
}

void change_log::make_room() {
  if (records_ < records_per_head * heads_.size()) return;
  // Both halves start with the heads of the old chains, which have the records of both.
  const std::size_t old = heads_.size();
  heads_.resize(2 * old);
  std::copy_n(heads_.begin(), old, heads_.begin() + static_cast<std::ptrdiff_t>(old));
}

void change_log::link(std::uint64_t hash, std::uint64_t at) {
  head_of(hash) = at + 1;
  ++records_;
}

void change_log::append(std::uint64_t hash, std::string_view key,
                        std::optional<std::string_view> value) {
  if (key.size() > longest || (value && value->size() > longest)) {
    throw error(errc::bad_argument, "a key or value is longer than 1 GiB");
  }
  make_room();
  std::string bytes;
  integers::append(bytes, head_of(hash));
  integers::append(bytes, hash);
  integers::append(bytes, static_cast<std::uint32_t>(key.size()));
  integers::append(bytes, value ? static_cast<std::uint32_t>(value->size()) : erased_mark);
  bytes.append(key).append(value.value_or(std::string_view()));
  std::string whole;
  integers::append(whole, checksum_of(bytes));
  whole.append(bytes);
  const std::uint64_t at = file_.size();
  file_.append(bytes_of(whole));
  link(hash, at);
}

std::optional<change_log::change> change_log::find(std::uint64_t hash, std::string_view key) const {
  for (std::uint64_t next = heads_[hash & (heads_.size() - 1)]; next != 0;) {
    const std::uint64_t at = next - 1;
    record r = read_whole(at, false);
    if (r.previous > at) throw_damaged();  // a chain leads back, so it ends
    next = r.previous;
    if (r.hash != hash) continue;
    r = read_whole(at, true);
    if (r.key == key) return change{.erased = r.erased, .value = std::move(r.value)};
  }
  return std::nullopt;
}

void change_log::for_each(
    const std::function<void(std::string_view key, const change& c)>& visit) const {
  for (std::uint64_t at = seed_bytes; at < file_.size();) {
    record r = read_whole(at, true);
    visit(r.key, {.erased = r.erased, .value = std::move(r.value)});
    at = r.end;
  }
}

}  // namespace bloomery
