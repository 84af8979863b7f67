#!/usr/bin/python3
"""docs/performance.md from the results of the suite, of static_bench, bench_tool.py and bench_peers.py, on standard
output.

Usage: bench_report.py SUITE.json STATIC.json TOOL.json PEERS.json [--short]
"""

import collections
import json
import pathlib
import re
import statistics
import subprocess
import sys

KINDS = ["blocked", "classic", "partitioned", "counting", "cuckoo", "scalable", "layered", "windowed", "fuse", "ribbon",
         "bloomier", "count-min", "spectral", "top-k"]
PEERS = {"unordered_set": "`std::unordered_set<uint64_t>`",
         "sorted_hashes": "sorted list of 64-bit hashes, binary search",
         "leveldb": "LevelDB's Bloom filter policy, 10 bits a key",
         "libbloom": "libbloom, 1 %",
         "split_block_sse2": "256-bit blocks (Parquet, Impala, Boost.Bloom), built for any x86-64",
         "split_block_avx2": "256-bit blocks, built for AVX2"}
WHOLE = {"memcpy": "memcpy", "memcpy_new": "memcpy into new memory", "merge": "merge", "intersect": "intersect",
         "fold": "fold", "count_bits": "count bits"}


class Suite:
    """Medians by (group, what, keys): nanoseconds a key, and bytes a second."""

    def __init__(self, results):
        self.context = results["context"]
        self.labels = {}
        ns, rate = collections.defaultdict(list), collections.defaultdict(list)
        for run in results["benchmarks"]:
            if run.get("run_type") != "iteration":
                continue
            group, what, keys = run["name"].split("/")[:3]
            name = (group, what, int(keys))
            if "items_per_second" in run:
                ns[name].append(1e9 / run["items_per_second"])
            if "bytes_per_second" in run:
                rate[name].append(run["bytes_per_second"])
            self.labels[name] = run.get("label", "")
        self.runs = min(map(len, list(ns.values()) + list(rate.values())))
        self.ns = {name: statistics.median(values) for name, values in ns.items()}
        self.rate = {name: statistics.median(values) for name, values in rate.items()}
        self.sizes = sorted({keys for _, _, keys in self.ns})

    def floor(self, what, keys):
        """The median over the kinds, beside each of which the floor was measured."""
        return statistics.median(ns for (_, w, k), ns in self.ns.items() if (w, k) == (what, keys))


def first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[0]
    except OSError:
        return "unknown"


def cpu_model():
    with open("/proc/cpuinfo") as info:
        found = re.search(r"^model name\s*: (.*)$", info.read(), re.MULTILINE)
    return found[1] if found else "unknown processor"


def row(*cells):
    return "| " + " | ".join(cells) + " |\n"


def head(*cells):
    return row(*cells) + row(*["---"] * len(cells))


def in_floors(suite, kind, what, floor, keys):
    """Two cells: nanoseconds and multiples of the floor beside it."""
    ns = suite.ns.get((kind, what, keys))
    beside = suite.ns.get((kind, floor, keys))
    return [f"{ns:.2f}" if ns else "-", f"{ns / beside:.2f}" if ns and beside else "-"]


def ratio(above, below, digits=1):
    return f"{above / below:.{digits}f}" if above and below else "-"


def machine_text(suite, short):
    context = suite.context
    caches = ", ".join(f"L{c['level']} {c['size'] // 1024} kB" for c in context["caches"]
                       if c["type"] != "Instruction")
    text = "# Performance\n\nWritten by `scripts/bench`; do not edit. "
    if short:
        text += "**This was a short run (`--short`): it shows the form, not the speed.** "
    text += (f"Medians of {suite.runs} runs, one thread if not said otherwise, 64-bit integers as keys, filters at 1 %. "
             "Times depend on the machine; the ratios to the floor beside them say more. "
             "`bloomery bench` measures yours.\n\n")
    load = ", ".join(f"{x:.1f}" for x in context["load_avg"])
    return text + (f"- machine: {cpu_model()}, {context['num_cpus']} cores; {caches}\n"
                   f"- compiler: {first_line('g++', '--version')}, release build\n"
                   f"- kernels: {context.get('kernel', 'unknown')}\n"
                   f"- date: {context['date'][:10]}, load at the start {load}\n")


