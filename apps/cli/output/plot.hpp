// The option --plot: a figure to a file, or to standard output as text.
#pragma once

#include <string>

#include "cli/args/command.hpp"
#include "cli/output/figure.hpp"

namespace bloomery::cli {

option* add_plot(command& verb, std::string& target);

// Throws errc::bad_argument when there is no way to draw to the target; before any work is done.
void check_plot(const std::string& target, bool json);

// FILE.svg and FILE.png appear complete or not at all. For - the picture is returned instead, to be
// printed after all else.
[[nodiscard]] std::string plot(const figure& f, const std::string& target);

}  // namespace bloomery::cli
