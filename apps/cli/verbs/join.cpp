// bloomery join: the rows of two tables that have the same key, and the bytes that two hosts would
// have sent for it. Both sides run in one process and really send them, through a pair of sockets.
#include "bloomery/exchange/join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>
#include <utility>

#include "bloomery/core/error.hpp"
#include "cli/args/options.hpp"
#include "cli/args/peer.hpp"
#include "cli/input/csv_table.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/local_peers.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct join_options {
  std::vector<std::string> paths;
  std::string on;
  std::string delimiter;
  peer_options peer;
  bool estimate = false;
  bool json = false;
  bool quiet = false;
};

std::string name_in(const join_options& o, bool of_a) {  // of NAME or A_NAME=B_NAME
  const std::size_t sign = o.on.find('=');
  std::string name = o.on;
  if (sign != std::string::npos) name = of_a ? o.on.substr(0, sign) : o.on.substr(sign + 1);
  if (name.empty()) throw error(errc::bad_argument, "--on needs the name of a column");
  return name;
}

class joined_table {  // as the library needs it: the key, and the other fields as a list
 public:
  joined_table(const std::string& path, const std::string& key, const join_options& o)
      : meter_("reading", {.quiet = o.quiet}), table_(path, key, o.delimiter, meter_) {}
  joined_table(const joined_table&) = delete;
  joined_table& operator=(const joined_table&) = delete;

  [[nodiscard]] row_scan rows() {
    return [this](const row_visit& visit) { scan(visit); };
  }
  [[nodiscard]] const csv_table& table() const { return table_; }

  [[nodiscard]] std::string about() const {  // for the peer: the names of the key and all columns
    std::string list;
    append_field(list, table_.columns()[table_.key_column()]);
    for (const std::string& name : table_.columns()) append_field(list, name);
    return list;
  }

 private:
  void scan(const row_visit& visit) {
    const std::size_t key = table_.key_column();
    bool visiting = false;  // then an error is the peer's, not the table's
    try {
      table_.scan([&](std::span<const std::string_view> fields) {
        rest_.clear();
        for (std::size_t i = 0; i < fields.size(); ++i) {
          if (i != key) append_field(rest_, fields[i]);
        }
        visiting = true;
        visit(fields[key], rest_);
        visiting = false;
      });
    } catch (const error& e) {
      if (visiting) throw;
      throw own_error(e.code(), e.what());
    }
    meter_.clear();
  }

  progress meter_;
  csv_table table_;
  std::string rest_;
};

class row_printer {  // prints CSV: A's columns, then B's without the key
 public:
  row_printer(const csv_table& b, const join_options& o) : syntax_(o.delimiter), b_(&b) {}

  void begin(std::string_view about) {
    std::vector<std::string_view> names;
    split_fields(about, names, most_columns);
    const auto key =
        names.empty() ? names.end() : std::find(names.begin() + 1, names.end(), names[0]);
    if (key == names.end()) throw_damaged();
    a_columns_ = names.size() - 1;
    key_column_ = static_cast<std::size_t>(key - names.begin()) - 1;
    for (std::size_t i = 0; i < a_columns_; ++i) put(names[i + 1]);
    for (std::size_t i = 0; i < b_->columns().size(); ++i) {
      if (i != b_->key_column()) put(b_->columns()[i]);
    }
    end_record();
  }

  void row(std::string_view key, std::string_view rest_a, std::string_view rest_b) {
    split_fields(rest_a, a_fields_, a_columns_);
    split_fields(rest_b, b_fields_, b_->columns().size());
    if (a_fields_.size() + 1 != a_columns_) throw_damaged();
    auto next = a_fields_.begin();
    for (std::size_t i = 0; i < a_columns_; ++i) put(i == key_column_ ? key : *next++);
    for (const std::string_view field : b_fields_) put(field);
    end_record();
  }

  void flush() {
    write_output(text_);
    text_.clear();
  }

 private:
  static constexpr std::size_t output_bytes = 1 << 16;
  static constexpr std::size_t most_columns = 1 << 20;

