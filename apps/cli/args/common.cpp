#include "cli/args/common.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <thread>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "cli/output/text.hpp"
#ifdef BLOOMERY_HAS_CRYPTO
#include "bloomery/crypto/digest.hpp"
#include "bloomery/crypto/siphash.hpp"
#endif

namespace bloomery::cli {

void add_quiet(command& verb, bool& quiet) {
  verb.add_flag("-q,--quiet", quiet, "No progress, no summary, no warnings");
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
}

void add_input_files(command& verb, input_options& o) {
  verb.add_option("INPUT", o.paths,
                  "Files with a key on each line; none, or -, is standard input. gzip, zstd and xz "
                  "are unpacked")
      ->type_name("");
  add_quiet(verb, o.quiet);
  verb.add_flag("--progress", o.progress, "Show progress also when standard error is no terminal");
  verb.add_flag("--stats", o.stats, "Say at the end how much was read, and how fast");
}

void add_record_options(command& verb, record_options& o) {
  verb.group_options("Input");
  verb.add_flag("--keep-empty", o.keep_empty, "An empty line is a key too");
  verb.add_flag("--crlf", o.crlf, "Lines end with CR LF; the CR is no part of the key");
  verb.add_flag("-0,--null", o.null,
                "Keys end with a NUL instead of a line end, as find -print0 has it");
  verb.add_option("--column", o.column,
                  "Keys are a column of CSV: its name in the first row, or a number from 1")
      ->type_name("C");
  verb.add_option("--delimiter", o.delimiter,
                  "What stands between columns (default ','; \\t for TSV)")
      ->type_name("D");
  verb.add_flag("--header", o.header, "With a number as --column: pass over the first row");
  verb.add_option("--json-key", o.json_key,
                  "Keys are a field of JSON lines: name, or a.b for b inside a")
      ->type_name("A.B");
  verb.add_option("--record-bytes", o.record_bytes, "Keys are binary records of N bytes")
      ->between(std::uint64_t{1}, std::uint64_t{1} << 20U)
      ->type_name("N");
  verb.add_flag(
      "--hex", o.hex,
      "Keys are bytes written in hexadecimal, such as digests; also in a column or field");
  verb.add_flag("--integers", o.integers,
                "Keys are 64-bit integers, hashed as the library hashes integers; likewise");
  verb.add_option("--kmer", o.kmer, "Keys are the canonical k-mers of FASTA or FASTQ")
      ->between(1U, 1024U)
      ->type_name("K");
  verb.group_options("Options");
}

void add_key_file(command& verb, std::string& path) {
  verb.add_option("--key-file", path,
                  "The secret key of a siphash filter: 32 hexadecimal digits or 16 raw bytes")
      ->type_name("FILE");
}

namespace {

#ifdef BLOOMERY_HAS_CRYPTO
std::shared_ptr<const any_hasher> keyed_hasher(const std::string& key_file, key_form form) {
  if (key_file.empty()) {
    throw error(
        errc::bad_argument,
        "siphash needs a secret key; make one with 'openssl rand -hex 16 > KEY' and give it "
        "with --key-file KEY");
  }
  return erase(siphash_hasher(read_key_file(key_file)), form);
}
#endif

}  // namespace

bool makes_digests(std::string_view name) {
  return name == hash_name(hash_id::salted_sha1) || name == hash_name(hash_id::md5);
}

std::shared_ptr<const any_hasher> make_hasher(std::string_view name, std::uint64_t seed,
                                              const std::string& key_file, std::uint32_t probes,
                                              key_form form) {
  if (name != hash_name(hash_id::xxh3) && seed != 0) {
    throw error(errc::bad_argument, fmt::format("the hash {} takes no --seed", name));
  }
  if (name != hash_name(hash_id::siphash) && !key_file.empty()) {
    throw error(errc::bad_argument,
                fmt::format("the hash {} takes no --key-file; did you mean --hash siphash?", name));
  }
  if (name == hash_name(hash_id::xxh3)) return erase(xxh3_hasher(seed), form);
#ifdef BLOOMERY_HAS_CRYPTO
  if (name == hash_name(hash_id::siphash)) return keyed_hasher(key_file, form);
  if (name == hash_name(hash_id::salted_sha1)) return erase(salted_sha1_hasher(probes), form);
  if (name == hash_name(hash_id::md5)) return erase(md5_hasher(), form);
#endif
  static_cast<void>(probes);
  throw error(errc::unsupported, fmt::format("this program was built without the hash {}", name));
}

namespace {

std::string_view verb_of(key_rule rule) {
  switch (rule) {
    case key_rule::plain:
      return "check";
    case key_rule::password:
    case key_rule::near_password:
    case key_rule::password_digest:
      return "passwd check";
    case key_rule::word:
      return "spell --dictionary";
    case key_rule::block_list:
      return "block check";
  }
  return "";
}

std::shared_ptr<const any_hasher> hasher_of(const image_header& header, const std::string& key_file,
                                            key_form form) {
  if (header.hash.rule != key_rule::plain) {
    throw error(errc::mismatch,
                fmt::format("it is a filter of {}; ask it with 'bloomery {}'",
                            rule_name(header.hash.rule), verb_of(header.hash.rule)));
  }
  if (header.hash.id == hash_id::none) {
    throw error(errc::unsupported,
                "its hashes come from a program that hashes by rules of its own; ask it there");
  }
  if (header.hash.id == hash_id::siphash && key_file.empty()) {
    throw error(errc::mismatch, "it was made with a secret key; give the key with --key-file");
  }
  return make_hasher(hash_name(header.hash.id), header.hash.seed, key_file,
                     header.planned.shape.probes, form);
}

// Gives the filter its hash function. Errors from here do not name the file yet, unlike those of
// opening.
any_filter with_hasher(any_filter f, const std::string& path, const std::string& key_file,
                       key_form form) {
  try {
    f.use(hasher_of(f.header(), key_file, form));
  } catch (const error& e) {
    throw error(e.code(), fmt::format("{}: {}", path, e.what()));
  }
  return f;
}

}  // namespace

any_filter open_filter(const std::string& path, const std::string& key_file, key_form form) {
  return with_hasher(any_filter::open(path), path, key_file, form);
}

any_filter load_filter(const std::string& path, const std::string& key_file, key_form form) {
  return with_hasher(any_filter::load(path), path, key_file, form);
}

void require(bool ability, const any_filter& f, const std::string& path, std::string_view what) {
  if (ability) return;
  throw error(errc::unsupported,
              fmt::format("{}: a {} filter {}", path, kind_name(f.shape().kind), what));
}

namespace {

void print_summary(const std::string& path, const image_header& header, std::optional<double> fpr) {
  const plan& p = header.planned;
  const double bytes = std::ceil(static_cast<double>(p.shape.bits) / 64) * 8;
  std::string text = fmt::format("{}: {} filter of {} keys, {}", path, kind_name(p.shape.kind),
                                 with_commas(header.keys), as_bytes(bytes));
  if (header.keys != 0) {
    text += fmt::format(", {:.2f} bits a key",
                        static_cast<double>(p.shape.bits) / static_cast<double>(header.keys));
    if (fpr) text += fmt::format(", fpr {}", as_rate(*fpr));
  }
  tell("{}\n", text);
  const bool grows = abilities_of(p.shape.kind).grow || abilities_of(p.shape.kind).forget;
  if (grows || !fpr || p.keys == 0 || header.keys <= p.keys) return;
  tell(
      "bloomery: warning: {} holds {} keys but was planned for {}; its fpr is about {} now, "
      "not {}\n",
      path, with_commas(header.keys), with_commas(p.keys), as_rate(*fpr),
      as_rate(p.fpr_target > 0 ? p.fpr_target : sizing::fpr(p.shape, p.keys)));
}

}  // namespace

void print_summary(const std::string& path, const image_header& header) {
  const shape& s = header.planned.shape;
  print_summary(path, header,
                is_of_bits(s.kind) ? std::optional(sizing::fpr(s, header.keys)) : std::nullopt);
}

void print_summary(const std::string& path, const any_filter& f) {
  if (is_of_bits(f.shape().kind)) return print_summary(path, f.header());
  print_summary(path, f.header(), f.fpr());
}

nlohmann::json info_json(const any_filter& f, std::uint64_t file_bytes) {
  const shape& s = f.shape();
  std::uint64_t words = 0;
  for (const auto part : f.parts()) words += part.size();
  const std::optional<double> estimated = f.keys_estimated();
  nlohmann::json object = {
      {"kind", kind_name(s.kind)},
      {"keys", f.keys()},
      {"keys_planned", f.planned().keys},
      {"keys_estimated", nullptr},
      {"bits", words * 64},
      {"bytes", file_bytes},
      {"probes", s.probes},
      {"fpr_target", nullptr},
      {"fpr_now", f.fpr()},
      {"fill", f.fill()},
      {"hash", hash_name(f.hash().id)},
      {"seed", f.hash().seed},
      {"format_version", format_version},
  };
  if (f.planned().fpr_target > 0) object["fpr_target"] = f.planned().fpr_target;
  // If every bit is set, any number of keys is possible, and there is no estimate.
  if (estimated && std::isfinite(*estimated))
    object["keys_estimated"] = static_cast<std::uint64_t>(std::llround(*estimated));
  for (const fact& told : f.facts()) {
    object[std::string(told.name)] = static_cast<std::uint64_t>(told.value);
  }
  if (!s.shard.whole()) {
    object["shard"] = s.shard.index;
    object["shards"] = s.shard.count;
  }
  if (f.hash().rule != key_rule::plain) object["keys_are"] = rule_name(f.hash().rule);
  if (f.hash().id == hash_id::siphash) object["key_id"] = fmt::format("{:016x}", f.hash().key_id);
  return object;
}

nlohmann::json info_json(const text_index_view& index) {
  const text_index_options& o = index.options();
  nlohmann::json object = {
      {"kind", "text-index"},
      {"documents", index.documents()},
      {"files", index.files()},
      {"groups", index.groups().size()},
      {"keys", index.words()},
      {"bits", index.bits()},
      {"bytes", index.file_bytes()},
      {"probes", o.probes},
      {"fpr_target", o.fpr},
      {"fpr_now", index.fpr()},
      {"hash", hash_name(hash_id::xxh3)},
      {"seed", o.seed},
      {"terms", o.terms == term_kind::words ? "words" : "k-mers"},
      {"unit", o.unit == document_unit::file ? "files" : "paragraphs"},
      {"format_version", format_version},
  };
  if (o.kmer != 0) object["kmer"] = o.kmer;
  return object;
}

void print_json(const nlohmann::json& object) {
  // Keys may be any bytes, but JSON must be UTF-8.
  write_output(object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void write_output(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      throw error(errc::io,
                  fmt::format("standard output: writing failed: {}", std::strerror(errno)));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace bloomery::cli
