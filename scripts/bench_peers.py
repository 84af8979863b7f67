#!/usr/bin/python3
"""The same work by the tool and by programs that Debian packages: lines without their repetitions,
and the lines of one file that are in another.

Usage: bench_peers.py TOOL FOLDER LINES

Makes files of LINES lines in FOLDER, which leaves them in the page cache, and runs each command
three times, its output into a file. Prints JSON: for each command the seconds and those of
processors (medians), peak bytes and the lines that it printed. A program that is not installed is
left out.
"""

import json
import os
import shutil
import sys

import bench_tool

REPETITIONS = 3


def count_lines(path):
    with open(path, "rb") as file:
        return sum(piece.count(b"\n") for piece in iter(lambda: file.read(1 << 20), b""))


def measure(commands, folder):
    """Each (name, program that it needs, command of the shell)."""
    output = os.path.join(folder, "output")
    results = {}
    for name, program, command in commands:
        if not shutil.which(program):
            print(f"bench_peers: no {program}, so it is left out", file=sys.stderr)
            continue
        taken = [bench_tool.run(["sh", "-c", f"{{ {command}; }} >{output}"]) for _ in range(REPETITIONS)]
        results[name] = bench_tool.summary(taken) | {"printed": count_lines(output)}
        os.remove(output)
    return results


def main(tool, folder, lines):
    os.environ["LC_ALL"] = "C"  # sort compares bytes then, and is several times as fast
    awk = os.path.basename(os.path.realpath(shutil.which("awk")))
    repeated, known, asked = (os.path.join(folder, name) for name in ("repeated", "known", "asked"))
    bench_tool.write_repeated_lines(repeated, lines)
    bench_tool.write_lines(known, lines)
    bench_tool.write_lines(asked, lines, lines // 2)  # half of them are known
    a, b, bloom, go = (os.path.join(folder, name) for name in ("a", "b", "known.bloom", "known.go"))
    dedup = [
        ("bloomery dedup", tool, f"{tool} dedup -q {repeated}"),
        ("bloomery dedup --threads 1", tool, f"{tool} dedup -q --threads 1 {repeated}"),
        (f"awk '!seen[$0]++' ({awk})", "awk", f"awk '!seen[$0]++' {repeated}"),
        ("sort -u", "sort", f"sort -u {repeated}"),
        ("datamash rmdup 1", "datamash", f"datamash rmdup 1 <{repeated}"),
        ("mlr uniq -a", "mlr", f"mlr --nidx --fs tab uniq -a {repeated}"),
    ]
    member = "NR == FNR { known[$0]; next } $0 in known"
    membership = [
        ("bloomery build, then check", tool, f"{tool} build -q -o {bloom} {known} && {tool} check {bloom} {asked}"),
        ("the same with --threads 1", tool, f"{tool} build -q --threads 1 -o {bloom} {known} && "
                                            f"{tool} check --threads 1 {bloom} {asked}"),
        ("bloom create, insert, check", "bloom", f"bloom create -p 0.01 -n {lines} {go} && bloom insert {go} <{known} && "
                                                 f"bloom check {go} <{asked}; rm {go}"),
        (f"awk '{member}' ({awk})", "awk", f"awk '{member}' {known} {asked}"),
        ("sort both, then comm -12", "comm", f"sort -o {a} {known} && sort -o {b} {asked} && comm -12 {a} {b}"),
    ]
    json.dump({"lines": lines, "different": lines // 2, "known": lines - lines // 2,
               "repeated_bytes": os.path.getsize(repeated), "known_bytes": os.path.getsize(known),
               "repetitions": REPETITIONS, "dedup": measure(dedup, folder), "membership": measure(membership, folder)},
              sys.stdout, indent=2)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
