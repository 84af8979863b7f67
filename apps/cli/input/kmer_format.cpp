// The k-mers of FASTA and FASTQ files: every k neighbouring bases of a sequence. A k-mer and its
// reverse complement are the same piece of DNA read from the two strands, so the lesser of the two
// in the alphabet is the key. A U is a T, as RNA has it; letters other than these and A, C, G
// (either case) are in no k-mer.
//
// Sequences may be whole chromosomes: a chunk that begins in one has the k - 1 bases before it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "bloomery/core/error.hpp"
#include "cli/input/records.hpp"

namespace bloomery::cli {

namespace {

// For each letter the base and its complement, both in upper case; 0 for other letters.
struct base_tables {
  std::array<char, 256> same{};
  std::array<char, 256> opposite{};

  constexpr base_tables() {
    constexpr std::string_view bases = "ACGT";
    same['U'] = same['u'] = 'T';
    opposite['U'] = opposite['u'] = 'A';
    for (std::size_t i = 0; i < bases.size(); ++i) {
      for (const char c : {bases[i], static_cast<char>(bases[i] + ('a' - 'A'))}) {
        same[static_cast<unsigned char>(c)] = bases[i];
        opposite[static_cast<unsigned char>(c)] = bases[3 - i];
      }
    }
  }
};
constexpr base_tables tables;

class kmer_format final : public record_format {
 public:
  explicit kmer_format(std::uint32_t k) : k_(k) {}

  // A chunk ends with a whole line; of FASTQ with a whole record of four lines. `begin` finds out
  // that a file is FASTQ; before its first chunk the text itself tells. FASTA with a line that
  // begins with '@' is no problem, because four lines are whole lines, too.
  [[nodiscard]] std::size_t whole(std::string_view text, std::size_t searched) const override {
    if (!fastq_ && !text.starts_with('@')) {
      const std::size_t last = text.substr(searched).rfind('\n');
      return last == std::string_view::npos ? 0 : searched + last + 1;
    }
    std::size_t whole = 0;
    std::size_t lines = 0;
    for (std::size_t end = text.find('\n'); end != std::string_view::npos;
         end = text.find('\n', end + 1)) {
      if (++lines % 4 == 0) whole = end + 1;
    }
    return whole;
  }

  void begin(chunk& c, bool first_of_file) override {
    number_lines(c, first_of_file);
    if (first_of_file) {
      carried_.clear();
      fastq_ = c.text.starts_with('@');
      if (!fastq_ && !c.text.starts_with('>')) {
        throw error(
            errc::corrupt,
            fmt::format("{}: neither FASTA nor FASTQ: it begins with neither > nor @", c.file));
      }
    }
    c.fastq = fastq_;
    c.before = carried_;
    if (!fastq_) carry(c.text);
  }

  void split(chunk& c) const override {
    c.key_list.clear();
    char* room = c.make_room(2 * (c.before.size() + c.text.size()));  // with reverse complements
    c.fastq ? split_fastq(c, room) : split_fasta(c, room);
    c.keys = c.key_list;
    c.records = c.keys;
    c.number = c.keys.size();
  }

 private:
  template <class Visit>
  static void for_each_line(std::string_view text, Visit visit) {
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = std::min(text.find('\n', from), text.size());
      std::string_view line = text.substr(from, end - from);
      if (line.ends_with('\r')) line.remove_suffix(1);
      visit(line);
      from = end + 1;
    }
  }

  void carry(std::string_view text) {  // keeps the last k - 1 bases of the chunk's last sequence
    const std::size_t last = text.rfind("\n>");
    if (last != std::string_view::npos) text.remove_prefix(last + 1);
    if (text.starts_with('>')) {
      carried_.clear();
      text.remove_prefix(std::min(text.find('\n'), text.size()));
    }
    std::string bases;
    for (std::size_t i = text.size(); i-- > 0 && bases.size() + 1 < k_;) {
      const bool line_end =
          text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] == '\n'));
      if (!line_end) bases.push_back(text[i]);
    }
    std::ranges::reverse(bases);
    carried_ += bases;
    if (carried_.size() >= k_) carried_.erase(0, carried_.size() - (k_ - 1));
  }

  void split_fasta(chunk& c, char* room) const {
    std::size_t length = 0;
    const auto append = [&](std::string_view bases) {
      bases.copy(room + length, bases.size());
      length += bases.size();
    };
    const auto finish = [&] {
      add_kmers(c, room, length);
      room += 2 * length;
      length = 0;
    };
    append(c.before);
    for_each_line(c.text, [&](std::string_view line) {
      if (line.starts_with('>')) {
        finish();
      } else {
        append(line);
      }
    });
    finish();
  }

  void split_fastq(chunk& c, char* room) const {
    std::uint64_t line_number = c.first_line;
    std::string_view bases;
    for_each_line(c.text, [&](std::string_view line) {
      const std::uint64_t place = (line_number - c.first_line) % 4;
      if (place == 0 && !line.starts_with('@')) {
        throw_bad_record(c, line_number, "a FASTQ record begins with @");
      }
      if (place == 1) {
        bases = line;
        line.copy(room, line.size());
        add_kmers(c, room, line.size());
        room += 2 * line.size();
      }
      if (place == 2 && !line.starts_with('+')) {
        throw_bad_record(c, line_number, "the third line of a FASTQ record begins with +");
      }
      if (place == 3 && line.size() != bases.size()) {
        throw_bad_record(c, line_number, "as many qualities as bases are expected");
      }
      ++line_number;
    });
    if ((line_number - c.first_line) % 4 != 0) {
      throw_bad_record(c, line_number, "ends in the middle of a FASTQ record");
    }
  }

  // Adds the k-mers of `bases`, behind which there is room for the reverse complement.
  void add_kmers(chunk& c, char* bases, std::size_t length) const {
    char* const opposite = bases + length;
    std::size_t good = 0;  // bases in a row, up to here
    for (std::size_t i = 0; i < length; ++i) {
      const auto letter = static_cast<unsigned char>(bases[i]);
      bases[i] = tables.same[letter];
      opposite[length - 1 - i] = tables.opposite[letter];
    }
    for (std::size_t i = 0; i < length; ++i) {
      good = bases[i] == '\0' ? 0 : good + 1;
      if (good < k_) continue;
      const std::string_view one(bases + i + 1 - k_, k_);
      const std::string_view other(opposite + length - 1 - i, k_);
      c.key_list.push_back(std::min(one, other));
    }
  }

  std::size_t k_;
  bool fastq_ = false;
  std::string carried_;
};

}  // namespace

std::unique_ptr<record_format> make_kmer_format(std::uint32_t k) {
  return std::make_unique<kmer_format>(k);
}

}  // namespace bloomery::cli
