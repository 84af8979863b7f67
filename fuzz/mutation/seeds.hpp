// Files of every kind and form, which are then mutated: the golden ones, and what is made here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "mutation/repair.hpp"

namespace bloomery_fuzz {

struct seed_file {
  std::string name;
  file_form form = file_form::file;
  byte_vector bytes;
  byte_vector old = {};  // of a delta: the version that it starts from
};

// In an order that does not depend on the machine. `folder` is for files that are made on the way.
std::vector<seed_file> make_seeds(const std::filesystem::path& golden,
                                  const std::filesystem::path& folder);

}  // namespace bloomery_fuzz
