// bloomery flows: the flows of a capture or an interface that send most, in memory that does not
// grow with their number.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/measure/flow_meter.hpp"
#include "cli/args/options.hpp"
#include "cli/input/packets.hpp"
#include "cli/output/chart.hpp"
#include "cli/output/flow_rows.hpp"
#include "cli/output/plot.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct flows_options {
  packet_options input;
  std::string by = "5tuple";
  std::uint32_t prefix = 24;
  std::uint32_t prefix6 = 48;
  std::optional<std::uint64_t> top;
  std::string above;
  std::string link;
  std::string interval;
  std::string memory = "1MB";
  std::uint32_t stages = 4;
  bool serial = false;
  bool inner = false;
  std::string distinct;
  std::optional<std::uint64_t> seed;
  bool json = false;
  bool csv = false;
  std::string plot;
};

flow_by grouping_of(const std::string& name) {
  if (name == "pair") return flow_by::pair;
  if (name == "src") return flow_by::source;
  if (name == "dst") return flow_by::destination;
  if (name == "port") return flow_by::port;
  return name == "prefix" ? flow_by::prefix : flow_by::five_tuple;
}

// --by prefix 16: a word of at most three digits among the captures is the length.
void take_prefix_length(flows_options& o) {
  if (o.by != "prefix") return;
  const auto is_length = [](const std::string& word) {
    return !word.empty() && word.size() <= 3 &&
           std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
  };
  const auto found = std::ranges::find_if(o.input.paths, is_length);
  if (found == o.input.paths.end()) return;
  const auto length = static_cast<std::uint32_t>(std::stoul(*found));
  if (length > 128) {
    throw error(errc::bad_argument,
                fmt::format("--by prefix {}: an address has 32 or 128 bits", length));
  }
  o.prefix = std::min(length, 32U);
  o.prefix6 = length;
  o.input.paths.erase(found);
}

// "10gbit", "100Mbit" or plain bits, a second.
double parse_link(const std::string& text) {
  std::string number = text;
  for (const std::string_view unit : {"bit/s", "bit", "bps"}) {
    if (number.ends_with(unit)) {
      number.resize(number.size() - unit.size());
      break;
    }
  }
  if (!number.empty() && (number.back() == 'g' || number.back() == 'm')) {
    number.back() = number.back() == 'g' ? 'G' : 'M';
  }
  return static_cast<double>(parse_count(number)) / 8;
}

// What --above, --top and --link come to. The threshold of the filter finds itself all the same:
// given from the start, it would make the counts begin there, however much memory is free.
flow_choice choice_of(const flows_options& o, const meter_options& m) {
  flow_choice c;
  c.top = o.top ? static_cast<std::size_t>(*o.top) : (o.above.empty() ? 10 : SIZE_MAX);
  if (o.above.empty()) {
    if (!o.link.empty()) throw error(errc::bad_argument, "--link needs --above, a share of it");
    return c;
  }
  const bool share = o.above.ends_with('%') || o.above.find('.') != std::string::npos ||
                     o.above.find("e-") != std::string::npos;
  if (!share) {
    c.least_bytes = std::max<std::uint64_t>(1, parse_bytes(o.above));
    return c;
  }
  const double rate = parse_rate(o.above);
  if (!(rate > 0 && rate <= 1)) {
    throw error(errc::bad_argument, fmt::format("--above {}: a share is from 0 to 100 %", o.above));
  }
  if (o.link.empty()) {
    c.least_share = rate;
    return c;
  }
  if (m.interval_ns == 0) {
    throw error(errc::bad_argument, "a share of the --link needs an --interval");
  }
  const double bytes = rate * parse_link(o.link) * static_cast<double>(m.interval_ns) * 1e-9;
  c.least_bytes = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(bytes));
  return c;
}

