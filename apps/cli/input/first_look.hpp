// What a user may have got wrong, as the beginning of a file tells: an archive, UTF-16 or
// UTF-32 in place of a list, binary data, line ends of another system.
#pragma once

#include <string_view>

#include "cli/input/records.hpp"
#include "cli/output/progress.hpp"

namespace bloomery::cli {

inline constexpr std::string_view crlf_warning =
    "lines end with CR LF, and the CR is part of the keys; --crlf leaves it out";

// Throws errc::bad_argument if a text begins as UTF-16 or UTF-32 does, and has a NUL as they have.
void refuse_wide_text(std::string_view start, std::string_view file);

class first_look {
 public:
  first_look(const record_options& o, progress& meter);

  // Looks at the first chunk of a file, unpacked. Throws errc::bad_argument for what is no list,
  // and warns of what may be none, once for all files.
  void take(std::string_view text, std::string_view file);

 private:
  void warn(bool& done, std::string_view file, std::string_view what);

  progress* meter_;
  bool text_;   // the form of input is text, which has no NUL bytes
  bool json_;   // whose reader refuses them itself
  bool lines_;  // in which a CR at the end is part of the key
  bool told_of_zeros_ = false;
  bool told_of_returns_ = false;
};

}  // namespace bloomery::cli
