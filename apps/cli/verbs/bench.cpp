// bloomery bench: how fast this machine is, against what its memory allows.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <thread>

#include "bloomery/core/error.hpp"
#include "bloomery/measure/floor.hpp"
#include "cli/args/options.hpp"
#include "cli/gpu/gpu_filter.hpp"
#include "cli/output/chart.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/bench_runs.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct bench_options {
  std::string keys = "1M";
  std::string kind;
  unsigned threads = 1;
  bool gpu = false;
  bool json = false;
  bool quiet = false;
};

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.compare(0, 10, "model name") != 0) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

nlohmann::json number_or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

// A kind's own floor: that of a line as often as the kind needs one. Nothing for a building.
struct own_floor {
  double contains = 0;
  std::optional<double> add;
};

own_floor floor_of(const measured_kind& row, const measured_floor& one_line) {
  own_floor own{.contains = one_line.read * row.lines, .add = std::nullopt};
  if (row.add_lines > 0) own.add = one_line.write * row.add_lines;
  return own;
}

nlohmann::json make_row(const measured_kind& row, const measured_floor& one_line,
                        const measurement& m) {
  const own_floor own = floor_of(row, one_line);
  nlohmann::json object = {{"kind", kind_name(row.kind)},
                           {"keys", m.keys},
                           {"add_ns", number_or_null(row.add)},
                           {"add_bulk_ns", row.add_bulk},
                           {"add_lines", row.add_lines},
                           {"add_floor_ns", number_or_null(own.add)},
                           {"contains_ns", row.contains},
                           {"contains_bulk_ns", row.contains_bulk},
                           {"lines", row.lines},
                           {"contains_floor_ns", own.contains},
                           {"bits_per_key", row.bits_per_key},
                           {"fpr", row.fpr}};
  if (m.threads > 1) {
    object["threads_add_mkeys_per_s"] = number_or_null(row.parallel_add);
    object["threads_contains_mkeys_per_s"] = number_or_null(row.parallel_contains);
  }
  return object;
}

nlohmann::json make_json(const measured_machine& all, const measurement& m) {
  nlohmann::json rows = nlohmann::json::array();
  for (const measured_kind& row : all.rows) rows.push_back(make_row(row, all.floor, m));
  return {
      {"machine",
       {{"cpu", cpu_model()},
        {"cores", std::thread::hardware_concurrency()},
        {"kernel", kernel_in_use()}}},
      {"keys", m.keys},
      {"threads", m.threads},
      {"repetitions", measured_repetitions},
      {"fpr_target", measured_fpr},
      {"floor_ns", {{"read", all.floor.read}, {"write", all.floor.write}}},
      {"floor_pipeline", {{"read", all.floor.read_pipeline}, {"write", all.floor.write_pipeline}}},
      {"floor_bytes", all.floor.bytes},
      {"rows", rows}};
}

std::string head_text(const measured_machine& all, const measurement& m) {
  const measured_floor& floor = all.floor;
  std::string text = fmt::format("{}, {} cores, {} kernels\n", cpu_model(),
                                 std::thread::hardware_concurrency(), kernel_in_use());
  text +=
      fmt::format("{} 64-bit keys, {:.0f} % false positives; nanoseconds a key, medians of {}\n\n",
                  with_commas(m.keys), measured_fpr * 100, measured_repetitions);
  text += fmt::format(
      "  floor: hash a key, then touch one random line of {}\n"
      "    read {:.2f} ns ({}), read, change and write {:.2f} ns ({})\n\n",
      as_bytes(static_cast<double>(floor.bytes)), floor.read, floor.read_pipeline, floor.write,
      floor.write_pipeline);
  return text;
}

// Nanoseconds a key in bulk, the same as a multiple of the kind's floor, and one by one.
std::string cells(double bulk, const std::optional<double>& floor,
                  const std::optional<double>& one) {
  return fmt::format(" {:>7.2f} {:>6} {:>6}", bulk,
                     floor ? fmt::format("{:.1f}", bulk / *floor) : "-",
                     one ? fmt::format("{:.2f}", *one) : "-");
}

std::string table_text(const measured_machine& all) {
  std::string text =
      "                 bits                 lookup    own    one     add    own    one\n"
      "                a key      fpr lines in bulk floors by one in bulk floors by one\n";
  bool building = false;
  for (const measured_kind& row : all.rows) {
    building |= !row.add;
    const own_floor own = floor_of(row, all.floor);
    text += fmt::format("  {:<11} {:>7.2f} {:>8} {:>5}{}{}\n", kind_name(row.kind),
                        row.bits_per_key, as_rate(row.fpr), row.lines,
                        cells(row.contains_bulk, own.contains, row.contains),
                        cells(row.add_bulk, own.add, row.add));
  }
  text +=
      "\n  Half of the keys asked for are there, in random order.\n"
      "  A kind's own floor is the floor times its lines: those that a lookup reads,\n"
      "  and after a stroke those of an add, where they are fewer. Below 1.0: a key is\n"
      "  hashed once, lines lie side by side, or a lookup ends before the last.\n";
  if (building) text += "  Kinds without a single add are built from all keys at once.\n";
  return text;
}