meter_options meter_for(const flows_options& o) {
  meter_options m;
  m.rule = {.by = grouping_of(o.by), .prefix_v4 = o.prefix, .prefix_v6 = o.prefix6};
  m.parsing.inner = o.inner;
  m.flows.memory_bytes = parse_bytes(o.memory);
  m.flows.stages = o.stages;
  m.flows.order = o.serial ? stage_order::serial : stage_order::parallel;
  if (o.seed) m.flows.seed = *o.seed;
  if (!o.interval.empty()) m.interval_ns = parse_interval(o.interval);
  if (o.distinct == "src") m.distinct = spread_over::source;
  if (o.distinct == "dst") m.distinct = spread_over::destination;
  if (o.distinct == "port") m.distinct = spread_over::port;
  return m;
}

class flow_printer {
 public:
  flow_printer(const flows_options& o, const flow_choice& choice, bool timed)
      : o_(o),
        choice_(choice),
        timed_(timed),
        screen_(o.input.live() && !o.json && !o.csv && ::isatty(STDOUT_FILENO) != 0 &&
                can_erase_lines()),
        table_(::isatty(STDOUT_FILENO) != 0) {}

  // At the end of an interval, and of everything.
  void print(const flow_meter& m) {
    const flow_report r = report_of(m, choice_);
    any_ = any_ || !r.rows.empty();
    if (picture_) picture_->add(r);
    if (o_.json) {
      write_output(timed_ ? flow_json(r, true).dump() + "\n" : flow_json(r, false).dump(2) + "\n");
    } else if (o_.csv) {
      write_output((header_ ? "" : flow_csv_header(r.distinct, timed_)) + flow_csv(r, timed_));
      header_ = true;
    } else if (screen_) {
      draw(r);
    } else if (table_) {
      write_output((timed_ ? time_text(r.seen.first_ns) + "\n" : "") + flow_table_text(r));
    } else {
      write_output(flow_lines(r, timed_));
    }
    if (!o_.input.quiet) summarise(r);
  }

  // Of a live interface on a terminal, once a second.
  void refresh(const flow_meter& m) {
    const auto now = std::chrono::steady_clock::now();
    if (!screen_ || now - drawn_ < std::chrono::seconds(1)) return;
    drawn_ = now;
    draw(report_of(m, choice_));
  }

  void collect_picture(std::uint64_t interval_ns) { picture_.emplace(interval_ns); }
  [[nodiscard]] bool any() const { return any_; }
  [[nodiscard]] figure picture() const { return picture_->draw(); }

 private:
  // More rows than fit would scroll the first ones away, which are the heaviest.
  void draw(flow_report r) {
    constexpr std::size_t others = 4;  // the sum, an empty line, the heading; one for the cursor
    const std::size_t rows = output_rows();
    r.rows.resize(std::min(r.rows.size(), rows > others ? rows - others : 1));
    write_output(fmt::format("\x1b[H\x1b[J{}  {}, {}\n\n{}", time_text(r.seen.last_ns),
                             counted(r.seen.packets, "packet"),
                             as_bytes(static_cast<double>(r.seen.bytes)), flow_table_text(r)));
  }

  void summarise(const flow_report& r) {
    std::string text = fmt::format("{}, {}", counted(r.seen.packets, "packet"),
                                   as_bytes(static_cast<double>(r.seen.bytes)));
    const auto part = [&](std::uint64_t count, std::string_view what) {
      if (count > 0) text += fmt::format("; {} {}", with_commas(count), what);
    };
    part(r.seen.other, "are not IP");
    part(r.seen.snapped, "were captured too short");
    part(r.seen.malformed, "are malformed");
    part(r.seen.unknown_link, "are of an unknown link");
    part(r.seen.late, "are older than the interval that counts them");
    tell("{}\n", text);
    if (r.incomplete()) {
      tell("memory is short: flows below {} may be missing here; --memory raises it\n",
           r.distinct ? with_commas(r.threshold) : as_bytes(static_cast<double>(r.threshold)));
    }
    if (r.bitmap_full)
      tell("there were more pairs than the memory tells apart; --memory raises it\n");
  }

  const flows_options& o_;
  flow_choice choice_;
  bool timed_;
  bool screen_;
  bool table_;
  bool header_ = false;
  bool any_ = false;
  std::optional<flow_picture> picture_;
  std::chrono::steady_clock::time_point drawn_{};
};

