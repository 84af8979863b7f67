// What info and verify share: one file after the other, as cksum has it.
#pragma once

#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

// Calls show(path) for every file. One that fails is told of, and the others have their turn.
template <class Show>
int for_each_file(const std::vector<std::string>& paths, Show show) {
  int status = exit_success;
  for (const std::string& path : paths) {
    try {
      show(path);
    } catch (const error& e) {
      tell("bloomery: {}\n", e.what());
      status = exit_error;
    }
  }
  return status;
}

}  // namespace bloomery::cli
