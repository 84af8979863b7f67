// bloomery publish: filters as a web site that anybody can follow for the price of the changes.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "bloomery/exchange/publisher.hpp"
#include "bloomery/format/folder.hpp"
#include "bloomery/format/image.hpp"
#include "bloomery/format/version_name.hpp"
#include "bloomery/search/text_index.hpp"
#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct publish_options {
  std::string folder;
  std::string site;
  std::uint64_t deltas = publish_limits{}.deltas;
  std::string delta_bytes;
  unsigned threads = 1;
  bool prune = false;
  bool no_wait = false;
  bool quiet = false;
  bool json = false;
};

struct publish_row {
  std::string name;
  std::string outcome;
  std::optional<publish_report> report = std::nullopt;
  std::string reason = {};  // of one that is left out
};

const char* outcome_name(publish_outcome outcome) {
  switch (outcome) {
    case publish_outcome::added: return "new";
    case publish_outcome::changed: return "changed";
    case publish_outcome::unchanged: return "unchanged";
    case publish_outcome::repaired: return "repaired";
  }
  return "";
}

// Why a file of ours is none that can be published; empty when it can be.
std::string obstacle(const std::string& name, const std::string& path, const mapped_file& file) {
  if (is_delta(file.bytes())) return "it is a delta";
  if (is_string_map(file.bytes())) return "it is a map of strings, of which there are no deltas";
  if (is_text_index(path)) return "it is a text index";
  if (!is_published_name(name)) return "the site has names like this for other files";
  return "";
}

