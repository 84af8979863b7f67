#include "cli/output/plot.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <span>

#include "bloomery/core/error.hpp"
#include "bloomery/format/file.hpp"
#include "cli/output/chart.hpp"
#include "cli/output/streams.hpp"

namespace bloomery::cli {

option* add_plot(command& verb, std::string& target) {
  return verb.add_option("--plot", target, "Draw it: to FILE.svg or FILE.png, or with - as text")
      ->type_name("FILE");
}

void check_plot(const std::string& target, bool json) {
  if (target == "-" && json) {
    throw error(errc::bad_argument,
                "--json and --plot - both go to standard output; give --plot a file");
  }
  const auto extension = std::filesystem::path(target).extension();
  if (target.empty() || target == "-") return;
  if (extension == ".svg" || extension == ".png") return static_cast<void>(replaced_file(target));
  throw error(errc::bad_argument,
              fmt::format("{}: --plot takes FILE.svg, FILE.png or - for the terminal", target));
}

std::string plot(const figure& f, const std::string& target) {
  if (target == "-") return "\n" + figure_chart(f, output_columns());
  write_picture(laid_out(f), target);
  return {};
}

void write_picture(const picture& drawn, const std::string& target) {
  const bool svg = std::filesystem::path(target).extension() == ".svg";
  const std::string bytes = svg ? svg_of(drawn) : png_of(drawn);
  atomic_file file(target);
  file.append(std::as_bytes(std::span(bytes)));
  file.commit();
}

}  // namespace bloomery::cli
