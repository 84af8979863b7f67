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

KINDS = ["blocked", "split-block", "classic", "partitioned", "counting", "cuckoo", "scalable", "layered", "windowed", "fuse",
         "ribbon", "bloomier", "count-min", "spectral", "top-k"]
PEERS = {"unordered_set": "`std::unordered_set<uint64_t>`",
         "sorted_hashes": "sorted list of 64-bit hashes, binary search",
         "leveldb": "LevelDB's Bloom filter policy, 10 bits a key",
         "libbloom": "libbloom, 1 %",
         "rocksdb": "RocksDB's Bloom filter, 10 bits a key, by `KeyMayExist` of a database of one table",
         "plain_cuckoo": "a plain cuckoo filter of 12-bit fingerprints, in place of the reference one, its table full",
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


def quotient(above, below):
    return above / below if above and below else None


class Goals:
    """What each kind should reach, by one run; None where the run has not measured it."""

    def __init__(self, suite, static, singles, counts):
        self.suite, self.static, self.singles, self.counts = suite, static, singles, counts
        sizes = [keys for keys in suite.sizes if (("cuckoo", "lookup_bulk", keys) in suite.ns)]
        self.near, self.far = sizes[0], sizes[-1]

    def both(self, measure):
        return [measure(keys) for keys in (self.near, self.far)]

    def ns(self, kind, what):
        return self.both(lambda keys: self.suite.ns.get((kind, what, keys)))

    def floors(self, kind, what):
        """Multiples of the floor of one line."""
        beside = "floor_read" if what.startswith("lookup") else "floor_write"
        return [quotient(ns, floor) for ns, floor in zip(self.ns(kind, what), self.ns(kind, beside))]

    def times(self, kind, what, other, other_what):
        return [quotient(ns, beside) for ns, beside in zip(self.ns(kind, what), self.ns(other, other_what))]

    def bits(self, kind):
        """Of a key, in words."""
        return " and ".join(dict.fromkeys(f"{bits:.1f}" for bits in self.both(lambda keys: self.suite.bits.get((kind, keys)))
                                          if bits))

    def single(self, kind, what, other, build=None):
        """The worst of all builds, or that of one."""
        ns = {(r["build"], r["kind"], r["keys"]): r[f"{what}_ns"] for r in self.singles}
        builds = [build] if build else list(dict.fromkeys(r["build"] for r in self.singles))
        ratios = [[quotient(ns.get((b, kind, keys)), ns.get((b, other, keys))) for b in builds]
                  for keys in self.single_sizes()]
        return [None if None in some else max(some) for some in ratios]

    def single_sizes(self):
        sizes = sorted({r["keys"] for r in self.singles})
        return sizes[0], sizes[-1]

    def largest_lookups(self, kind):
        """The largest number of keys, its lookups in bulk, and the kind's own floor."""
        keys = max(k for group, what, k in self.suite.ns if (group, what) == (kind, "lookup_bulk"))
        return keys, self.suite.ns[kind, "lookup_bulk", keys], own_floor(self.suite, kind, "lookup_bulk", keys)

    def largest_build(self, kind):
        """The largest number of keys, and its build with one thread."""
        ns = {r["keys"]: r["processor_ns"] for r in self.static if (r["kind"], r["threads"]) == (kind, 1)}
        return max(ns), ns[max(ns)]

    def lines(self, update, cell_bits):
        found = [r["lines_ns"] / r["floor_ns"] for r in self.counts
                 if (r["update"], r["cell_bits"]) == (update, cell_bits)]
        return [found[0], found[-1]]

    def copied(self, what, beside):
        rate = self.suite.rate
        return self.both(lambda keys: quotient(rate.get(("whole", what, keys)), rate.get(("whole", beside, keys))))


def goals(g):
    """Rows: what, its unit, the goals near and far (None: there is none), what was measured, what
    was tried and what bounds it.
    """
    fuse_keys, fuse_ns, fuse_floor = g.largest_lookups("fuse")
    fuse_built, fuse_build = g.largest_build("fuse")
    ribbon_built, ribbon_build = g.largest_build("ribbon")
    sizes = g.single_sizes()
    calls = "" if sizes == (g.near, g.far) else " ({:,} and {:,} keys)".format(*sizes)
    megabytes = [r["megabytes"] for r in g.counts]
    counters = f"{megabytes[0]:.1f} and {megabytes[-1]:.1f} MB"
    plain = "times the plain cuckoo filter"
    moving = ("filled to 96 %, one key in twelve makes others move, through lines that depend on each other. Tried: the less "
              "loaded bucket (one key in eight before)")
    counted = ("four times the memory of `blocked`, so a cache may hold that one alone; counters are cut out before they are "
               "{}. Tried: AVX-512's masks, by which the library's call takes {} instructions instead of {}")
    raised = (counted.format("raised, and stay if they are full", 28, 39) + ", and a minimum in place of a comparison and a mask, "
              "where nobody asks whether the key was new (2.2 ns, 2.4 before, with AVX2 and 100,000 keys)")
    larger = "two to four times the memory of `blocked`, which a cache may not hold; a key is looked for before it is stored"
    generations = ("all five generations are in one line, which takes 2.4 times the memory of `blocked`, so a cache may hold that "
                   "one alone ([math.md](math.md#windowed)); the lanes of a key are ANDed, with AVX-512 those of eight keys together")
    cleared = ("memory for the result, which the system clears from 2 MiB on: a third to half of the time of a fold. Tried: straight "
               "code in vectors of 32 bytes, into memory that was there as fast as memcpy (67 and 68 GB a second with a million keys). "
               "Stores past the cache are slower (28 GB a second, 31 without, with 50 million keys): what was cleared is in it")
    return [
        ("`cuckoo`, lookups in bulk", "floors", (4, 2.8), g.floors("cuckoo", "lookup_bulk"),
         "two lines a key. Tried: seven multiplications to find them, nine before"),
        ("`cuckoo`, adds in bulk", "floors", (20, 6.4), g.floors("cuckoo", "add_bulk"),
         f"{moving}, and lines of the partners fetched ahead (55 ns, 62 before, with 20 million keys)"),
        ("`cuckoo` one by one, lookups", plain, (1, 1), g.times("cuckoo", "lookup_one", "plain_cuckoo", "lookup_one"),
         "any number of buckets: the partner takes 11 instructions, where the plain one's table, a power of two, takes three. "
         "Tried: no questions that one layer does not need, no shift where buckets are whole bytes (4.1 ns, 4.9 before, with a "
         "million keys; 36 and 48 with 20 million)"),
        ("`cuckoo` one by one, adds", plain, (1, 1), g.times("cuckoo", "add_one", "plain_cuckoo", "add_one"),
         f"{moving}. Tried: all of it inline (15.5 ns, 19.3 before, with a million keys; 106 and 140 with 20 million). One line "
         "for the key, and another for what finds no room there, was slower: a fifth of the lookups need the other, which nobody "
         "can predict"),
        ("`cuckoo` one by one, removals", plain, (1, 1), g.times("cuckoo", "remove_one", "plain_cuckoo", "remove_one"),
         "both buckets are read, without a branch on the first. Tried: all of it inline (6.9 ns, 11 before, with a million keys)"),
        (f"`counting` one by one, lookups, worst build{calls}", "times `blocked`", (1.5, 1.5),
         g.single("counting", "lookup", "blocked"), counted.format("compared", 27, 38)),
        (f"`counting` one by one, adds, worst build{calls}", "times `blocked`", (1.5, 1.5),
         g.single("counting", "add", "blocked"), raised),
        (f"`fuse`, lookups in bulk, {fuse_keys:,} keys", "ns", (None, 10.4), [None, fuse_ns],
         f"three lines a key, whose floor is {fuse_floor:.1f} ns here: this is {ratio(fuse_ns, fuse_floor, 2)} times that. "
         "Tried: fetching ahead (7.7 ns, 9.5 without, at 18 MB), and hashing on the way, so that fetching ahead begins once for "
         "all keys and not for each 1024 (8.4 ns, 10.1 before, with 50 million keys)"),
        (f"`fuse`, built with one thread, {fuse_built:,} keys", "ns", (None, 72), [None, fuse_build],
         "peeling, which visits the three cells of a key more than once. Tried: keys sorted by their segments, so that cells "
         "stay in the second-level cache (half the time), and no branch on whether a cell has one key left"),
        (f"`ribbon`, built with one thread, {ribbon_built:,} keys", "ns", (None, 118), [None, ribbon_build],
         "Gaussian elimination: from one row to the next an equation of 128 coefficients waits for a load. Tried: six on their "
         "way at a time (half the time), and rows that need no shift"),
        (f"`count-min` in a line, adds in bulk, {counters}", "floors", (3, 3), g.lines("plain", 32),
         "all sixteen lanes of a line are computed for its four counters"),
        ("the same, conservative", "floors", (3, 3), g.lines("conservative", 32),
         "the least of the four counters must be known before any rises. Tried: keys that do not wait for the one before (half "
         "the time)"),
        ("the same, 16-bit counters", "floors", (3, 3), g.lines("plain", 16),
         "all 32 counters of a line are computed for its four. Tried: counters compared in their own width, without shifts "
         "(1.5 floors, 2.3 before)"),
        ("the same, conservative, 16-bit counters", "floors", (3, 3), g.lines("conservative", 16),
         "the least of the counters comes first. Tried: counters compared in their own width, by what they can still rise "
         "(2.5 floors, 3.1 before)"),
        ("`scalable`, adds in bulk", "floors", (2, 2), g.floors("scalable", "add_bulk"),
         f"{larger}. Tried: the empty cell is found in the vectors that hold the line (3.0 floors, 3.7 before, with 30,000 keys), "
         "and hashing on the way (2.9 ns, 3.4 before, with 3 million keys); no gain by fetching ahead once in place of twice"),
        ("`scalable` one by one, adds", "times `blocked`", (2, 2), g.times("scalable", "add_one", "blocked", "add_one"),
         f"{larger}; a line that is full, a seventh of them in the end, costs a mispredicted branch. Tried: one product, and the "
         "stash out of the way (9.2 ns, 12.1 before, with 30,000 keys), and the empty cell by packed comparisons (43 ns, 46 before, "
         "with 20 million keys)"),
        ("`top-k`, adds in bulk", "ns", (15, 15), g.ns("top-k", "add_bulk"),
         "a bucket in each of two rows and a draw for each: 194 instructions where all keys differ, 288 before. Tried: choices "
         "in place of branches (0.35 wrong guesses a key, 1.7 before, by callgrind)"),
        ("`top-k`, adds in bulk", "times one by one", (1, 1), g.times("top-k", "add_bulk", "top-k", "add_one"),
         "both do the same work for a key, and here the keys of bulk calls are listed and hashed first. Tried: the state of the "
         "draws and the buckets in registers from key to key"),
        ("`windowed`, lookups in bulk", "times `blocked`", (1.5, 1.5),
         g.times("windowed", "lookup_bulk", "blocked", "lookup_bulk"), generations),
        ("`windowed` one by one, lookups", "times `blocked`", (1.5, 1.5),
         g.times("windowed", "lookup_one", "blocked", "lookup_one"), generations),
        (f"`blocked` one by one, lookups, built for AVX2{calls}", "times 256-bit blocks", (1, 1),
         g.single("blocked", "lookup", "256-bit blocks", "AVX2"),
         f"a block of 512 bits is two vectors; blocks of 256 take 10.5 bits a key for 1 %, these {g.bits('blocked')}. "
         "`split-block` is the kind for those who want these"),
        (f"`split-block` one by one, lookups, worst build{calls}", "times 256-bit blocks", (1, 1),
         g.single("split-block", "lookup", "256-bit blocks"),
         "the same work but for the hash, which takes a multiplication more"),
        (f"`split-block` one by one, lookups, worst build{calls}", "times `blocked`", (1, 1),
         g.single("split-block", "lookup", "blocked"), "half a line, with neither tables nor a pattern"),
        ("fold", "of memcpy into memory in use", (0.9, 0.9), g.copied("fold", "memcpy"), cleared),
        ("fold", "of memcpy into new memory", (0.9, 0.9), g.copied("fold", "memcpy_new"), cleared),
        ("counting bits", "of memcpy into memory in use", (0.9, 0.9), g.copied("count_bits", "memcpy"),
         "reading alone, where a memcpy reads and writes at the same time and both count. Tried: AVX-512's instruction for "
         "it, and sums in vectors where that is missing"),
    ]


def number(x):
    return "-" if x is None else f"{x:.2f}" if x < 10 else f"{x:.1f}"


def percent(x):
    return "-" if x is None else f"{x * 100:.0f} %"


def reached(goal, got, least):
    """In words; at `least`, more is better."""
    met = [x is not None and (x >= want * 0.9 if least else x <= want * 1.1) for want, x in zip(goal, got) if want]
    if not any(x is not None for x in got):
        return "not measured"
    if all(met):
        return "yes"
    return "no" if not any(met) else "in the cache" if met[0] else "out of it"


def goals_text(suite, static, singles, counts):
    g = Goals(suite, static, singles, counts)
    text = ("\n## Goals\n\nWhat was aimed at, and what this run measured. In the cache is "
            f"{g.near:,} keys and out of it {g.far:,} where the row has no other size. A floor is that of one line. "
            "What is within 10 % of its goal counts as reached.\n\n"
            "Goals in nanoseconds were set on a Zen 4 with floors of 1.0 and 3.9 ns. The reference cuckoo filter is not in this run: "
            "the plain cuckoo filter of `bench/plain_cuckoo.hpp`, its paper's form with fingerprints of 12 bits, stands in for "
            "it, in a table that is full (12.5 bits a key). The vector quotient filter was not measured. The goal of `fold` means the memcpy into memory in use; a fold makes "
            "a new filter, so the one into new memory stands below it.\n\n")
    text += head("", "in", "goal", "in the cache", "out of it", "reached", "what bounds it, and what was tried")
    for what, unit, goal, got, bound in goals(g):
        least = unit.startswith("of ")  # more is better
        form = percent if least else number
        wanted = " and ".join(dict.fromkeys(f"{x:.0%}".replace("%", " %") if least else f"{x:g}" for x in goal if x))
        met = reached(goal, got, least)
        text += row(what, unit, wanted, *map(form, got), met, "" if met in ("yes", "not measured") else bound)
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
            "filter included. The filter is the same with any number of threads. Times are the clock's, and those of the processor "
            "for one thread: medians of 3, or one run from 100,000,000 keys on.\n\n")
    text += head("keys", "kind", "one thread, ns a key", "of a processor", f"{most} threads, ns a key", "times as fast",
                 "peak bytes a key, one thread", f"{most} threads", "bits a key")
    for keys in sorted({result["keys"] for result in static}):
        for kind in KINDS:
            one, all_cores = (results.get((kind, keys, threads)) for threads in (1, most))
            if not one:
                continue
            text += row(f"{keys:,}", f"`{kind}`", f"{one['build_ns']:.1f}", f"{one['processor_ns']:.1f}", f"{all_cores['build_ns']:.1f}",
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
