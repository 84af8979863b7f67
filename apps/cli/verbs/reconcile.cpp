// bloomery reconcile: what two sets of lines do not have in common, by the protocol of
// exchange/reconcile.hpp. Between two files both halves run here, in two threads over a pair of
// sockets, and the bytes that pass are counted; with --listen and --connect they run on two hosts.
#include "bloomery/exchange/reconcile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/format/file.hpp"
#include "cli/args/options.hpp"
#include "cli/args/peer.hpp"
#include "cli/input/source.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/local_peers.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct reconcile_verb {
  record_options records;
  std::string a;
  std::string b;
  peer_options peer;
  std::string method = "auto";
  std::string output;
  bool quiet = false;
  bool json = false;
};

class line_list {  // all lines of a file, in memory
 public:
  line_list(const std::string& path, const record_options& records, bool quiet) {
    progress meter("reading", progress_options{.quiet = quiet});
    key_source source({path}, records, meter);
    std::uint64_t empty = 0;
    for (chunk c; source.next(c);) {
      empty += c.empty;
      for (const std::string_view line : c.keys) {
        if (line.size() > reconcile_longest_key) {
          throw error(errc::bad_argument,
                      fmt::format("{}: a line of {} bytes; at most {} can be reconciled", path,
                                  with_commas(line.size()), with_commas(reconcile_longest_key)));
        }
        text_.append(line);
        ends_.push_back(text_.size());
      }
    }
    if (empty != 0 && !quiet) {
      meter.clear();
      tell("bloomery: {}: {} left out; with --keep-empty an empty line is a line too\n",
           name_of_input(path),
           empty == 1 ? "1 empty line was" : with_commas(empty) + " empty lines were");
    }
    std::size_t start = 0;
    views_.reserve(ends_.size());
    for (const std::size_t end : ends_) {
      views_.push_back(std::string_view(text_).substr(start, end - start));
      start = end;
    }
    ends_ = {};
  }
  line_list(const line_list&) = delete;
  line_list& operator=(const line_list&) = delete;

  [[nodiscard]] std::span<const std::string_view> lines() const { return views_; }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
  std::vector<std::string_view> views_;
};

// Text to standard output or a file, in pieces.
template <class Write>
class piecewise {
 public:
  piecewise(Write write, std::string_view end) : write_(write), end_(end) {}

  void line(std::string_view mark, std::string_view text) {
    buffer_.append(mark).append(text).append(end_);
    if (buffer_.size() >= std::size_t{1} << 16U) flush();
  }
  void flush() {
    write_(buffer_);
    buffer_.clear();
  }

 private:
  Write write_;
  std::string_view end_;
  std::string buffer_;
};

reconciliation talk(message_channel& peer, const line_list& lines, const reconcile_verb& o) {
  reconciliation r =
      reconcile(peer, lines.lines(),
                {.method = *method_from_name(o.method), .memory_bytes = memory_of(o.peer)});
  peer.finish();
  return r;
}

// A line of ours never has the byte that ends lines here. A peer's may, and would come out as
// several lines.
void refuse_line_ends(const reconciliation& r, const reconcile_verb& o) {
  const char end = o.records.line_end().back();
  const auto has_end = [end](const std::string& line) { return line.find(end) != line.npos; };
  if (std::none_of(r.only_there.begin(), r.only_there.end(), has_end)) return;
  throw error(errc::mismatch,
              o.records.null ? "the peer has a line with a NUL in it: without -0 it can be read"
                             : "the peer has a line with a line end in it: it may have been "
                               "given -0; give it here too");
}

// The result, for both forms of output.
struct findings {
  std::vector<std::string_view> here;   // lines that only we have, or only A,
  std::vector<std::string_view> there;  // and only the peer, or only B
  reconcile_report report;
};

nlohmann::json phase(const traffic& t) { return {{"sent", t.sent}, {"received", t.received}}; }

void print_report(const findings& f) {
  const reconcile_report& r = f.report;
  print_json({{"keys_here", r.keys_here},
              {"keys_there", r.keys_there},
              {"only_here", f.here.size()},
              {"only_there", f.there.size()},
              {"method", method_name(r.method)},
              {"estimated_difference", r.estimated_difference},
              {"found_by_filter", r.found_by_filter},
              {"symbols", r.symbols},
              {"rounds", r.rounds},
              {"round_trips", r.round_trips},
              {"bytes", r.all().both()},
              {"bytes_sent", r.all().sent},
              {"bytes_received", r.all().received},
              {"phases",
               {{"greetings", phase(r.greetings)},
                {"filters", phase(r.filters)},
                {"tables", phase(r.tables)},
                {"keys", phase(r.keys)}}},
              {"everything_bytes", r.everything_bytes()},
              {"smaller_bytes", r.smaller_bytes()}});
}

void tell_report(const findings& f, std::string_view who) {
  const reconcile_report& r = f.report;
  const auto size = [](std::uint64_t bytes) { return as_bytes(static_cast<double>(bytes)); };
  tell(
      "bloomery: {} and {}; only here (<) {}, only there (>) {}\n"
      "bloomery: {} {} ({}, {}); sending everything takes {}, the smaller set, as comm "
      "needs it, {}\n",
      with_commas(r.keys_here), counted(r.keys_there, "different line"), with_commas(f.here.size()),
      with_commas(f.there.size()), who, size(r.all().both()), method_name(r.method),
      counted(r.round_trips, "round trip"), size(r.everything_bytes()), size(r.smaller_bytes()));
}

