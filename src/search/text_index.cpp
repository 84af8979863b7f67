#include "bloomery/search/text_index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/hash/probe.hpp"
#include "core/integers.hpp"
#include "format/container.hpp"
#include "text_index_layout.hpp"

namespace bloomery {

namespace {

namespace at = index_layout::at;
using integers::read;

[[noreturn]] void throw_corrupt(const std::string& what) {
  throw error(errc::corrupt, "the text index is damaged: " + what);
}

// Cuts parts from the front of the bytes, and throws when a part is longer than what is left.
class cutter {
 public:
  explicit cutter(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::span<const std::byte> take(std::uint64_t count, std::uint64_t size) {
    if (count > rest_.size() / size) throw_corrupt("its parts are longer than the file");
    const auto bytes = static_cast<std::size_t>(count * size);
    const auto part = rest_.first(bytes);
    const std::uint64_t padding = index_layout::padded(bytes) - bytes;
    if (padding > rest_.size() - bytes) throw_corrupt("its parts are longer than the file");
    for (std::uint64_t i = 0; i < padding; ++i) {
      if (rest_[bytes + static_cast<std::size_t>(i)] != std::byte{0}) throw_corrupt("its padding");
    }
    rest_ = rest_.subspan(bytes + static_cast<std::size_t>(padding));
    return part;
  }
  [[nodiscard]] std::size_t left() const noexcept { return rest_.size(); }

 private:
  std::span<const std::byte> rest_;
};

text_index_options read_options(std::span<const std::byte> header) {
  const text_index_options o{
      .fpr = std::bit_cast<double>(read<std::uint64_t>(header, at::target)),
      .probes = read<std::uint32_t>(header, at::probes),
      .seed = read<std::uint64_t>(header, at::seed),
      .terms = static_cast<term_kind>(read<std::uint16_t>(header, at::terms)),
      .kmer = read<std::uint32_t>(header, at::kmer),
      .unit = static_cast<document_unit>(read<std::uint16_t>(header, at::unit))};
  if (o.terms != term_kind::words && o.terms != term_kind::kmers) {
    throw error(errc::unsupported, "the text index has terms of a sort that this program lacks");
  }
  if (o.unit != document_unit::file && o.unit != document_unit::paragraph) {
    throw error(errc::unsupported,
                "the text index has documents of a sort that this program lacks");
  }
  if (o.probes < 1 || o.probes > max_probes) throw_corrupt("its number of probes");
  if (!(o.fpr > 0 && o.fpr < 1)) throw_corrupt("its target is no rate");
  const bool of_kmers = o.terms == term_kind::kmers;
  if (of_kmers ? o.kmer < 1 || o.kmer > index_layout::longest_kmer : o.kmer != 0) {
    throw_corrupt("the length of its k-mers");
  }
  return o;
}

std::span<const std::uint64_t> as_words(std::span<const std::byte> bytes) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::uint64_t) != 0) {
    throw error(errc::bad_argument, "the bytes of a text index must be aligned for 64-bit words");
  }
  return {reinterpret_cast<const std::uint64_t*>(bytes.data()), bytes.size() / 8};
}

class row_sieve {  // the AND of rows of one group, with a bit for each document
 public:
  explicit row_sieve(const text_index_view::group& g)
      : group_(&g), bits_(static_cast<std::size_t>((g.documents + 63) / 64)) {}

  void begin() { std::ranges::fill(bits_, ~std::uint64_t{0}); }

  bool keep(std::uint64_t row) {  // ANDs another row; false when no document is left
    const std::uint64_t count = group_->documents;
    const std::uint64_t from = row * count;
    const auto first = static_cast<std::size_t>(from / 64);
    const std::uint64_t shift = from % 64;
    const std::uint64_t* const words = group_->bits.data() + first;
    const std::size_t last = bits_.size() - 1;
    std::uint64_t any = 0;
    if (shift == 0) {
      for (std::size_t i = 0; i < last; ++i) any |= bits_[i] &= detail::little_endian(words[i]);
    } else {
      for (std::size_t i = 0; i < last; ++i) {
        any |= bits_[i] &= (detail::little_endian(words[i]) >> shift) |
                           (detail::little_endian(words[i + 1]) << (64 - shift));
      }
    }
    const std::uint64_t end = 64 * std::uint64_t{last};
    any |= bits_[last] &= index_layout::bits_at(group_->bits, from + end, count - end);
    return any != 0;
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      for (std::uint64_t w = bits_[i]; w != 0; w &= w - 1) {
        visit(64 * std::uint64_t{i} + static_cast<std::uint64_t>(std::countr_zero(w)));
      }
    }
  }

 private:
  const text_index_view::group* group_;
  std::vector<std::uint64_t> bits_;
};

