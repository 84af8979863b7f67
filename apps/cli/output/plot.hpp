// The option --plot: a figure to a file, or to standard output as text.
#pragma once

#include <string>

#include "cli/args/command.hpp"
#include "cli/output/drawing.hpp"
#include "cli/output/figure.hpp"

namespace bloomery::cli {

option* add_plot(command& verb, std::string& target);

// Throws errc::bad_argument when the target can have no picture. Called before any work is done.
void check_plot(const std::string& target, bool json);

// Writes FILE.svg or FILE.png, complete or not at all; for - it returns text to print at the end.
[[nodiscard]] std::string plot(const figure& f, const std::string& target);

// Writes a picture to FILE.svg or FILE.png, complete or not at all.
void write_picture(const picture& drawn, const std::string& target);

}  // namespace bloomery::cli
