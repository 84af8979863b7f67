#!/usr/bin/python3
"""docs/performance.md on standard output, from the results that scripts/bench left in a folder:
those of the suite, of the programs in bench/, of bench_tool.py and of bench_peers.py.

Usage: bench_report.py FOLDER [--short]
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
         "rocksdb": "RocksDB's Bloom filter, 10 bits a key, by `KeyMayExist` of a database of one table",
         "plain_cuckoo": "a plain cuckoo filter of 12-bit fingerprints",
         "split_block_sse2": "256-bit blocks (Parquet, Impala, Boost.Bloom), built for any x86-64",
         "split_block_avx2": "256-bit blocks, built for AVX2"}
WHOLE = {"memcpy": "memcpy", "memcpy_new": "memcpy into new memory", "merge": "merge", "intersect": "intersect",
         "fold": "fold", "count_bits": "count bits"}


class Suite:
    """Medians by (group, what, keys): nanoseconds a key, and bytes a second; lines and bits a key.
    """

    def __init__(self, results):
        self.context = results["context"]
        self.labels, self.lines, self.bits = {}, {}, {}
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
            self.lines[name] = run.get("lines", 1)
            self.bits[group, int(keys)] = run.get("bits_per_key", self.bits.get((group, int(keys))))
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


def own_floor(suite, kind, what, keys):
    """The floor that was measured beside this kind, as often as the kind needs a line."""
    beside = suite.ns.get((kind, "floor_read" if what.startswith("lookup") else "floor_write", keys))
    return beside * suite.lines.get((kind, what, keys), 1) if beside else None


def in_floors(suite, kind, what, keys):
    """Two cells: nanoseconds and multiples of the kind's own floor."""
    ns = suite.ns.get((kind, what, keys))
    return [f"{ns:.2f}" if ns else "-", ratio(ns, own_floor(suite, kind, what, keys), 2)]


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
             "Times are those that the thread had the processor. They depend on the machine; the ratios to the floor beside "
             "them say more. "
             "`bloomery bench` measures yours.\n\n")
    load = ", ".join(f"{x:.1f}" for x in context["load_avg"])
    return text + (f"- machine: {cpu_model()}, {context['num_cpus']} cores; {caches}\n"
                   f"- compiler: {first_line('g++', '--version')}, release build\n"
                   f"- kernels: {context.get('kernel', 'unknown')}\n"
                   f"- date: {context['date'][:10]}, load at the start {load}\n")


class Goals:
    """What each kind should reach, by one run; None where the run has not measured it."""

    def __init__(self, suite, static, singles, counts):
        self.suite, self.static, self.singles, self.counts = suite, static, singles, counts
        sizes = [keys for keys in suite.sizes if (("cuckoo", "lookup_bulk", keys) in suite.ns)]
        self.near, self.far = sizes[0], sizes[-1]

    def floors(self, kind, what, lines=1):
        """Multiples of the floor of one line, near and far."""
        suite = self.suite
        result = []
        for keys in (self.near, self.far):
            ns, own = suite.ns.get((kind, what, keys)), own_floor(suite, kind, what, keys)
            result.append(ns / own * suite.lines[kind, what, keys] / lines if ns and own else None)
        return result

    def times(self, kind, what, other, other_what):
        return [self.suite.ns[kind, what, keys] / self.suite.ns[other, other_what, keys]
                for keys in (self.near, self.far)]

    def single(self, kind, what, other, build=None):
        """The worst of all builds, or that of one."""
        ns = {(r["build"], r["kind"], r["keys"]): r[f"{what}_ns"] for r in self.singles}
        builds = [build] if build else list(dict.fromkeys(r["build"] for r in self.singles))
        sizes = sorted({r["keys"] for r in self.singles})
        if (builds[0], kind, sizes[0]) not in ns:
            return [None, None]
        return [max(ns[b, kind, keys] / ns[b, other, keys] for b in builds) for keys in (sizes[0], sizes[-1])]

    def build(self, kind):
        ns = {(r["keys"], r["threads"]): r["build_ns"] for r in self.static if r["kind"] == kind}
        sizes = sorted({keys for keys, _ in ns})
        return [ns[sizes[0], 1], ns[sizes[-1], 1]]

    def lines(self, update, cell_bits):
        found = [r["lines_ns"] / r["floor_ns"] for r in self.counts
                 if (r["update"], r["cell_bits"]) == (update, cell_bits)]
        return [found[0], found[-1]]

    def copied(self, what, beside):
        rate = self.suite.rate
        return [rate["whole", what, keys] / rate["whole", beside, keys] for keys in (self.near, self.far)]


