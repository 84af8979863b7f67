#include "record_table.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "bloomery/core/error.hpp"
#include "stored.hpp"

namespace bloomery {

using detail::bytes_of;
using detail::checksum_of;

namespace {

constexpr std::string_view magic = "BLMYBASE";
constexpr std::size_t group_bytes = 4096;
constexpr std::size_t entry_words = 4;
constexpr std::size_t footer_words = 5;
constexpr std::size_t footer_bytes = footer_words * 8 + magic.size();
constexpr std::size_t longest_record = std::size_t{1} << 30U;

}  // namespace

// ---- writing ----------------------------------------------------------------------------------

record_table_writer::record_table_writer(const std::filesystem::path& path)
    : file_(path), offset_(magic.size()) {
  file_.append(bytes_of(magic));
}

void record_table_writer::add(std::string_view key, std::string_view value) {
  if (records_ != 0 && key <= last_key_) {
    throw error(errc::bad_argument,
                "the keys do not ascend: '" + std::string(key) + "' follows '" + last_key_ + "'");
  }
  if (key.size() > longest_record || value.size() > longest_record) {
    throw error(errc::bad_argument, "a key or value is longer than 1 GiB");
  }
  if (group_.empty()) first_key_ = key;
  integers::append(group_, static_cast<std::uint32_t>(key.size()));
  integers::append(group_, static_cast<std::uint32_t>(value.size()));
  group_.append(key).append(value);
  last_key_ = key;
  ++records_;
  if (group_.size() >= group_bytes) end_group();
}

void record_table_writer::end_group() {
  if (group_.empty()) return;
  index_.push_back({.offset = offset_, .checksum = checksum_of(group_), .first_key = first_key_});
  file_.append(bytes_of(group_));
  offset_ += group_.size();
  group_.clear();
}

void record_table_writer::commit() {
  end_group();
  std::string index;
  std::uint64_t key_at = offset_ + index_.size() * entry_words * 8;
  for (const entry& e : index_) {
    for (const std::uint64_t word :
         {e.offset, e.checksum, key_at, std::uint64_t{e.first_key.size()}}) {
      integers::append(index, word);
    }
    key_at += e.first_key.size();
  }
  for (const entry& e : index_) index.append(e.first_key);
  file_.append(bytes_of(index));
  std::string footer;
  for (const std::uint64_t word :
       {std::uint64_t{index_.size()}, records_, offset_, checksum_of(index)}) {
    integers::append(footer, word);
  }
  integers::append(footer, checksum_of(footer));
  footer.append(magic);
  file_.append(bytes_of(footer));
  file_.commit();
}

// ---- reading ----------------------------------------------------------------------------------

record_table::record_table(const std::filesystem::path& path) : path_(path), file_(path) {
  const std::span<const std::byte> bytes = file_.bytes();
  read_index({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void record_table::throw_damaged() const {
  throw error(errc::corrupt, path_.string() + ": the base is damaged");
}

// Checksums are verified first; numbers are still checked, as attackers can compute checksums.
void record_table::read_index(std::string_view all) {
  if (all.size() < magic.size() + footer_bytes || !all.starts_with(magic) || !all.ends_with(magic))
    throw_damaged();
  const std::size_t footer_at = all.size() - footer_bytes;
  const auto footer = [&](std::size_t i) {
    return integers::read<std::uint64_t>(all, footer_at + 8 * i);
  };
  if (checksum_of(all.substr(footer_at, std::size_t{4} * 8)) != footer(4)) throw_damaged();
  const std::uint64_t groups = footer(0);
  const std::uint64_t index_at = footer(2);
  records_ = footer(1);
  if (index_at < magic.size() || index_at > footer_at ||
      groups > (footer_at - index_at) / (8 * entry_words)) {
    throw_damaged();
  }
  const std::string_view index = all.substr(index_at, footer_at - index_at);
  if (checksum_of(index) != footer(3)) throw_damaged();
  groups_.reserve(groups);
  std::uint64_t end = index_at;
  for (std::uint64_t g = groups; g-- > 0;) {
    const auto word = [&](std::size_t i) {
      return integers::read<std::uint64_t>(index, (g * entry_words + i) * 8);
    };
    const std::uint64_t offset = word(0);
    const std::uint64_t key_at = word(2);
    if (offset < magic.size() || offset >= end || key_at < index_at || key_at > footer_at ||
        word(3) > footer_at - key_at) {
      throw_damaged();
    }
    groups_.push_back({.text = all.substr(offset, end - offset),
                       .first_key = all.substr(key_at, word(3)),
                       .checksum = word(1)});
    end = offset;
  }
  std::reverse(groups_.begin(), groups_.end());
}

std::string_view record_table::checked(const group& g) const {
  if (checksum_of(g.text) != g.checksum) throw_damaged();
  return g.text;
}

void record_table::take(std::string_view& text, std::string_view& key,
                        std::string_view& value) const {
  constexpr std::size_t sizes = 8;
  if (text.size() < sizes) throw_damaged();
  const std::size_t key_bytes = integers::read<std::uint32_t>(text, 0);
  const std::size_t value_bytes = integers::read<std::uint32_t>(text, 4);
  if (key_bytes > text.size() - sizes || value_bytes > text.size() - sizes - key_bytes) {
    throw_damaged();
  }
  key = text.substr(sizes, key_bytes);
  value = text.substr(sizes + key_bytes, value_bytes);
  text.remove_prefix(sizes + key_bytes + value_bytes);
}

std::optional<std::string_view> record_table::find(std::string_view key) const {
  const auto after =
      std::upper_bound(groups_.begin(), groups_.end(), key,
                       [](std::string_view k, const group& g) { return k < g.first_key; });
  if (after == groups_.begin()) return std::nullopt;
  std::string_view text = checked(*(after - 1));
  while (!text.empty()) {
    std::string_view found;
    std::string_view value;
    take(text, found, value);
    if (found == key) return value;
    if (found > key) break;
  }
  return std::nullopt;
}

void record_table::for_each(
    const std::function<void(std::string_view key, std::string_view value)>& visit) const {
  for (const group& g : groups_) {
    std::string_view text = checked(g);
    while (!text.empty()) {
      std::string_view key;
      std::string_view value;
      take(text, key, value);
      visit(key, value);
    }
  }
}

}  // namespace bloomery
