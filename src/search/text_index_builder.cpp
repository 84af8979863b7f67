#include "bloomery/search/text_index_builder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <tuple>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/hash/probe.hpp"
#include "bloomery/hash/random_seed.hpp"
#include "core/integers.hpp"
#include "format/container.hpp"
#include "text_index_layout.hpp"

namespace bloomery {

namespace {

namespace at = index_layout::at;

// Documents of up to this many words share a group: 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ... Four
// steps a doubling leave a tenth of the space unused; eight halve that and double the rows read.
std::uint64_t class_of(std::uint64_t words) {
  if (words <= 4) return 4;
  const auto width = static_cast<unsigned>(std::bit_width(words - 1));  // words is at most 2^width
  const std::uint64_t step = std::uint64_t{1} << (width - 3);
  return (words + step - 1) / step * step;
}

// A query reads one row for each probe, so fewer probes are worth a little space.
std::uint32_t choose_probes(double fpr) {
  double least = sizing::bits_per_key(1, fpr);
  for (std::uint32_t k = 2; k <= max_probes; ++k)
    least = std::min(least, sizing::bits_per_key(k, fpr));
  std::uint32_t probes = 1;
  while (sizing::bits_per_key(probes, fpr) > 1.1 * least) ++probes;
  return probes;
}

text_index_options checked(text_index_options o) {
  if (!(o.fpr >= 1e-9 && o.fpr <= 0.9)) {
    detail::throw_bad_argument("the fpr of a text index", o.fpr, "at least 1e-9 and at most 0.9");
  }
  if (o.probes > max_probes) {
    detail::throw_bad_argument("the number of probes", std::uint64_t{o.probes},
                               "at most " + detail::to_text(std::uint64_t{max_probes}));
  }
  if (o.probes == 0) o.probes = choose_probes(o.fpr);
  const bool of_kmers = o.terms == term_kind::kmers;
  if (of_kmers ? o.kmer < 1 || o.kmer > index_layout::longest_kmer : o.kmer != 0) {
    detail::throw_bad_argument("the length of k-mers", std::uint64_t{o.kmer},
                               "from 1 to 1024, and 0 for words");
  }
  return o;
}

// Transposes 64 x 64 bits: bit j of word i becomes bit i of word j (Warren, Hacker's Delight, 7-3).
void transpose(std::array<std::uint64_t, 64>& m) {
  std::uint64_t mask = 0x00000000ffffffffU;
  for (unsigned j = 32; j != 0; j >>= 1U, mask ^= mask << j) {
    for (unsigned k = 0; k < 64; k = ((k | j) + 1) & ~j) {
      const std::uint64_t t = ((m[k] >> j) ^ m[k | j]) & mask;
      m[k] ^= t << j;
      m[k | j] ^= t;
    }
  }
}

}  // namespace

// ---- distinct_hashes --------------------------------------------------------------------------

distinct_hashes::distinct_hashes() : secret_(random_seed()) {}

void distinct_hashes::grow() {
  if (table_.size() >= 2 * most) {
    throw error(errc::full, "a document with more than " + detail::to_text(std::uint64_t{most}) +
                                " different words; cut it into smaller ones");
  }
  const std::vector<std::uint64_t> old = std::exchange(
      table_, std::vector<std::uint64_t>(std::max<std::size_t>(64, 2 * table_.size())));
  used_ = 0;
  for (const std::uint64_t hash : old) {
    if (hash != 0) insert(hash);
  }
}

std::span<const std::uint64_t> distinct_hashes::all() {
  listed_.clear();
  if (has_zero_) listed_.push_back(0);
  for (const std::uint64_t hash : table_) {
    if (hash != 0) listed_.push_back(hash);
  }
  return listed_;
}

void distinct_hashes::clear() {
  // The table shrinks after a long document, or clearing it for short ones would be slow.
  if (table_.size() > 64 && table_.size() > 8 * (used_ + 1)) {
    table_ = std::vector<std::uint64_t>(std::max<std::size_t>(64, table_.size() / 4));
  } else {
    std::ranges::fill(table_, 0);
  }
  used_ = 0;
  has_zero_ = false;
}

// ---- adding -----------------------------------------------------------------------------------

text_index_builder::text_index_builder(const text_index_options& o,
                                       const std::filesystem::path& directory)
    : options_(checked(o)), scratch_(directory) {}

text_index_builder::text_index_builder(const text_index_view& old,
                                       const std::filesystem::path& directory)
    : options_(checked(old.options())), old_(&old), scratch_(directory) {}

std::uint64_t text_index_builder::rows_for(std::uint64_t words) {
  const std::uint64_t most = class_of(words);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = rows_.find(most); known != rows_.end()) return known->second;
  }
  auto rows = static_cast<std::uint64_t>(sizing::bits_per_key(options_.probes, options_.fpr) *
                                         static_cast<double>(most)) +
              1;
  // Short filters need a little more than the asymptotic formula gives.
  while (sizing::classic_fpr_expected(most, rows, options_.probes) > options_.fpr) {
    rows += 1 + rows / 512;
  }
  const std::lock_guard lock(mutex_);
  rows_.emplace(most, rows);
  return rows;
}

