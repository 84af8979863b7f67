// Heavy flows as the verb `flows` shows them: a table for people, lines for programs, JSON, CSV,
// and a picture.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bloomery/measure/flow_meter.hpp"
#include "cli/output/figure.hpp"

namespace bloomery::cli {

struct flow_row {
  std::string flow;
  std::uint64_t bytes = 0;  // or how many different ones, of a spread
  std::uint64_t packets = 0;
  double share = 0;         // of all bytes, or of all pairs
  std::uint64_t error = 0;  // how much of the bytes may be too much
};

// What is wanted of an interval.
struct flow_choice {
  std::size_t top = 10;
  double least_share = 0;  // of all bytes
  std::uint64_t least_bytes = 1;
};

struct flow_report {
  flow_totals seen;
  bool distinct = false;
  bool exact = false;
  std::uint64_t threshold = 1;  // every flow with so many bytes was kept
  std::uint64_t least = 1;      // what a row has at least
  bool bitmap_full = false;
  std::vector<flow_row> rows;
  std::vector<flow_key> keys;  // of the rows

  // Flows that should be in the list may be missing.
  [[nodiscard]] bool incomplete() const noexcept { return threshold > least; }
};
flow_report report_of(const flow_meter& meter, const flow_choice& choice);

std::string flow_table_text(const flow_report& r);             // for a terminal
std::string flow_lines(const flow_report& r, bool with_time);  // tab-separated
std::string flow_csv(const flow_report& r, bool with_time);    // without its header
std::string flow_csv_header(bool distinct, bool with_time);
nlohmann::json flow_json(const flow_report& r, bool with_time);
std::string time_text(std::uint64_t time_ns);  // 2026-11-17T03:28:29.125Z

// Collects what a picture needs: bars by rank, or with intervals the heaviest flows over time.
class flow_picture {
 public:
  explicit flow_picture(std::uint64_t interval_ns) : interval_ns_(interval_ns) {}

  void add(const flow_report& r);
  [[nodiscard]] figure draw() const;

 private:
  static constexpr std::size_t most_points = 100000;  // of a picture that nobody looks at

  std::uint64_t interval_ns_;
  bool distinct_ = false;
  std::vector<flow_row> last_;
  std::uint64_t start_ns_ = 0;
  std::uint64_t end_ns_ = 0;
  std::size_t points_ = 0;
  std::map<std::string, std::vector<point>> lines_;
};

}  // namespace bloomery::cli