// The rows of a hash are its positions in a classic filter.
classic_probes rows_in(const text_index_view::group& g, std::uint32_t probes) {
  return classic_probes(shape{.kind = filter_kind::classic, .probes = probes, .bits = g.rows});
}

std::vector<std::uint64_t> columns_with_all(const text_index_view::group& g, std::uint32_t probes,
                                            std::span<const std::uint64_t> hashes) {
  std::vector<std::uint64_t> rows;  // the rows in the order of the file, without repetition
  const classic_probes finder = rows_in(g, probes);
  for (const std::uint64_t hash : hashes) {
    finder.all_of(hash, [&](std::uint64_t row) {
      rows.push_back(row);
      return true;
    });
  }
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  row_sieve sieve(g);
  sieve.begin();
  std::vector<std::uint64_t> columns;
  if (!std::ranges::all_of(rows, [&](std::uint64_t row) { return sieve.keep(row); }))
    return columns;
  sieve.for_each([&](std::uint64_t column) { columns.push_back(column); });
  return columns;
}

std::vector<std::uint64_t> columns_with_some(const text_index_view::group& g, std::uint32_t probes,
                                             std::span<const std::uint64_t> hashes,
                                             std::uint64_t needed) {
  std::vector<std::uint32_t> counts(static_cast<std::size_t>(g.documents));
  const classic_probes finder = rows_in(g, probes);
  row_sieve sieve(g);
  for (const std::uint64_t hash : hashes) {
    sieve.begin();
    if (!finder.all_of(hash, [&](std::uint64_t row) { return sieve.keep(row); })) continue;
    sieve.for_each([&](std::uint64_t column) { ++counts[static_cast<std::size_t>(column)]; });
  }
  std::vector<std::uint64_t> columns;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] >= needed) columns.push_back(i);
  }
  return columns;
}

}  // namespace

// ---- opening ----------------------------------------------------------------------------------

text_index_view::text_index_view(std::span<const std::byte> bytes) : bytes_(bytes) {
  if (check_start(bytes) != image_form::text_index) {
    throw error(errc::unsupported, "this is no text index but another file of Bloomery's");
  }
  if (bytes.size() < index_layout::header_bytes + index_layout::checksum_bytes) {
    throw_corrupt("it is cut off");
  }
  if (read<std::uint64_t>(bytes, at::checksum) !=
      XXH3_64bits(bytes.data(), index_layout::header_bytes - index_layout::checksum_bytes)) {
    throw_corrupt("the checksum of its header is wrong");
  }
  options_ = read_options(bytes);
  for (std::size_t i = at::reserved; i < at::checksum; ++i) {
    if (bytes[i] != std::byte{0}) throw_corrupt("a reserved byte is used");
  }
  words_ = read<std::uint64_t>(bytes, at::words);
  documents_ = read<std::uint64_t>(bytes, at::documents);
  files_ = read<std::uint64_t>(bytes, at::files);
  if (std::max(documents_, files_) > index_layout::most_documents) {
    throw_corrupt("it has too many documents");
  }
  if (read<std::uint64_t>(bytes, at::file_bytes) != bytes.size()) {
    throw_corrupt("it is " + detail::to_text(std::uint64_t{bytes.size()}) + " bytes long, not " +
                  detail::to_text(read<std::uint64_t>(bytes, at::file_bytes)));
  }
  cutter rest(bytes.subspan(index_layout::header_bytes, bytes.size() - index_layout::header_bytes -
                                                            index_layout::checksum_bytes));
  const auto table = rest.take(read<std::uint64_t>(bytes, at::groups), index_layout::group_bytes);
  document_table_ = rest.take(documents_, index_layout::document_bytes);
  members_ = rest.take(documents_, index_layout::member_bytes);
  name_ends_ = rest.take(files_, index_layout::end_bytes);
  const auto names = rest.take(read<std::uint64_t>(bytes, at::name_bytes), 1);
  names_ = {reinterpret_cast<const char*>(names.data()), names.size()};
  const std::uint64_t names_end =
      files_ == 0 ? 0 : read<std::uint64_t>(name_ends_.last(index_layout::end_bytes), 0);
  if (names_end != names.size()) throw_corrupt("the length of its names");
  const std::uint64_t bit_bytes = read<std::uint64_t>(bytes, at::bit_bytes);
  if (bit_bytes % 8 != 0 || bit_bytes != rest.left()) throw_corrupt("the length of its tables");
  read_groups(table, rest.take(bit_bytes, 1));
  if (bytes.size() <= image_chunk_bytes) verify();
}

