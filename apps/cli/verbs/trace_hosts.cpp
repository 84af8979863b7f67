// bloomery trace serve and trace path: routers answer each other, and the way of a packet is found.
#include "cli/verbs/trace_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "bloomery/core/error.hpp"
#include "bloomery/core/parallel.hpp"
#include "bloomery/crypto/message_proof.hpp"
#include "bloomery/exchange/proved_questions.hpp"
#include "bloomery/exchange/server.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/measure/trace_path.hpp"
#include "cli/args/options.hpp"
#include "cli/args/stopping.hpp"
#include "cli/input/asked_packets.hpp"
#include "cli/output/plot.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/output/trace_picture.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

constexpr const char* key_help =
    "The secret of all routers: 64 hexadecimal digits, by 'openssl rand -hex 32'";
constexpr unsigned asked_at_once = 16;

proof_function proofs_of(const std::string& key_file) {
  return [key = read_master_key(key_file)](std::span<const std::byte> bytes) {
    return message_proof(key, bytes);
  };
}

// ---- serve ------------------------------------------------------------------------------------

struct serve_arguments {
  std::string folder;
  std::string listen;
  std::string key_file;
  bool no_verify = false;
  bool quiet = false;
};

void run_serve(const serve_arguments& o) {
  const proof_function prove = proofs_of(o.key_file);
  stop_by_signals();
  static_cast<void>(trace_folder(o.folder));  // that there is none is known at once
  const auto answer = [&](std::span<const std::byte> message) {
    const trace_question q = question_from(message);
    const trace_folder traces(o.folder);  // as it is now
    std::vector<trace_answer> answers;
    for (const packet_identity& p : q.packets)
      answers.push_back(traces.ask(p, q.when, !o.no_verify));
    return to_message(answers);
  };
  listener door(o.listen);
  if (!o.quiet) tell("bloomery: listening on port {}\n", door.port());
  const auto serve = [&](channel connection) {
    try {
      answer_proved(std::move(connection), prove, answer);
    } catch (const error& e) {
      if (!o.quiet) tell("bloomery: dropped a peer and listen on: {}\n", e.what());
    }
  };
  const question_limits limits;
  serve_connections(door, {.connections = 16, .limits = limits.waiting}, serve,
                    stopped_by_signal());
}

// ---- path -------------------------------------------------------------------------------------

struct path_arguments {
  std::string topology;
  std::string first;
  std::string key_file;
  asked_options asked;
  std::string timeout = "5s";
  std::string plot_target;
  bool quiet = false;
  bool json = false;
};

trace_topology read_topology(const std::string& path) {
  const mapped_file file(as_file(path, content::anything));
  const auto bytes = file.bytes();
  try {
    return trace_topology::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  } catch (const error& e) {
    throw error(e.code(), fmt::format("{}: {}", name_of_input(path), e.what()));
  }
}

std::string_view state_name(router_state s) {
  switch (s) {
    case router_state::seen: return "seen";
    case router_state::not_seen: return "not seen";
    case router_state::no_record: return "no record";
    case router_state::silent: return "silent";
  }
  return "";
}

class path_finder {
 public:
  path_finder(const path_arguments& o, const asked_packet& p, const trace_topology& routers)
      : prove_(proofs_of(o.key_file)),
        routers_(&routers),
        when_(when_of(o.asked, p, usual_within)) {
    question_ = to_message(trace_question{.when = when_, .packets = {p.identity}});
    const std::chrono::milliseconds wait(parse_span_ns(o.timeout) / 1'000'000);
    limits_.waiting = {.idle = wait, .total = 2 * wait};
  }

  static constexpr std::uint64_t usual_within = 5'000'000'000;

  // All at once: a router that does not answer costs its patience once.
  std::vector<router_reply> ask(std::span<const std::size_t> numbers) const {
    std::vector<router_reply> replies(numbers.size());
    detail::in_parallel(parallel{asked_at_once}, numbers.size(),
                        [&](std::uint64_t i) { replies[i] = ask_one(numbers[i]); });
    return replies;
  }

 private:
  [[nodiscard]] router_reply ask_one(std::size_t number) const {
    try {
      const auto answer = ask_proved(connect(routers_->routers[number].address, limits_.waiting),
                                     question_, prove_, limits_);
      return reply_from(std::move(answers_from(answer, 1)[0]), when_);
    } catch (const error& e) {
      router_reply r;
      r.reason = e.what();
      return r;
    }
  }

  proof_function prove_;
  const trace_topology* routers_;
  time_range when_;
  std::vector<std::byte> question_;
  question_limits limits_;
};

nlohmann::json path_json(const trace_topology& t, const trace_graph& g, const asked_packet& p) {
  const auto name = [&](std::size_t at) { return t.routers[g.asked[at].router].name; };
  nlohmann::json routers = nlohmann::json::array();
  for (const accused_router& a : g.asked) {
    nlohmann::json row = {{"router", t.routers[a.router].name},
                          {"state", state_name(a.reply.state)},
                          {"hops", a.hops},
                          {"asked_by", name(a.asked_by)}};
    if (!a.reply.reason.empty()) row["reason"] = a.reply.reason;
    if (!a.reply.answer.sightings.empty()) {
      row["from"] = as_moment(a.reply.answer.sightings.front().time.from_ns);
      row["to"] = as_moment(a.reply.answer.sightings.back().time.to_ns);
    }
    routers.push_back(std::move(row));
  }
  nlohmann::json entries = nlohmann::json::array();
  for (const std::size_t at : g.entries) entries.push_back(name(at));
  nlohmann::json path = nlohmann::json::array();
  if (g.one_path) {
    for (const std::size_t at : g.seen) path.push_back(name(at));
  }
  return {{"packet", p.text},       {"path", path},
          {"one_path", g.one_path}, {"entries", entries},
          {"routers", routers},     {"asked", g.asked.size()},
          {"open_end", g.open_end}, {"false_expected", g.false_expected}};
}