std::uint32_t text_index_builder::add_file(std::string_view path) {
  const std::lock_guard lock(mutex_);
  if (files_.size() >= index_layout::most_documents) throw error(errc::full, "too many files");
  files_.push_back({.path = std::string(path)});
  return static_cast<std::uint32_t>(files_.size() - 1);
}

void text_index_builder::add(std::uint32_t file, std::uint32_t line,
                             std::span<const std::uint64_t> hashes) {
  const std::uint64_t rows = rows_for(hashes.size());
  std::vector<std::uint64_t> bits(static_cast<std::size_t>((rows + 63) / 64));
  const classic_probes probes(
      shape{.kind = filter_kind::classic, .probes = options_.probes, .bits = rows});
  for (const std::uint64_t hash : hashes) {
    probes.all_of(hash, [&](std::uint64_t row) {
      bits[static_cast<std::size_t>(row / 64)] |= std::uint64_t{1} << (row % 64);
      return true;
    });
  }
  const std::lock_guard lock(mutex_);
  const std::uint64_t before = old_ == nullptr ? 0 : old_->documents();
  if (file >= files_.size()) {
    detail::throw_bad_argument("the file", std::uint64_t{file}, "add_file() did not return it");
  }
  if (before + added_.size() >= index_layout::most_documents) {
    throw error(errc::full, "an index has no room for more documents");
  }
  added_.push_back({.file = file,
                    .line = line,
                    .rows = rows,
                    .words = hashes.size(),
                    .offset = scratch_.size()});
  scratch_.append(std::as_bytes(std::span(bits)));
}

void text_index_builder::drop(std::uint32_t file) {
  const std::lock_guard lock(mutex_);
  files_.at(file).dropped = true;
}

// ---- writing ----------------------------------------------------------------------------------

struct text_index_builder::layout {  // the places of all parts in the file
  struct group {
    std::uint64_t rows = 0;
    const text_index_view::group* old = nullptr;
    std::vector<std::uint32_t> added;  // indexes of new documents, in order
    std::uint64_t words = 0;

    [[nodiscard]] std::uint64_t documents() const {
      return added.size() + (old == nullptr ? 0 : old->documents);
    }
    [[nodiscard]] std::uint64_t bit_bytes() const { return (rows * documents() + 63) / 64 * 8; }
  };

  std::vector<group> groups;
  std::uint64_t old_documents = 0;
  std::uint64_t documents = 0;
  std::uint64_t old_files = 0;
  std::uint64_t files = 0;
  std::uint64_t words = 0;
  std::uint64_t name_bytes = 0;
  std::uint64_t bit_bytes = 0;

  [[nodiscard]] std::uint64_t file_bytes() const {
    using namespace index_layout;
    return header_bytes + groups.size() * group_bytes + documents * document_bytes +
           padded(documents * member_bytes) + files * end_bytes + padded(name_bytes) + bit_bytes +
           checksum_bytes;
  }
};

