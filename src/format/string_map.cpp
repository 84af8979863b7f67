#include "bloomery/format/string_map.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/hash/hash.hpp"
#include "container.hpp"
#include "core/changing_errors.hpp"
#include "core/integers.hpp"

namespace bloomery {

namespace {

using integers::read;

namespace string_map_at {  // offsets of the header's fields; the table of docs/format.md
constexpr std::size_t version = 8;
constexpr std::size_t form = 10;
constexpr std::size_t reserved = 12;  // four bytes, and eight more behind the length of the file
constexpr std::size_t image_bytes = 16;
constexpr std::size_t strings = 24;
constexpr std::size_t string_bytes = 32;
constexpr std::size_t file_bytes = 40;
constexpr std::size_t more_reserved = 48;
constexpr std::size_t checksum = 56;
constexpr std::size_t header_bytes = 64;
}  // namespace string_map_at

[[noreturn]] void throw_damaged_map(const std::string& what) {
  detail::fail(errc::corrupt, "the map of strings is damaged: " + what);
}

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

// The parts of the file, after the header and its lengths have been found to be sound.
struct string_map_parts {
  std::span<const std::byte> image;
  std::span<const std::byte> table;
  std::uint64_t strings = 0;
  std::uint64_t string_bytes = 0;
};

string_map_parts cut(std::span<const std::byte> bytes) {
  namespace at = string_map_at;
  if (check_start(bytes) != image_form::string_map) {
    detail::fail(errc::unsupported, "this is no map of strings but another file of Bloomery's");
  }
  if (bytes.size() < at::header_bytes) throw_damaged_map("it is cut off");
  if (read<std::uint64_t>(bytes, at::checksum) != checksum_of(bytes.first(at::checksum))) {
    throw_damaged_map("the checksum of its header is wrong");
  }
  if (read<std::uint32_t>(bytes, at::reserved) != 0 ||
      read<std::uint64_t>(bytes, at::more_reserved) != 0) {
    throw_damaged_map("a reserved byte is used");
  }
  if (read<std::uint64_t>(bytes, at::file_bytes) != bytes.size()) {
    throw_damaged_map("it is " + detail::to_text(std::uint64_t{bytes.size()}) +
                      " bytes long, not " +
                      detail::to_text(read<std::uint64_t>(bytes, at::file_bytes)));
  }
  const std::uint64_t rest = bytes.size() - at::header_bytes;
  const std::uint64_t image = read<std::uint64_t>(bytes, at::image_bytes);
  if (image > rest || image % 8 != 0) throw_damaged_map("the length of its filter");
  string_map_parts parts{.image = bytes.subspan(at::header_bytes, static_cast<std::size_t>(image)),
                         .table = bytes.subspan(at::header_bytes + static_cast<std::size_t>(image)),
                         .strings = read<std::uint64_t>(bytes, at::strings),
                         .string_bytes = read<std::uint64_t>(bytes, at::string_bytes)};
  // Each of the two is compared with the file before they are added, so the sum cannot overflow.
  const std::uint64_t table = parts.table.size();
  if (parts.strings > table / 8 || parts.string_bytes > table ||
      8 * parts.strings + (parts.string_bytes + 7) / 8 * 8 + 8 != table) {
    throw_damaged_map("the length of its table");
  }
  return parts;
}

// Errors say that they are about the filter inside.
image_view filter_image(const string_map_parts& parts) {
  return detail::changing_errors(
      [&] { return image_view::parse(parts.image); },
      [](const error& e) {
        return error(errc::corrupt, std::string("the map of strings is damaged: ") + e.what());
      });
}

bloomier_view filter_in(const image_view& image) {
  const image_header& h = image.header();
  if (h.planned.shape.kind != filter_kind::bloomier) {
    throw_damaged_map("its filter has no values");
  }
  return {h.planned, image.words(), h.keys};
}

plan plan_for(std::uint64_t keys, std::uint64_t strings, const string_map_options& o) {
  const std::uint64_t last = strings == 0 ? 0 : strings - 1;
  const auto needed = static_cast<std::uint32_t>(std::bit_width(last | 1U));
  if (o.value_bits != 0 && o.value_bits < needed) {
    detail::throw_bad_argument(
        "the number of value bits", std::uint64_t{o.value_bits},
        "at least " + detail::to_text(std::uint64_t{needed}) + " for so many different strings");
  }
  sizing::request r{
      .kind = filter_kind::bloomier, .keys = std::max<std::uint64_t>(1, keys), .fpr = o.fpr};
  r.variant = o.value_bits == 0 ? needed : o.value_bits;
  return sizing::make_plan(r);
}

// The table without strings that no key has, in the order of their bytes, and for each old number
// the new one: so the file depends on what is in the map and on nothing else.
string_table sorted(const string_table& strings, std::span<const std::uint64_t> numbers,
                    std::vector<std::uint64_t>& renumbered) {
  renumbered.assign(static_cast<std::size_t>(strings.size()), 0);
  for (const std::uint64_t number : numbers) {
    if (number >= strings.size()) {
      detail::throw_bad_argument("the number of a string", number,
                                 "below " + detail::to_text(strings.size()));
    }
    renumbered[static_cast<std::size_t>(number)] = 1;
  }
  std::vector<std::uint64_t> used;
  for (std::uint64_t i = 0; i < strings.size(); ++i) {
    if (renumbered[static_cast<std::size_t>(i)] != 0) used.push_back(i);
  }
  std::ranges::sort(used,
                    [&](std::uint64_t a, std::uint64_t b) { return strings[a] < strings[b]; });
  string_table table;
  for (const std::uint64_t number : used) {
    renumbered[static_cast<std::size_t>(number)] = table.number_of(strings[number]);
  }
  return table;
}

bloomier_filter filter_for(std::span<const std::uint64_t> hashes,
                           std::span<const std::uint64_t> numbers,
                           const std::vector<std::uint64_t>& renumbered, std::uint64_t strings,
                           const string_map_options& o) {
  std::vector<std::uint64_t> values;
  values.reserve(numbers.size());
  for (const std::uint64_t number : numbers) {
    values.push_back(renumbered[static_cast<std::size_t>(number)]);
  }
  return {plan_for(hashes.size(), strings, o), hashes, values, o.threads};
}

// Ends, strings, padding and their checksum.
std::vector<std::byte> table_bytes(const string_table& strings) {
  std::vector<std::byte> out;
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < strings.size(); ++i) {
    integers::append(out, end += strings[i].size());
  }
  for (std::uint64_t i = 0; i < strings.size(); ++i) {
    const auto text = std::as_bytes(std::span(strings[i]));
    out.insert(out.end(), text.begin(), text.end());
  }
  out.resize((out.size() + 7) / 8 * 8);
  integers::append(out, checksum_of(out));
  return out;
}

template <class Work>
auto naming_map(const std::filesystem::path& path, Work work) {
  return detail::changing_errors(
      work, [&](const error& e) { return error(e.code(), path.string() + ": " + e.what()); });
}

}  // namespace