def goals(g):
    """Rows: what, its unit, the goals near and far, what was measured, what bounds it."""
    lines = "two lines, hashing and comparing fingerprints"
    moving = "fingerprints that make way: several dependent lines a key while the table is nearly full"
    return [
        ("`cuckoo`, lookups in bulk", "floors", (4, 2.8), g.floors("cuckoo", "lookup_bulk"), lines),
        ("`cuckoo`, adds in bulk", "floors", (20, 6.4), g.floors("cuckoo", "add_bulk"), moving),
        ("`cuckoo` one by one, lookups", "times a plain cuckoo filter", (1, 1),
         g.times("cuckoo", "lookup_one", "plain_cuckoo", "lookup_one"), "any number of buckets: two multiplications more"),
        ("`cuckoo` one by one, adds", "times a plain cuckoo filter", (1, 1),
         g.times("cuckoo", "add_one", "plain_cuckoo", "add_one"),
         "the plain one's buckets are a power of two, here with up to half of them empty"),
        ("`cuckoo` one by one, removals", "times a plain cuckoo filter", (1, 1),
         g.times("cuckoo", "remove_one", "plain_cuckoo", "remove_one"), "the same"),
        ("`counting` one by one, lookups, worst build", "times `blocked`", (1.5, 1.5),
         g.single("counting", "lookup", "blocked"), "four times the memory of `blocked`: a lower cache, where that holds it"),
        ("`counting` one by one, adds, worst build", "times `blocked`", (1.5, 1.5),
         g.single("counting", "add", "blocked"), "the same, and the test for full counters"),
        ("`fuse`, lookups in bulk", "own floors", (1, 1), g.floors("fuse", "lookup_bulk", 3), "three lines"),
        ("`fuse`, built", "ns", (72, 72), g.build("fuse"), "peeling: random access to a shard's arrays"),
        ("`ribbon`, built", "ns", (118, 118), g.build("ribbon"), "Gaussian elimination: 128 coefficients a key"),
        ("`count-min` in a line, adds in bulk", "floors", (3, 3), g.lines("plain", 32), "finding four places and their carries"),
        ("the same, conservative", "floors", (3, 3), g.lines("conservative", 32), "the least of the counters comes first"),
        ("the same, 16-bit counters", "floors", (3, 3), g.lines("plain", 16), "two counters in each lane of 32 bits"),
        ("the same, conservative", "floors", (3, 3), g.lines("conservative", 16), "both"),
        ("`scalable`, adds in bulk", "floors", (2, 2), g.floors("scalable", "add_bulk"),
         "twice the memory of `blocked`; each key is looked for first"),
        ("`scalable` one by one, adds", "times `blocked`", (2, 2), g.times("scalable", "add_one", "blocked", "add_one"),
         "the same, and branches at full lines"),
        ("`top-k`, adds in bulk", "ns", (15, 15), [g.suite.ns["top-k", "add_bulk", keys] for keys in (g.near, g.far)],
         "two buckets, a draw for each, and branches that nothing foretells"),
        ("`top-k`, adds in bulk", "times one by one", (1, 1), g.times("top-k", "add_bulk", "top-k", "add_one"), ""),
        ("`windowed`, lookups in bulk", "times `blocked`", (1.5, 1.5),
         g.times("windowed", "lookup_bulk", "blocked", "lookup_bulk"), "a line for each of five generations"),
        ("`windowed` one by one, lookups", "times `blocked`", (1.5, 1.5),
         g.times("windowed", "lookup_one", "blocked", "lookup_one"), "the same"),
        ("`blocked` one by one, built for AVX2", "times 256-bit blocks", (1, 1),
         g.single("blocked", "lookup", "256-bit blocks", "AVX2"), "512 bits are two vectors; 256-bit blocks take 6 % more memory"),
        ("fold", "of memcpy into new memory", (0.9, 0.9), g.copied("fold", "memcpy_new"), ""),
        ("counting bits", "of memcpy", (0.9, 0.9), g.copied("count_bits", "memcpy"), ""),
    ]


