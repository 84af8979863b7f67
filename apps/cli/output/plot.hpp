// The option --plot: a figure to a file, or to standard output as text.
#pragma once

#include <string>

#include "cli/args/command.hpp"
#include "cli/output/figure.hpp"

namespace bloomery::cli {

option* add_plot(command& verb, std::string& target);

// Throws errc::bad_argument when a picture cannot be drawn to the target. Verbs call it before they
// do any work.
void check_plot(const std::string& target, bool json);

// Writes FILE.svg or FILE.png, which appears complete or not at all. With - the picture is returned
// as text instead, for the verb to print after everything else.
[[nodiscard]] std::string plot(const figure& f, const std::string& target);

}  // namespace bloomery::cli
