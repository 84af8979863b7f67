// Options that several verbs have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/args/command.hpp"
#include "cli/input/records.hpp"
#include "cli/output/progress.hpp"

namespace bloomery::cli {

struct input_options {  // where keys come from and how they are read
  std::vector<std::string> paths;
  record_options records;
  unsigned threads = 0;
  bool quiet = false;
  bool progress = false;
  bool stats = false;
  bool answers = false;  // by the exit status, as grep does: --quiet prints nothing at all

  // Whether to print nothing, and to end with the first record that is selected.
  [[nodiscard]] bool silent(bool json) const { return answers && quiet && !json; }
  [[nodiscard]] progress_options show() const {
    return {.quiet = quiet, .forced = progress, .stats = stats, .warnings = !quiet};
  }
};
void add_input_options(command& verb, input_options& o);
// The same for verbs that change no filter: they leave bad records out and go on, unless they are
// told to stop. A filter that lacks keys would answer wrongly ever after.
void add_reading_options(command& verb, input_options& o);
void add_no_header(command& verb, bool& no_header);  // for verbs that print rows of CSV
// Without the forms of records and the threads: for verbs that know what their lines are.
void add_input_files(command& verb, input_options& o);
void add_record_options(command& verb, record_options& o);
void add_quiet(command& verb, bool& quiet, bool answers = false);  // see input_options
void add_no_wait(command& verb, bool& no_wait);                    // for verbs that change a file
void add_threads(command& verb, unsigned& threads);

// Which hash function, for verbs that make a filter or a sketch.
struct hash_options {
  std::string usual = "xxh3";  // names as hash_name has them
  std::string name = {};       // the one that was asked for, if any
  std::optional<std::uint64_t> seed = {};
  std::string key_file = {};

  // A key file means siphash, of all functions that the verb has.
  [[nodiscard]] std::string chosen() const {
    if (!name.empty()) return name;
    return key_file.empty() ? usual : "siphash";
  }
};
void add_hash_options(command& verb, hash_options& o);  // --hash, --seed and --key-file
void add_seed(command& verb, hash_options& o);          // of verbs that have functions of their own

// A keyed filter's key comes from a file: an argument would show in the list of processes.
void add_key_file(command& verb, std::string& path);

}  // namespace bloomery::cli
