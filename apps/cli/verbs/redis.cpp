// bloomery redis: one filter over keys of a Redis cluster. `add` makes and fills it, `check` asks;
// both go on through failovers and slot moves, and say nothing of unacknowledged keys.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "bloomery/core/error.hpp"
#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/input/keys.hpp"
#include "cli/input/source.hpp"
#include "cli/output/report.hpp"
#include "cli/output/text.hpp"
#include "cli/redis/spread_filter.hpp"
#include "cli/verbs/selection.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct redis_options {
  input_options input;
  std::string node = "127.0.0.1:6379";  // of a cluster
  std::string server;
  std::string name;
  std::uint32_t shards = 0;
  std::string keys;
  std::string fpr;
  std::optional<std::uint32_t> wait;
  std::uint32_t timeout = 30;
  selection_options selection;

  [[nodiscard]] const std::string& address() const { return server.empty() ? node : server; }
};

class cluster_pool {  // of connections, each used by one thread at a time
 public:
  explicit cluster_pool(const redis_options& o)
      : where_(parse_redis_url(o.address())),
        options_{.cluster = o.server.empty(),
                 .replicas = o.wait,
                 .patience = std::chrono::seconds(o.timeout),
                 .quiet = o.input.quiet} {
    if (!where_.key.empty()) {
      throw error(
          errc::bad_argument,
          fmt::format("{}: an address without a key is needed; the key is NAME", o.address()));
    }
    if (o.input.records.integers) {
      throw error(errc::bad_argument,
                  "--integers is not for Redis: a server hashes the bytes that it is given");
    }
  }

  template <class Work>
  void with(Work work) {
    std::unique_ptr<redis_cluster> mine;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        mine = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (!mine) mine = std::make_unique<redis_cluster>(where_, options_);
    work(*mine);
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(mine));
  }

 private:
  redis_url where_;
  redis_cluster_options options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<redis_cluster>> free_;
};

std::uint64_t count_keys(key_source& source, const redis_options& o, progress& meter) {
  if (!source.rereadable()) {
    throw error(errc::bad_argument,
                "the filter is not there yet, and the keys come from a pipe: say with --keys how "
                "many there will be");
  }
  meter.relabel("counting");
  key_census census;
  hash_in_order(*erase(xxh3_hasher()), source, o.input.threads,
                [&](const chunk&, auto hashes) { census.add(hashes); });
  source.rewind();
  return census.to_plan_for();
}

// Refuses to mix keys of two forms, where the file that was pushed knew its own.
void check_form(const spread_filter& f, const redis_options& o) {
  const key_form given = o.input.records.form();
  if (agree(f.layout().form, given)) return;
  throw error(errc::mismatch, fmt::format("{}: {}", o.name, wrong_form(f.layout().form, given)));
}

spread_filter open_or_create(redis_cluster& cluster, const redis_options& o, key_source& source,
                             progress& meter) {
  if (auto there = spread_filter::open(cluster, o.name)) {
    if (o.shards != 0 && there->layout().shards != o.shards) {
      throw error(errc::mismatch, fmt::format("{} has {} shards, not {}", o.name,
                                              there->layout().shards, o.shards));
    }
    check_form(*there, o);
    return *std::move(there);
  }
  spread_request r{.fpr = o.fpr.empty() ? 0.01 : parse_rate(o.fpr), .shards = o.shards};
  r.keys = o.keys.empty() ? count_keys(source, o, meter) : parse_count(o.keys);
  return spread_filter::create(cluster, o.name, r);
}

void run_add(const redis_options& o) {
  cluster_pool pool(o);
  progress meter("adding", o.input.show());
  key_source source(o.input.paths, o.input.records, meter);
  std::optional<spread_filter> f;
  pool.with([&](redis_cluster& c) { f = open_or_create(c, o, source, meter); });
  meter.relabel("adding");
  std::atomic<std::uint64_t> added{0};
  std::atomic<std::uint64_t> fresh{0};
  try {
    for_each_chunk(source, o.input.threads, [&](const chunk& c) {
      pool.with([&](redis_cluster& cluster) { fresh += f->add(cluster, c.keys); });
      added += c.keys.size();
    });
  } catch (const error& e) {
    throw error(e.code(),
                fmt::format("{} (the keys acknowledged before: {})", e.what(), with_commas(added)));
  }
  meter.clear();
  if (!o.input.quiet) {
    tell("{}: {} added in {}, {} of them new\n", o.name, counted(added, "key"),
         counted(f->layout().shards, "shard"), with_commas(fresh));
  }
  if (o.selection.json) {
    print_json({{"name", o.name},
                {"shards", f->layout().shards},
                {"keys", added.load()},
                {"new", fresh.load()}});
  }
}

