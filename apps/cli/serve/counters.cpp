#include "cli/serve/counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "bloomery/detail/core/utf8.hpp"
#include "cli/serve/made_forms.hpp"
#include "cli/serve/shelf.hpp"

namespace bloomery::cli {

void serve_counters::count(http_route route, unsigned status, double took_seconds) {
  const unsigned family = std::clamp(status / 100, 1U, 5U) - 1;
  constexpr auto relaxed = std::memory_order_relaxed;
  requests[static_cast<std::size_t>(route)][family].fetch_add(1, relaxed);
  const auto* const at = std::ranges::lower_bound(seconds, took_seconds);
  took[static_cast<std::size_t>(at - seconds.begin())].fetch_add(1, relaxed);
  took_microseconds.fetch_add(static_cast<std::uint64_t>(took_seconds * 1e6), relaxed);
}

namespace {

class metrics_writer {
 public:
  void head(std::string_view name, std::string_view type, std::string_view help) {
    fmt::format_to(to(), "# HELP bloomery_serve_{0} {2}\n# TYPE bloomery_serve_{0} {1}\n", name,
                   type, help);
  }
  template <class Value>
  void line(std::string_view name, std::string_view labels, Value value) {
    fmt::format_to(to(), "bloomery_serve_{}{} {}\n", name, labels, value);
  }
  template <class Value>
  void one(std::string_view name, std::string_view type, std::string_view help, Value value) {
    head(name, type, help);
    line(name, "", value);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::back_insert_iterator<std::string> to() { return std::back_inserter(text_); }
  std::string text_;
};

std::string label_text(std::string_view text) {
  std::string out;
  for (const char c : detail::valid_utf8(text)) {  // who scrapes refuses all of it otherwise
    if (c == '\\' || c == '"') out.push_back('\\');
    if (c == '\n') {
      out += "\\n";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

void write_requests(metrics_writer& w, const serve_counters& c) {
  w.head("requests_total", "counter", "Requests by route and first digit of the status.");
  for (std::size_t route = 0; route < http_routes; ++route) {
    for (std::size_t family = 0; family < 5; ++family) {
      const std::uint64_t n = c.requests[route][family];
      if (n == 0) continue;
      w.line("requests_total",
             fmt::format("{{route=\"{}\",status=\"{}xx\"}}",
                         route_name(static_cast<http_route>(route)), family + 1),
             n);
    }
  }
  w.head("request_seconds", "histogram",
         "Time from the end of a request's header to that of its reply.");
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < serve_counters::seconds.size(); ++i) {
    sum += c.took[i];
    w.line("request_seconds_bucket", fmt::format("{{le=\"{}\"}}", serve_counters::seconds[i]), sum);
  }
  sum += c.took.back();
  w.line("request_seconds_bucket", "{le=\"+Inf\"}", sum);
  w.line("request_seconds_sum", "", static_cast<double>(c.took_microseconds) / 1e6);
  w.line("request_seconds_count", "", sum);
}

void write_filters(metrics_writer& w, const shelf_state& state) {
  w.head("filter_keys", "gauge", "Keys of a filter.");
  for (const auto& [name, f] : state) {
    w.line("filter_keys", fmt::format("{{name=\"{}\"}}", label_text(name)), f.now->filter.keys());
  }
  w.head("filter_bytes", "gauge", "Bytes of a filter's plain image.");
  for (const auto& [name, f] : state) {
    w.line("filter_bytes", fmt::format("{{name=\"{}\"}}", label_text(name)), f.now->bytes().size());
  }
  w.head("filter_versions", "gauge", "Versions of a filter that deltas can start from.");
  for (const auto& [name, f] : state) {
    w.line("filter_versions", fmt::format("{{name=\"{}\"}}", label_text(name)),
           f.before.size() + 1);
  }
}

}  // namespace

std::string metrics_text(const serve_counters& c, const shelf& filters, const made_forms& made) {
  const auto state = filters.state();
  metrics_writer w;
  write_requests(w, c);
  const auto counter = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    w.one(name, "counter", help, value);
  };
  w.one("connections", "gauge", "Connections at present.", c.connections.load());
  counter("connections_total", "Connections so far.", c.connections_total);
  counter("connections_refused_total", "Connections that were one too many.",
          c.connections_refused);
  counter("timeouts_total", "Clients that were too slow.", c.timeouts);
  counter("received_bytes_total", "Bytes that came.", c.bytes_received);
  counter("sent_bytes_total", "Bytes that went.", c.bytes_sent);
  counter("keys_asked_total", "Keys that were asked for.", c.keys_asked);
  counter("keys_found_total", "Keys that a filter reported.", c.keys_found);
  counter("keys_added_total", "Keys that were sent to be added.", c.keys_added);
  counter("swaps_total", "Versions that were taken from the folder.", filters.swaps());
  counter("damaged_total", "Files that were refused as damaged.", filters.damaged());
  w.one("made_bytes", "gauge", "Packed forms and deltas that are kept.", made.bytes());
  w.one("filters", "gauge", "Filters that are served.", state->size());
  write_filters(w, *state);
  return w.take();
}

}  // namespace bloomery::cli
