// The verbs of the tool, each in a source of its own. A verb adds its options and help to the app.
// The exit status is that of success; a verb that has another one sets it when it runs.
#pragma once

#include "cli/args/command.hpp"

namespace bloomery::cli {

// The exit status, as with grep. Scripts rely on it.
inline constexpr int exit_success = 0;
inline constexpr int exit_no_match = 1;
inline constexpr int exit_error = 2;

void add_build(command& app, int& status);
void add_add(command& app, int& status);
void add_remove(command& app, int& status);
void add_check(command& app, int& status);
void add_dedup(command& app, int& status);
void add_count(command& app, int& status);
void add_map(command& app, int& status);
void add_top(command& app, int& status);
void add_quantiles(command& app, int& status);
void add_flows(command& app, int& status);
void add_compact(command& app, int& status);
void add_explain(command& app, int& status);
void add_info(command& app, int& status);
void add_verify(command& app, int& status);
void add_plan(command& app, int& status);
void add_merge(command& app, int& status);
void add_intersect(command& app, int& status);
void add_fold(command& app, int& status);
void add_compare(command& app, int& status);
void add_passwd(command& app, int& status);
void add_block(command& app, int& status);
void add_spell(command& app, int& status);      // needs bloomery::text
void add_hyphenate(command& app, int& status);  // likewise
void add_index(command& app, int& status);      // needs bloomery::text
void add_search(command& app, int& status);     // likewise
void add_store(command& app, int& status);
void add_bench(command& app, int& status);
void add_reconcile(command& app, int& status);
void add_join(command& app, int& status);
void add_share(command& app, int& status);   // needs bloomery::crypto
void add_digest(command& app, int& status);  // likewise
void add_node(command& app, int& status);    // needs bloomery::crypto
void add_find(command& app, int& status);    // likewise
void add_serve(command& app, int& status);   // needs Boost
void add_push(command& app, int& status);    // needs hiredis
void add_pull(command& app, int& status);    // likewise
void add_redis(command& app, int& status);   // likewise
void add_trace(command& app, int& status);
void add_queue(command& app, int& status);  // needs libnetfilter_queue
void add_pack(command& app, int& status);
void add_unpack(command& app, int& status);
void add_diff(command& app, int& status);
void add_patch(command& app, int& status);
void add_import(command& app, int& status);
void add_publish(command& app, int& status);
void add_fetch(command& app, int& status);  // needs libcurl

}  // namespace bloomery::cli