// ---- strings ----------------------------------------------------------------------------------

std::uint64_t string_table::number_of(std::string_view text) {
  if (const auto at = numbers_.find(text); at != numbers_.end()) return at->second;
  const std::uint64_t number = texts_.size();
  numbers_.emplace(texts_.emplace_back(text), number);
  return number;
}

std::optional<std::uint64_t> string_table::find(std::string_view text) const {
  const auto at = numbers_.find(text);
  if (at == numbers_.end()) return std::nullopt;
  return at->second;
}

// ---- view -------------------------------------------------------------------------------------

string_map_view::string_map_view(std::span<const std::byte> bytes)
    : image_(filter_image(cut(bytes))), numbers_(filter_in(image_)) {
  const string_map_parts parts = cut(bytes);
  strings_ = parts.strings;
  table_ = parts.table;
  ends_ = table_.first(static_cast<std::size_t>(8 * strings_));
  const auto texts = table_.subspan(ends_.size(), static_cast<std::size_t>(parts.string_bytes));
  texts_ = {reinterpret_cast<const char*>(texts.data()), texts.size()};
  const std::uint64_t last = strings_ == 0 ? 0 : read<std::uint64_t>(ends_, ends_.size() - 8);
  if (last != texts_.size()) throw_damaged_map("the length of its strings");
  if (table_.size() <= image_chunk_bytes) verify_table();
}