def floor_text(suite):
    text = ("\n## The floor\n\nWhat no filter can avoid: hash a key, then read one random 64-byte line of an array as large as "
            "the blocked filter and fold it into one counted bit; or read, change and write it. "
            "The best of the pipelines in `measure/floor.hpp`.\n\n")
    text += head("keys", "read, ns", "pipeline", "read and write, ns", "pipeline")
    for keys in suite.sizes:
        label = {what: next((label for (_, w, k), label in suite.labels.items() if (w, k) == (what, keys)), "")
                 for what in ("floor_read", "floor_write")}
        text += row(f"{keys:,}", f"{suite.floor('floor_read', keys):.2f}", label["floor_read"],
                    f"{suite.floor('floor_write', keys):.2f}", label["floor_write"])
    return text


def kinds_text(suite, keys):
    text = f"\n## {keys:,} keys\n\n"
    text += head("kind", "lookup in bulk, ns", "floors", "one by one, ns", "times bulk", "add in bulk, ns", "floors",
                 "one by one, ns", "times bulk", "build, ns")
    for kind in KINDS:
        if (kind, "lookup_bulk", keys) not in suite.ns:
            continue
        cells = [f"`{kind}`"]
        for what, floor in (("lookup", "floor_read"), ("add", "floor_write")):
            bulk, one = (suite.ns.get((kind, f"{what}_{how}", keys)) for how in ("bulk", "one"))
            cells += in_floors(suite, kind, f"{what}_bulk", floor, keys)
            cells += [f"{one:.2f}" if one else "-", ratio(one, bulk)]
        built = suite.ns.get((kind, "build", keys))
        text += row(*cells, f"{built:.0f}" if built else "-")
    return text


def static_text(static):
    """Rows of (kind, keys): with one thread, and with the most that were measured."""
    most = max(result["threads"] for result in static)
    results = {(result["kind"], result["keys"], result["threads"]): result for result in static}
    text = ("\n## Building the static kinds\n\nFrom 64-bit hashes to the finished filter in memory, "
            f"with one thread and with {most}. Memory is the peak above the hashes (and values) that are given, the finished "
            "filter included. The filter is the same with any number of threads.\n\n")
    text += head("keys", "kind", "one thread, ns a key", f"{most} threads, ns a key", "times as fast",
                 "peak bytes a key, one thread", f"{most} threads", "bits a key")
    for keys in sorted({result["keys"] for result in static}):
        for kind in KINDS:
            one, all_cores = (results.get((kind, keys, threads)) for threads in (1, most))
            if not one:
                continue
            text += row(f"{keys:,}", f"`{kind}`", f"{one['build_ns']:.1f}", f"{all_cores['build_ns']:.1f}",
                        ratio(one["build_ns"], all_cores["build_ns"], 2), f"{one['peak_bytes']:.1f}",
                        f"{all_cores['peak_bytes']:.1f}", f"{one['bits']:.2f}")
    return text


def peers_text(suite):
    text = ("\n## What people use instead\n\nLookups, nanoseconds a key, and how many times that is what `blocked` takes in bulk and one "
            "by one.\n\n")
    text += head("keys", "", "lookup, ns", "times `blocked` in bulk", "times `blocked` one by one", "build, ns")
    for keys in suite.sizes:
        bulk, one = (suite.ns.get(("blocked", f"lookup_{how}", keys)) for how in ("bulk", "one"))
        for peer, name in PEERS.items():
            ns = suite.ns.get((peer, "lookup_one", keys))
            if not ns:
                continue
            built = suite.ns.get((peer, "build", keys))
            text += row(f"{keys:,}", name, f"{ns:.1f}" if ns >= 10 else f"{ns:.2f}", ratio(ns, bulk), ratio(ns, one),
                        f"{built:.0f}" if built else "-")
    return text + ("\nRocksDB's filters are not here: since its version 7 the headers keep them to themselves, and they can only be "
                   "asked through a database.\n")


