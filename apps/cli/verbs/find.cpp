// bloomery find: asks a node who has a key.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bloomery/core/error.hpp"
#include "bloomery/crypto/session.hpp"
#include "bloomery/exchange/transport.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/route/node_messages.hpp"
#include "cli/args/options.hpp"
#include "cli/input/source.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/node_loop.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct find_verb {
  std::vector<std::string> keys;
  std::string node;
  std::string key_file;
  double seconds = 5;
  std::optional<double> timeout;
  bool nearest = false;
  bool together = false;
  bool path = false;
  bool json = false;
  bool quiet = false;
};

constexpr std::size_t most_answer_bytes = std::size_t{64} << 20U;
constexpr std::uint64_t most_open = 1000;  // questions that wait for an answer

// A conversation with a node, sealed where there is a key.
class node_client {
 public:
  node_client(const std::string& address, const std::optional<master_key>& key, patience limits)
      : peer_(connect(address, limits)) {
    if (key) {
      session_.emplace(*key, true);
      peer_.send(session_greeting_type, session_->greeting());
    }
    bool sealed = !key;
    if (!sealed) {
      const message greeting = peer_.receive(most_answer_bytes);
      if (greeting.type != session_greeting_type) {
        throw error(errc::mismatch, "the node has no key; ask it without --key-file");
      }
      session_->meet(greeting.payload);
    }
    send(node_message_type::hello, encode(node_hello{}));
    const message hello = receive();
    if (hello.type != static_cast<std::uint8_t>(node_message_type::hello)) {
      throw error(errc::corrupt, "this is no node");
    }
    hello_ = decode_hello(hello.payload);
  }

  [[nodiscard]] const node_hello& hello() const { return hello_; }

  void send(node_message_type type, const message_bytes& payload) {
    const auto number = static_cast<std::uint8_t>(type);
    if (session_) {
      peer_.send(number, session_->seal(number, payload));
    } else {
      peer_.send(number, payload);
    }
  }

  message receive() {
    message m = peer_.receive(most_answer_bytes);
    if (!session_ && m.type == session_greeting_type) {
      throw error(errc::mismatch, "the node wants a key: --key-file");
    }
    if (session_) m.payload = session_->open(m.type, m.payload);
    if (m.type == static_cast<std::uint8_t>(node_message_type::refusal)) {
      throw error(errc::mismatch, "the node refuses: " + decode_refusal(m.payload));
    }
    return m;
  }

 private:
  message_channel peer_;
  std::optional<sealed_session> session_;
  node_hello hello_;
};

struct found_keys {
  std::map<std::uint64_t, node_answer> answers;  // by the number of the question
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::size_t holders = 0;
  std::size_t incomplete = 0;
  std::size_t fallbacks = 0;
};

std::vector<std::vector<std::uint64_t>> questions_of(const find_verb& o, std::uint64_t seed) {
  const xxh3_hasher hasher(seed);
  std::vector<std::vector<std::uint64_t>> all;
  for (const std::string& key : o.keys) {
    const std::uint64_t hash = hash_key(hasher, key);
    if (o.together && !all.empty()) {
      all.front().push_back(hash);
    } else {
      all.push_back({hash});
    }
  }
  if (all.front().size() > most_question_hashes) {
    throw error(errc::bad_argument,
                fmt::format("--together takes at most {} keys", most_question_hashes));
  }
  return all;
}

// "-" stands for the lines of standard input.
std::vector<std::string> with_lines_read(const std::vector<std::string>& given) {
  std::vector<std::string> keys;
  for (const std::string& key : given) {
    if (key != "-") {
      keys.push_back(key);
      continue;
    }
    progress meter("reading", {.quiet = true});
    key_source lines({key}, {}, meter);
    for (chunk c; lines.next(c);) keys.insert(keys.end(), c.keys.begin(), c.keys.end());
  }
  if (keys.empty()) throw error(errc::bad_argument, "there is no key on standard input");
  return keys;
}

found_keys ask(const find_verb& o) {
  const std::optional<master_key> key =
      o.key_file.empty() ? std::nullopt : std::optional(read_master_key(o.key_file));
  const auto wait = std::chrono::milliseconds(static_cast<std::int64_t>(o.seconds * 1000));
  node_client node(o.node, key,
                   {.idle = wait + std::chrono::seconds(2), .total = std::chrono::hours(1)});
  const auto questions = questions_of(o, route_seed(key));
  found_keys found;
  for (std::uint64_t sent = 0; found.answers.size() < questions.size();) {
    if (sent < questions.size() && sent - found.answers.size() < most_open) {
      node.send(node_message_type::question,
                encode(node_question{.id = sent,
                                     .kind = question_kind::start,
                                     .nearest = o.nearest,
                                     .hops = 0,
                                     .patience = static_cast<std::uint64_t>(wait.count()),
                                     .hashes = questions[sent]}));
      ++sent;
      continue;
    }
    const message m = node.receive();
    if (m.type != static_cast<std::uint8_t>(node_message_type::answer)) continue;
    node_answer a = decode_answer(m.payload);
    if (a.id >= sent || found.answers.contains(a.id)) {
      throw error(errc::corrupt, "the node answers what was not asked");
    }
    found.messages += a.messages;
    found.bytes += a.bytes;
    found.holders += a.holders.size();
    found.incomplete += a.complete ? 0 : 1;
    found.fallbacks += a.fallback ? 1 : 0;
    found.answers.emplace(a.id, std::move(a));
  }
  return found;
}