void text_index_view::read_groups(std::span<const std::byte> table,
                                  std::span<const std::byte> bits) {
  std::span<const std::uint64_t> rest = as_words(bits);
  std::uint64_t documents = 0;
  std::uint64_t words = 0;
  std::uint64_t rows_before = 0;
  for (; !table.empty(); table = table.subspan(index_layout::group_bytes)) {
    group g{.rows = read<std::uint64_t>(table, 0),
            .documents = read<std::uint64_t>(table, 8),
            .words = read<std::uint64_t>(table, 16),
            .first_member = documents};
    if (g.documents == 0 || g.documents > documents_ - documents) {
      throw_corrupt("the documents of its groups");
    }
    if (g.rows <= rows_before || g.rows > 64 * std::uint64_t{rest.size()} / g.documents) {
      throw_corrupt("the rows of its groups");
    }
    // Rounding up stays inside the rest, which consists of whole words.
    const auto length = static_cast<std::size_t>((g.rows * g.documents + 63) / 64);
    g.bits = rest.first(length);
    rest = rest.subspan(length);
    documents += g.documents;
    words += g.words;
    rows_before = g.rows;
    groups_.push_back(g);
  }
  if (documents != documents_ || words != words_ || !rest.empty()) {
    throw_corrupt("its groups are not all of it");
  }
}

// ---- what a document is -----------------------------------------------------------------------

std::uint32_t text_index_view::member(const group& g, std::uint64_t column) const {
  const auto place = static_cast<std::size_t>(g.first_member + column) * index_layout::member_bytes;
  const auto number = read<std::uint32_t>(members_, place);
  if (number >= documents_) throw_corrupt("a group has a document that does not exist");
  return number;
}

std::uint32_t text_index_view::file_of(std::uint32_t document) const {
  if (document >= documents_) {
    detail::throw_bad_argument("the document", std::uint64_t{document},
                               "below " + detail::to_text(documents_));
  }
  const auto file =
      read<std::uint32_t>(document_table_, std::size_t{document} * index_layout::document_bytes);
  if (file != no_file && file >= files_)
    throw_corrupt("a document is of a file that does not exist");
  return file;
}

