// bloomery node: announces what it has, and finds what others have.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "cli/args/options.hpp"
#include "cli/output/node_report.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/node_loop.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct node_verb {
  std::string listen;
  std::vector<std::string> peers;
  std::vector<std::string> have;
  std::string key_file;
  std::string name;
  std::string advertise;
  std::string group;
  std::string mode = "tree";
  std::string keys = "100k";
  std::string fpr = "1%";
  std::string status;
  std::uint32_t depth = 3;
  std::uint64_t beat = 500;
  bool sha256 = false;
  bool crlf = false;
  bool quiet = false;
};

std::string host_of(const std::string& address) { return address.substr(0, address.rfind(':')); }

// Where others can reach an address that we listen at.
std::string reachable(const std::string& listen, std::uint16_t port) {
  std::string host = host_of(listen);
  if (host == "*" || host == "0.0.0.0" || host == "[::]") {
    std::array<char, 256> own{};
    if (::gethostname(own.data(), own.size() - 1) == 0) host = own.data();
  }
  return fmt::format("{}:{}", host, port);
}

route_mode mode_of(const std::string& name) {
  for (const route_mode mode :
       {route_mode::tree, route_mode::attenuated, route_mode::gossip, route_mode::flood}) {
    if (name == mode_name(mode)) return mode;
  }
  throw error(errc::bad_argument, "there is no mode " + name);
}

std::uint64_t wall_clock_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

void run(const node_verb& o) {
  node_program program;
  if (!o.key_file.empty()) program.key = read_master_key(o.key_file);
  if (!o.group.empty() && o.mode != "gossip") {
    throw error(errc::bad_argument, "--group is for --mode gossip");
  }
  listener door(o.listen);
  if (!program.key && !door.is_loopback()) {
    throw error(errc::bad_argument,
                fmt::format("{}: without a key a node listens on this host alone (127.0.0.1 or "
                            "[::1]); --key-file names the key that all nodes share",
                            o.listen));
  }
  const std::uint64_t seed = route_seed(program.key);
  program.node = {
      .name = o.name,
      .address = o.advertise.empty() ? reachable(o.listen, door.port()) : o.advertise,
      .group = o.group,
      .mode = mode_of(o.mode),
      .planned = sizing::make_plan(
          {.kind = filter_kind::classic, .keys = parse_count(o.keys), .fpr = parse_rate(o.fpr)}),
      .hash = {.id = hash_id::xxh3, .seed = seed},
      .depth = o.depth,
      .epoch = wall_clock_ms(),
      .beat = o.beat};
  if (program.node.name.empty()) program.node.name = program.node.address;
  program.resources = {
      .paths = o.have, .sha256 = o.sha256, .crlf = o.crlf, .seed = seed, .quiet = o.quiet};
  program.peers = o.peers;
  program.status = o.status;
  program.quiet = o.quiet;
  run_node(std::move(program), std::move(door));
}

void add_shape_options(command& verb, node_verb& o) {
  verb.group_options("The same for all nodes");
  verb.add_option("--mode", o.mode,
                  "tree, attenuated, gossip or flood: how questions find their way (default tree)")
      ->one_of({"tree", "attenuated", "gossip", "flood"})
      ->type_name("M");
  verb.add_option("--key-file", o.key_file,
                  "The key that all nodes share: 64 hexadecimal digits or 32 raw bytes")
      ->type_name("FILE");
  verb.add_option("--keys", o.keys,
                  "Keys that the fullest filter has: in a tree those of all nodes (default 100k)")
      ->type_name("N");
  verb.add_option("--fpr", o.fpr, "False-positive rate of that filter (default 1%)")
      ->type_name("P");
  verb.add_option("--depth", o.depth, "Levels of attenuated filters (default 3)")
      ->between(1U, most_depth)
      ->type_name("D");
}

}  // namespace

void add_node(command& app, int& /*status*/) {
  auto o = std::make_shared<node_verb>();
  command* verb = app.add_subcommand(
      "node", "Announce the keys of this host, and find with others who has what");
  verb->add_option("--listen", o->listen, "Where others connect; port 0 takes a free one")
      ->required()
      ->type_name("HOST:PORT");
  verb->add_option("--peer", o->peers, "A neighbour; may be given several times")
      ->one_a_time()
      ->type_name("HOST:PORT");
  verb->add_option(
          "--have", o->have,
          "What this node has: a file of keys, one a line, or a folder, whose files' names "
          "are keys; both are followed")
      ->one_a_time()
      ->type_name("PATH");
  verb->add_flag("--sha256", o->sha256, "Files of folders are keys by their SHA-256");
  verb->add_flag("--crlf", o->crlf, "Lines end with CR LF; the CR is no part of the key");
  verb->add_option("--name", o->name, "What answers call this node (default: its address)")
      ->type_name("NAME");
  verb->add_option("--advertise", o->advertise,
                   "The address that others use, where it is not that of --listen")
      ->type_name("HOST:PORT");
  verb->add_option("--group", o->group, "Gossip: keep filters in this group, and show one of it")
      ->type_name("NAME");
  verb->add_option("--status", o->status,
                   "Answer HTTP there: /status as JSON, /metrics for Prometheus, /healthz")
      ->type_name("HOST:PORT");
  verb->add_option(
          "--beat", o->beat,
          "Milliseconds between signs of life; eight without one are a death (default 500)")
      ->between(std::uint64_t{10}, std::uint64_t{3'600'000})
      ->type_name("MS");
  add_quiet(*verb, o->quiet);
  add_shape_options(*verb, *o);
  verb->footer(
      "Runs until it is stopped. 'bloomery find' asks it. Without --key-file it listens on this\n"
      "host alone; with it, all that nodes say is encrypted and authenticated.\n\n"
      "Example:\n"
      "  bloomery node --listen 127.0.0.1:4711 --name one --have /srv/models\n"
      "  bloomery node --listen 127.0.0.1:4712 --name two --have list.txt --peer 127.0.0.1:4711\n"
      "  bloomery find --node 127.0.0.1:4712 model.bin");
  verb->callback([o] { run(*o); });
}

}  // namespace bloomery::cli
