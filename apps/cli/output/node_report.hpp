// What a node tells of itself: as JSON, and as the text that Prometheus reads.
#pragma once

#include <string>

#include "bloomery/exchange/hub.hpp"
#include "bloomery/route/node.hpp"

namespace bloomery::cli {

std::string node_json(const route_node& node, const hub& traffic);
std::string node_metrics(const route_node& node, const hub& traffic);

const char* mode_name(route_mode mode);

// The answer to a request by HTTP for one of the two, or to any other.
std::string http_answer(const std::string& request, const std::string& json,
                        const std::string& metrics);

}  // namespace bloomery::cli