// Writes the union: our lines as they are, but for empty ones that were left out, then the lines
// that only the peer has.
void write_union(const reconcile_verb& o, const line_list& lines, const findings& f) {
  atomic_file file(o.output);
  piecewise out([&](std::string_view text) { file.append(std::as_bytes(std::span(text))); },
                o.records.line_end());
  for (const std::string_view line : lines.lines()) out.line("", line);
  for (const std::string_view line : f.there) out.line("", line);
  out.flush();
  file.commit();
}

void show(const reconcile_verb& o, const line_list& lines, const findings& f,
          std::string_view who) {
  if (!o.output.empty()) {
    replaced_file replaced(o.output);
    write_union(o, lines, f);
    replaced.tell_owner(o.quiet);
  }
  if (o.json) {
    print_report(f);
  } else {
    piecewise out([](std::string_view text) { write_output(text); }, o.records.line_end());
    for (const std::string_view line : f.here) out.line("< ", line);
    for (const std::string_view line : f.there) out.line("> ", line);
    out.flush();
  }
  if (!o.quiet) tell_report(f, who);
}

std::vector<std::string_view> chosen(const line_list& lines, std::span<const std::size_t> places) {
  std::vector<std::string_view> found;
  for (const std::size_t place : places) found.push_back(lines.lines()[place]);
  return found;
}

void run_local(const reconcile_verb& o) {
  if (o.b.empty()) {
    throw error(errc::bad_argument,
                "two files are compared; with one, --listen or --connect names the other host");
  }
  const line_list a(o.a, o.records, o.quiet);
  const line_list b(o.b, o.records, o.quiet);
  auto ends = pipe_pair(patience_of(o.peer));
  std::optional<message_channel> peer_of_a(std::in_place, std::move(ends.first));
  std::optional<message_channel> peer_of_b(std::in_place, std::move(ends.second));
  first_failure failure;
  reconciliation of_a;
  reconciliation of_b;
  const auto half = [&](std::optional<message_channel>& peer, const line_list& lines,
                        reconciliation& found) {
    failure.guard([&] { found = talk(*peer, lines, o); });
    peer.reset();
  };
  std::thread other([&] { half(peer_of_b, b, of_b); });
  half(peer_of_a, a, of_a);
  other.join();
  rethrow_local(failure, o.peer);
  show(o, a,
       {.here = chosen(a, of_a.only_here),
        .there = chosen(b, of_b.only_here),
        .report = of_a.report},
       "two hosts would exchange");
}

void run_remote(const reconcile_verb& o) {
  if (!o.b.empty()) {
    throw error(errc::bad_argument,
                "with --listen or --connect there is one file here; the other is with the peer");
  }
  const line_list lines(o.a, o.records, o.quiet);
  const reconciliation r = with_peer(o.peer, o.quiet, [&](message_channel& peer) {
    reconciliation found = talk(peer, lines, o);
    refuse_line_ends(found, o);
    return found;
  });
  show(o, lines,
       {.here = chosen(lines, r.only_here),
        .there = {r.only_there.begin(), r.only_there.end()},
        .report = r.report},
       "exchanged");
}

}  // namespace

void add_reconcile(command& app, int& /*status*/) {
  auto o = std::make_shared<reconcile_verb>();
  command* verb = app.add_subcommand(
      "reconcile", "Print the lines that only one of two hosts or files has, for few bytes");
  verb->add_option(
          "A", o->a,
          "A file of lines, or - for standard input; gzip, bzip2, zstd and xz are unpacked")
      ->required()
      ->type_name("");
  verb->add_option("B", o->b, "Another, to compare it with")->type_name("");
  add_peer_options(*verb, o->peer,
                   "Wait for a peer at this address instead of B; port 0 takes a free one",
                   "Ask the peer at this address instead of B");
  verb->add_option("-o,--output", o->output,
                   "Write the union there: the lines of A and what it lacks")
      ->type_name("FILE");
  verb->add_option("--method", o->method,
                   "auto, sketch, filter or full: how the difference is found (default auto)")
      ->one_of({"auto", "sketch", "filter", "full"})
      ->type_name("M");
  verb->add_flag("--json", o->json, "Print only the numbers, as JSON");
  add_quiet(*verb, o->quiet);
  verb->group_options("Input");
  verb->add_flag("--keep-empty", o->records.keep_empty, "An empty line is a line too");
  verb->add_flag("--crlf", o->records.crlf, "Lines end with CR LF; the CR is no part of the line");
  verb->add_flag("-0,--null", o->records.null,
                 "Lines end with a NUL instead of a line end, as find -print0 has it");
  verb->footer(
      "'< line' is only in A, or here; '> line' only in B, or with the peer. Files need not be "
      "sorted,\n"
      "and a line counts once. Nothing is encrypted.\n\n"
      "Example:\n  bloomery reconcile monday.txt tuesday.txt\n"
      "  bloomery reconcile --listen 0.0.0.0:4711 -o all.txt mine.txt      # one host\n"
      "  bloomery reconcile --connect there:4711 -o all.txt mine.txt       # the other");
  verb->callback([o] {
    if (o->output == "-") {
      throw error(errc::bad_argument, "the differences go to standard output; give -o a file");
    }
    if (o->peer.remote()) {
      run_remote(*o);
    } else {
      run_local(*o);
    }
  });
}

}  // namespace bloomery::cli
