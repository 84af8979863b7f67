// The verbs of trace that talk to other hosts, which need the proofs of bloomery::crypto.
#pragma once

#include "cli/args/command.hpp"

namespace bloomery::cli {

void add_trace_serve(command& trace);
void add_trace_path(command& trace, int& status);

}  // namespace bloomery::cli
