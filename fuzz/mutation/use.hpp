// Every operation of the library on a file of which nothing is known.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "mutation/repair.hpp"

namespace bloomery_fuzz {

enum class verdict : std::uint8_t {
  refused,   // when it was opened
  unsound,   // opened, and found wrong by verifying
  accepted,  // all was done with it
};

// What must not be: a file is found sound, and then something does not work.
class finding : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// `old` is what a delta starts from, a plain file. Files are written in `folder`. Throws a finding;
// and what is no bloomery::error, which is one, too.
verdict use(const byte_vector& bytes, file_form form, const byte_vector& old,
            const std::filesystem::path& folder);

}  // namespace bloomery_fuzz
