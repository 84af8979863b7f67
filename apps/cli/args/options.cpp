#include "cli/args/options.hpp"

#include <algorithm>
#include <thread>

namespace bloomery::cli {

void add_quiet(command& verb, bool& quiet, bool answers) {
  verb.add_flag("-q,--quiet", quiet,
                answers ? "Print nothing: the exit status tells, as with grep -q"
                        : "No progress, no summary, no warnings");
}

void add_no_wait(command& verb, bool& no_wait) {
  verb.add_flag("--no-wait", no_wait, "Fail when another program is changing the file");
}

void add_threads(command& verb, unsigned& threads) {
  threads = std::max(1U, std::thread::hardware_concurrency());
  verb.add_option("--threads", threads, "Threads to work with (default: all cores)")
      ->between(1U, 1024U)
      ->type_name("N");
}

void add_input_options(command& verb, input_options& o) {
  add_input_files(verb, o);
  add_threads(verb, o.threads);
  add_record_options(verb, o.records);
  o.records.tells_empty = true;
  o.records.asks_keys = true;
}

void add_reading_options(command& verb, input_options& o) {
  add_input_options(verb, o);
  o.records.skip_bad = true;
}

void add_no_header(command& verb, bool& no_header) {
  verb.add_flag("--no-header", no_header, "Do not print the row of column names of CSV");
}

void add_input_files(command& verb, input_options& o) {
  verb.add_option("INPUT", o.paths,
                  "Files with a key on each line; none, or -, is standard input. gzip, bzip2, zstd "
                  "and xz are unpacked")
      ->type_name("");
  add_quiet(verb, o.quiet, o.answers);
  verb.add_flag("--progress", o.progress, "Show progress also when standard error is no terminal");
  verb.add_flag("--stats", o.stats, "Say at the end how much was read, and how fast");
}

namespace {

void add_spellings(command& verb, record_options& o) {  // of keys that are no text
  verb.add_option("--record-bytes", o.record_bytes, "Keys are binary records of N bytes")
      ->between(std::uint64_t{1}, std::uint64_t{1} << 20U)
      ->type_name("N");
  verb.add_flag(
      "--hex", o.hex,
      "Keys are bytes written in hexadecimal, such as digests; also in a column or field");
  verb.add_flag("--integers", o.integers,
                "Keys are 64-bit integers, hashed as the library hashes integers; likewise");
  verb.add_option("--kmer", o.kmer, "Keys are the canonical k-mers of FASTA or FASTQ")
      ->between(1U, max_kmer_bases)
      ->type_name("K");
}

}  // namespace

void add_record_options(command& verb, record_options& o) {
  verb.group_options("Input");
  verb.add_flag("--keep-empty", o.keep_empty, "An empty line is a key too");
  verb.add_flag("--crlf", o.crlf, "Lines end with CR LF; the CR is no part of the key");
  verb.add_flag("-0,--null", o.null,
                "Keys end with a NUL instead of a line end, as find -print0 has it");
  verb.add_option("--column", o.column,
                  "Keys are a column of CSV: its name in the first row, or a number from 1; "
                  "'\"7\"' is a name")
      ->type_name("C");
  verb.add_option("--delimiter", o.delimiter,
                  "What stands between columns (default ','; \\t for TSV)")
      ->type_name("D");
  verb.add_flag("--header", o.header, "With a number as --column: pass over the first row");
  verb.add_option("--json-key", o.json_key,
                  "Keys are a field of JSON lines: name, or a.b for b inside a")
      ->type_name("A.B");
  if (!o.numbers) add_spellings(verb, o);
  option* strict =
      verb.add_flag("--strict", o.strict, "Stop at a record that is bad or has no key");
  verb.add_flag("--skip-bad", o.skip_bad,
                "Name bad records and leave them out (default: only if no filter is written)")
      ->excludes(strict);
  verb.group_options("Options");
}

void add_seed(command& verb, hash_options& o) {
  verb.add_option("--seed", o.seed,
                  "Chooses the hash function (default 0; with xxh3-secret a random one)")
      ->type_name("S");
}

void add_hash_options(command& verb, hash_options& o) {
  verb.add_option("--hash", o.name,
                  "The hash function (default " + o.usual +
                      "); xxh3-secret has a secret that its seed chooses, siphash one of a file")
      ->one_of({"xxh3", "xxh3-secret", "siphash"})
      ->type_name("H");
  add_seed(verb, o);
  add_key_file(verb, o.key_file);
}

void add_key_file(command& verb, std::string& path) {
  verb.add_option("--key-file", path,
                  "The secret key of a siphash filter: 32 hexadecimal digits or 16 raw bytes")
      ->type_name("FILE");
}

}  // namespace bloomery::cli