std::string path_text(const trace_topology& t, const trace_graph& g) {
  std::string text;
  for (const std::size_t at : g.seen) {
    const accused_router& a = g.asked[at];
    const sighting& s = a.reply.answer.sightings.front();
    text += fmt::format("{}\t{}\t{}\t{}\n", t.routers[a.router].name, a.hops,
                        at == 0 ? "-" : t.routers[g.asked[a.asked_by].router].name,
                        as_moment(s.time.from_ns));
  }
  return text;
}

void tell_path(const trace_topology& t, const trace_graph& g) {
  for (const accused_router& a : g.asked) {
    if (a.reply.state == router_state::silent) {
      tell("bloomery: {}: {}\n", t.routers[a.router].name, a.reply.reason);
    } else if (a.reply.state == router_state::no_record) {
      tell("bloomery: {} has no record of that time\n", t.routers[a.router].name);
    }
  }
  if (g.seen.empty()) return tell("not seen; {} asked\n", counted(g.asked.size(), "router"));
  std::string entries;
  for (const std::size_t at : g.entries) {
    entries += (entries.empty() ? "" : ", ") + t.routers[g.asked[at].router].name;
  }
  tell("{} {}; {} asked, {} of them may be wrong{}\n",
       g.one_path ? "it came in at" : "several ways are possible; it came in at one of", entries,
       counted(g.asked.size(), "router"), as_number(g.false_expected),
       g.open_end ? "; it may have come further, past those that could not tell" : "");
}

int run_path(const path_arguments& o) {
  check_plot(o.plot_target, o.json);
  if (o.plot_target == "-") {
    throw error(errc::bad_argument, "--plot of a path needs a FILE.svg or FILE.png");
  }
  const trace_topology t = read_topology(o.topology);
  const std::size_t first = t.find(o.first);
  const asked_packets asked = read_asked(o.asked);
  if (asked.packets.size() != 1) {
    throw error(errc::bad_argument,
                fmt::format("the way of one packet can be found at a time, not of {}",
                            asked.packets.size()));
  }
  const asked_packet& p = asked.packets[0];
  const path_finder finder(o, p, t);
  const trace_graph g =
      trace_back(t, first, [&](std::span<const std::size_t> n) { return finder.ask(n); });
  if (g.asked[0].reply.state == router_state::silent) {
    throw error(errc::io, fmt::format("{}: {}", o.first, g.asked[0].reply.reason));
  }
  if (!o.plot_target.empty()) write_picture(trace_picture(t, g, p.text), o.plot_target);
  if (o.json) {
    print_json(path_json(t, g, p));
  } else {
    write_output(path_text(t, g));
  }
  if (!o.quiet) tell_path(t, g);
  return g.seen.empty() ? exit_no_match : exit_success;
}

}  // namespace

void add_trace_serve(command& trace) {
  auto o = std::make_shared<serve_arguments>();
  command* verb = trace.add_subcommand("serve", "Answer other hosts whether a packet was here");
  verb->add_option("DIR", o->folder, "The folder that is recorded")->required();
  verb->add_option("--listen", o->listen,
                   "Where to listen: HOST:PORT, *:PORT; port 0 is a free one")
      ->required()
      ->type_name("ADDRESS");
  verb->add_option("--key-file", o->key_file, key_help)->required()->type_name("FILE");
  verb->add_flag("--no-verify", o->no_verify, "Do not compare the checksums of slices above 1 MiB");
  add_quiet(*verb, o->quiet);
  verb->footer(
      "Only hosts with the key get answers; nothing is encrypted. Runs until it is stopped.\n\n"
      "Example:\n  bloomery trace serve traces --listen '*:4711' --key-file routers.key");
  verb->callback([o] { run_serve(*o); });
}

void add_trace_path(command& trace, int& status) {
  auto o = std::make_shared<path_arguments>();
  command* verb = trace.add_subcommand("path", "Ask routers backwards which way a packet came");
  verb->add_option("--topology", o->topology,
                   "The routers, a line for each: name, address, neighbours")
      ->required()
      ->type_name("FILE");
  verb->add_option("--from", o->first, "The router before the host that received the packet")
      ->required()
      ->type_name("NAME");
  verb->add_option("--key-file", o->key_file, key_help)->required()->type_name("FILE");
  add_asked_options(*verb, o->asked, "5s");
  verb->add_option("--timeout", o->timeout, "How long to wait for a router (default 5s)")
      ->type_name("TIME");
  verb->group_options("Output");
  verb->add_flag("--json", o->json, "Print the way, and every router that was asked, as JSON");
  add_plot(*verb, o->plot_target);
  add_quiet(*verb, o->quiet);
  verb->footer(
      "Prints a line for each router that has seen the packet: its name, its hops from the first, "
      "the router behind which it is, and when. Exit status: 0 when the first router has seen it, "
      "1 when not, 2 after an error.\n\n"
      "Example:\n  bloomery trace path --topology routers.txt --from r1 --key-file routers.key "
      "packet.pcap");
  verb->callback([o, &status] { status = run_path(*o); });
}

}  // namespace bloomery::cli