std::string chart_text(const measured_machine& all) {
  const auto speed = [](std::string label, double nanoseconds) {
    return bar{std::move(label), 1 / nanoseconds, fmt::format("{:.0f}", 1e3 / nanoseconds)};
  };
  std::vector<bar> bars = {speed("floor", all.floor.read)};
  for (const measured_kind& row : all.rows) {
    bars.push_back(speed(std::string(kind_name(row.kind)), row.contains_bulk));
  }
  return "\n  bulk lookups, million keys a second\n" + bar_chart(bars, output_columns());
}

std::string threads_text(const measured_machine& all, unsigned threads) {
  const auto rate = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.0f}", *value) : "-";
  };
  std::string text = fmt::format(
      "\n  {} threads at the same time, bulk calls, million keys a second of all together\n"
      "  {:<11} {:>8} {:>8}\n",
      threads, "", "lookup", "add");
  for (const measured_kind& row : all.rows) {
    text += fmt::format("  {:<11} {:>8} {:>8}\n", kind_name(row.kind), rate(row.parallel_contains),
                        rate(row.parallel_add));
  }
  return text;
}

nlohmann::json gpu_json(const gpu_speed& gpu) {
  return {{"name", gpu.name},
          {"add_bulk_ns", gpu.add},
          {"contains_bulk_ns", gpu.contains},
          {"add_from_host_ns", gpu.host_add},
          {"contains_from_host_ns", gpu.host_contains}};
}

std::string gpu_text(const gpu_speed& gpu) {
  return fmt::format(
      "\n  blocked on {}, bulk calls, nanoseconds a key\n"
      "                               lookup     add\n"
      "  keys in the GPU's memory     {:>6.3f}  {:>6.3f}\n"
      "  hashes from the host         {:>6.3f}  {:>6.3f}\n",
      gpu.name, gpu.contains, gpu.add, gpu.host_contains, gpu.host_add);
}

measurement make_measurement(const bench_options& o) {
  measurement m;
  m.keys = parse_count(o.keys);
  m.threads = o.threads;
  if (m.keys < fewest_measured_keys) {
    throw error(errc::bad_argument, fmt::format("{} keys are too few to measure: at least {}",
                                                m.keys, fewest_measured_keys));
  }
  if (o.kind.empty()) {
    m.kinds.assign(all_kinds().begin(), all_kinds().end());
  } else {
    m.kinds = {*kind_from_name(o.kind)};
  }
  // Checks that filters of that size are possible before anything is measured.
  for (const filter_kind kind : m.kinds) {
    static_cast<void>(sizing::make_plan({.kind = kind, .keys = m.keys, .fpr = measured_fpr}));
  }
  return m;
}

void run_bench(const bench_options& o) {
  measurement m = make_measurement(o);
  const bool telling = !o.quiet && can_erase_lines();
  const auto say = [telling](const std::string& line) {
    if (!telling) return;
    write_over_line(line);
    std::fflush(stderr);
  };
  m.tell = [&say](filter_kind kind, int repetition) {
    say(fmt::format("measuring {}, {} of {}", kind_name(kind), repetition, measured_repetitions));
  };
  std::optional<gpu_speed> gpu;
  if (o.gpu) {
    gpu = measure_gpu(
        sizing::make_plan({.kind = filter_kind::blocked, .keys = m.keys, .fpr = measured_fpr}),
        measured_repetitions);
  }
  const measured_machine all = measure(m);
  say("");
  if (o.json) {
    nlohmann::json object = make_json(all, m);
    if (gpu) object["gpu"] = gpu_json(*gpu);
    return print_json(object);
  }
  write_output(head_text(all, m) + table_text(all) + chart_text(all) +
               (m.threads > 1 ? threads_text(all, m.threads) : "") + (gpu ? gpu_text(*gpu) : ""));
}

}  // namespace

void add_bench(command& app, int& /*status*/) {
  auto o = std::make_shared<bench_options>();
  command* verb = app.add_subcommand(
      "bench", "Measure this machine: its memory's floor and the speed of every kind");
  verb->add_option("--keys", o->keys, "Number of keys: 1000, 1e9, 64k, 2.5M, 10G (default 1M)")
      ->type_name("N");
  std::vector<std::string> kinds;
  for (const filter_kind kind : all_kinds()) kinds.emplace_back(kind_name(kind));
  verb->add_option("--kind", o->kind, "This kind alone")->one_of(kinds)->type_name("K");
  verb->add_option("--threads", o->threads,
                   "Measure bulk calls from so many threads at the same time, too (default 1)")
      ->between(1U, 1024U)
      ->type_name("N");
  verb->add_flag("--gpu", o->gpu,
                 "Measure the blocked filter on a GPU as well, for keys there and for keys from "
                 "here (a tool built with CUDA)");
  verb->add_flag("--json", o->json, "Print it as JSON");
  add_quiet(*verb, o->quiet);
  verb->footer(
      "Example:\n  bloomery bench\n  bloomery bench --kind blocked --keys 100M --threads 2");
  verb->callback([o] { run_bench(*o); });
}

}  // namespace bloomery::cli