std::string joined_path(const resource_holder& h) {
  std::string text;
  for (const std::string& name : h.path) text += (text.empty() ? "" : " > ") + name;
  return text;
}

void print(const find_verb& o, const found_keys& found) {
  const auto key_of = [&](std::uint64_t id) {
    if (!o.together) return o.keys[id];
    std::string all;
    for (const std::string& key : o.keys) all += (all.empty() ? "" : " ") + key;
    return all;
  };
  if (o.json) {
    nlohmann::json keys = nlohmann::json::array();
    for (const auto& [id, a] : found.answers) {
      nlohmann::json holders = nlohmann::json::array();
      for (const resource_holder& h : a.holders) {
        holders.push_back({{"node", h.name}, {"path", h.path}, {"hops", h.path.size() - 1}});
      }
      keys.push_back({{"key", key_of(id)},
                      {"holders", holders},
                      {"complete", a.complete},
                      {"fallback", a.fallback},
                      {"messages", a.messages},
                      {"bytes", a.bytes}});
    }
    return print_json({{"keys", keys}, {"messages", found.messages}, {"bytes", found.bytes}});
  }
  std::string text;
  for (const auto& [id, a] : found.answers) {
    for (const resource_holder& h : a.holders) {
      text += fmt::format("{}\t{}{}\n", key_of(id), h.name,
                          o.path ? "\t" + joined_path(h) : std::string());
    }
  }
  write_output(text);
  tell("{}, {} found; {} and {} between nodes\n", counted(found.answers.size(), "question"),
       counted(found.holders, "holder"), counted(found.messages, "message"),
       as_bytes(static_cast<double>(found.bytes)));
  if (found.fallbacks != 0) {
    tell("{} found nothing within the depth and went on by the tree\n",
         counted(found.fallbacks, "question"));
  }
}

int run_find(find_verb& o) {
  o.seconds = o.timeout.value_or(5);
  if (!(o.seconds >= 0.05 && o.seconds <= 60)) {
    throw error(errc::bad_argument, "--timeout is a number of seconds from 0.05 to 60");
  }
  o.keys = with_lines_read(o.keys);
  found_keys found;
  try {
    found = ask(o);
  } catch (const error& e) {
    if (std::string_view(e.what()).starts_with(o.node)) throw;
    throw error(e.code(), fmt::format("{}: {}", o.node, e.what()));
  }
  if (found.holders == 0 && found.incomplete != 0) {
    throw error(errc::io, fmt::format("{}: nothing was found, but some nodes did not answer; ask "
                                      "again, or wait longer with --timeout",
                                      o.node));
  }
  if (o.json || !o.quiet) print(o, found);
  if (found.incomplete != 0 && !o.quiet) {
    tell("bloomery: warning: some nodes did not answer; there may be more\n");
  }
  return found.holders > 0 ? exit_success : exit_no_match;
}

}  // namespace

void add_find(command& app, int& status) {
  auto o = std::make_shared<find_verb>();
  command* verb = app.add_subcommand("find", "Ask a node which nodes have a key");
  verb->add_option("KEY", o->keys,
                   "The names, digests or lines that are looked for; - is standard input, with "
                   "one on each line")
      ->required()
      ->type_name("");
  verb->add_option("--node", o->node, "A node that runs")->required()->type_name("HOST:PORT");
  verb->add_option("--key-file", o->key_file,
                   "The key that all nodes share: 64 hexadecimal digits or 32 raw bytes")
      ->type_name("FILE");
  verb->add_flag("--nearest", o->nearest, "Stop at the first that is found, near ones first");
  verb->add_flag("--together", o->together, "Only nodes that have all of the keys");
  verb->add_flag("--path", o->path, "Print the nodes that the question passed, too");
  verb->add_option("--timeout", o->timeout, "Seconds to wait for the network (default 5)")
      ->type_name("S");
  verb->add_flag("--json", o->json, "Print one JSON object");
  add_quiet(*verb, o->quiet, true);
  verb->footer(
      "Prints the key, a tab and the node's name for each node that has it. The exit status is 0\n"
      "when something was found, 1 when nothing was, 2 when that is not sure.\n\n"
      "Example:\n  bloomery find --node 127.0.0.1:4711 model.bin notes.txt");
  verb->callback([o, &status] { status = run_find(*o); });
}

}  // namespace bloomery::cli
