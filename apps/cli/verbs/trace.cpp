// bloomery trace: which packets came by here, and which way they came.
#include <fmt/format.h>

#include <algorithm>

#include "bloomery/core/error.hpp"
#include "bloomery/core/kinds.hpp"
#include "bloomery/measure/traceback.hpp"
#include "cli/args/options.hpp"
#include "cli/input/asked_packets.hpp"
#include "cli/input/packets.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/trace_hosts.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

// ---- record -----------------------------------------------------------------------------------

struct record_arguments {
  std::string folder;
  packet_options input;
  std::string slice = "1s";
  std::string keep;
  std::string bytes;
  std::string kind = "blocked";
  std::string fpr;
  std::optional<double> bits_per_packet;
  std::optional<std::uint32_t> probes;
  bool inner = false;
  bool json = false;
};

trace_options options_of(const record_arguments& o) {
  trace_options t;
  t.slice_ns = parse_span_ns(o.slice);
  if (!o.keep.empty()) t.keep_ns = parse_span_ns(o.keep);
  if (!o.bytes.empty()) t.keep_bytes = parse_bytes(o.bytes);
  const auto kind = kind_from_name(o.kind);
  if (!kind) throw error(errc::bad_argument, fmt::format("there is no kind '{}'", escaped(o.kind)));
  t.kind = *kind;
  if (!o.fpr.empty()) t.fpr = parse_rate(o.fpr);
  t.bits_per_packet = o.bits_per_packet;
  t.probes = o.probes;
  return t;
}

// Says once that the disk is full, when it happens; the sum is said at the end.
class room_watch {
 public:
  explicit room_watch(bool quiet) : told_(quiet) {}
  void look(const trace_counts& c, const std::string& folder) {
    if (told_ || c.displaced + c.lost_slices == 0) return;
    tell("bloomery: {}: the disk is full; the oldest slices make room for new ones\n", folder);
    told_ = true;
  }

 private:
  bool told_;
};

// False when a capture was cut or damaged; what came before is recorded.
bool record_packets(const record_arguments& o, trace_recorder& recorder) {
  room_watch watch(o.input.quiet);
  const bool whole = read_packets(
      o.input,
      [&](std::span<const captured_packet> some) {
        for (const captured_packet& p : some) {
          recorder.add(parse_packet(p, {.inner = o.inner}), p.time_ns);
        }
        watch.look(recorder.counts(), o.folder);
      },
      [&](std::uint64_t now) { recorder.advance(now); });
  recorder.finish();
  watch.look(recorder.counts(), o.folder);
  return whole;
}

int run_record(const record_arguments& o) {
  trace_recorder recorder(o.folder, options_of(o));
  const bool whole = record_packets(o, recorder);
  const trace_counts& c = recorder.counts();
  const int status = whole && c.lost_slices == 0 ? exit_success : exit_error;
  if (o.json) {
    print_json({{"packets", c.packets},
                {"left_out", c.left_out},
                {"slices_written", c.slices},
                {"slices_dropped", c.dropped},
                {"slices_displaced", c.displaced},
                {"slices_lost", c.lost_slices},
                {"packets_lost", c.lost_packets},
                {"slices", recorder.slices().size()},
                {"bytes", recorder.bytes()}});
  }
  if (c.lost_slices != 0) {
    tell("bloomery: {}: the full disk had no room for {} in {}\n", o.folder,
         counted(c.lost_packets, "packet"), counted(c.lost_slices, "slice"));
  }
  if (o.input.quiet) return status;
  tell("{}: {} in {}; {} with {}\n", o.folder, counted(c.packets, "packet"),
       counted(c.slices, "slice"), counted(recorder.slices().size(), "slice"),
       as_bytes(static_cast<double>(recorder.bytes())));
  if (c.left_out != 0) {
    tell("left out: {} that are not IP, or cut too short\n", counted(c.left_out, "packet"));
  }
  if (c.dropped != 0) tell("dropped: {} by age or size\n", counted(c.dropped, "old slice"));
  if (c.displaced != 0) {
    tell("dropped: {} because the disk was full\n", counted(c.displaced, "old slice"));
  }
  return status;
}

void add_record(command& trace, int& status) {
  auto o = std::make_shared<record_arguments>();
  command* verb =
      trace.add_subcommand("record", "Remember the packets of captures or of an interface");
  verb->add_option("-o,--output", o->folder, "The folder of the slices")
      ->required()
      ->type_name("DIR");
  verb->add_option("--slice", o->slice, "The time of one filter (default 1s)")->type_name("TIME");
  verb->add_option("--keep", o->keep, "Drop slices that are older than this, such as 10min")
      ->type_name("TIME");
  verb->add_option("--bytes", o->bytes, "Drop the oldest slices beyond this size, such as 1GB")
      ->type_name("SIZE");
  verb->add_flag("--inner", o->inner, "The packets inside of tunnels: IP in IP, GRE, VXLAN");
  verb->group_options("The filters");
  verb->add_option("--kind", o->kind, "Their kind (default blocked)")->type_name("K");
  option* fpr = verb->add_option("--fpr", o->fpr, "How often each is wrong (default 1%)");
  fpr->type_name("P");
  verb->add_option("--bits-per-packet", o->bits_per_packet, "Their size, instead of --fpr")
      ->excludes(fpr)
      ->type_name("B");
  verb->add_option("--probes", o->probes, "Positions a packet (default: the best number)")
      ->type_name("K");
  verb->group_options("Output");
  verb->add_flag("--json", o->json, "Print what was recorded as JSON");
  add_packet_options(*verb, o->input);
  verb->footer(
      "Example:\n  bloomery trace record -o traces --slice 1s --keep 10min traffic.pcap\n"
      "  bloomery trace record -o traces --keep 10min --interface eth0");
  verb->callback([o, &status] { status = run_record(*o); });
}

