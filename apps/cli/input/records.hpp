// Forms of input: what a record is, and which part of it is the key.
//
//     text ->  | record | record | record | rest ...   `whole` finds where the last record ends
//                 key      key      key                `split` finds the keys
//
// `whole` and `begin` are called chunk by chunk, in order; `split` may run in any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/hash/any_hasher.hpp"
#include "cli/input/bytes.hpp"
#include "cli/input/record_ends.hpp"

namespace bloomery::cli {

struct bad_record {  // one of which no key can be made
  std::uint64_t line = 0;
  std::string what;
};

struct keyless_record {    // one that is sound, but has nothing where its key should be
  std::size_t before = 0;  // the number of the chunk's keys before it
  std::string_view text;
};

struct chunk {  // a piece of input that consists of whole records
  std::uint64_t sequence = 0;
  std::string_view text;
  // Keys and records are in the order of the input. There are as many of both, unless a format says
  // otherwise. Keys may point into `made` or `read`.
  std::span<const std::string_view> keys;
  std::span<const std::string_view> records;  // without what ends them
  std::size_t number = 0;                     // of keys, also if only this was asked for
  std::size_t empty = 0;                      // of empty lines that were left out
  std::vector<keyless_record> keyless;        // in order
  std::vector<bad_record> bad;                // in order, where they are left out

  // The file and line of the chunk, for messages of formats that have any.
  std::string_view file;
  std::uint64_t first_line = 1;
  // What `begin` found: the column and the record of column names, with its end; whether a sequence
  // is FASTQ, and its bases before the chunk.
  std::size_t column = 0;
  std::string header;
  bool fastq = false;
  std::string before;

  // Memory reused for the next chunk. Clearing the buffer would take a twentieth of the time.
  std::unique_ptr<char[]> buffer;  // what `text` shows
  std::size_t capacity = 0;
  unread_bytes unread;  // `text` is these, and they have yet to be read
  record_ends ends;
  std::vector<std::string_view> key_list;
  std::vector<std::string_view> record_list;
  std::unique_ptr<char[]> made;
  std::size_t made_capacity = 0;
  std::string read;  // memory for keys that were converted from their spelling

  char* make_room(std::size_t size);  // for keys to point into
};

// What to do with a bad record: stop, leave it out, or stop even at one that has no key.
enum class bad_records : std::uint8_t { stop, skip, strict };

class record_format {
 public:
  record_format() = default;
  record_format(const record_format&) = delete;
  record_format& operator=(const record_format&) = delete;
  virtual ~record_format() = default;

  [[nodiscard]] virtual std::string_view terminator() const { return "\n"; }  // of a printed record
  // The length of the whole records at the beginning of `text`; 0 when there is none. The caller
  // knows that no record ends in the first `searched` bytes.
  [[nodiscard]] virtual std::size_t whole(std::string_view text, std::size_t searched) const = 0;
  // Whether the terminator is what ends a record, and `begin` looks at the first chunk of a file
  // alone: then a chunk may be read when its place is known.
  [[nodiscard]] virtual bool ends_alone() const { return false; }
  virtual void begin(chunk& c, bool first_of_file);  // may remove a header from the text
  virtual void split(chunk& c) const = 0;
  virtual void count(chunk& c) const { split_to_count(c); }  // sets only `number`
  void set_policy(bad_records policy) { policy_ = policy; }
  [[nodiscard]] bad_records policy() const { return policy_; }
  // The number of lines of the file before the next chunk, in formats that count lines. Before the
  // first chunk of a file it is still that of the file before.
  [[nodiscard]] std::optional<std::uint64_t> lines_before() const { return lines_before_; }

 protected:
  void number_lines(chunk& c, bool first_of_file);  // for formats whose messages name lines
  void split_to_count(chunk& c) const;              // for formats that have no faster way

  // These throw errc::corrupt, or put the record where it belongs, as the policy has it.
  void take_bad(chunk& c, const char* record, std::string_view what) const;
  void take_keyless(chunk& c, std::size_t before, std::string_view record,
                    std::string_view what) const;

 private:
  bad_records policy_ = bad_records::stop;
  std::optional<std::uint64_t> lines_before_;
};

// Options: at most one form of records, and one spelling of keys in lines, a column or a field.
struct record_options {
  bool keep_empty = false;
  bool crlf = false;
  bool null = false;
  std::string column;
  bool column_by_name = false;  // even if the name looks like a number
  std::string delimiter;
  bool header = false;
  std::string json_key;
  std::uint64_t record_bytes = 0;
  std::uint32_t kmer = 0;
  bool hex = false;  // spellings, from here
  bool integers = false;
  bool numbers = false;       // 8 bytes of a double each, for verbs that compute with them
  bool numbered = false;      // chunks say the number of their first line, whatever the form
  bool any_line_end = false;  // a CR before it is no mistake
  bool tells_empty = false;   // whether to say how many empty lines were left out
  bool asks_keys = false;     // a missing input may be meant as a key, which the error then says
  bool go_on = false;         // an input that cannot be read is told of and left out, like grep
  bool strict = false;        // what to do with bad records, from here
  bool skip_bad = false;

  [[nodiscard]] bad_records on_bad() const {
    if (strict) return bad_records::strict;
    return skip_bad ? bad_records::skip : bad_records::stop;
  }
  // For verbs that print lines: an empty one is a line like others, and does not vanish.
  void take_empty_lines() {
    keep_empty = keep_empty || (column.empty() && json_key.empty() && !hex && !integers);
  }
  // What a record without a key lacks, in forms that have such records.
  [[nodiscard]] std::string wanted() const;

  // Whether counting is as fast as reading, so that threads would only wait for each other.
  [[nodiscard]] bool counted_by_ends() const {
    return !crlf && column.empty() && json_key.empty() && !hex && !integers && !numbers &&
           kmer == 0;
  }
  // The end of a line that has a key and a number: keys that end with NUL may contain line ends.
  [[nodiscard]] std::string_view line_end() const {
    return null ? std::string_view("\0", 1) : "\n";
  }
  // What the keys are, whichever way a record holds them: a filter remembers it.
  [[nodiscard]] key_form form() const {
    if (kmer != 0) return {key_type::kmers, static_cast<std::uint16_t>(kmer)};
    if (integers) return key_type::integers;
    return hex || record_bytes != 0 ? key_type::binary : key_type::text;
  }
};

// Throws errc::bad_argument when the options contradict each other.
std::unique_ptr<record_format> make_format(const record_options& o);

// The key that a text alone spells, by the options kmer, hex and integers. Throws
// errc::bad_argument.
std::string spelled_key(std::string_view text, const record_options& o);

// Appends a key as it was in the input: integers in decimal, bytes in hexadecimal if they came so.
void append_readable(std::string& to, std::string_view key, const record_options& o);

std::unique_ptr<record_format> make_csv_format(const record_options& o);
std::unique_ptr<record_format> make_json_format(const record_options& o);
std::unique_ptr<record_format> make_kmer_format(std::uint32_t k);
// Reads the keys that the format `found` finds as hexadecimal or as integers.
std::unique_ptr<record_format> make_spelled_format(const record_options& o,
                                                   std::unique_ptr<record_format> found);

std::uint64_t line_of(const chunk& c, const char* at);  // the number of the line of this byte
// Throws errc::corrupt with a text such as "access.csv:17: a message".
[[noreturn]] void throw_bad_record(const chunk& c, std::uint64_t line, std::string_view what);

}  // namespace bloomery::cli
