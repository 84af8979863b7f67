// bloomery passwd: passwords that must not be chosen. Candidates come from a terminal without echo
// or from standard input and files, never from arguments, which every user of the machine can see.
#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "bloomery/core/error.hpp"
#include "bloomery/lists/password.hpp"
#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/input/keys.hpp"
#include "cli/input/source.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"
#ifdef BLOOMERY_HAS_CRYPTO
#include "bloomery/crypto/digest.hpp"
#endif

namespace bloomery::cli {

namespace {

constexpr const char* default_fpr = "0.1%";

struct passwd_options {
  input_options input;
  std::string path;
  std::string format = "plain";
  std::string fpr = default_fpr;
  std::uint32_t distance = 0;
  std::uint64_t seed = 0;
  bool count = false;
  bool json = false;
};

key_rule rule_of(const passwd_options& o) {
  if (o.format == "sha1" && o.distance != 0) {
    throw error(errc::bad_argument,
                "a digest does not tell what is near its password: --distance 1 needs --format "
                "plain");
  }
  if (o.format == "sha1") return key_rule::password_digest;
  return o.distance == 0 ? key_rule::password : key_rule::near_password;
}

// Lines are HASH:COUNT or HASH alone. A carriage return at the end is not part of them.
record_options record_form(const passwd_options& o) {
  record_options records;
  records.crlf = o.input.records.crlf;
  if (o.format == "sha1") {
    records.column = "1";
    records.delimiter = ":";
    records.hex = true;
    records.crlf = true;
  }
  return records;
}

// A digest as lists of breaches have it, alone or with a count behind it.
bool is_digest_line(std::string_view line) {
  constexpr std::size_t digits = 2 * password_digest_bytes;
  if (line.size() < digits || (line.size() > digits && line[digits] != ':')) return false;
  return line.substr(0, digits).find_first_not_of("0123456789abcdefABCDEF") ==
         std::string_view::npos;
}

void warn_of_digests(const chunk& first, progress& meter) {
  if (first.keys.empty() || !std::ranges::all_of(first.keys, is_digest_line)) return;
  meter.warn(
      fmt::format("warning: {}: the lines look like SHA-1 digests, and are taken for "
                  "passwords; give --format sha1",
                  first.file));
}

void run_build(const passwd_options& o) {
  output_file out(o.path, o.input.paths, o.json);
  password_builder builder(
      {.rule = rule_of(o), .fpr = parse_rate(o.fpr), .seed = o.seed, .directory = out.folder()});
  {
    progress meter("reading", o.input.show());
    key_source source(o.input.paths, record_form(o), meter);
    for (chunk c; source.next(c);) {
      if (c.sequence == 0 && o.format == "plain") warn_of_digests(c, meter);
      for (const std::string_view word : c.keys) {
        if (o.format == "sha1" && word.size() != password_digest_bytes) {
          throw error(errc::corrupt,
                      fmt::format("{}: a digest of {} bytes is none of SHA-1, which has 20", c.file,
                                  word.size()));
        }
        builder.add(word);
      }
    }
  }
  const any_filter f = builder.build();
  f.save(out.path());
  out.finish(o.input.quiet);
  const std::uint64_t bytes = out.bytes();
  if (!o.input.quiet) {
    tell("{}: {}, {}, {:.1f} bits each, false alarms at most {}\n", out.name(),
         counted(builder.words(), "password"), as_bytes(static_cast<double>(bytes)),
         builder.words() == 0
             ? 0.0
             : 8 * static_cast<double>(bytes) / static_cast<double>(builder.words()),
         as_rate(parse_rate(o.fpr)));
  }
  if (!o.input.quiet && builder.words() == 0) warn_without_keys({}, out.name());
  if (o.json) {
    nlohmann::json object = info_json(f, bytes);
    object["passwords"] = builder.words();
    print_json(object);
  }
}

// The string to look up. Without bloomery::crypto there are no digests.
std::string asked_key(const password_filter& f, std::string_view candidate) {
  if (f.rule() != key_rule::password_digest) return std::string(candidate);
#ifdef BLOOMERY_HAS_CRYPTO
  return sha1_digest(candidate);
#else
  throw error(errc::unsupported, "this program was built without SHA-1");
#endif
}

class silent_terminal {  // switches the echo off while the object exists
 public:
  silent_terminal() {
    tcgetattr(STDIN_FILENO, &before_);
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
  }
  silent_terminal(const silent_terminal&) = delete;
  silent_terminal& operator=(const silent_terminal&) = delete;
  ~silent_terminal() { tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_); }

