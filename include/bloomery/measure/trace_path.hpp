// The way of a packet, from what routers have seen of it: asked backwards, hop by hop.
//
//     victim <- r1 <- r4 <- r9        r1 has seen the packet, so its neighbours are asked; of these
//               |      `- r7 x        r4 has seen it, so its neighbours are asked, and so on. Where
//               `- r2 x                no neighbour has seen it, it has come in.
//
// A filter may say so of a packet that was never there. Such a router is accused falsely, and its
// neighbours are asked too. With d neighbours each and a rate of p/d the expected number of them is
// at most n p / (1 - p) on a way of n hops (Snoeren and others 2001): 4.57 for 32 hops at 1/8.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/measure/traceback.hpp"

namespace bloomery {

// The bound on falsely accused routers; `share` is their neighbours times the rate, below 1.
[[nodiscard]] double falsely_accused_bound(double hops, double share);

struct trace_router {
  std::string name;
  std::string address;
  std::vector<std::size_t> neighbours{};  // sorted; a link has two ends, whoever names it
};

// Routers, a line for each: its name, its address and the names of neighbours, between blanks. What
// follows a # is a remark.
//
//     r1  10.0.0.1:4711  r2 r3
//     r2  10.0.0.2:4711
//     r3  10.0.0.3:4711
struct trace_topology {
  std::vector<trace_router> routers;

  // Throws errc::bad_argument with the number of the line.
  [[nodiscard]] static trace_topology parse(std::string_view text);
  // Throws errc::bad_argument with the name when there is no such router.
  [[nodiscard]] std::size_t find(std::string_view name) const;
};
inline constexpr std::size_t most_trace_routers = 65536;

enum class router_state : std::uint8_t {
  seen,
  not_seen,
  no_record,  // of that time: it cannot know
  silent,     // it did not answer
};

struct router_reply {
  router_state state = router_state::silent;
  trace_answer answer{};
  std::string reason{};  // of one that is silent
};
// What an answer to one packet means.
[[nodiscard]] router_reply reply_from(trace_answer answer, const time_range& when);

struct accused_router {
  std::size_t router = 0;  // its number in the topology
  std::size_t asked_by =
      0;                 // where it stands in trace_graph::asked that led to it; itself at first
  std::size_t hops = 0;  // from the first one
  router_reply reply{};
};

struct trace_graph {
  std::vector<accused_router> asked;  // by hops
  std::vector<std::size_t> seen;      // places in `asked`
  std::vector<std::size_t> entries;   // of those, where nobody behind has seen it
  bool one_path = false;              // every router that has seen it has one such neighbour behind
  bool open_end = false;              // some neighbour could not tell, so it may go on there
  double false_expected = 0;  // routers that may be in it falsely, by the rates of all asked
};

// Asks these routers at once; the replies in the same order.
using ask_routers = std::function<std::vector<router_reply>(std::span<const std::size_t>)>;

[[nodiscard]] trace_graph trace_back(const trace_topology& routers, std::size_t first,
                                     const ask_routers& ask);

}  // namespace bloomery
