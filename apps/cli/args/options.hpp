// Options that several verbs have.
#pragma once

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
void add_quiet(command& verb, bool& quiet);
void add_no_wait(command& verb, bool& no_wait);  // for verbs that change a file
void add_threads(command& verb, unsigned& threads);

// A keyed filter's key comes from a file: an argument would show in the list of processes.
void add_key_file(command& verb, std::string& path);

}  // namespace bloomery::cli