std::string_view text_index_view::path(std::uint32_t file) const {
  const auto end_of = [&](std::uint32_t i) {
    return read<std::uint64_t>(name_ends_, std::size_t{i} * index_layout::end_bytes);
  };
  if (file >= files_) throw_corrupt("a document is of a file that does not exist");
  const std::uint64_t begin = file == 0 ? 0 : end_of(file - 1);
  const std::uint64_t end = end_of(file);
  if (begin > end || end > names_.size()) throw_corrupt("the name of a file");
  return names_.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

text_index_view::contents text_index_view::in_use() const {
  contents now;
  std::vector<bool> used(static_cast<std::size_t>(files_));
  for (std::uint32_t i = 0; i < documents_; ++i) {
    const std::uint32_t file = file_of(i);
    if (file == no_file) continue;
    ++now.documents;
    now.files += used[file] ? 0U : 1U;
    used[file] = true;
  }
  return now;
}

std::optional<indexed_document> text_index_view::document(std::uint32_t number) const {
  const std::uint32_t file = file_of(number);
  if (file == no_file) return std::nullopt;
  const auto line =
      read<std::uint32_t>(document_table_, std::size_t{number} * index_layout::document_bytes + 4);
  return indexed_document{.path = path(file), .line = line};
}

// ---- questions --------------------------------------------------------------------------------

std::vector<std::uint32_t> text_index_view::find(std::span<const std::uint64_t> hashes,
                                                 double share) const {
  if (!(share > 0 && share <= 1)) {
    detail::throw_bad_argument("the share of the terms", share, "above 0 and at most 1");
  }
  if (hashes.empty()) throw error(errc::bad_argument, "there is no word to search for");
  std::vector<std::uint64_t> different(hashes.begin(), hashes.end());
  std::ranges::sort(different);
  different.erase(std::unique(different.begin(), different.end()), different.end());
  const std::uint64_t needed = std::max<std::uint64_t>(1, terms_needed(share, different.size()));
  // A bitmap of the documents sorts them.
  std::vector<std::uint64_t> marks(static_cast<std::size_t>((documents_ + 63) / 64));
  for (const group& g : groups_) {
    const std::vector<std::uint64_t> columns =
        needed >= different.size() ? columns_with_all(g, options_.probes, different)
                                   : columns_with_some(g, options_.probes, different, needed);
    for (const std::uint64_t column : columns) {
      const std::uint32_t number = member(g, column);
      marks[number / 64] |= std::uint64_t{1} << (number % 64);
    }
  }
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    for (std::uint64_t w = marks[i]; w != 0; w &= w - 1) {
      const auto number =
          static_cast<std::uint32_t>(64 * i) + static_cast<std::uint32_t>(std::countr_zero(w));
      if (file_of(number) != no_file) found.push_back(number);
    }
  }
  return found;
}

std::uint64_t text_index_view::bits() const noexcept {
  std::uint64_t total = 0;
  for (const group& g : groups_) total += g.rows * g.documents;
  return total;
}

double text_index_view::expected_false(std::uint64_t terms) const {
  double total = 0;
  for (const group& g : groups_) {
    const auto documents = static_cast<double>(g.documents);
    const auto words = static_cast<double>(g.words) / documents;
    const double fill = -std::expm1(-words * options_.probes / static_cast<double>(g.rows));
    total += documents *
             std::pow(fill, static_cast<double>(options_.probes) * static_cast<double>(terms));
  }
  return total;
}

double text_index_view::fpr() const {
  return documents_ == 0 ? 0 : expected_false(1) / static_cast<double>(documents_);
}

void text_index_view::verify() const {
  open_container(bytes_, image_form::text_index);
  std::vector<bool> seen(static_cast<std::size_t>(documents_));
  for (const group& g : groups_) {
    std::uint32_t before = 0;
    for (std::uint64_t column = 0; column < g.documents; ++column) {
      const std::uint32_t number = member(g, column);
      if (seen[number] || (column != 0 && number < before)) {
        throw_corrupt("its groups have a document twice, or out of order");
      }
      seen[number] = true;
      before = number;
    }
  }
  for (std::uint32_t i = 0; i < documents_; ++i) static_cast<void>(file_of(i));
  for (std::uint32_t i = 0; i < files_; ++i) static_cast<void>(path(i));
}

// ---- files ------------------------------------------------------------------------------------

namespace {

template <class Work>
auto naming(const std::filesystem::path& path, Work work) {
  try {
    return work();
  } catch (const error& e) {
    throw error(e.code(), path.string() + ": " + e.what());
  }
}

}  // namespace

text_index::text_index(const std::filesystem::path& path, const opening& how)
    : path_(path),
      file_(path),
      view_(naming(path, [this] { return text_index_view(file_.bytes()); })) {
  if (how.verify) verify();
}

void text_index::verify() const {
  naming(path_, [this] { view_.verify(); });
}

bool is_text_index(std::span<const std::byte> bytes) noexcept {
  return starts_as(bytes, image_form::text_index);
}

bool is_text_index(const std::filesystem::path& path) {
  return is_text_index(mapped_file(path).bytes());
}

}  // namespace bloomery