 private:
  termios before_{};
};

int ask_terminal(password_filter& f, bool quiet) {
  std::string candidate;
  {
    const silent_terminal silent;
    tell("Password: ");
    std::fflush(stderr);
    if (!std::getline(std::cin, candidate)) candidate.clear();
    tell("\n");
  }
  const bool found = f.contains(asked_key(f, candidate));
  explicit_bzero(candidate.data(), candidate.size());
  if (!quiet) write_output(found ? "on the list: choose another\n" : "not on the list\n");
  return found ? exit_success : exit_no_match;
}

password_filter open_passwords(const std::string& path) {
  return within_limit([&] { return password_filter::open(path, opening_asked()); });
}

int run_check(const passwd_options& o) {
  password_filter f = open_passwords(as_file(o.path));
  const bool silent = o.input.silent(o.json);
  if (o.input.paths.empty() && isatty(STDIN_FILENO) != 0) return ask_terminal(f, silent);
  const bool print = !o.count && !o.json && !silent;
  progress meter("checking", o.input.show().unless(print));
  key_source source(o.input.paths, record_form(o), meter);
  std::uint64_t asked = 0;
  std::uint64_t found = 0;
  std::string text;
  for (chunk c; (!silent || found == 0) && source.next(c);) {
    text.clear();
    asked += c.keys.size();
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
      if (!f.contains(asked_key(f, c.keys[i]))) continue;
      ++found;
      if (print) text.append(c.records[i]).append("\n");
    }
    write_output(text);
  }
  meter.clear();
  if (o.json) {
    print_json({{"passwords", asked}, {"found", found}});
  } else if (o.count && !silent) {
    write_output(fmt::format("{}\n", found));
  }
  return found > 0 ? exit_success : exit_no_match;
}

// Reads what pam_exec with expose_authtok writes: the password, then a zero byte or the pipe's end.
int run_pam(const passwd_options& o) {
  constexpr std::size_t longest = 4096;
  password_filter f = open_passwords(o.path);
  std::string candidate(longest, '\0');
  std::cin.read(candidate.data(), static_cast<std::streamsize>(longest));
  candidate.resize(static_cast<std::size_t>(std::cin.gcount()));
  const std::size_t end = candidate.find('\0');
  const bool found = f.contains(asked_key(f, candidate.substr(0, end)));
  explicit_bzero(candidate.data(), candidate.size());
  if (found) write_output("This password is on a list of known passwords. Choose another.\n");
  return found ? exit_no_match : exit_success;
}

void add_passwd_build(command& passwd) {
  auto o = std::make_shared<passwd_options>();
  command* verb = passwd.add_subcommand("build", "Build a filter of forbidden passwords");
  verb->add_option("-o,--output", o->path, "The filter file to write; - is standard output")
      ->required()
      ->type_name("F");
  verb->add_option("--distance", o->distance,
                   "1: forbid also what one edit makes of a password (default 0)")
      ->between(0, 1)
      ->type_name("D");
  verb->add_option("--format", o->format,
                   "The list: plain passwords, or sha1 for lines of HASH:COUNT (default plain)")
      ->one_of({"plain", "sha1"})
      ->type_name("FORMAT");
  verb->add_option("--fpr", o->fpr, "Highest rate of false alarms, for a candidate (default 0.1%)")
      ->type_name("P");
  verb->add_option("--seed", o->seed, "Chooses the hash function (default 0)")->type_name("S");
  verb->add_flag("--json", o->json, "Print what was built as JSON");
  verb->add_flag("--crlf", o->input.records.crlf,
                 "Lines end with CR LF; the CR is no part of the password");
  add_input_files(*verb, o->input);
  verb->footer(
      "Example:\n  bloomery passwd build -o forbidden.bloom --distance 1 words.txt\n"
      "  bloomery passwd build -o breached.bloom --format sha1 pwned-passwords.txt");
  verb->callback([o] { run_build(*o); });
}

}  // namespace

void add_passwd(command& app, int& status) {
  command* passwd = app.add_subcommand("passwd", "Forbidden passwords: build a list, ask it");
  passwd->require_subcommand(1);
  add_passwd_build(*passwd);
  auto asked = std::make_shared<passwd_options>();
  asked->input.answers = true;
  command* check = passwd->add_subcommand("check", "Print the passwords that are on the list");
  check->add_option("F", asked->path, "The filter file to ask")->required()->type_name("");
  check->add_flag("-c,--count", asked->count, "Print only how many");
  check->add_flag("--json", asked->json, "Print how many were asked for and found as JSON");
  check->add_flag("--crlf", asked->input.records.crlf,
                  "Lines end with CR LF; the CR is no part of the password");
  add_opening_options(*check);
  add_input_files(*check, asked->input);
  check->footer(
      "Exit status: 0 when one is on the list, 1 when none is, 2 after an error.\n\n"
      "Example:\n  bloomery passwd check forbidden.bloom");
  check->callback([asked, &status] { status = run_check(*asked); });
  auto pam = std::make_shared<passwd_options>();
  command* helper = passwd->add_subcommand("pam", "Refuse a password on the list: for pam_exec");
  helper->add_option("F", pam->path, "The filter file to ask")->required()->type_name("");
  add_opening_options(*helper);
  helper->footer(
      "Exit status: 0 when the password is not on the list, 1 when it is, 2 after an error.\n\n"
      "Example:\n  bloomery passwd pam /etc/security/forbidden.bloom < secret");
  helper->callback([pam, &status] { status = run_pam(*pam); });
  passwd->footer(
      "Passwords are read from a terminal without echo, or one a line from standard input or "
      "files; never from arguments.\n\n"
      "Example:\n  bloomery passwd build -o forbidden.bloom --distance 1 words.txt\n"
      "  bloomery passwd check forbidden.bloom");
}

}  // namespace bloomery::cli