text_index_builder::layout text_index_builder::plan_layout() {
  layout all;
  std::map<std::uint64_t, layout::group> groups;
  if (old_ != nullptr) {
    all.old_documents = old_->documents();
    all.old_files = old_->files();
    for (std::uint32_t i = 0; i < all.old_files; ++i) all.name_bytes += old_->path(i).size();
    for (const text_index_view::group& g : old_->groups()) {
      groups[g.rows] = {.rows = g.rows, .old = &g, .added = {}, .words = g.words};
    }
  }
  std::erase_if(added_, [&](const added_document& d) { return files_[d.file].dropped; });
  std::ranges::sort(added_, {},
                    [](const added_document& d) { return std::tuple(d.file, d.line, d.offset); });
  all.files = all.old_files;
  for (std::size_t i = 0; i < added_.size(); ++i) {
    new_file& file = files_[added_[i].file];
    if (file.number == text_index_view::no_file) {
      file.number = static_cast<std::uint32_t>(all.files++);
      all.name_bytes += file.path.size();
    }
    layout::group& g = groups[added_[i].rows];
    g.rows = added_[i].rows;
    g.added.push_back(static_cast<std::uint32_t>(i));
    g.words += added_[i].words;
  }
  if (all.files > index_layout::most_documents) throw error(errc::full, "too many files");
  all.documents = all.old_documents + added_.size();
  for (auto& [rows, g] : groups) {
    all.words += g.words;
    all.bit_bytes += g.bit_bytes();
    all.groups.push_back(std::move(g));
  }
  return all;
}

class text_index_builder::writer {
 public:
  writer(const text_index_builder& from, const layout& all, const byte_sink& sink)
      : from_(from), all_(all), out_(image_form::text_index, sink) {}

  void write() {
    header();
    for (const layout::group& g : all_.groups) {
      put(g.rows);
      put(g.documents());
      put(g.words);
    }
    documents();
    members();
    names();
    for (const layout::group& g : all_.groups) table(g);
    out_.finish();
  }

 private:
  template <class Integer>
  void put(Integer value) {
    std::vector<std::byte>& out = out_.buffer();
    integers::append(out, value);
    constexpr std::size_t enough = std::size_t{1} << 20U;
    if (out.size() >= enough) out_.flush();
  }
  void pad(std::uint64_t bytes) {
    for (; bytes % 8 != 0; ++bytes) out_.buffer().push_back(std::byte{0});
  }

  void header() {
    const text_index_options& o = from_.options_;
    put(o.probes);
    put(static_cast<std::uint16_t>(o.terms));
    put(static_cast<std::uint16_t>(o.unit));
    put(o.kmer);
    put(o.seed);
    put(std::bit_cast<std::uint64_t>(o.fpr));
    put(all_.words);
    put(all_.documents);
    put(all_.files);
    put(std::uint64_t{all_.groups.size()});
    put(all_.name_bytes);
    put(all_.bit_bytes);
    put(all_.file_bytes());
    for (std::size_t i = at::reserved; i < at::checksum; ++i) put(std::uint8_t{0});
    put(XXH3_64bits(out_.buffer().data(), out_.buffer().size()));
  }

  void documents() {
    std::set<std::string_view> replaced;
    for (const new_file& f : from_.files_) {
      if (!f.dropped) replaced.insert(f.path);
    }
    for (std::uint32_t i = 0; i < all_.old_documents; ++i) {
      const std::optional<indexed_document> old = from_.old_->document(i);
      const bool keep = old && !replaced.contains(old->path);
      put(keep ? from_.old_->file_of(i) : text_index_view::no_file);
      put(keep ? old->line : 0U);
    }
    for (const added_document& d : from_.added_) {
      put(from_.files_[d.file].number);
      put(d.line);
    }
  }

  void members() {
    for (const layout::group& g : all_.groups) {
      const std::uint64_t old = g.old == nullptr ? 0 : g.old->documents;
      for (std::uint64_t i = 0; i < old; ++i) put(from_.old_->member(*g.old, i));
      for (const std::uint32_t i : g.added) {
        put(static_cast<std::uint32_t>(all_.old_documents + i));
      }
    }
    pad(all_.documents * index_layout::member_bytes);
  }

