#include "cli/output/node_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace bloomery::cli {

namespace {

struct metric {
  const char* name;
  const char* type;
  const char* help;
  double value;
};

// How often the fullest filter that this node announces is wrong.
double announced_fpr(const route_node& node, const node_status& s) {
  return std::pow(s.fill, node.options().planned.shape.probes);
}

std::size_t links_as(const node_status& s, link_role role) {
  return static_cast<std::size_t>(std::ranges::count(s.links, role, &link_status::role));
}

std::vector<metric> metrics_of(const route_node& node, const hub& traffic) {
  const node_status s = node.status();
  const auto number = [](auto n) { return static_cast<double>(n); };
  return {
      {"keys", "gauge", "Keys that this node has", number(s.keys)},
      {"neighbours", "gauge", "Neighbours that are connected",
       number(links_as(s, link_role::neighbour))},
      {"clients", "gauge", "Clients that are connected", number(links_as(s, link_role::client))},
      {"peers", "gauge", "Nodes and groups whose filters gossip has", number(s.peers)},
      {"tree_distance", "gauge", "Hops to the root of the tree", number(s.distance)},
      {"filter_bytes", "gauge", "Bytes of the filters of others", number(s.filter_bytes)},
      {"filter_fpr", "gauge", "Rate of the fullest filter that is announced",
       announced_fpr(node, s)},
      {"questions_total", "counter", "Questions from clients", number(s.questions)},
      {"passed_on_total", "counter", "Questions from other nodes", number(s.passed_on)},
      {"incomplete_total", "counter", "Answers that lack somebody's part", number(s.incomplete)},
      {"loops_total", "counter", "Questions that came back", number(s.loops)},
      {"refused_total", "counter", "Connections that were refused", number(s.refused)},
      {"announcements_total", "counter", "Filters and changes that were sent",
       number(s.announcements)},
      {"announced_bytes_total", "counter", "Bytes of these", number(s.announced_bytes)},
      {"messages_sent_total", "counter", "Messages of every kind", number(traffic.messages_sent())},
      {"messages_received_total", "counter", "Likewise", number(traffic.messages_received())},
      {"bytes_sent_total", "counter", "Bytes of these", number(traffic.bytes_sent())},
      {"bytes_received_total", "counter", "Likewise", number(traffic.bytes_received())},
  };
}

std::string http_text(const char* status, const char* type, const std::string& body) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      status, type, body.size(), body);
}

}  // namespace

const char* mode_name(route_mode mode) {
  constexpr std::array names = {"tree", "attenuated", "gossip", "flood"};
  return names.at(static_cast<std::size_t>(mode));
}

std::string node_json(const route_node& node, const hub& traffic) {
  const node_status s = node.status();
  nlohmann::json links = nlohmann::json::array();
  for (const link_status& l : s.links) {
    if (l.role != link_role::neighbour) continue;
    links.push_back({{"name", l.name}, {"parent", l.parent}, {"child", l.child}});
  }
  nlohmann::json object = {{"name", node.options().name},
                           {"address", node.options().address},
                           {"mode", mode_name(node.options().mode)},
                           {"filter_bits", node.options().planned.shape.bits},
                           {"links", links}};
  for (const metric& m : metrics_of(node, traffic)) {
    std::string name = m.name;
    if (name.ends_with("_total")) name.resize(name.size() - std::string_view("_total").size());
    if (std::string_view(m.name) == "filter_fpr") {
      object[name] = m.value;
    } else {
      object[name] = static_cast<std::uint64_t>(m.value);
    }
  }
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string node_metrics(const route_node& node, const hub& traffic) {
  std::string text;
  for (const metric& m : metrics_of(node, traffic)) {
    text += fmt::format("# HELP bloomery_node_{0} {1}\n# TYPE bloomery_node_{0} {2}\n", m.name,
                        m.help, m.type);
    text += fmt::format("bloomery_node_{} {}\n", m.name, m.value);
  }
  return text;
}

std::string http_answer(const std::string& request, const std::string& json,
                        const std::string& metrics) {
  const std::string_view line = std::string_view(request).substr(0, request.find('\r'));
  const bool head = line.starts_with("HEAD ");
  if (!line.starts_with("GET ") && !head) {
    return http_text("405 Method Not Allowed", "text/plain", "only GET\n");
  }
  const std::string_view rest = line.substr(line.find(' ') + 1);
  const std::string_view path = rest.substr(0, rest.find_first_of(" ?"));
  std::string answer = http_text("404 Not Found", "text/plain", "/status, /metrics or /healthz\n");
  if (path == "/status") answer = http_text("200 OK", "application/json", json);
  if (path == "/metrics") answer = http_text("200 OK", "text/plain; version=0.0.4", metrics);
  if (path == "/healthz") answer = http_text("200 OK", "text/plain", "ok\n");
  if (head) answer.resize(answer.find("\r\n\r\n") + 4);
  return answer;
}

}  // namespace bloomery::cli