std::optional<publish_row> publish_file(const publish_options& o, const std::string& name,
                                        publisher& site) {
  const std::string path = (std::filesystem::path(o.folder) / name).string();
  {
    const mapped_file file(path);
    if (!begins_like_ours(file.bytes())) return std::nullopt;
    if (std::string reason = obstacle(name, path, file); !reason.empty()) {
      return publish_row{.name = name, .outcome = "left out", .reason = std::move(reason)};
    }
  }
  const any_filter f = open_verified(path, o.threads);
  publish_report report = site.publish(name, f.version());
  const char* const outcome = outcome_name(report.outcome);
  return publish_row{.name = name, .outcome = outcome, .report = std::move(report)};
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (folder_file& f : files_in(folder)) {
    if (!f.name.starts_with('.')) names.push_back(std::move(f.name));
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> withdrawn(const publish_options& o, publisher& site,
                                   const std::vector<std::string>& present) {
  std::vector<std::string> gone;
  for (std::string& name : site.published()) {
    if (!std::ranges::binary_search(present, name)) gone.push_back(std::move(name));
  }
  if (o.prune) {
    for (const std::string& name : gone) site.withdraw(name);
    return gone;
  }
  if (!gone.empty() && !o.quiet) {
    tell("bloomery: {} of the site {} not in {} any more; --prune takes what is not there away\n",
         counted(gone.size(), "filter"), gone.size() == 1 ? "is" : "are", o.folder);
  }
  return {};
}

void print_table(const std::vector<publish_row>& rows) {
  std::size_t width = 4;
  for (const publish_row& r : rows) width = std::max(width, r.name.size());
  std::string text =
      fmt::format("{:<{}}  {:<9}  {:<16}  {:>15}  {:>15}  {:>13}  {:>6}\n", "name", width,
                  "outcome", "version", "bytes", "packed", "last delta", "deltas");
  for (const publish_row& r : rows) {
    text += fmt::format("{:<{}}  {:<9}", escaped(r.name), width, r.outcome);
    if (!r.reason.empty()) text += "  " + r.reason;
    if (r.report) {
      const publication& p = r.report->now;
      text +=
          fmt::format("  {:<16}  {:>15}  {:>15}  {:>13}  {:>6}", version_name(p.version),
                      with_commas(p.bytes), with_commas(p.packed_bytes),
                      p.deltas.empty() ? "-" : with_commas(p.deltas.back().bytes), p.deltas.size());
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  write_output(text);
}

nlohmann::json as_json(const publish_row& r) {
  nlohmann::json row = {{"name", r.name}, {"outcome", r.outcome}};
  if (!r.reason.empty()) row["reason"] = r.reason;
  if (!r.report) return row;
  const publication& p = r.report->now;
  row["version"] = version_name(p.version);
  row["bytes"] = p.bytes;
  row["packed_bytes"] = p.packed_bytes;
  row["deltas"] = p.deltas.size();
  row["delta_bytes"] = r.report->follows
                           ? nlohmann::json(p.deltas.empty() ? 0 : p.deltas.back().bytes)
                           : nlohmann::json();
  row["written"] = r.report->written;
  return row;
}

int run_publish(const publish_options& o) {
  const std::filesystem::path folder = std::filesystem::path(o.site) / "filters";
  static_cast<void>(files_in(o.folder));  // before anything is made
  make_folder(folder);
  if (std::error_code none; std::filesystem::equivalent(o.folder, folder, none)) {
    throw error(errc::bad_argument,
                fmt::format("{} is the folder that is written; publish from another", o.folder));
  }
  std::optional<file_lock> lock;
  wait_for_lock(lock, folder.string(), {.quiet = o.quiet, .wait = !o.no_wait});
  publisher site(folder,
                 {.deltas = o.deltas,
                  .delta_bytes = o.delta_bytes.empty() ? UINT64_MAX : parse_bytes(o.delta_bytes)},
                 opening_asked());
  const std::vector<std::string> names = names_in(o.folder);
  std::vector<publish_row> rows;
  int status = exit_success;
  for (const std::string& name : names) {
    try {
      if (auto row = publish_file(o, name, site)) rows.push_back(*std::move(row));
    } catch (const error& e) {
      // Its last version stays where it is, and the others have their turn.
      if (e.code() == errc::io &&
          !std::filesystem::exists(std::filesystem::path(o.folder) / name)) {
        continue;
      }
      tell("bloomery: {}\n", e.what());
      rows.push_back({.name = name, .outcome = "refused", .reason = e.what()});
      status = exit_error;
    }
  }
  if (rows.empty()) throw error(errc::bad_argument, o.folder + ": there is no filter in it");
  for (std::string& name : withdrawn(o, site, names)) {
    rows.push_back({.name = std::move(name), .outcome = "withdrawn"});
  }
  site.finish();
  if (o.json) {
    nlohmann::json all = nlohmann::json::array();
    for (const publish_row& r : rows) all.push_back(as_json(r));
    print_json(all);
  } else if (!o.quiet) {
    print_table(rows);
  }
  return status;
}

}  // namespace

void add_publish(command& app, int& status) {
  auto o = std::make_shared<publish_options>();
  command* verb = app.add_subcommand(
      "publish", "Write filters as a web site that clients follow by their changes");
  verb->add_option("DIR", o->folder, "The folder with the filters")->required()->type_name("");
  verb->add_option("-o,--output", o->site,
                   "The folder of the web site; its folder 'filters' is written")
      ->required()
      ->type_name("SITE");
  verb->add_option("--keep", o->deltas, "Steps between versions to keep of each (default 20)")
      ->between(std::uint64_t{0}, most_published_deltas)
      ->type_name("N");
  verb->add_option("--keep-bytes", o->delta_bytes,
                   "And how many bytes of them (default and most: those of the packed filter)")
      ->type_name("M");
  verb->add_flag("--prune", o->prune, "Take away what DIR has not any more");
  verb->add_flag("--json", o->json, "Print what was written as JSON");
  add_limit(*verb);
  add_no_wait(*verb, o->no_wait);
  add_quiet(*verb, o->quiet);
  add_threads(*verb, o->threads);
  verb->footer(
      "Any web server can serve SITE; 'bloomery fetch' follows it. Run it again when a\n"
      "filter has a new version: what has not changed is not written.\n\n"
      "Example:\n"
      "  bloomery publish /srv/lists -o /var/www/html\n"
      "  bloomery fetch http://localhost/filters/block.bloom -o block.bloom");
  verb->callback([o, &status] { status = run_publish(*o); });
}

}  // namespace bloomery::cli