int run_flows(flows_options o) {
  check_plot(o.plot, o.json);
  take_prefix_length(o);
  meter_options wanted = meter_for(o);
  const flow_choice choice = choice_of(o, wanted);
  flow_meter meter(wanted);
  const std::size_t room =
      (wanted.distinct ? meter.spread().capacity() : meter.flows().capacity()) / 2;
  if (o.top && *o.top > room) {
    throw error(errc::bad_argument,
                fmt::format("--top {}: --memory {} has room for {}", *o.top, o.memory, room));
  }
  const bool timed = wanted.interval_ns != 0;
  flow_printer printer(o, choice, timed);
  if (!o.plot.empty()) printer.collect_picture(wanted.interval_ns);
  const auto ended = [&](const flow_meter& m) { printer.print(m); };
  const bool whole = read_packets(
      o.input, [&](std::span<const captured_packet> packets) { meter.add(packets, ended); },
      [&](std::uint64_t now_ns) {
        meter.advance(now_ns, ended);
        printer.refresh(meter);
      });
  if (meter.seen().packets > 0 || !timed) printer.print(meter);
  if (!o.plot.empty()) write_output(plot(printer.picture(), o.plot));
  if (!whole) return exit_error;
  return printer.any() ? exit_success : exit_no_match;
}

void add_choosing(command& verb, flows_options& o) {
  verb.add_option("--by", o.by,
                  "What a flow is: 5tuple (the default), pair, src, dst, port or prefix; behind "
                  "prefix may stand its bits (24, or 48 of IPv6)")
      ->one_of({"5tuple", "pair", "src", "dst", "port", "prefix"})
      ->type_name("WHAT");
  verb.add_option("--top", o.top, "The N heaviest (default 10, or all with --above)")
      ->between(1, 1U << 24U)
      ->type_name("N");
  verb.add_option("--above", o.above, "Those with this share of the traffic, or so many bytes")
      ->type_name("P|BYTES");
  verb.add_option("--link", o.link,
                  "--above is a share of this link, like 10gbit, not of the traffic")
      ->type_name("RATE");
  verb.add_option("--interval", o.interval,
                  "Count anew every 5s, 500ms or 1m of the packets' times")
      ->type_name("SPAN");
  verb.add_option(
          "--distinct", o.distinct,
          "Who talks to most: count different src, dst or port (of destinations), not bytes")
      ->one_of({"src", "dst", "port"})
      ->type_name("WHOM");
  verb.add_flag("--inner", o.inner, "Look into tunnels: IP-in-IP, GRE and VXLAN");
}

}  // namespace

void add_flows(command& app, int& status) {
  auto o = std::make_shared<flows_options>();
  command* verb = app.add_subcommand("flows", "Print the flows of a network that send most");
  add_choosing(*verb, *o);
  verb->add_option("--memory", o->memory, "What counting may take (default 1MB)")
      ->type_name("BYTES");
  verb->add_option("--stages", o->stages, "Stages of the filter before the flow memory (default 4)")
      ->between(1, multistage_filter::most_stages)
      ->type_name("N");
  verb->add_flag("--serial", o->serial, "One stage after the other, instead of all at once");
  verb->add_option("--seed", o->seed,
                   "Choose the hash function (random, so that nobody aims at it)")
      ->type_name("N");
  verb->add_flag("--json", o->json, "Print JSON; with --interval an object a line");
  verb->add_flag("--csv", o->csv, "Print CSV");
  add_plot(*verb, o->plot);
  add_packet_options(*verb, o->input);
  verb->footer(
      "Prints FLOW, its bytes on the wire, packets, share and by how much the bytes may be too\n"
      "high, with tabs between; they are never too low. Everything is exact until the memory is\n"
      "full. Exit status 1: nothing is so heavy; 2: a capture was cut or damaged.\n\n"
      "Example:\n"
      "  bloomery flows --above 1% traffic.pcap\n"
      "  bloomery flows --interface eth0 --by src --interval 5s\n"
      "  bloomery flows --by src --distinct dst traffic.pcap.gz");
  verb->callback([o, &status] { status = run_flows(*o); });
}

}  // namespace bloomery::cli