def whole_text(suite):
    text = ("\n## Whole filters\n\nBytes read and written, in GB a second, beside a memcpy of the same filter. "
            "`fold` includes the memory for its result, and so does the memcpy into new memory, which is what it is to be "
            "compared with: from 2 MiB on that memory comes from the system, which clears it each time, "
            "a third to half of the time of a fold.\n\n")
    text += head("keys", "", "GB/s", "of memcpy", "of memcpy into new memory")
    for keys in sorted({k for group, _, k in suite.rate if group == "whole"}):
        copy, copy_new = (suite.rate[("whole", what, keys)] for what in ("memcpy", "memcpy_new"))
        for what, name in WHOLE.items():
            rate = suite.rate[("whole", what, keys)]
            text += row(f"{keys:,}", name, f"{rate / 1e9:.1f}", f"{rate / copy * 100:.0f} %",
                        f"{rate / copy_new * 100:.0f} %" if what == "fold" else "-")
    return text


def tool_text(tool):
    text = (f"\n## The tool\n\nA file of {tool['lines']:,} lines, {tool['bytes'] / 1e6:.0f} MB, in the page cache; "
            f"medians of {tool['repetitions']} runs, output to /dev/null, the filter of "
            f"{tool['filter_bytes'] / 1e6:.1f} MB written to a file. Without `--keys` the different lines are counted first.\n\n")
    text += head("command", "seconds", "times `wc -l`", "peak memory above the filter, MiB")
    wc = tool["commands"]["wc -l"]["seconds"]
    for name, result in tool["commands"].items():
        above = (result["peak_bytes"] - tool["filter_bytes"]) / 2**20
        text += row(f"`{name.split(',')[0]}`{name[len(name.split(',')[0]):]}", f"{result['seconds']:.2f}",
                    f"{result['seconds'] / wc:.1f}", "-" if name == "wc -l" else f"{above:.0f}")
    return text


def work_text(results):
    text = head("command", "seconds", "times the first", "processor seconds", "peak memory, MiB", "lines printed")
    first = next(iter(results.values()))["seconds"]
    for name, result in results.items():
        text += row(f"`{name}`" if " (" not in name else "`{}` ({}".format(*name.rsplit(" (", 1)),
                    f"{result['seconds']:.2f}", f"{result['seconds'] / first:.1f}", f"{result['cpu_seconds']:.2f}",
                    f"{result['peak_bytes'] / 2**20:.0f}", f"{result['printed']:,}")
    return text


def work_peers_text(peers):
    return ("\n## The same work with other programs\n\n"
            f"Medians of {peers['repetitions']} runs, files in the page cache, output into a file, the locale `C`. The tool "
            "uses all cores if not said otherwise, and so does `sort`.\n\n"
            f"Lines without their repetitions: {peers['lines']:,} lines, {peers['repeated_bytes'] / 1e6:.0f} MB, "
            f"{peers['different']:,} of them different. `dedup` may lose a line with a chance of one in a million; the others "
            "lose none, and `sort` loses the order.\n\n" + work_text(peers["dedup"]) +
            f"\nThe lines of one file that are in another: {peers['lines']:,} lines each, "
            f"{peers['known_bytes'] / 1e6:.0f} MB, {peers['known']:,} in both. `check` and `bloom` (DCSO's, in Go) print 1 % of "
            "the others, too; the other programs print none.\n\n" + work_text(peers["membership"]))


def main(suite_path, static_path, tool_path, peers_path, short):
    with open(suite_path) as file:
        suite = Suite(json.load(file))
    static, tool, peers = (json.loads(pathlib.Path(path).read_text()) for path in (static_path, tool_path, peers_path))
    text = machine_text(suite, short) + floor_text(suite)
    for keys in suite.sizes:
        text += kinds_text(suite, keys)
    text += ("\nA floor is the one measured beside that kind. Half of the keys asked for are in the filter, in random order. "
             "Adding begins with an empty filter and takes at most four million keys. `fuse`, `ribbon` and `bloomier` are built from "
             "all keys at once; `top-k` lists keys, so nearly all of its answers are no.\n")
    sys.stdout.write(text + static_text(static) + peers_text(suite) + whole_text(suite) + tool_text(tool) +
                     work_peers_text(peers))


if __name__ == "__main__":
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    main(*sys.argv[1:5], "--short" in sys.argv[5:])