def goals_text(suite, static, singles, counts):
    text = ("\n## Goals\n\nWhat was aimed at, and what this run measured: in the cache, and out of it. A floor is that of one line. "
            "What is within 10 % of its goal counts as reached.\n\n")
    text += head("", "in", "goal", "in the cache", "out of it", "reached", "what bounds it")
    for what, unit, goal, got, bound in goals(Goals(suite, static, singles, counts)):
        least = unit.startswith("of ")  # more is better
        met = [None if x is None else (x >= want * 0.9 if least else x <= want * 1.1) for want, x in zip(goal, got)]
        form = (lambda x: "-" if x is None else f"{x * 100:.0f} %") if least else (
            lambda x: "-" if x is None else f"{x:.2f}" if x < 10 else f"{x:.1f}")
        wanted = " and ".join(dict.fromkeys(f"{x:.0%}" if least else f"{x:g}" for x in goal))
        reached = "yes" if all(met) else "in the cache" if met[0] else "out of it" if met[1] else "no"
        text += row(what, unit, wanted, *map(form, got), reached, "" if all(met) else bound)
    return text


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
    text += head("kind", "lookup in bulk, ns", "own floors", "one by one, ns", "times bulk", "add in bulk, ns",
                 "own floors", "one by one, ns", "times bulk", "remove in bulk, ns", "one by one, ns", "build, ns",
                 "lines", "bits a key")
    for kind in KINDS:
        if (kind, "lookup_bulk", keys) not in suite.ns:
            continue
        cells = [f"`{kind}`"]
        for what in ("lookup", "add"):
            bulk, one = (suite.ns.get((kind, f"{what}_{how}", keys)) for how in ("bulk", "one"))
            cells += in_floors(suite, kind, f"{what}_bulk", keys)
            cells += [f"{one:.2f}" if one else "-", ratio(one, bulk)]
        removed = [suite.ns.get((kind, f"remove_{how}", keys)) for how in ("bulk", "one")]
        cells += [f"{ns:.2f}" if ns else "-" for ns in removed]
        built = suite.ns.get((kind, "build", keys))
        text += row(*cells, f"{built:.0f}" if built else "-", lines_text(suite, kind, keys),
                    f"{suite.bits[kind, keys]:.1f}")
    return text


def lines_text(suite, kind, keys):
    """"7", or "5/1" where an add needs fewer lines than a lookup reads."""
    read, written = (suite.lines.get((kind, what, keys), 0) for what in ("lookup_bulk", "add_bulk"))
    return f"{read:.0f}" if written in (0, read) else f"{read:.0f}/{written:.0f}"


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
    text += head("keys", "", "lookup, ns", "times `blocked` in bulk", "times `blocked` one by one", "build, ns",
                 "add, ns", "remove, ns")
    for keys in suite.sizes:
        bulk, one = (suite.ns.get(("blocked", f"lookup_{how}", keys)) for how in ("bulk", "one"))
        for peer, name in PEERS.items():
            ns = suite.ns.get((peer, "lookup_one", keys))
            if not ns:
                continue
            built = suite.ns.get((peer, "build", keys))
            text += row(f"{keys:,}", name, f"{ns:.1f}" if ns >= 10 else f"{ns:.2f}", ratio(ns, bulk), ratio(ns, one),
                        f"{built:.0f}" if built else "-",
                        *(f"{changed:.1f}" if changed else "-"
                          for changed in (suite.ns.get((peer, f"{what}_one", keys)) for what in ("add", "remove"))))
    return text + ("\nSince RocksDB's version 7 its headers keep its filters to themselves: a program can ask them only through a "
                   "database, which finds the table first. `bench/guard_bench.cpp` has whole lookups "
                   "([lookup.md](lookup.md)).\n")


