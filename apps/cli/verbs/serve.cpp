// bloomery serve: the filters of a folder over HTTP.
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/transport.hpp"
#include "cli/args/options.hpp"
#include "cli/args/peer.hpp"
#include "cli/input/filters.hpp"
#include "cli/output/text.hpp"
#include "cli/serve/server.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct serve_verb {
  std::string folder;
  std::string listen = "127.0.0.1:8080";
  std::string key_file;
  std::string page;
  bool writable = false;
  std::string token_file;
  std::string read_token_file;
  std::uint64_t keep = 10;
  std::string keep_bytes = "4Gi";
  std::string cache = "256Mi";
  bool copy = false;
  std::vector<std::string> digests;
  std::vector<std::string> mirrors;
  std::string certificate;
  std::string certificate_key;
  std::string user;
  std::string log;
  std::uint64_t connections = 10'000;
  std::string most_body = "64Mi";
  std::uint64_t header_time = 10;
  std::uint64_t idle_time = 60;
  std::uint64_t slack = 30;
  std::uint64_t grace = 10;
  unsigned threads = 1;
  bool quiet = false;
};

// "NAME=FILE", at the last sign of those that it may have.
std::pair<std::string, std::string> pair_of(const std::string& text, const char* option) {
  const std::size_t sign = text.rfind('=');
  if (sign == std::string::npos || sign == 0 || sign + 1 == text.size()) {
    throw error(errc::bad_argument, fmt::format("{} {}: two parts with = between", option, text));
  }
  return {text.substr(0, sign), text.substr(sign + 1)};
}

route_options routes_of(const serve_verb& o) {
  route_options r;
  r.page = o.page;
  for (const std::string& text : o.digests) r.digests.push_back(pair_of(text, "--squid"));
  for (const std::string& text : o.mirrors) {
    auto mirror = pair_of(text, "--mirror");
    if (!mirror.first.starts_with("http://") || !mirror.first.ends_with('/')) {
      throw error(errc::bad_argument,
                  fmt::format("--mirror {}: a URL that begins with http:// and ends with /", text));
    }
    r.mirrors.push_back(std::move(mirror));
  }
  r.writable = o.writable;
  if (o.writable != !o.token_file.empty()) {
    throw error(errc::bad_argument, "--writable and --token-file belong together");
  }
  if (o.writable) r.write_token = read_token(o.token_file);
  if (!o.read_token_file.empty()) r.read_token = read_token(o.read_token_file);
  r.most_add_bytes = parse_bytes(o.most_body);
  r.cache_bytes = parse_bytes(o.cache);
  r.add = [key_file = o.key_file](const std::string& path, const key_form& form,
                                  const std::vector<std::string_view>& keys) {
    change_file(path, key_file, form, {.quiet = true}, [&](any_filter& f) {
      const std::uint64_t before = f.keys();
      f.add(keys);
      return f.keys() != before;
    });
  };
  return r;
}

void become(const std::string& user) {
  const passwd* const who = ::getpwnam(user.c_str());
  if (who == nullptr) throw error(errc::bad_argument, "there is no user " + user);
  if (::initgroups(user.c_str(), who->pw_gid) != 0 || ::setgid(who->pw_gid) != 0 ||
      ::setuid(who->pw_uid) != 0) {
    throw error(errc::io, "--user " + user + ": only root can become another user");
  }
}

extern "C" void leave_at_once(int /*signal*/) { ::_exit(exit_success); }

// Reading the filters may take a while. Whoever stops it meanwhile means what he means later, and
// no request is under way; the log need not be opened anew. The server then takes the signals over.
void hear_signals_early() {
  struct sigaction action = {};
  action.sa_handler = leave_at_once;
  for (const int signal : {SIGTERM, SIGINT}) ::sigaction(signal, &action, nullptr);
  std::signal(SIGHUP, SIG_IGN);  // NOLINT(cert-err33-c): it cannot fail
}

void run(const serve_verb& o) {
  hear_signals_early();
  const auto report = [quiet = o.quiet](const std::string& what) {
    if (!quiet) tell("bloomery: {}\n", escaped(what));
  };
  if (o.certificate.empty() != o.certificate_key.empty()) {
    throw error(errc::bad_argument, "--certificate and --certificate-key belong together");
  }
  serve_counters counters;
  const route_options answers = routes_of(o);
  listener door(o.listen);
  const std::uint16_t port = door.port();
  shelf filters({.folder = o.folder,
                 .keep = static_cast<std::size_t>(o.keep),
                 .keep_bytes = parse_bytes(o.keep_bytes),
                 .copy = o.copy,
                 .how = opening_asked(),
                 .hasher =
                     [key_file = o.key_file](const image_header& header) {
                       return hasher_of(header, key_file, header.hash.form);
                     },
                 .report = report});
  routes table(filters, answers, counters);
  http_server server(std::move(door), table, counters,
                     {.threads = o.threads,
                      .connections = static_cast<std::size_t>(o.connections),
                      .header_time = std::chrono::seconds(o.header_time),
                      .idle_time = std::chrono::seconds(o.idle_time),
                      .slack = std::chrono::seconds(o.slack),
                      .grace = std::chrono::seconds(o.grace),
                      .certificate = o.certificate,
                      .key_file = o.certificate_key,
                      .log = o.log,
                      .report = report});
  if (!o.user.empty()) become(o.user);
  filters.follow();
  if (!o.quiet) {
    tell("bloomery: {} at {}://{}:{}\n", counted(filters.state()->size(), "filter"),
         o.certificate.empty() ? "http" : "https", o.listen.substr(0, o.listen.rfind(':')), port);
  }
  server.run();
}

