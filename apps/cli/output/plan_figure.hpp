// The pictures of plan: what probes, kinds and packing do to rate and size.
#pragma once

#include <string>

#include "bloomery/core/sizing.hpp"
#include "cli/output/figure.hpp"

namespace bloomery::cli {

// Three panels, or the one of them that is named: probes, kinds or packed.
[[nodiscard]] figure plan_figure(const sizing::request& asked, const std::string& only);

}  // namespace bloomery::cli