  [[noreturn]] static void throw_damaged() {
    throw error(errc::corrupt, "the peer's rows do not fit its columns");
  }

  void put(std::string_view field) {
    if (columns_++ > 0) text_ += syntax_.delimiter();
    syntax_.append(text_, field);
  }
  void end_record() {
    // A record of one empty field is written with quotes, because an empty line is no row.
    if (columns_ == 1 && (text_.empty() || text_.back() == '\n')) text_ += "\"\"";
    text_ += '\n';
    columns_ = 0;
    if (text_.size() >= output_bytes) flush();
  }

  csv_fields syntax_;
  const csv_table* b_;
  std::size_t key_column_ = 0;
  std::size_t a_columns_ = 0;
  std::size_t columns_ = 0;  // of the record so far
  std::string text_;
  std::vector<std::string_view> a_fields_;
  std::vector<std::string_view> b_fields_;
};

// ---- the report -------------------------------------------------------------------------------

nlohmann::json report_json(const join_report& r) {
  const auto or_null = [&r](std::uint32_t bits) {
    return bits == 0 ? nlohmann::json() : nlohmann::json(std::ldexp(1.0, -static_cast<int>(bits)));
  };
  return {{"rows_a", r.a.rows},
          {"rows_b", r.rows_b},
          {"keys_a", r.a.keys},
          {"keys_b", r.keys_b},
          {"fpr_of_a", or_null(r.plan.offered_bits)},
          {"fpr_of_b", or_null(r.plan.asked_bits)},
          {"bytes_filters", r.filter_bytes},
          {"bytes_rows", r.row_bytes},
          {"bytes_other", r.other_bytes},
          {"bytes_sent", r.bytes()},
          {"bytes_plain", r.plain_bytes},
          {"rows_sent", r.rows_sent}};
}

std::string share(const join_report& r) {
  if (r.bytes() >= r.plain_bytes) return "";  // tables so small that the greetings are most of it
  return fmt::format(" ({:.1f} %)",
                     100 * static_cast<double>(r.bytes()) / static_cast<double>(r.plain_bytes));
}

void tell_sent(const join_report& r) {
  tell("{} of {} of A sent: {}, of them {} for filters; all rows: {}{}\n", with_commas(r.rows_sent),
       counted(r.a.rows, "row"), counted(r.bytes(), "byte"), with_commas(r.filter_bytes),
       counted(r.plain_bytes, "byte"), share(r));
}

// ---- the sides --------------------------------------------------------------------------------

join_limits limits_of(const join_options& o) { return {.memory_bytes = memory_of(o.peer)}; }

int join_at_b(message_channel& peer, joined_table& b, const join_options& o) {
  row_printer printer(b.table(), o);
  const join_report r = receive_join(
      peer, b.rows(),
      [&](std::string_view about) {
        if (!o.json) printer.begin(about);
      },
      [&](std::string_view key, std::string_view rest_a, std::string_view rest_b) {
        if (!o.json) printer.row(key, rest_a, rest_b);
      },
      limits_of(o));
  printer.flush();
  if (o.json) {
    nlohmann::json object = report_json(r);
    object["rows"] = r.pairs;
    object["rows_matched"] = r.rows_matched;
    print_json(object);
  }
  if (!o.quiet) tell_sent(r);
  return r.pairs > 0 ? exit_success : exit_no_match;
}

int estimate_at_b(message_channel& peer, joined_table& b, const join_options& o) {
  const join_size size = receive_estimate(peer, b.rows(), limits_of(o));
  if (o.json) {
    nlohmann::json object = report_json(size.report);
    object["rows_estimated"] = size.rows.value;
    object["standard_error"] = size.rows.standard_error;
    print_json(object);
  } else {
    write_output(fmt::format("{:.0f} +- {:.0f}\n", size.rows.value, size.rows.standard_error));
  }
  if (!o.quiet) {
    tell("about {}, standard error {:.0f}: from {}; all rows of A: {}\n",
         counted(static_cast<std::uint64_t>(std::llround(std::max(0.0, size.rows.value))), "row"),
         size.rows.standard_error, counted(size.report.bytes(), "byte"),
         counted(size.report.plain_bytes, "byte"));
  }
  return size.rows.value >= 0.5 ? exit_success : exit_no_match;
}