def singles_text(singles):
    text = ("\n## One key at a time\n\nThese calls are inlined into programs, so they depend on how a program was built; a "
            "program for any x86-64 calls the library's for the instructions of the machine. Nanoseconds of one "
            "processor, medians of 7; lookups are half for keys, adding fills the filter.\n\n")
    text += head("built for", "keys", "kind", "lookup, ns", "times `blocked`", "add, ns", "times `blocked`",
                 "remove, ns")
    blocked = {(r["build"], r["keys"]): r for r in singles if r["kind"] == "blocked"}
    for r in singles:
        beside = blocked[r["build"], r["keys"]]
        text += row(r["build"], f"{r['keys']:,}", r["kind"] if " " in r["kind"] else f"`{r['kind']}`",
                    f"{r['lookup_ns']:.2f}", ratio(r["lookup_ns"], beside["lookup_ns"], 2),
                    f"{r['add_ns']:.2f}" if r["add_ns"] else "-", ratio(r["add_ns"], beside["add_ns"], 2),
                    f"{r['remove_ns']:.2f}" if r["remove_ns"] else "-")
    return text


def counts_text(counts):
    text = ("\n## Counting in lines\n\nIntegers added in bulk to a count-min sketch of four rows, with the counters of a key "
            "in one line (`--layout line`) and in rows, in floors of one line that is read, changed and written.\n\n")
    text += head("memory, MB", "counters", "update", "in lines, floors", "in rows, floors")
    for r in counts:
        text += row(f"{r['megabytes']:.1f}", f"{r['cell_bits']} bits", r["update"],
                    ratio(r["lines_ns"], r["floor_ns"], 2), ratio(r["rows_ns"], r["floor_ns"], 2))
    return text


def mapped_text(mapped):
    text = (f"\n## Mapped files\n\nA blocked filter in a file of {mapped['megabytes']:.0f} MB on {mapped['file_system']}; integers "
            f"asked in bulk, half of them keys: 20, then {mapped['asked']:,} while the file comes from the disk, then the same "
            "again. Cold is after the system was told to forget the file; the disk of a virtual machine may still be in "
            "a cache of its host. Time of the clock, medians of 5.\n\n")
    text += head("", "opened in ms", "first 20 keys, ms", "cold, ns a key", "warm, ns a key", "mapped by huge pages")
    for r in mapped["rows"]:
        text += row(r["manner"], f"{r['open_ms']:.1f}", f"{r['first_ms']:.2f}", f"{r['cold_ns']:.1f}",
                    f"{r['warm_ns']:.1f}", "-" if r["manner"] == "load" else f"{100 * r['huge']:.0f} %")
    return text


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


def main(folder, short):
    def results(name):
        return json.loads((pathlib.Path(folder) / f"{name}.json").read_text())

    suite = Suite(results("suite"))
    static, tool, peers, counts, mapped = map(results, ("static", "tool", "peers", "counts", "mapped"))
    singles = [r for path in sorted(pathlib.Path(folder).glob("bloomery_single_bench*.json"))
               for r in json.loads(path.read_text())]
    text = machine_text(suite, short) + goals_text(suite, static, singles, counts) + floor_text(suite)
    for keys in suite.sizes:
        text += kinds_text(suite, keys)
    text += ("\nA kind's own floor is the floor measured beside it times its lines: those that a lookup reads, and after a stroke "
             "those of an add, where they are fewer. Below 1: a key is hashed once, lines lie side by side, or a lookup ends "
             "before the last. Half of the keys asked for are in the filter, in random order. Adding begins with an empty filter "
             "and fills it. `fuse`, `ribbon` and `bloomier` are built from all keys at once; `top-k` lists keys, so nearly all "
             "of its answers are no.\n")
    sys.stdout.write(text + singles_text(singles) + static_text(static) + counts_text(counts) + peers_text(suite) +
                     whole_text(suite) + mapped_text(mapped) + tool_text(tool) + work_peers_text(peers))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], "--short" in sys.argv[2:])
