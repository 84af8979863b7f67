#include "cli/output/queue_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

constexpr std::size_t flows_of_a_second = 16;

fair_queue_counts difference(const fair_queue_counts& now, const fair_queue_counts& before) {
  fair_queue_counts d;
  for (std::size_t i = 0; i < packet_fates; ++i) d.packets[i] = now.packets[i] - before.packets[i];
  d.released_packets = now.released_packets - before.released_packets;
  d.released_bytes = now.released_bytes - before.released_bytes;
  d.waited = now.waited - before.waited;
  return d;
}

double mean_wait_ms(const fair_queue_counts& c) {
  const double sum = std::chrono::duration<double, std::milli>(c.waited).count();
  return c.released_packets == 0 ? 0 : sum / static_cast<double>(c.released_packets);
}

double megabits(std::uint64_t bytes, double seconds) {
  return seconds <= 0 ? 0 : static_cast<double>(bytes) * 8e-6 / seconds;
}

nlohmann::json fates_json(const fair_queue_counts& c) {
  return {{"accepted", c.of(packet_fate::accept)},
          {"marked", c.of(packet_fate::mark)},
          {"dropped_early", c.of(packet_fate::drop_early)},
          {"dropped_bin", c.of(packet_fate::drop_bin)},
          {"dropped_penalty", c.of(packet_fate::drop_penalty)},
          {"dropped_overflow", c.of(packet_fate::drop_overflow)}};
}

}  // namespace

void queue_report::came(std::uint64_t flow, std::string_view name, std::uint32_t bytes) {
  offered_ += bytes;
  if (!name.empty()) flows_.add(name, flow, bytes);
}

void queue_report::left(const released_packet& p) { through_.back()[p.flow] += p.bytes; }

const queue_second& queue_report::tick(const fair_queue& queue, double now, std::uint64_t lost) {
  queue_second s{.at = now,
                 .length = now - before_at_,
                 .counts = difference(queue.counts(), before_),
                 .bytes_offered = offered_ - offered_before_,
                 .waiting = queue.packets(),
                 .lost = lost - lost_};
  for (const fair_blue::bin& b : queue.blue().bins()) {
    s.highest = std::max(s.highest, b.probability);
    s.mean += b.probability / static_cast<double>(queue.blue().bins().size());
  }
  before_ = queue.counts();
  before_at_ = now;
  offered_before_ = offered_;
  lost_ = lost;
  // Of the flows of this second the largest stay, so that memory does not grow with the flows.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> by_bytes;
  for (const auto& [flow, bytes] : through_.back()) by_bytes.emplace_back(bytes, flow);
  std::ranges::sort(by_bytes, std::greater<>());
  by_bytes.resize(std::min(by_bytes.size(), flows_of_a_second));
  through_.back().clear();
  for (const auto& [bytes, flow] : by_bytes) through_.back()[flow] = bytes;
  through_.emplace_back();
  seconds_.push_back(s);
  if (seconds_.size() > most_seconds) {
    seconds_.pop_front();
    through_.pop_front();
  }
  return seconds_.back();
}

std::string queue_report::heading() {
  return "     s  in Mbit/s  out Mbit/s  waiting  delay ms   marked    early     full  penalty "
         "overflow   lost   p max\n";
}

std::string queue_report::line(const queue_second& s) {
  const fair_queue_counts& c = s.counts;
  return fmt::format(
      "{:>6.0f} {:>10.2f} {:>11.2f} {:>8} {:>9.1f} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6} {:>7.3f}\n",
      s.at, megabits(s.bytes_offered, s.length), megabits(c.released_bytes, s.length), s.waiting,
      mean_wait_ms(c), c.of(packet_fate::mark), c.of(packet_fate::drop_early),
      c.of(packet_fate::drop_bin), c.of(packet_fate::drop_penalty),
      c.of(packet_fate::drop_overflow), s.lost, s.highest);
}

std::vector<queue_report::flow_line> queue_report::largest() const {
  std::vector<flow_line> all;
  for (const frequent_key& f : flows_.top(shown_flows)) {
    flow_line line{.name = std::string(f.key), .hash = f.hash, .bytes = f.count};
    all.push_back(std::move(line));
  }
  return all;
}

nlohmann::json queue_report::json(const fair_queue& queue) const {
  nlohmann::json seconds = nlohmann::json::array();
  for (const queue_second& s : seconds_) {
    nlohmann::json row = fates_json(s.counts);
    row["at"] = s.at;
    row["mbit_offered"] = megabits(s.bytes_offered, s.length);
    row["mbit_released"] = megabits(s.counts.released_bytes, s.length);
    row["waiting"] = s.waiting;
    row["delay_ms"] = mean_wait_ms(s.counts);
    row["lost_by_kernel"] = s.lost;
    row["probability_highest"] = s.highest;
    row["probability_mean"] = s.mean;
    seconds.push_back(std::move(row));
  }
  nlohmann::json flows = nlohmann::json::array();
  for (const flow_line& f : largest()) {
    flows.push_back({{"flow", f.name}, {"bytes_offered", f.bytes}});
  }
  const fair_queue_counts& c = queue.counts();
  nlohmann::json object = fates_json(c);
  object["seconds"] = std::move(seconds);
  object["flows"] = std::move(flows);
  object["bytes_offered"] = offered_;
  object["bytes_released"] = c.released_bytes;
  object["delay_ms"] = mean_wait_ms(c);
  object["lost_by_kernel"] = lost_;
  object["bytes_per_second"] = queue.options().bytes_per_second;
  object["fair"] = queue.options().fair;
  return object;
}

figure queue_report::picture() const {
  const double first = seconds_.empty() ? 0 : seconds_.front().at;
  const double last = seconds_.empty() ? 1 : std::max(first + 1, seconds_.back().at);
  const double step = std::max(1.0, std::ceil((last - first) / 10));
  const axis time = linear_axis("seconds", first, last, step);
  panel marks{.title = "Probability to mark or drop, of all bins",
              .x = time,
              .y = share_axis("probability")};
  series highest{.name = "highest", .colour = series_hue(0)};
  series mean{.name = "mean", .colour = series_hue(1)};
  for (const queue_second& s : seconds_) {
    highest.points.push_back({s.at, s.highest});
    mean.points.push_back({s.at, s.mean});
  }
  marks.all = {highest, mean};
  panel shares{.title = "Share of the link, of the flows that sent most",
               .x = time,
               .y = share_axis("share of what went through")};
  std::size_t number = 0;
  for (const flow_line& f : largest()) {
    series one{.name = f.name, .colour = series_hue(number++)};
    for (std::size_t i = 0; i < seconds_.size(); ++i) {
      const auto found = through_[i].find(f.hash);
      const double bytes = found == through_[i].end() ? 0 : static_cast<double>(found->second);
      const auto all = static_cast<double>(seconds_[i].counts.released_bytes);
      one.points.push_back({seconds_[i].at, all > 0 ? bytes / all : 0});
    }
    shares.all.push_back(std::move(one));
  }
  return {.title = "A fair queue before a link", .panels = {std::move(marks), std::move(shares)}};
}

std::string queue_report::sum(const fair_queue& queue) const {
  const fair_queue_counts& c = queue.counts();
  return fmt::format("{} released, {} marked, {} dropped, mean delay {:.1f} ms{}\n",
                     counted(c.released_packets, "packet"), with_commas(c.of(packet_fate::mark)),
                     with_commas(c.dropped()), mean_wait_ms(c),
                     lost_ == 0
                         ? ""
                         : fmt::format("; the kernel dropped {} before this program saw them",
                                       with_commas(lost_)));
}

}  // namespace bloomery::cli