void add_version_options(command& verb, serve_verb& o) {
  verb.group_options("Versions");
  verb.add_option("--keep", o.keep, "Versions before the present one, for deltas (default 10)")
      ->between(std::uint64_t{0}, std::uint64_t{1'000'000})
      ->type_name("N");
  verb.add_option("--keep-bytes", o.keep_bytes, "Bytes of all of them together (default 4Gi)")
      ->type_name("B");
  verb.add_option("--cache", o.cache, "Bytes of packed forms and deltas in memory (default 256Mi)")
      ->type_name("B");
  verb.add_flag("--copy", o.copy,
                "Copy files into memory instead of mapping them: for folders whose files are "
                "overwritten in place");
}

void add_writing_options(command& verb, serve_verb& o) {
  verb.group_options("Who may what");
  verb.add_flag("--writable", o.writable, "Let those who have the token add keys");
  verb.add_option("--token-file", o.token_file, "The token that they send as Bearer")
      ->type_name("FILE");
  verb.add_option("--read-token-file", o.read_token_file,
                  "A token that everybody else must send, too")
      ->type_name("FILE");
  verb.add_option("--certificate", o.certificate, "Speak TLS, with this chain of certificates")
      ->type_name("PEM");
  verb.add_option("--certificate-key", o.certificate_key, "The key of the certificate")
      ->type_name("PEM");
  verb.add_option("--user", o.user, "Become this user once the port is open")->type_name("NAME");
}

void add_squid_options(command& verb, serve_verb& o) {
  verb.group_options("A sibling for Squid");
  verb.add_option("--squid", o.digests,
                  "Serve this cache digest at /digests/NAME, the first one also where Squid looks")
      ->one_a_time()
      ->type_name("NAME=FILE");
  verb.add_option("--mirror", o.mirrors, "Answer for URLs below this one out of this folder")
      ->one_a_time()
      ->type_name("URL=DIR");
}

void add_limit_options(command& verb, serve_verb& o) {
  constexpr std::uint64_t longest = 86'400;
  verb.group_options("Limits");
  verb.add_option("--connections", o.connections, "Connections at a time (default 10000)")
      ->between(std::uint64_t{1}, std::uint64_t{10'000'000})
      ->type_name("N");
  verb.add_option("--body", o.most_body, "Bytes of keys that are added at once (default 64Mi)")
      ->type_name("B");
  verb.add_option("--header-time", o.header_time, "Seconds for a whole header (default 10)")
      ->between(std::uint64_t{1}, longest)
      ->type_name("S");
  verb.add_option("--idle-time", o.idle_time, "Seconds between two requests (default 60)")
      ->between(std::uint64_t{1}, longest)
      ->type_name("S");
  verb.add_option("--slack", o.slack,
                  "Seconds for the rest of a request, and one more for each 4 KiB (default 30)")
      ->between(std::uint64_t{1}, longest)
      ->type_name("S");
  verb.add_option("--grace", o.grace, "Seconds to finish requests when it is stopped (default 10)")
      ->between(std::uint64_t{0}, longest)
      ->type_name("S");
}

}  // namespace

void add_serve(command& app, int& /*status*/) {
  auto o = std::make_shared<serve_verb>();
  command* verb = app.add_subcommand(
      "serve", "Serve the filters of a folder over HTTP: whole, by their changes, or asked");
  verb->add_option("DIR", o->folder, "The folder; its files are followed")
      ->required()
      ->type_name("");
  verb->add_option("--listen", o->listen,
                   "Where clients connect; port 0 takes a free one (default 127.0.0.1:8080)")
      ->type_name("HOST:PORT");
  add_key_file(*verb, o->key_file);
  verb->add_option("--page", o->page, "Serve the files of this folder at /, instead of a list")
      ->type_name("DIR");
  verb->add_option("--log", o->log, "Write a line for each request; - is standard output")
      ->type_name("FILE");
  add_limit(*verb);
  add_threads(*verb, o->threads);
  add_quiet(*verb, o->quiet);
  add_version_options(*verb, *o);
  add_writing_options(*verb, *o);
  add_squid_options(*verb, *o);
  add_limit_options(*verb, *o);
  verb->footer(
      "Runs until it is stopped; SIGHUP opens the log anew.\n\n"
      "Example:\n"
      "  bloomery serve /srv/filters --listen 0.0.0.0:8080\n"
      "  curl http://localhost:8080/filters/words/check?key=apple\n"
      "  curl --data-binary @lines.txt http://localhost:8080/filters/words/check");
  verb->callback([o] { run(*o); });
}

}  // namespace bloomery::cli
