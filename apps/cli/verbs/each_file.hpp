// What info and verify share: one file after the other, as cksum has it.
#pragma once

#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

// Calls show(path) for every file. One that fails is told of, and the others have their turn. With
// `json` it has its object too: who reads JSON reads nothing else.
template <class Show>
int for_each_file(const std::vector<std::string>& paths, bool json, Show show) {
  int status = exit_success;
  for (const std::string& path : paths) {
    try {
      show(path);
    } catch (const error& e) {
      if (json) {
        print_json(
            {{"file", name_of_input(path)}, {"sound", false}, {"error", with_names(e.what())}});
      }
      tell("bloomery: {}\n", e.what());
      status = exit_error;
    }
  }
  return status;
}

}  // namespace bloomery::cli