int run_check(const redis_options& o) {
  cluster_pool pool(o);
  std::optional<spread_filter> f;
  pool.with([&](redis_cluster& c) { f = spread_filter::open(c, o.name); });
  if (!f) {
    throw error(errc::io, fmt::format("{}: there is no such filter: the key {} is missing",
                                      o.address(), shard_key(o.name, 0)));
  }
  check_form(*f, o);
  return select_records(
      o.input, o.selection, {o.name},
      [&](const chunk& c, std::size_t, std::span<std::uint64_t> bitmap) {
        pool.with([&](redis_cluster& cluster) { f->check(cluster, c.keys, bitmap); });
      },
      {{"name", o.name}, {"shards", f->layout().shards}});
}

void add_shared_options(command& verb, redis_options& o) {
  verb.add_option("NAME", o.name, "The filter: its keys are NAME/0, NAME/1 and so on")
      ->required()
      ->type_name("");
  option* cluster = verb.add_option("--cluster", o.node,
                                    "A node of the cluster: HOST[:PORT] or "
                                    "redis://[[USER]:PASSWORD@]HOST[:PORT] (default "
                                    "127.0.0.1:6379, alone or in a cluster)")
                        ->type_name("ADDRESS");
  verb.add_option("--server", o.server, "The one server, if it is in no cluster; likewise")
      ->excludes(cluster)
      ->type_name("ADDRESS");
  verb.add_option("--timeout", o.timeout,
                  "Give up when nothing has succeeded for so many seconds (default 30)")
      ->between(1, 86400)
      ->type_name("S");
}

}  // namespace

void add_redis(command& app, int& status) {
  command* redis = app.add_subcommand("redis", "One filter over all nodes of a Redis cluster");
  redis->require_subcommand(1);
  auto o = std::make_shared<redis_options>();
  command* add = redis->add_subcommand("add", "Add keys, and make the filter if it is not there");
  add_shared_options(*add, *o);
  add->add_option("--shards", o->shards,
                  "Keys of Redis that a new filter is spread over (default 4 for each master, more "
                  "for a large filter)")
      ->between(1, max_shards)
      ->type_name("N");
  add->add_option("--keys", o->keys, "Make a new filter for so many keys (default: count them)")
      ->type_name("N");
  add->add_option("--fpr", o->fpr, "Highest false-positive rate of a new filter (default 1%)")
      ->type_name("P");
  add->add_option("--wait", o->wait,
                  "Replicas that must have a key before it counts (default 1 in a cluster with "
                  "replicas)")
      ->type_name("R");
  add->add_flag("--json", o->selection.json, "Print how many keys were added as JSON");
  add_input_options(*add, o->input);
  add->footer(
      "Example:\n  bloomery redis add --cluster 10.0.0.1:7000 seen --keys 1G --fpr 0.1% urls.txt");
  add->callback([o] { run_add(*o); });
  auto asked = std::make_shared<redis_options>();
  asked->input.answers = true;
  command* check = redis->add_subcommand("check", "Print the lines that are probably in it");
  add_shared_options(*check, *asked);
  add_selection_options(*check, asked->selection);
  check->add_flag("--json", asked->selection.json, "Print how many keys and matches as JSON");
  add_reading_options(*check, asked->input);
  check->footer(
      "Exit status: 0 when a line was selected, 1 when none was, 2 after an error.\n\n"
      "Example:\n  bloomery redis check --cluster 10.0.0.1:7000 seen new.txt");
  check->callback([asked, &status] { status = run_check(*asked); });
  redis->footer(
      "Example:\n  bloomery redis add --cluster 10.0.0.1:7000 seen urls.txt\n"
      "  bloomery redis check --cluster 10.0.0.1:7000 seen new.txt");
}

}  // namespace bloomery::cli
