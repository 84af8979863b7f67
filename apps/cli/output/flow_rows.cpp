#include "cli/output/flow_rows.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "cli/output/chart.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

void add_spreads(flow_report& r, const spread_counter& spread, const flow_choice& choice) {
  const double all = std::max(1.0, spread.pairs());
  const double least = std::max(static_cast<double>(choice.least_bytes), choice.least_share * all);
  r.threshold = static_cast<std::uint64_t>(std::ceil(spread.threshold()));
  r.bitmap_full = spread.full();
  r.least = static_cast<std::uint64_t>(std::ceil(least));
  for (const spread_count& s : spread.list(least, choice.top)) {
    const auto error = static_cast<std::uint64_t>(std::llround(2 * s.standard_error + s.surplus));
    r.rows.push_back({s.flow.text(), static_cast<std::uint64_t>(std::llround(s.distinct)), 0,
                      s.distinct / all, error});
    r.keys.push_back(s.flow);
  }
}

void add_flows(flow_report& r, const heavy_flows& flows, const flow_choice& choice) {
  const double all = std::max(1.0, static_cast<double>(r.seen.bytes));
  const auto share = static_cast<std::uint64_t>(std::ceil(choice.least_share * all));
  r.threshold = flows.threshold();
  r.exact = flows.exact();
  r.least = std::max(choice.least_bytes, share);
  for (const flow_count& f : flows.list(r.least, choice.top)) {
    r.rows.push_back(
        {f.flow.text(), f.bytes, f.packets, static_cast<double>(f.bytes) / all, f.error_bytes});
    r.keys.push_back(f.flow);
  }
}

std::string share_text(double share) { return fmt::format("{:.4f}", share); }

}  // namespace

flow_report report_of(const flow_meter& meter, const flow_choice& choice) {
  flow_report r;
  r.seen = meter.seen();
  r.distinct = meter.options().distinct.has_value();
  if (r.distinct) {
    add_spreads(r, meter.spread(), choice);
  } else {
    add_flows(r, meter.flows(), choice);
  }
  // Without a limit of its own, the list promises as many as it has.
  if (choice.least_share == 0 && choice.least_bytes <= 1) {
    r.least = r.rows.size() < choice.top || r.rows.empty() ? 1 : r.rows.back().bytes;
  }
  return r;
}

std::string time_text(std::uint64_t time_ns) {
  const auto seconds = static_cast<std::time_t>(time_ns / 1000000000);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds),
                     time_ns % 1000000000 / 1000000);
}

std::string flow_table_text(const flow_report& r) {
  std::size_t width = 4;
  for (const flow_row& row : r.rows) width = std::max(width, row.flow.size());
  std::string text = r.distinct ? fmt::format("{:<{}}  {:>12}  {:>7}  {:>12}\n", "FLOW", width,
                                              "DIFFERENT", "SHARE", "ERROR")
                                : fmt::format("{:<{}}  {:>12}  {:>10}  {:>7}  {:>12}\n", "FLOW",
                                              width, "BYTES", "PACKETS", "SHARE", "MAY BE LESS");
  for (const flow_row& row : r.rows) {
    const std::string share = fmt::format("{:.2f} %", row.share * 100);
    const std::string error = row.error == 0 ? "exact" : with_commas(row.error);
    text += r.distinct
                ? fmt::format("{:<{}}  {:>12}  {:>7}  {:>12}\n", row.flow, width,
                              with_commas(row.bytes), share, error)
                : fmt::format("{:<{}}  {:>12}  {:>10}  {:>7}  {:>12}\n", row.flow, width,
                              with_commas(row.bytes), with_commas(row.packets), share, error);
  }
  return text;
}

std::string flow_lines(const flow_report& r, bool with_time) {
  std::string text;
  for (const flow_row& row : r.rows) {
    if (with_time) text += time_text(r.seen.first_ns) + "\t";
    text += fmt::format("{}\t{}\t", row.flow, row.bytes);
    if (!r.distinct) text += fmt::format("{}\t", row.packets);
    text += fmt::format("{}\t{}\n", share_text(row.share), row.error);
  }
  return text;
}

std::string flow_csv_header(bool distinct, bool with_time) {
  return fmt::format("{}flow,{}\n", with_time ? "start," : "",
                     distinct ? "distinct,share,error" : "bytes,packets,share,error_bytes");
}

