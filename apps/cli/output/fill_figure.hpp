// The picture of info: how full a filter is, from its beginning to its end.
#pragma once

#include <string>

#include "bloomery/format/any_filter.hpp"
#include "cli/output/figure.hpp"

namespace bloomery::cli {

// Throws errc::unsupported, naming the path, for kinds whose arrays have no empty places.
[[nodiscard]] figure fill_figure(const any_filter& f, const std::string& path);

}  // namespace bloomery::cli
