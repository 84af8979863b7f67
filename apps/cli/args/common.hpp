// Options, hash functions and messages that several verbs share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/format/any_filter.hpp"
#include "bloomery/search/text_index.hpp"
#include "cli/args/command.hpp"
#include "cli/input/records.hpp"
#include "cli/output/progress.hpp"

namespace bloomery::cli {

// Options that say where keys come from and how they are read.
struct input_options {
  std::vector<std::string> paths;
  record_options records;
  unsigned threads = 0;
  bool quiet = false;
  bool progress = false;
  bool stats = false;

  [[nodiscard]] progress_options show() const {
    return {.quiet = quiet, .forced = progress, .stats = stats};
  }
};
void add_input_options(command& verb, input_options& o);
// Adds the input files without the forms of records and the threads, for verbs with a fixed form of
// input.
void add_input_files(command& verb, input_options& o);
void add_record_options(command& verb, record_options& o);
void add_quiet(command& verb, bool& quiet);
void add_threads(command& verb, unsigned& threads);

// The secret key of a filter comes from a file, because an argument would show in the list of
// processes.
void add_key_file(command& verb, std::string& path);

// The hash function of a new filter, by its name.
std::shared_ptr<const any_hasher> make_hasher(std::string_view name, std::uint64_t seed,
                                              const std::string& key_file, std::uint32_t probes,
                                              key_form form = key_form::bytes);
// Whether the hash function makes digests, for probe_scheme::modulo.
bool makes_digests(std::string_view hash_name);
// Opens or loads a filter and gives it its hash function, with the secret key if it needs one.
any_filter open_filter(const std::string& path, const std::string& key_file,
                       key_form form = key_form::bytes);
any_filter load_filter(const std::string& path, const std::string& key_file,
                       key_form form = key_form::bytes);

// Throws errc::unsupported, naming the file, unless its kind has this ability.
void require(bool ability, const any_filter& f, const std::string& path, std::string_view what);

// Prints "words.bloom: 104,334 keys, 129 kB, 9.94 bits a key, fpr 0.99 %" to standard error, and a
// warning when a filter of fixed size holds more keys than it was planned for. The rate of a filter
// of bits follows from its header; that of others needs the filter, and is left out where only a
// header is given.
void print_summary(const std::string& path, const image_header& header);
void print_summary(const std::string& path, const any_filter& f);
// The object of `info --json`; `build --json` and `add --json` print the same.
nlohmann::json info_json(const any_filter& f, std::uint64_t file_bytes);
// The object that `info --json` and `index --json` print for a text index.
nlohmann::json info_json(const text_index_view& index);

void print_json(const nlohmann::json& object);
// Writes to standard output, without stdio's buffer; throws errc::io with the reason when that
// fails.
void write_output(std::string_view text);

}  // namespace bloomery::cli
