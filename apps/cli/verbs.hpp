// The verbs of the tool, each in a source of its own. A verb adds its options and help to the app and sets
// the exit status when it runs.
#pragma once

#include <CLI/CLI.hpp>

namespace bloomery::cli {

// What scripts rely on, as with grep.
inline constexpr int exit_success = 0;
inline constexpr int exit_no_match = 1;
inline constexpr int exit_error = 2;

void add_build(CLI::App& app, int& status);
void add_change(CLI::App& app, int& status);  // add, remove
void add_check(CLI::App& app, int& status);
void add_dedup(CLI::App& app, int& status);
void add_count(CLI::App& app, int& status);
void add_map(CLI::App& app, int& status);
void add_top(CLI::App& app, int& status);
void add_compact(CLI::App& app, int& status);
void add_explain(CLI::App& app, int& status);
void add_info(CLI::App& app, int& status);
void add_verify(CLI::App& app, int& status);
void add_plan(CLI::App& app, int& status);
void add_sets(CLI::App& app, int& status);  // merge, intersect, fold, compare
void add_bench(CLI::App& app, int& status);
void add_wire(CLI::App& app, int& status);  // pack, unpack, diff, patch
void add_help(CLI::App& app, int& status);
void add_completion(CLI::App& app, int& status);

}  // namespace bloomery::cli