// ---- ask --------------------------------------------------------------------------------------

struct ask_arguments {
  std::string folder;
  asked_options asked;
  bool no_verify = false;
  bool quiet = false;
  bool json = false;
};

nlohmann::json sightings_json(const trace_answer& a) {
  nlohmann::json rows = nlohmann::json::array();
  for (const sighting& s : a.sightings) {
    rows.push_back({{"from", as_moment(s.time.from_ns)},
                    {"to", as_moment(s.time.to_ns)},
                    {"from_ns", s.time.from_ns},
                    {"to_ns", s.time.to_ns},
                    {"fpr", s.fpr}});
  }
  return rows;
}

std::string text_of(const asked_packet& p, const trace_answer& a) {
  std::string text;
  for (const sighting& s : a.sightings) {
    text += fmt::format("{}\t{}\t{}\n", p.name, as_moment(s.time.from_ns), as_moment(s.time.to_ns));
  }
  return text;
}

int run_ask(const ask_arguments& o) {
  const asked_packets asked = read_asked(o.asked);
  const trace_folder traces(o.folder);
  if (traces.slices().empty()) {
    throw error(
        errc::bad_argument,
        fmt::format("{}: no slices are here; 'bloomery trace record' makes them", o.folder));
  }
  std::string text;
  nlohmann::json rows = nlohmann::json::array();
  std::uint64_t seen = 0;
  double false_expected = 0;
  std::vector<std::string> unreadable;
  for (const asked_packet& p : asked.packets) {
    const trace_answer a = traces.ask(p.identity, when_of(o.asked, p, 0), !o.no_verify);
    seen += a.sightings.empty() ? 0U : 1U;
    false_expected += a.false_expected;
    unreadable = a.unreadable;
    text += text_of(p, a);
    if (!o.json) continue;
    rows.push_back({{"packet", p.name},
                    {"text", p.text},
                    {"seen", !a.sightings.empty()},
                    {"sightings", sightings_json(a)},
                    {"slices_asked", a.asked},
                    {"false_expected", a.false_expected}});
  }
  if (o.json) {
    print_json({{"packets", rows},
                {"seen", seen},
                {"slices", traces.slices().size()},
                {"slices_unreadable", unreadable.size()},
                {"left_out", asked.left_out}});
  } else if (!o.quiet) {
    write_output(text);
    tell("{} of {} seen; {} wrong slices are to be expected\n", seen,
         counted(asked.packets.size(), "packet"), as_number(false_expected));
    if (asked.left_out != 0) tell("left out: {}\n", counted(asked.left_out, "packet"));
  }
  if (!unreadable.empty()) {
    throw error(errc::corrupt,
                fmt::format("{} could not be asked, so \"not seen\" is not certain: {}",
                            counted(unreadable.size(), "slice"), unreadable[0]));
  }
  return seen == 0 ? exit_no_match : exit_success;
}

void add_ask(command& trace, int& status) {
  auto o = std::make_shared<ask_arguments>();
  command* verb = trace.add_subcommand("ask", "Tell whether a packet was here, and when");
  verb->add_option("DIR", o->folder, "The folder that was recorded")->required();
  add_asked_options(*verb, o->asked, "all slices");
  verb->add_flag("--no-verify", o->no_verify, "Do not compare the checksums of slices above 1 MiB");
  verb->add_flag("--json", o->json, "Print the answers as JSON");
  add_quiet(*verb, o->quiet, true);
  verb->footer(
      "Prints a line for each slice that has the packet: its number, the first and the last time "
      "of the slice. Exit status: 0 when a packet was seen, 1 when none was, 2 after an error.\n\n"
      "Example:\n  bloomery trace ask traces packet.pcap\n"
      "  bloomery trace ask traces --within 5s --quoted icmp.pcap");
  verb->callback([o, &status] { status = run_ask(*o); });
}

}  // namespace

void add_trace(command& app, int& status) {
  command* verb = app.add_subcommand("trace", "Record packets, and find out which way one came");
  verb->require_subcommand(1);
  add_record(*verb, status);
  add_ask(*verb, status);
#ifdef BLOOMERY_HAS_CRYPTO
  add_trace_serve(*verb);
  add_trace_path(*verb, status);
#endif
  verb->footer(
      "Example:\n  bloomery trace record -o traces --keep 10min traffic.pcap\n"
      "  bloomery trace ask traces packet.pcap");
}

}  // namespace bloomery::cli