std::string flow_csv(const flow_report& r, bool with_time) {
  std::string text;
  for (const flow_row& row : r.rows) {  // no text of a flow has a comma or a quote
    if (with_time) text += time_text(r.seen.first_ns) + ",";
    text += fmt::format("{},{},", row.flow, row.bytes);
    if (!r.distinct) text += fmt::format("{},", row.packets);
    text += fmt::format("{},{}\n", share_text(row.share), row.error);
  }
  return text;
}

nlohmann::json flow_json(const flow_report& r, bool with_time) {
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t i = 0; i < r.rows.size(); ++i) {
    const flow_row& row = r.rows[i];
    const flow_key& key = r.keys[i];
    nlohmann::json j = {{"flow", row.flow}, {"share", row.share}};
    if (const auto a = key.source()) j["source"] = a->text();
    if (const auto a = key.destination()) j["destination"] = a->text();
    if (const auto p = key.protocol()) j["protocol"] = *p;
    if (const auto p = key.source_port()) j["source_port"] = *p;
    if (const auto p = key.destination_port()) j["destination_port"] = *p;
    if (key.by() == flow_by::prefix) j["prefix_bits"] = key.prefix_bits();
    if (r.distinct) {
      j["distinct"] = row.bytes;
      j["error"] = row.error;
    } else {
      j["bytes"] = row.bytes;
      j["packets"] = row.packets;
      j["error_bytes"] = row.error;
    }
    rows.push_back(std::move(j));
  }
  nlohmann::json all = {
      {"packets", r.seen.packets},     {"bytes", r.seen.bytes},
      {"not_ip", r.seen.other},        {"snapped", r.seen.snapped},
      {"malformed", r.seen.malformed}, {"unknown_link", r.seen.unknown_link},
      {"threshold", r.threshold},      {"complete", !r.incomplete() && !r.bitmap_full},
      {"rows", std::move(rows)}};
  if (!r.distinct) all["exact"] = r.exact;
  if (with_time) {
    all["start"] = time_text(r.seen.first_ns);
    all["late"] = r.seen.late;
  }
  return all;
}

void flow_picture::add(const flow_report& r) {
  distinct_ = r.distinct;
  last_ = r.rows;
  if (interval_ns_ == 0 || points_ >= most_points) return;
  if (start_ns_ == 0) start_ns_ = r.seen.first_ns;
  end_ns_ = std::max(r.seen.first_ns, start_ns_);
  const double at = static_cast<double>(end_ns_ - start_ns_) * 1e-9;
  for (const flow_row& row : r.rows) {
    lines_[row.flow].push_back({at, row.share});
    ++points_;
  }
}

figure flow_picture::draw() const {
  const std::string what = distinct_ ? "share of all pairs" : "share of all bytes";
  figure f{.title = distinct_ ? "Who talks to most" : "Heavy flows"};
  if (interval_ns_ == 0) {
    const double ranks = static_cast<double>(std::max<std::size_t>(1, last_.size()));
    panel p{.title = what,
            .x = linear_axis("rank", 0, ranks, std::max(1.0, std::round(ranks / 10))),
            .y = share_axis("")};
    series bars{.colour = series_hue(0), .style = series_style::bars};
    for (std::size_t i = 0; i < last_.size(); ++i) {
      bars.points.push_back({static_cast<double>(i) + 0.5, last_[i].share});
    }
    p.all.push_back(std::move(bars));
    f.panels.push_back(std::move(p));
    return f;
  }
  std::vector<std::pair<double, std::string>> heaviest;
  for (const auto& [name, points] : lines_) {
    double sum = 0;
    for (const point& p : points) sum += p.y;
    heaviest.emplace_back(sum, name);
  }
  std::ranges::sort(heaviest, std::greater<>());
  constexpr std::size_t shown = 6;
  if (heaviest.size() > shown) heaviest.resize(shown);
  const double seconds = std::max(1e-3, static_cast<double>(end_ns_ - start_ns_) * 1e-9);
  panel p{.title = what + " over time",
          .x = linear_axis("seconds", 0, seconds, seconds / 5),
          .y = share_axis("")};
  for (std::size_t i = 0; i < heaviest.size(); ++i) {
    p.all.push_back({.name = heaviest[i].second,
                     .colour = series_hue(i),
                     .points = lines_.at(heaviest[i].second)});
  }
  f.panels.push_back(std::move(p));
  return f;
}

}  // namespace bloomery::cli
