#include "bloomery/measure/trace_path.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "bloomery/core/error.hpp"

namespace bloomery {

namespace {

std::vector<std::string_view> words_of_line(std::string_view line) {
  line = line.substr(0, line.find('#'));
  constexpr std::string_view blanks = " \t\r,";
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t from = line.find_first_not_of(blanks);
    if (from == std::string_view::npos) return words;
    line.remove_prefix(from);
    const std::size_t length = std::min(line.find_first_of(blanks), line.size());
    words.push_back(line.substr(0, length));
    line.remove_prefix(length);
  }
}

[[noreturn]] void fail_at_line(std::size_t line, const std::string& what) {
  detail::fail(errc::bad_argument, "line " + detail::to_text(std::uint64_t{line}) + ": " + what);
}

class topology_reader {
 public:
  void read_line(std::size_t number, std::string_view text) {
    const std::vector<std::string_view> words = words_of_line(text);
    if (words.empty()) return;
    if (words.size() < 2) {
      fail_at_line(number, "a router has a name and an address, and perhaps neighbours");
    }
    if (!places_.emplace(words[0], result_.routers.size()).second) {
      fail_at_line(number, std::string(words[0]) + " is there twice");
    }
    if (result_.routers.size() == most_trace_routers) {
      fail_at_line(number, "more than 65536 routers");
    }
    for (std::size_t i = 2; i < words.size(); ++i) {
      links_.push_back({number, result_.routers.size(), std::string(words[i])});
    }
    result_.routers.push_back({.name = std::string(words[0]), .address = std::string(words[1])});
  }

  trace_topology finish() {
    for (const link_end& l : links_) {
      const auto other = places_.find(l.neighbour);
      if (other == places_.end()) fail_at_line(l.line, "no router is called " + l.neighbour);
      if (other->second == l.router) fail_at_line(l.line, l.neighbour + " is its own neighbour");
      result_.routers[l.router].neighbours.push_back(other->second);
      result_.routers[other->second].neighbours.push_back(l.router);
    }
    for (trace_router& r : result_.routers) {
      std::ranges::sort(r.neighbours);
      r.neighbours.erase(std::unique(r.neighbours.begin(), r.neighbours.end()), r.neighbours.end());
    }
    return std::move(result_);
  }

 private:
  struct link_end {
    std::size_t line;
    std::size_t router;
    std::string neighbour;
  };

  trace_topology result_;
  std::map<std::string, std::size_t, std::less<>> places_;
  std::vector<link_end> links_;
};

}  // namespace

double falsely_accused_bound(double hops, double share) {
  if (!(share >= 0 && share < 1))
    detail::throw_bad_argument("the share", share, "from 0 to below 1");
  return hops * share / (1 - share);
}

trace_topology trace_topology::parse(std::string_view text) {
  topology_reader reader;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.read_line(number, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.finish();
}

std::size_t trace_topology::find(std::string_view name) const {
  const auto at = std::ranges::find(routers, name, &trace_router::name);
  if (at == routers.end()) {
    detail::fail(errc::bad_argument, "no router is called " + std::string(name));
  }
  return static_cast<std::size_t>(at - routers.begin());
}

router_reply reply_from(trace_answer answer, const time_range& when) {
  router_reply r;
  const bool outside = answer.slices == 0 || answer.covered.to_ns < when.from_ns ||
                       answer.covered.from_ns > when.to_ns;
  if (!answer.sightings.empty()) {
    r.state = router_state::seen;
  } else {
    r.state = outside || !answer.complete() ? router_state::no_record : router_state::not_seen;
  }
  r.answer = std::move(answer);
  return r;
}

trace_graph trace_back(const trace_topology& routers, std::size_t first, const ask_routers& ask) {
  trace_graph g;
  std::vector<bool> known(routers.routers.size());
  std::vector<accused_router> next = {{.router = first}};
  known[first] = true;
  while (!next.empty()) {
    std::vector<std::size_t> numbers;
    numbers.reserve(next.size());
    for (const accused_router& a : next) numbers.push_back(a.router);
    std::vector<router_reply> replies = ask(numbers);
    const std::size_t before = g.asked.size();
    for (std::size_t i = 0; i < next.size(); ++i) {
      next[i].reply = std::move(replies.at(i));
      g.asked.push_back(std::move(next[i]));
    }
    next.clear();
    for (std::size_t at = before; at < g.asked.size(); ++at) {
      const accused_router& a = g.asked[at];
      g.false_expected += a.reply.answer.false_expected;
      if (a.reply.state != router_state::seen) continue;
      g.seen.push_back(at);
      for (const std::size_t n : routers.routers[a.router].neighbours) {
        if (known[n]) continue;
        known[n] = true;
        next.push_back({.router = n, .asked_by = at, .hops = a.hops + 1});
      }
    }
  }
  std::vector<std::size_t> behind(g.asked.size());
  for (std::size_t at = 1; at < g.asked.size(); ++at) {
    const router_state state = g.asked[at].reply.state;
    if (state == router_state::seen) ++behind[g.asked[at].asked_by];
    if (state == router_state::silent || state == router_state::no_record) g.open_end = true;
  }
  g.one_path = !g.seen.empty();
  for (const std::size_t at : g.seen) {
    if (behind[at] == 0) g.entries.push_back(at);
    if (behind[at] > 1) g.one_path = false;
  }
  return g;
}

}  // namespace bloomery