std::string_view string_map_view::string(std::uint64_t number) const {
  if (number >= strings_) {
    detail::throw_bad_argument("the number of a string", number,
                               "below " + detail::to_text(strings_));
  }
  const auto place = static_cast<std::size_t>(8 * number);
  const std::uint64_t begin = number == 0 ? 0 : read<std::uint64_t>(ends_, place - 8);
  const std::uint64_t end = read<std::uint64_t>(ends_, place);
  if (begin > end || end > texts_.size()) throw_damaged_map("the end of a string");
  return texts_.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

void string_map_view::verify_table() const {
  const auto inside = table_.first(table_.size() - 8);
  if (read<std::uint64_t>(table_, inside.size()) != checksum_of(inside)) {
    throw_damaged_map("the checksum of its table is wrong");
  }
  for (std::uint64_t i = 0; i < strings_; ++i) static_cast<void>(string(i));
  for (const std::byte b : inside.subspan(ends_.size() + texts_.size())) {
    if (b != std::byte{0}) throw_damaged_map("its padding");
  }
}

void string_map_view::verify(unsigned threads) const {
  image_.verify(threads);
  verify_table();
  std::vector<std::string_view> all;
  all.reserve(static_cast<std::size_t>(strings_));
  for (std::uint64_t i = 0; i < strings_; ++i) all.push_back(string(i));
  std::sort(all.begin(), all.end());
  if (std::adjacent_find(all.begin(), all.end()) != all.end()) {
    throw_damaged_map("a string is in it twice");
  }
}

// ---- owner ------------------------------------------------------------------------------------

string_map::string_map(const hash_spec& hash, std::span<const std::uint64_t> hashes,
                       std::span<const std::uint64_t> numbers, const string_table& strings,
                       const string_map_options& o)
    : hash_(hash), numbers_([&] {
        if (hashes.size() != numbers.size()) {
          detail::throw_bad_argument(
              "the number of strings of keys", std::uint64_t{numbers.size()},
              "as many as keys, " + detail::to_text(std::uint64_t{hashes.size()}));
        }
        std::vector<std::uint64_t> renumbered;
        strings_ = sorted(strings, numbers, renumbered);
        return filter_for(hashes, numbers, renumbered, strings_.size(), o);
      }()) {}

string_map::string_map(const string_map_view& from)
    : hash_(from.image().header().hash), numbers_([&] {
        from.verify();
        for (std::uint64_t i = 0; i < from.strings(); ++i) strings_.number_of(from.string(i));
        return bloomier_filter(from.filter());
      }()) {}

std::optional<std::string_view> string_map::value(std::uint64_t hash) const {
  const std::optional<std::uint64_t> number = numbers_.value(hash);
  if (!number || *number >= strings_.size()) return std::nullopt;
  return strings_[*number];
}

bool string_map::update(std::uint64_t hash, std::string_view text) {
  if (!numbers_.contains(hash)) return false;
  const std::uint32_t bits = numbers_.value_bits();
  if (!strings_.find(text) && bits < 64 && strings_.size() >> bits != 0) {
    detail::fail(errc::full, "the map has no room for another string than its " +
                                 detail::to_text(strings_.size()) +
                                 " different ones; build it with more value bits");
  }
  return numbers_.update(hash, strings_.number_of(text));
}

void string_map::save(const std::filesystem::path& path) const {
  namespace at = string_map_at;
  const image_header header{.planned = numbers_.planned(), .hash = hash_, .keys = numbers_.keys()};
  const std::vector<std::byte> table = table_bytes(strings_);
  const auto words = numbers_.words();
  image_writer writer(header);
  writer.pass(words);
  const image_writer::header_bytes image = writer.header();
  const std::uint64_t image_length = image.size() + words.size_bytes() + writer.checksums().size();
  std::uint64_t string_bytes = 0;
  for (std::uint64_t i = 0; i < strings_.size(); ++i) string_bytes += strings_[i].size();
  std::array<std::byte, at::header_bytes> start{};
  std::memcpy(start.data(), magic.data(), magic.size());
  integers::write(start, at::version, format_version);
  integers::write(start, at::form, static_cast<std::uint16_t>(image_form::string_map));
  integers::write(start, at::image_bytes, image_length);
  integers::write(start, at::strings, strings_.size());
  integers::write(start, at::string_bytes, string_bytes);
  integers::write(start, at::file_bytes, start.size() + image_length + table.size());
  integers::write(start, at::checksum, checksum_of(std::span(start).first(at::checksum)));
  atomic_file file(path);
  file.append(start);
  file.append(image);
  file.append(std::as_bytes(words));
  file.append(writer.checksums());
  file.append(table);
  file.commit();
}

// ---- files ------------------------------------------------------------------------------------

string_map_file::string_map_file(mapped_file file, const opening& how)
    : file_(std::move(file)),
      view_(naming_map(file_.path(), [this] { return string_map_view(file_.bytes()); })) {
  if (how.verify) verify(how.threads);
}

void string_map_file::verify(unsigned threads) const {
  naming_map(file_.path(), [&] { view_.verify(threads); });
}

bool is_string_map(std::span<const std::byte> bytes) noexcept {
  return starts_as(bytes, image_form::string_map);
}

}  // namespace bloomery
