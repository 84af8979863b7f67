// What push and pull share. Filters travel in pieces, so that no command keeps a server busy for
// long. A filter may be spread over several keys, NAME/0 and so on; see docs/redis.md.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "bloomery/core/error.hpp"
#include "cli/args/options.hpp"
#include "cli/input/filters.hpp"
#include "cli/output/report.hpp"
#include "cli/redis/cluster.hpp"
#include "cli/redis/spread_filter.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

struct transfer_options {
  std::string file;
  std::string url;
  std::uint32_t shards = 1;
  std::optional<std::uint32_t> wait;
  std::uint32_t timeout = 30;
  bool cluster = false;
  bool replace = false;
  bool json = false;
  bool quiet = false;
  bool progress = false;
  bool stats = false;

  [[nodiscard]] progress_options show() const {
    return {.quiet = quiet, .forced = progress, .stats = stats};
  }
};

inline redis_url checked_url(const transfer_options& o) {
  redis_url url = parse_redis_url(o.url);
  if (url.key.empty()) {
    throw error(errc::bad_argument,
                "the URL names no key; it should be like redis://127.0.0.1:6379/name");
  }
  return url;
}

inline redis_cluster connect(const transfer_options& o, const redis_url& url) {
  return {url,
          {.cluster = o.cluster,
           .replicas = o.wait,
           .patience = std::chrono::seconds(o.timeout),
           .reply_timeout = std::chrono::seconds(60),
           .quiet = o.quiet}};
}

inline void add_transfer_options(command& verb, transfer_options& o) {
  verb.add_flag("--cluster", o.cluster,
                "The server is a node of a cluster: find the node of each key");
  verb.add_option("--timeout", o.timeout,
                  "Give up when nothing has succeeded for so many seconds (default 30)")
      ->between(1, 86400)
      ->type_name("S");
  verb.add_flag("--json", o.json, "Print what was done as JSON");
  add_quiet(verb, o.quiet);
  verb.add_flag("--progress", o.progress, "Show progress also when standard error is no terminal");
  verb.add_flag("--stats", o.stats, "Say at the end how much was sent, and how fast");
}

}  // namespace bloomery::cli