  void names() {
    std::vector<std::string_view> paths;  // the paths in the order of the numbers of their files
    for (std::uint32_t i = 0; i < all_.old_files; ++i) paths.push_back(from_.old_->path(i));
    for (const new_file& f : from_.files_) {
      if (f.number != text_index_view::no_file) paths.push_back(f.path);
    }
    std::uint64_t end = 0;
    for (const std::string_view path : paths) put(end += path.size());
    for (const std::string_view path : paths) {
      for (const char c : path) put(static_cast<std::uint8_t>(c));
    }
    pad(end);
  }

  void put_bits(std::uint64_t value, std::uint64_t count) {
    open_ |= value << open_bits_;
    if (open_bits_ + count < 64) {
      open_bits_ += count;
      return;
    }
    put(open_);
    const std::uint64_t done = 64 - open_bits_;
    open_ = done == 64 ? 0 : value >> done;
    open_bits_ = count - done;
  }

  // Writes the table row by row: the columns of the old index, then the new ones.
  void table(const layout::group& g) {
    const std::uint64_t words = (g.rows + 63) / 64;  // of the filter of a document
    const std::uint64_t added = g.added.size();
    constexpr std::uint64_t most_words = std::uint64_t{8} << 20U;  // 64 MiB
    const std::uint64_t strip = std::clamp<std::uint64_t>(most_words / (added + 1), 1, words);
    std::vector<std::uint64_t> filters;
    for (std::uint64_t from = 0; from < words; from += strip) {
      const std::uint64_t count = std::min(strip, words - from);
      filters.resize(static_cast<std::size_t>(added * count));
      for (std::size_t i = 0; i < g.added.size(); ++i) {
        from_.scratch_.read_at(
            from_.added_[g.added[i]].offset + 8 * from,
            std::as_writable_bytes(std::span(filters).subspan(i * count, count)));
      }
      for (std::uint64_t w = 0; w < count; ++w) rows(g, from + w, filters, w, count);
    }
    if (open_bits_ != 0) put(std::exchange(open_, 0));
    open_bits_ = 0;
  }

  // Writes the 64 rows that one word of the filters holds.
  void rows(const layout::group& g, std::uint64_t word, std::span<const std::uint64_t> filters,
            std::uint64_t w, std::uint64_t stride) {
    const std::size_t added = g.added.size();
    squares_.resize((added + 63) / 64);
    for (std::size_t s = 0; s < squares_.size(); ++s) {
      for (std::size_t i = 0; i < 64; ++i) {
        const std::size_t document = 64 * s + i;
        squares_[s][i] =
            document < added ? filters[static_cast<std::size_t>(document * stride + w)] : 0;
      }
      transpose(squares_[s]);
    }
    const std::uint64_t end = std::min<std::uint64_t>(64, g.rows - 64 * word);
    for (std::uint64_t row = 0; row < end; ++row) {
      if (g.old != nullptr) copy_row(*g.old, 64 * word + row);
      for (std::size_t s = 0; s < squares_.size(); ++s) {
        put_bits(squares_[s][static_cast<std::size_t>(row)],
                 std::min<std::uint64_t>(64, added - 64 * s));
      }
    }
  }

  void copy_row(const text_index_view::group& old, std::uint64_t row) {
    for (std::uint64_t i = 0; i < old.documents; i += 64) {
      const std::uint64_t count = std::min<std::uint64_t>(64, old.documents - i);
      put_bits(index_layout::bits_at(old.bits, row * old.documents + i, count), count);
    }
  }

  const text_index_builder& from_;
  const layout& all_;
  container_writer out_;
  std::uint64_t open_ = 0;  // bits that do not fill a word yet
  std::uint64_t open_bits_ = 0;
  std::vector<std::array<std::uint64_t, 64>> squares_;
};

void text_index_builder::save(const std::filesystem::path& path) {
  const std::lock_guard lock(mutex_);
  const layout all = plan_layout();
  atomic_file file(path);
  const auto append = [&](std::span<const std::byte> bytes) { file.append(bytes); };
  writer(*this, all, byte_sink(append)).write();
  file.commit();
}

}  // namespace bloomery
