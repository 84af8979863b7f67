// The way of a packet through routers, as a picture.
#pragma once

#include "bloomery/measure/trace_path.hpp"
#include "cli/output/drawing.hpp"

namespace bloomery::cli {

// Routers by hops, from the right, where the packet arrived, to the left; those that have seen it
// are filled, the entries in another colour.
[[nodiscard]] picture trace_picture(const trace_topology& routers, const trace_graph& g,
                                    const std::string& title);

}  // namespace bloomery::cli