int run_at_b(message_channel& peer, joined_table& b, const join_options& o) {
  return o.estimate ? estimate_at_b(peer, b, o) : join_at_b(peer, b, o);
}

int run_here(const join_options& o) {  // in this process, with A in a thread of its own
  if (o.paths[0] == "-" && o.paths[1] == "-") {
    throw error(errc::bad_argument, "only one of the two tables can be standard input");
  }
  joined_table a(o.paths[0], name_in(o, true), o);
  joined_table b(o.paths[1], name_in(o, false), o);
  const join_side side(a.rows());
  const patience for_ever{.idle = {}, .total = {}};
  auto ends = pipe_pair(for_ever);
  std::optional<message_channel> peer_of_a(std::in_place, std::move(ends.first));
  std::optional<message_channel> peer_of_b(std::in_place, std::move(ends.second));
  first_failure failure;
  std::thread sender([&] {
    failure.guard([&] { send_join(*peer_of_a, side, a.about(), limits_of(o)); });
    peer_of_a.reset();
  });
  int status = exit_error;
  failure.guard([&] { status = run_at_b(*peer_of_b, b, o); });
  peer_of_b.reset();
  sender.join();
  rethrow_local(failure, o.peer);
  return status;
}

int run_listen(const join_options& o) {
  joined_table a(o.paths[0], name_in(o, true), o);
  const join_side side(a.rows());
  const join_report r = with_peer(o.peer, o.quiet, [&](message_channel& peer) {
    return send_join(peer, side, a.about(), limits_of(o));
  });
  if (o.json) print_json(report_json(r));
  if (!o.quiet) tell_sent(r);
  return exit_success;
}

int run_connect(const join_options& o) {
  joined_table b(o.paths[0], name_in(o, false), o);
  return with_peer(o.peer, o.quiet, [&](message_channel& peer) { return run_at_b(peer, b, o); });
}

int run_join(const join_options& o) {
  const bool hosts = o.peer.remote();
  if (o.paths.size() != (hosts ? 1U : 2U)) {
    throw error(errc::bad_argument,
                fmt::format("{} needs {}, not {}", hosts ? "join with another host" : "join",
                            hosts ? "one table" : "two tables", o.paths.size()));
  }
  if (!o.peer.listen.empty() && o.estimate) {
    throw error(errc::bad_argument, "--estimate is for the side that connects");
  }
  if (!hosts) return run_here(o);
  return o.peer.listen.empty() ? run_connect(o) : run_listen(o);
}

}  // namespace

void add_join(command& app, int& status) {
  auto o = std::make_shared<join_options>();
  command* verb = app.add_subcommand("join", "Join two tables by a column, as CSV");
  verb->add_option("TABLE", o->paths,
                   "A.csv and B.csv, whose first lines name the columns; - is standard input")
      ->required()
      ->type_name("");
  verb->add_option("--on", o->on, "The column to join by; A_NAME=B_NAME where the names differ")
      ->required()
      ->type_name("NAME");
  verb->add_option("--delimiter", o->delimiter,
                   "What stands between columns (default ','; \\t for TSV)")
      ->type_name("D");
  verb->add_flag("--estimate", o->estimate,
                 "Print only about how many rows the join has, and the standard error of that");
  add_peer_options(*verb, o->peer, "Have A.csv here, and wait at HOST:PORT for the host with B.csv",
                   "Have B.csv here, and print the join with the table of the host that listens");
  verb->add_flag("--json", o->json, "Print what was sent as JSON, and no rows");
  add_quiet(*verb, o->quiet);
  verb->footer(
      "Rows come in the order of A, then of B, and only when all have arrived.\n"
      "Exit status: 0 when there are rows, 1 when there are none, 2 after an error.\n\n"
      "Example:\n  bloomery join orders.csv customers.csv --on customer");
  verb->callback([o, &status] { status = run_join(*o); });
}

}  // namespace bloomery::cli
