#include "cli/output/trace_picture.hpp"

#include <algorithm>
#include <map>

namespace bloomery::cli {

namespace {

constexpr double across = 130;  // pixels between hops
constexpr double down = 56;     // and between routers of one hop
constexpr double radius = 9;
constexpr double top = 60;
constexpr double least_width = 680;  // of the longest title

hue colour_of(const trace_graph& g, std::size_t at) {
  if (std::ranges::find(g.entries, at) != g.entries.end()) return hue::orange;
  return g.asked[at].reply.state == router_state::seen ? hue::blue : hue::grid;
}

std::string label_of(const trace_topology& routers, const accused_router& a) {
  const std::string& name = routers.routers[a.router].name;
  switch (a.reply.state) {
    case router_state::silent: return name + " (silent)";
    case router_state::no_record: return name + " (no record)";
    default: return name;
  }
}

}  // namespace

picture trace_picture(const trace_topology& routers, const trace_graph& g,
                      const std::string& title) {
  std::map<std::size_t, std::size_t> of_hop;
  std::vector<point> places;
  std::size_t hops = 0;
  std::size_t most = 1;
  for (const accused_router& a : g.asked) {
    hops = std::max(hops, a.hops);
    const std::size_t row = of_hop[a.hops]++;
    most = std::max(most, row + 1);
    places.push_back({static_cast<double>(a.hops), static_cast<double>(row)});
  }
  picture p{
      .title = title,
      .width = std::max(least_width, 2 * figure_margin + across * static_cast<double>(hops + 1)),
      .height = top + down * static_cast<double>(most) + figure_margin};
  for (point& place : places) {
    place = {p.width - figure_margin - across / 2 - place.x * across, top + place.y * down};
  }
  p.marks.push_back({.form = mark::words,
                     .points = {{figure_margin, figure_margin + 10}},
                     .size = 14,
                     .bold = true,
                     .text = title});
  for (std::size_t at = 1; at < g.asked.size(); ++at) {
    const bool seen = g.asked[at].reply.state == router_state::seen;
    p.marks.push_back({.form = mark::line,
                       .points = {places[at], places[g.asked[at].asked_by]},
                       .colour = seen ? hue::blue : hue::grid,
                       .size = seen ? 2.0 : 1.0,
                       .dashed = !seen});
  }
  for (std::size_t at = 0; at < g.asked.size(); ++at) {
    p.marks.push_back(
        {.form = mark::dot, .points = {places[at]}, .colour = colour_of(g, at), .size = radius});
    p.marks.push_back({.form = mark::words,
                       .points = {{places[at].x, places[at].y + radius + 14}},
                       .size = 12,
                       .at = anchor::middle,
                       .text = label_of(routers, g.asked[at])});
  }
  return p;
}

}  // namespace bloomery::cli
